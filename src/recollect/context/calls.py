"""
Which messages belong to one tool call: the assistant's that makes it and those that answer it.

Vendors write calls differently: OpenAI lists them beside the text (`tool_calls[].id`, answered by
`tool_call_id`), Anthropic puts `tool_use` and `tool_result` among the parts, Gemini `functionCall`
without any id. What has no id is matched by standing next to each other. Nothing else about a call
is understood here.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from recollect.domain.conversation import Message, Role


@dataclass(frozen=True)
class Call:
    """One call a message makes; the id is '' where its vendor gives none."""

    id: str
    name: str
    arguments: Any  # a mapping, or the JSON text of one, or whatever was sent


@dataclass(frozen=True)
class Group:
    """The places of messages that stay together, in order; pending: a call waits for its result."""

    places: tuple[int, ...]
    pending: bool


def calls_of(message: Message) -> Iterator[Call]:
    """Yield the calls *message* makes, each once, whichever way they are written."""
    seen: set[str] = set()
    for part in (*message.tool_calls, *_calls_among(message.parts)):
        call = _call(part)
        if call.id not in seen or not call.id:
            seen.add(call.id)
            yield call
        # The same call may stand beside the text and among the parts.


def answered_by(message: Message) -> list[str]:
    """Return the ids of the calls *message* answers; '' for an answer that names none."""
    named = [message.tool_call_id] if message.tool_call_id else []
    for part in message.parts or ():
        if isinstance(part, Mapping) and _is_result(part):
            found = part.get("tool_use_id") or part.get("call_id") or part.get("tool_call_id")
            named.append(str(found or ""))
    if not named and message.role is Role.TOOL:
        named.append("")
    return list(dict.fromkeys(named))


def speaks(message: Message) -> bool:
    """Say whether a person says something here: a result sent in the user's name is no speech."""
    return message.role is Role.USER and not answered_by(message)


def groups_of(messages: Sequence[Message]) -> list[Group]:
    """Return *messages* as groups by place, in order of their first message; most are alone."""
    ties = _Ties(len(messages))
    beside: int | None = None  # the call just before, answered by what stands next to it
    for place, message in enumerate(messages):
        answers = answered_by(message)
        calls = list(calls_of(message))
        for named in answers:
            ties.answer(place, named, beside)
        if beside is not None and not answers and any(not call.id for call in calls):
            ties.join(beside, place)  # calls without ids in a row; who answers which is not told
        for call in calls:
            ties.call(place, call.id)
        for named in answers if calls else ():
            ties.answer(place, named, None)  # a call its server ran itself is answered on the spot
        if calls or not answers:
            beside = place if calls else None
    return ties.groups()


class _Ties:
    """Who is tied to whom, while the messages are read: union-find over their places."""

    def __init__(self, count: int) -> None:
        self._leader = list(range(count))
        self._maker: dict[str, int] = {}  # who called with this id last: vendors use ids again
        self._open_ids: dict[str, int] = {}
        self._open_unnamed: dict[int, int] = {}

    def call(self, place: int, named: str) -> None:
        if named:
            self._maker[named] = self._open_ids[named] = place
        else:
            maker = self._find(place)
            self._open_unnamed[maker] = self._open_unnamed.get(maker, 0) + 1

    def answer(self, place: int, named: str, beside: int | None) -> None:
        if named in self._maker:
            self._open_ids.pop(named, None)
            self.join(self._maker[named], place)
        elif beside is not None:
            maker = self._find(beside)
            self._open_unnamed[maker] = max(self._open_unnamed.get(maker, 0) - 1, 0)
            self.join(maker, place)
        # Otherwise nobody called, and it stands alone.

    def join(self, one: int, other: int) -> None:
        first, second = sorted((self._find(one), self._find(other)))
        self._leader[second] = first
        if second in self._open_unnamed:
            count = self._open_unnamed.pop(second)
            self._open_unnamed[first] = self._open_unnamed.get(first, 0) + count

    def groups(self) -> list[Group]:
        places: dict[int, list[int]] = {}
        for place in range(len(self._leader)):
            places.setdefault(self._find(place), []).append(place)
        pending = {self._find(place) for place in self._open_ids.values()}
        pending |= {self._find(place) for place, left in self._open_unnamed.items() if left > 0}
        return [Group(tuple(of), leader in pending) for leader, of in places.items()]

    def _find(self, place: int) -> int:
        leader = self._leader
        while leader[place] != place:
            leader[place] = leader[leader[place]]
            place = leader[place]
        return place


def _is_result(part: Mapping[str, Any]) -> bool:
    kind = str(part.get("type", ""))
    return (
        kind.endswith(("tool_result", "function_call_output", "tool-result"))
        or "functionResponse" in part
    )


def _calls_among(parts: Sequence[Any] | None) -> Iterator[Any]:
    for part in parts or ():
        if isinstance(part, Mapping):
            kind = str(part.get("type", ""))
            if kind.endswith(("tool_use", "function_call", "tool-call")) or "functionCall" in part:
                yield part


def _call(part: Any) -> Call:
    if not isinstance(part, Mapping):
        return Call("", "", part)
    inner = part.get("function") or part.get("functionCall") or part
    if not isinstance(inner, Mapping):
        inner = part
    arguments = next((inner[key] for key in ("arguments", "input", "args") if key in inner), None)
    named = part.get("call_id") or part.get("id") or inner.get("id") or ""
    return Call(str(named), str(inner.get("name") or ""), arguments)
