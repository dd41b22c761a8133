"""
Messages as Letta's JSON. Pure: values in, values out.

Letta shows one stored message as several, one of each kind of content, with the same id: reasoning,
text and calls of tools. A call of `send_message`, with which Letta's older agents speak, is text.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from recollect.context.tool_call_groups import ToolCall, tool_calls_of
from recollect.domain.agent_run import Approval
from recollect.domain.conversation import Conversation, Message, Role
from recollect.server.letta_v1.letta_ids import letta_id
from recollect.text.message_text import SEND_MESSAGE

LettaMessage = dict[str, Any]


def letta_messages(message: Message) -> list[LettaMessage]:
    """Return what Letta shows of one message."""
    match message.role:
        case Role.USER:
            return [_message(message, "user_message", content=_content(message))]
        case Role.TOOL:
            return [_tool_return(message)]
        case Role.ASSISTANT:
            return list(_assistant(message))
        case _:
            return [_message(message, "system_message", content=message.content)]


def flat_messages(
    messages: Sequence[Message], kinds: Sequence[str] | None = None
) -> list[LettaMessage]:
    """Return several messages as Letta shows them, only of some *kinds* if they are given."""
    parts = [part for message in messages for part in letta_messages(message)]
    return [part for part in parts if not kinds or part["message_type"] in kinds]


def approval_request(approval: Approval) -> LettaMessage:
    """Return a tool call that waits for a decision; its id is the one to decide about."""
    call = _call(approval.id, approval.tool, approval.arguments)
    return {
        "id": letta_id("message", approval.id),
        "date": approval.requested_at.isoformat(),
        "message_type": "approval_request_message",
        "tool_call": call,
        "tool_calls": [call],
        "run_id": letta_id("run", approval.run_id),
    }


def found_message(message: Message, conversation: Conversation | None) -> dict[str, Any]:
    """Return a message that a search found."""
    kinds = {Role.USER: "user_message", Role.ASSISTANT: "assistant_message"}
    agent_id = conversation.agent_id if conversation is not None else None
    return {
        "message_id": letta_id("message", message.id),
        "message_type": kinds.get(message.role, "system_message"),
        "content": message.content,
        "created_at": message.created_at.isoformat(),
        "agent_id": None if agent_id is None else letta_id("agent", agent_id),
        "conversation_id": letta_id("conv", message.conversation_id),
    }


def _assistant(message: Message) -> Iterator[LettaMessage]:
    for part in message.parts or ():
        if isinstance(part, Mapping) and part.get("type") in ("reasoning", "thinking"):
            text = part.get("reasoning") or part.get("thinking") or part.get("text")
            if isinstance(text, str):
                yield _message(
                    message, "reasoning_message", reasoning=text, source="reasoner_model"
                )
    if message.content:
        yield _message(message, "assistant_message", content=message.content)
    calls = list(tool_calls_of(message))
    for call in calls:
        if call.name == SEND_MESSAGE and (text := _sent_text(call)):
            yield _message(message, "assistant_message", content=text)
    tool_calls = [
        _call(call.id, call.name, call.arguments) for call in calls if call.name != SEND_MESSAGE
    ]
    if tool_calls:
        yield _message(message, "tool_call_message", tool_call=tool_calls[0], tool_calls=tool_calls)


def _tool_return(message: Message) -> LettaMessage:
    status = "error" if message.metadata.get("failed") is True else "success"
    result = {
        "tool_call_id": message.tool_call_id,
        "tool_return": message.content,
        "status": status,
    }
    return _message(
        message, "tool_return_message", **result, tool_returns=[{"type": "tool", **result}]
    )


def _message(message: Message, kind: str, **fields: Any) -> LettaMessage:
    otid = message.metadata.get("otid")
    return {
        "id": letta_id("message", message.id),
        "date": message.created_at.isoformat(),
        "message_type": kind,
        "name": message.name or None,
        "otid": otid if isinstance(otid, str) else None,
        "conversation_id": letta_id("conv", message.conversation_id),
        **fields,
    }


def _content(message: Message) -> Any:
    """Return the text of a message; its parts if there is an image that Letta can show."""
    parts = [part for part in message.parts or () if isinstance(part, Mapping)]
    if any(_is_image(part) for part in parts):
        return [dict(part) for part in parts if part.get("type") == "text" or _is_image(part)]
    return message.content


def _is_image(part: Mapping[str, Any]) -> bool:
    return part.get("type") == "image" and isinstance(part.get("source"), Mapping)


def _call(call_id: str, name: str, arguments: Any) -> dict[str, Any]:
    text = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    return {"tool_call_id": call_id, "name": name, "arguments": text}


def _sent_text(call: ToolCall) -> str:
    arguments = call.arguments
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments)
        except ValueError:
            return ""
    text = arguments.get("message") if isinstance(arguments, Mapping) else None
    return text if isinstance(text, str) else ""
