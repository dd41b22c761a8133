"""
The dialect of OpenAI's Responses.

A conversation is sent whole as a list of items, or held by the server and gone on with by id. What
the caller must answer is a call with a `call_id`; other calls (web search, MCP) the server answers
itself, and like its reasoning they are not kept. Streams are in `responses_stream.py`.
"""

from collections.abc import Sequence

from recollect.client.intercept.dialect import Dialect, Json, Saying
from recollect.client.intercept.head import last_asked, orders_before
from recollect.client.intercept.responses_stream import assembled
from recollect.client.intercept.saying import call_of, model_says, tool_says, user_says
from recollect.client.intercept.tail import since_answer
from recollect.text.message import text_in
from recollect.text.transcripts.fields import (
    Record,
    is_record,
    list_at,
    record_at,
    records_at,
    text_at,
)

# Items that come from the model, besides its messages and its calls. A reference nearly always
# means one of them: what users said has no id on their side.
_ANSWERS = (
    "reasoning",
    "item_reference",
    "compaction",
    "program",
    "mcp_approval_request",
    "mcp_list_tools",
)
_ARGUMENTS = ("arguments", "input", "action", "actions", "operation")


def asked(body: object) -> str:
    """Return the words of the last user message that has any."""
    return last_asked(_items(body), _words)


def with_memory(body: object, text: str) -> Json:
    """Return the body with a developer item more, or with longer instructions."""
    request = dict(body) if is_record(body) else {}
    items = request.get("input")
    if not text.strip():
        return request
    if isinstance(items, list) and not _is_held(request):
        head = orders_before(items)
        part = {"type": "input_text", "text": text}
        memory = {"type": "message", "role": "developer", "content": [part]}
        return {**request, "input": [*items[:head], memory, *items[head:]]}
    # The server keeps items, so memory among them would pile up; instructions it forgets.
    before = request.get("instructions")
    if before is not None and not isinstance(before, str):
        return request
    return {**request, "instructions": f"{before}\n\n{text}" if before else text}


def said(body: object) -> list[Saying]:
    """Return what users and tools said since the last answer."""
    items: Sequence[Record] = _items(body)
    if not (is_record(body) and _is_held(body)):
        items = since_answer(items, is_answer=_is_answer)
    return [saying for item in items for saying in _said(item)]


def replied(answer: object) -> list[Saying]:
    """Return what the model said and called."""
    whole = answer if is_record(answer) else {}
    if whole.get("status") == "failed":
        return []
    output = records_at(whole, "output")
    texts = [_words(item) for item in output if item.get("role") == "assistant"]
    answered = {text_at(item, "call_id") for item in output if _is_result(item)}
    calls = [
        _call(item)
        for item in output
        if _is_call(item) and text_at(item, "call_id") not in {"", *answered}
    ]
    return model_says("\n".join(filter(None, texts)), calls=calls, model=whole.get("model"))


def _items(body: object) -> list[Record]:
    if not is_record(body):
        return []
    if isinstance(whole := body.get("input"), str):
        return [{"role": "user", "content": whole}]
    return records_at(body, "input")


def _is_held(body: Record) -> bool:
    """Say whether the server has the conversation so far, and is sent only what is new."""
    return bool(body.get("previous_response_id") or body.get("conversation"))


def _is_answer(item: Record) -> bool:
    return item.get("role") == "assistant" or text_at(item, "type") in _ANSWERS or _is_call(item)


def _is_call(item: Record) -> bool:
    return text_at(item, "type").endswith("_call")


def _is_result(item: Record) -> bool:
    return text_at(item, "type").endswith("_output")


def _words(item: Record) -> str:
    return text_at(item, "content") or text_in(list_at(item, "content"))


def _said(item: Record) -> list[Saying]:
    if item.get("role") == "user":
        return user_says(item.get("content"))
    if _is_result(item) and (text_at(item, "call_id") or item.get("output") is not None):
        return [_result(item)]
    return []


def _result(item: Record) -> Saying:
    output = item.get("output")
    chunks = records_at(item, "output")
    named = text_at(item, "call_id")
    metadata: Json = {}
    if any("stdout" in chunk or "stderr" in chunk for chunk in chunks):
        printed = (text_at(one, key) for one in chunks for key in ("stdout", "stderr"))
        output = "\n".join(filter(None, printed))
        code = record_at(chunks[-1], "outcome").get("exit_code")
        metadata = {"exit_code": code} if isinstance(code, int) else {}
    elif item.get("type") == "apply_patch_call_output":
        metadata = {"is_error": item.get("status") == "failed"}
    elif item.get("type") == "local_shell_call_output":
        named = text_at(item, "call_id", "id")  # the one result whose call is named by its `id`
    return tool_says(output, call_id=named, name=item.get("name"), metadata=metadata)


def _call(item: Record) -> Json:
    name = text_at(item, "name") or text_at(item, "type").removesuffix("_call")
    arguments = next((item[key] for key in _ARGUMENTS if item.get(key) is not None), None)
    return call_of(item.get("call_id"), name=name, arguments=arguments)


RESPONSES = Dialect(
    name="openai-responses",
    asked=asked,
    with_memory=with_memory,
    said=said,
    replied=replied,
    assembled=assembled,
)
