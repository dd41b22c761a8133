"""
The dialect of Gemini's `generateContent`, of the Gemini API and of Vertex AI, and of its stream.

Memory is added at the end of the system instruction. If the prompt is cached, or the model takes no
such instruction (Gemma), it is the first part of the last user message. A request for speech or
images is only recorded, because the model would say or draw the memory. Calls may have no ids: a
result follows its call.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace

from recollect.client.intercept import captured_message as capture
from recollect.client.intercept.dialect import CapturedMessage, Dialect, Json
from recollect.client.intercept.new_messages import messages_after_reply
from recollect.client.intercept.sse import SseEvent
from recollect.text.transcripts import json_fields as fields

_RESULT_FIELDS = ("result", "output", "error")  # of the response of a function


def last_user_text(body: object) -> str:
    """Return the text of the last user message that has text."""
    contents = fields.list_at(body, "contents") if fields.is_record(body) else []
    place = _question_place(contents)
    return "" if place is None else _content_text(contents[place])


def add_memory(body: object, text: str) -> Json:
    """Return the body with memory at the end of its system instruction."""
    request = dict(body) if fields.is_record(body) else {}
    if not text.strip() or not _answers_in_text(request):
        return request
    if request.get("cachedContent") or request.get("cached_content"):
        return add_memory_to_question(request, text)
    name = "system_instruction" if "system_instruction" in request else "systemInstruction"
    instruction = request.get(name)
    if instruction is None:
        return {**request, name: {"parts": [{"text": text}]}}
    if not fields.is_record(instruction) or not isinstance(instruction.get("parts"), list):
        return request
    parts = [*fields.list_at(instruction, "parts"), {"text": text}]
    return {**request, name: {**instruction, "parts": parts}}


def add_memory_to_question(body: object, text: str) -> Json:
    """Return the body with memory before the other parts of the last user message."""
    request = dict(body) if fields.is_record(body) else {}
    contents = fields.list_at(request, "contents")
    place = _question_place(contents)
    if place is None or not text.strip() or not _answers_in_text(request):
        return request
    question = contents[place]
    assert fields.is_record(question)
    parts = [{"text": text}, *fields.list_at(question, "parts")]
    contents[place] = {**question, "parts": parts}
    return {**request, "contents": contents}


def new_messages(body: object) -> list[CapturedMessage]:
    """Return the messages of users and tools after the last reply."""
    contents = fields.records_at(body, "contents") if fields.is_record(body) else []
    new = messages_after_reply(contents, is_reply=lambda item: item.get("role") == "model")
    return [captured for content in new for captured in _capture(content)]


def reply_messages(response: object) -> list[CapturedMessage]:
    """Return the text and function calls of the first candidate."""
    if isinstance(response, list):  # a stream that was not sent as events
        response = assemble_stream(SseEvent("", chunk) for chunk in response)
    body = response if fields.is_record(response) else {}
    parts = _candidate_parts(body)
    functions = (_record_at(part, "functionCall", "function_call") for part in parts)
    calls = [
        capture.tool_call(call.get("id"), name=call.get("name"), arguments=call.get("args"))
        for call in functions
        if call
    ]
    texts = (fields.text_at(part, "text") for part in parts if not part.get("thought"))
    model = fields.text_at(body, "modelVersion", "model_version")
    return capture.assistant_message("".join(texts), calls=calls, model=model)


def assemble_stream(events: Iterable[SseEvent]) -> Json:
    """Return the response that the chunks of a stream add up to."""
    top: Json = {}
    parts: list[fields.JsonRecord] = []
    for event in events:
        chunk = event.data if fields.is_record(event.data) else {}
        top |= {key: value for key, value in chunk.items() if key != "candidates"}
        parts += _candidate_parts(chunk)
    return {**top, "candidates": [{"content": {"role": "model", "parts": parts}}]}


def _candidate_parts(response: fields.JsonRecord) -> list[fields.JsonRecord]:
    """Return the parts of the first candidate of a response or of a chunk."""
    candidates = fields.records_at(response, "candidates")
    first = next((item for item in candidates if item.get("index") in (None, 0)), {})
    return fields.records_at(fields.record_at(first, "content"), "parts")


def _question_place(contents: Sequence[object]) -> int | None:
    """Return the index of the last message in which a user wrote a text."""
    places = (place for place in reversed(range(len(contents))) if _is_question(contents[place]))
    return next(places, None)


def _is_question(content: object) -> bool:
    if not fields.is_record(content) or content.get("role") not in (None, "user"):
        return False
    answers = any(_function_response(part) for part in fields.records_at(content, "parts"))
    return not answers and bool(_content_text(content).strip())


def _content_text(content: object) -> str:
    parts = fields.records_at(content, "parts") if fields.is_record(content) else []
    return "\n".join(filter(None, (fields.text_at(part, "text") for part in parts)))


def _answers_in_text(request: fields.JsonRecord) -> bool:
    config = _record_at(request, "generationConfig", "generation_config")
    modalities = [
        *fields.list_at(config, "responseModalities"),
        *fields.list_at(config, "response_modalities"),
    ]
    return all(modality == "TEXT" for modality in modalities)


def _capture(content: fields.JsonRecord) -> list[CapturedMessage]:
    parts = fields.records_at(content, "parts")
    results = [response for part in parts if (response := _function_response(part))]
    rest = [_stored_part(part) for part in parts if not _function_response(part)]
    return [*map(_capture_result, results), *capture.user_message(rest)]


def _stored_part(part: fields.JsonRecord) -> Json:
    """Return a part with the type by which parts of all vendors are told apart."""
    if isinstance(part.get("text"), str):
        return {"type": "text", "text": part["text"]}
    data = _record_at(part, "inlineData", "inline_data", "fileData", "file_data")
    kind = fields.text_at(data, "mimeType", "mime_type")
    return {"type": "image" if kind.startswith("image/") else "file", **part}


def _function_response(part: fields.JsonRecord) -> fields.JsonRecord:
    return _record_at(part, "functionResponse", "function_response")


def _capture_result(result: fields.JsonRecord) -> CapturedMessage:
    response = fields.record_at(result, "response")
    values = [response[name] for name in _RESULT_FIELDS if isinstance(response.get(name), str)]
    content = values[0] if len(response) == 1 and values else _dump_json(response)
    metadata = {"is_error": True} if set(response) == {"error"} else None
    call_id, name = result.get("id"), result.get("name")
    return capture.tool_message(content, call_id=call_id, name=name, metadata=metadata)


def _dump_json(value: fields.JsonRecord) -> str:
    try:
        return json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        return ""  # nested too deep: the call is stored as one that returned nothing


def _record_at(record: fields.JsonRecord, *names: str) -> fields.JsonRecord:
    """Return the first object in the fields *names*: both spellings of JSON are accepted."""
    return next((value for name in names if (value := fields.record_at(record, name))), {})


GEMINI = Dialect(
    name="gemini",
    last_user_text=last_user_text,
    add_memory=add_memory,
    new_messages=new_messages,
    reply_messages=reply_messages,
    assemble_stream=assemble_stream,
)
GEMMA = replace(GEMINI, name="gemma", add_memory=add_memory_to_question)
