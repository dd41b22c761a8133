"""
The dialect of OpenAI's chat completions, which many other servers speak too.

Memory is a system message of its own, behind the caller's, so that calls and the replies to them
stay next to each other. Streams are in `chat_stream.py`.
"""

from recollect.client.intercept.chat_stream import assembled
from recollect.client.intercept.dialect import Dialect, Json, Saying
from recollect.client.intercept.head import last_asked, orders_before
from recollect.client.intercept.saying import call_of, model_says, tool_says, user_says
from recollect.client.intercept.tail import since_answer, without_prefill
from recollect.text.message import text_in
from recollect.text.transcripts.fields import (
    Record,
    is_record,
    list_at,
    record_at,
    records_at,
    text_at,
)

_TOOLS = ("tool", "function")  # the latter is how tools answered before 2023 ended


def asked(body: object) -> str:
    """Return the words of the last user message that has any."""
    return last_asked(_messages(body), _words)


def with_memory(body: object, text: str) -> Json:
    """Return the body with a system message more, after those at the head."""
    request = dict(body) if is_record(body) else {}
    messages = request.get("messages")
    if not isinstance(messages, list) or not text.strip():
        return request
    head = orders_before(messages)
    role = messages[0]["role"] if head else "system"
    memory = {"role": role, "content": text}
    return {**request, "messages": [*messages[:head], memory, *messages[head:]]}


def said(body: object) -> list[Saying]:
    """Return what users and tools said since the last answer."""
    messages = without_prefill(_messages(body))
    new = since_answer(messages, is_answer=lambda one: one.get("role") == "assistant")
    return [saying for message in new for saying in _said(message)]


def replied(answer: object) -> list[Saying]:
    """Return what the model said and called in the first choice."""
    whole = answer if is_record(answer) else {}
    choice: Record = next(iter(records_at(whole, "choices")), {})
    message = record_at(choice, "message")
    spoken = text_at(record_at(message, "audio"), "transcript")
    texts = [_words(message), spoken, text_at(message, "refusal")]
    calls = [_call(one) for one in records_at(message, "tool_calls")]
    if old := record_at(message, "function_call"):
        calls.append(call_of("", name=old.get("name"), arguments=old.get("arguments")))
    return model_says("\n".join(filter(None, texts)), calls=calls, model=whole.get("model"))


def _messages(body: object) -> list[Record]:
    return records_at(body, "messages") if is_record(body) else []


def _words(message: Record) -> str:
    return text_at(message, "content") or text_in(list_at(message, "content"))


def _said(message: Record) -> list[Saying]:
    content, name = message.get("content"), message.get("name")
    if message.get("role") == "user":
        return user_says(content, name=name)
    if message.get("role") in _TOOLS:
        return [tool_says(content, call_id=message.get("tool_call_id"), name=name)]
    return []


def _call(call: Record) -> Json:
    asked_for = record_at(call, "function") or record_at(call, "custom")
    arguments = asked_for.get("arguments", asked_for.get("input"))
    return call_of(call.get("id"), name=asked_for.get("name"), arguments=arguments)


CHAT = Dialect(
    name="openai-chat",
    asked=asked,
    with_memory=with_memory,
    said=said,
    replied=replied,
    assembled=assembled,
)
