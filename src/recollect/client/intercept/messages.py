"""
The dialect of Anthropic's messages, the beta ones too.

Results of tools come in the user's name, among the parts of a message. They are kept as messages of
the tool, and what else the message says as the user's after them: the API takes no other order.
Tools that the server runs itself (web search, MCP) are left out like thinking. Streams are in
`messages_stream.py`.
"""

from recollect.client.intercept.dialect import Dialect, Json, Saying
from recollect.client.intercept.messages_stream import assembled
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


def asked(body: object) -> str:
    """Return the words of the last user message that has any besides results of tools."""
    for message in reversed(_messages(body)):
        if message.get("role") == "user":
            words = text_at(message, "content") or text_in(list_at(message, "content"))
            if words.strip():
                return words
    return ""


def with_memory(body: object, text: str) -> Json:
    """Return the body with a longer `system`; what is cached of it stays as it is."""
    request = dict(body) if is_record(body) else {}
    if not text.strip() or request.get("thread"):
        return request  # a thread's turns must agree in `system`, or the server refuses them
    before = request.get("system")
    match before:
        case None | "":
            return {**request, "system": text}
        case str():
            return {**request, "system": f"{before}\n\n{text}"}
        case list():
            return {**request, "system": [*before, {"type": "text", "text": text}]}
        case _:
            return request


def said(body: object) -> list[Saying]:
    """Return what users and tools said since the last answer."""
    messages = without_prefill(_messages(body))
    new = since_answer(messages, is_answer=lambda one: one.get("role") == "assistant")
    return [saying for one in new if one.get("role") == "user" for saying in _said(one)]


def replied(answer: object) -> list[Saying]:
    """Return what the model said and called."""
    whole = answer if is_record(answer) else {}
    blocks = records_at(whole, "content")
    calls = [
        call_of(block.get("id"), name=block.get("name"), arguments=block.get("input"))
        for block in blocks
        if block.get("type") == "tool_use"
    ]
    # Not guaranteed to be there: why the model was stopped from answering.
    refusal = text_at(record_at(whole, "stop_details"), "explanation")
    text = "\n".join(filter(None, (_speech(blocks), refusal)))
    return model_says(text, calls=calls, model=whole.get("model"))


def _messages(body: object) -> list[Record]:
    return records_at(body, "messages") if is_record(body) else []


def _said(message: Record) -> list[Saying]:
    content = message.get("content")
    if not isinstance(content, list):
        return user_says(content)
    results = [part for part in content if _is_result(part)]
    rest = [part for part in content if not _is_result(part)]
    return [*(_result(part) for part in results), *user_says(rest)]


def _is_result(part: object) -> bool:
    return is_record(part) and part.get("type") == "tool_result"


def _result(part: Record) -> Saying:
    failed = part.get("is_error")
    metadata = {"is_error": failed} if isinstance(failed, bool) else None
    return tool_says(part.get("content"), call_id=part.get("tool_use_id"), metadata=metadata)


def _speech(blocks: list[Record]) -> str:
    """Return the text of some blocks. A text with citations is cut into blocks in mid-sentence."""
    runs = [""]
    for block in blocks:
        if block.get("type") == "text":
            runs[-1] += text_at(block, "text")
        elif runs[-1]:
            runs.append("")
    return "\n".join(filter(None, runs))


MESSAGES = Dialect(
    name="anthropic-messages",
    asked=asked,
    with_memory=with_memory,
    said=said,
    replied=replied,
    assembled=assembled,
)
