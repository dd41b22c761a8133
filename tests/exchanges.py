"""What is said in conversations of tests: plain talk, and tool calls as vendors write them."""

import json
from collections.abc import Sequence

from recollect import Conversation, Message, Recollect

DECISION = "We decided to use PostgreSQL for billing."


def said(memory: Recollect, conversation: Conversation, count: int) -> list[Message]:
    """Append so many messages, user and assistant in turn, each with a word of its own."""
    start = len(memory.messages(conversation, limit=10_000))
    roles = ("user", "assistant")
    return [
        memory.append_message(conversation, roles[n % 2], f"The lamp {word(n)} hangs in room {n}.")
        for n in range(start, start + count)
    ]


def word(number: int) -> str:
    """Return a word no other number has."""
    return "zq" + "".join(chr(ord("a") + int(digit)) for digit in f"{number:04}")


def openai_call(
    memory: Recollect, conversation: Conversation, named: str, *answers: str
) -> list[Message]:
    """Append a call in OpenAI's form, and whatever answers it."""
    function = {"name": "look", "arguments": json.dumps({"at": named})}
    call = {"id": named, "type": "function", "function": function}
    asked = memory.append_message(conversation, "assistant", f"Looking {named}.", tool_calls=[call])
    given = [
        memory.append_message(conversation, "tool", answer, tool_call_id=named)
        for answer in answers
    ]
    return [asked, *given]


def anthropic_call(
    memory: Recollect, conversation: Conversation, named: str, *answers: str
) -> list[Message]:
    """Append a call in Anthropic's form: the answer comes in the user's name, as a part."""
    use = {"type": "tool_use", "id": named, "name": "look", "input": {"at": named}}
    text = {"type": "text", "text": f"Looking {named}."}
    asked = memory.append_message(conversation, "assistant", [text, use])
    given = [
        memory.append_message(
            conversation, "user", [{"type": "tool_result", "tool_use_id": named, "content": answer}]
        )
        for answer in answers
    ]
    return [asked, *given]


def ids(messages: Sequence[Message]) -> list[str]:
    return [one.id for one in messages]
