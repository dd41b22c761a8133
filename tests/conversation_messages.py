"""Append messages to a conversation: plain ones, and tool calls in the vendors' formats."""

import json
from collections.abc import Sequence

from recollect import Conversation, LocalRecollect, Message

DECISION = "We decided to use PostgreSQL for billing."


def append_messages(rec: LocalRecollect, conversation: Conversation, count: int) -> list[Message]:
    """Append *count* messages, user and assistant in turn, each with a unique word."""
    start = len(rec.conversations.messages(conversation, limit=10_000))
    roles = ("user", "assistant")
    return [
        rec.conversations.append(
            conversation, roles[n % 2], f"The lamp {unique_word(n)} hangs in room {n}."
        )
        for n in range(start, start + count)
    ]


def unique_word(number: int) -> str:
    """Return a word that is unique to *number*."""
    return "zq" + "".join(chr(ord("a") + int(digit)) for digit in f"{number:04}")


def append_openai_call(
    rec: LocalRecollect, conversation: Conversation, named: str, *answers: str
) -> list[Message]:
    """Append a tool call in OpenAI's format, and its results."""
    function = {"name": "look", "arguments": json.dumps({"at": named})}
    call = {"id": named, "type": "function", "function": function}
    asked = rec.conversations.append(
        conversation, "assistant", f"Looking {named}.", tool_calls=[call]
    )
    given = [
        rec.conversations.append(conversation, "tool", answer, tool_call_id=named)
        for answer in answers
    ]
    return [asked, *given]


def append_anthropic_call(
    rec: LocalRecollect, conversation: Conversation, named: str, *answers: str
) -> list[Message]:
    """Append a tool call in Anthropic's format: the result is a part of a user message."""
    use = {"type": "tool_use", "id": named, "name": "look", "input": {"at": named}}
    text = {"type": "text", "text": f"Looking {named}."}
    asked = rec.conversations.append(conversation, "assistant", [text, use])
    given = [
        rec.conversations.append(
            conversation, "user", [{"type": "tool_result", "tool_use_id": named, "content": answer}]
        )
        for answer in answers
    ]
    return [asked, *given]


def message_ids(messages: Sequence[Message]) -> list[str]:
    return [message.id for message in messages]
