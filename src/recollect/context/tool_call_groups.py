"""
Group each tool call with its results: the assistant's message and the messages that answer it.

Vendors write calls differently: OpenAI lists them beside the text (`tool_calls[].id`, answered by
`tool_call_id`), Anthropic puts `tool_use` and `tool_result` among the parts, Gemini `functionCall`
without any id. A call without an id is matched with the result that follows it.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from recollect.domain.conversation import Message, Role
from recollect.lazy_dataclass import dataclass


@dataclass(frozen=True)
class ToolCall:
    """A tool call in a message; the id is '' if the vendor gives none."""

    id: str
    name: str
    arguments: Any  # a mapping, its JSON text, or anything else that was sent


@dataclass(frozen=True)
class MessageGroup:
    """Indexes of messages that belong together; pending: a call has no result yet."""

    indexes: tuple[int, ...]
    pending: bool


def tool_calls_of(message: Message) -> Iterator[ToolCall]:
    """Yield the tool calls of *message*, each once, in any vendor's format."""
    seen: set[str] = set()
    for part in (*message.tool_calls, *_call_parts(message.parts)):
        call = _call(part)
        if call.id not in seen or not call.id:
            seen.add(call.id)
            yield call
        # The same call may be listed beside the text and among the parts.


def answered_call_ids(message: Message) -> list[str]:
    """Return the ids of the calls that *message* answers; '' for a result without an id."""
    ids = [message.tool_call_id] if message.tool_call_id else []
    for part in message.parts or ():
        if isinstance(part, Mapping) and _is_result(part):
            call_id = part.get("tool_use_id") or part.get("call_id") or part.get("tool_call_id")
            ids.append(str(call_id or ""))
    if not ids and message.role is Role.TOOL:
        ids.append("")
    return list(dict.fromkeys(ids))


def is_user_speech(message: Message) -> bool:
    """Return whether the user wrote *message*: not a tool result sent in the user's name."""
    return message.role is Role.USER and not answered_call_ids(message)


def group_tool_calls(messages: Sequence[Message]) -> list[MessageGroup]:
    """Return *messages* as groups of indexes, in order; most groups have one message."""
    builder = _GroupBuilder(len(messages))
    open_call: int | None = None  # the preceding call, which a result without an id answers
    for index, message in enumerate(messages):
        answers = answered_call_ids(message)
        calls = list(tool_calls_of(message))
        for call_id in answers:
            builder.add_answer(index, call_id, open_call)
        if open_call is not None and not answers and any(not call.id for call in calls):
            # Consecutive calls without ids: it is unknown which result answers which.
            builder.join(open_call, index)
        for call in calls:
            builder.add_call(index, call.id)
        for call_id in answers if calls else ():
            # A call that the vendor's server ran is answered in the same message.
            builder.add_answer(index, call_id, None)
        if calls or not answers:
            open_call = index if calls else None
    return builder.groups()


class _GroupBuilder:
    """Union-find over message indexes."""

    def __init__(self, count: int) -> None:
        self._leader = list(range(count))
        self._maker: dict[str, int] = {}  # last message with this call id: vendors reuse ids
        self._open_ids: dict[str, int] = {}
        self._open_unnamed: dict[int, int] = {}

    def add_call(self, index: int, call_id: str) -> None:
        if call_id:
            self._maker[call_id] = self._open_ids[call_id] = index
        else:
            maker = self._find(index)
            self._open_unnamed[maker] = self._open_unnamed.get(maker, 0) + 1

    def add_answer(self, index: int, call_id: str, open_call: int | None) -> None:
        if call_id in self._maker:
            self._open_ids.pop(call_id, None)
            self.join(self._maker[call_id], index)
        elif open_call is not None:
            maker = self._find(open_call)
            self._open_unnamed[maker] = max(self._open_unnamed.get(maker, 0) - 1, 0)
            self.join(maker, index)
        # A result without a call is a group of its own.

    def join(self, left: int, right: int) -> None:
        first, second = sorted((self._find(left), self._find(right)))
        self._leader[second] = first
        if second in self._open_unnamed:
            count = self._open_unnamed.pop(second)
            self._open_unnamed[first] = self._open_unnamed.get(first, 0) + count

    def groups(self) -> list[MessageGroup]:
        members: dict[int, list[int]] = {}
        for index in range(len(self._leader)):
            members.setdefault(self._find(index), []).append(index)
        pending = {self._find(index) for index in self._open_ids.values()}
        pending |= {self._find(index) for index, left in self._open_unnamed.items() if left > 0}
        groups = members.items()
        return [MessageGroup(tuple(indexes), leader in pending) for leader, indexes in groups]

    def _find(self, index: int) -> int:
        leader = self._leader
        while leader[index] != index:
            leader[index] = leader[leader[index]]
            index = leader[index]
        return index


def _is_result(part: Mapping[str, Any]) -> bool:
    names = ("tool_result", "function_call_output", "tool-result")
    return str(part.get("type", "")).endswith(names) or "functionResponse" in part


def _call_parts(parts: Sequence[Any] | None) -> Iterator[Any]:
    names = ("tool_use", "function_call", "tool-call")
    for part in (part for part in parts or () if isinstance(part, Mapping)):
        if str(part.get("type", "")).endswith(names) or "functionCall" in part:
            yield part


def _call(part: Any) -> ToolCall:
    if not isinstance(part, Mapping):
        return ToolCall("", "", part)
    inner = part.get("function") or part.get("functionCall") or part
    if not isinstance(inner, Mapping):
        inner = part
    arguments = next((inner[key] for key in ("arguments", "input", "args") if key in inner), None)
    call_id = part.get("call_id") or part.get("id") or inner.get("id") or ""
    return ToolCall(str(call_id), str(inner.get("name") or ""), arguments)
