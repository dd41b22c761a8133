"""The dialect of Gemini's `generateContent`."""

from typing import Any

from recollect.client.intercept.gemini import GEMINI, GEMMA
from recollect.client.intercept.sse import SseEvent
from recollect.client.intercept.visible_texts import visible_texts
from tables import each_row

Json = dict[str, Any]

PICTURE = {"inlineData": {"mimeType": "image/png", "data": "iVBORw0KGgo" * 1_000}}
CALL = {"functionCall": {"name": "look", "args": {"at": "Łódź"}}}
RESULT = {"functionResponse": {"name": "look", "response": {"result": "In Łódź."}}}
MEMORY = {"text": "M"}


def user(*parts: object) -> Json:
    return {"role": "user", "parts": [*parts]}


def model(*parts: object) -> Json:
    return {"role": "model", "parts": [*parts]}


ASK = user({"text": "Where is the lamp?"})


def body(*contents: object, **others: object) -> Json:
    return {"contents": list(contents), **others}


@each_row(
    ("contents", "question"),
    [
        ([], ""),
        ([ASK], "Where is the lamp?"),
        ([{"parts": [{"text": "One"}, PICTURE, {"text": "two"}]}], "One\ntwo"),
        ([ASK, model(CALL), user(RESULT)], "Where is the lamp?"),
        ([ASK, model(CALL), {"role": "tool", "parts": [RESULT]}], "Where is the lamp?"),
        ([ASK, user(PICTURE), user({"text": " "}), None, 7], "Where is the lamp?"),
    ],
)
def test_the_question_is_the_last_thing_a_user_said_in_words(
    contents: list[Any], question: str
) -> None:
    assert GEMINI.last_user_text(body(*contents)) == question


@each_row(
    ("request_body", "told"),
    [
        (body(ASK), body(ASK, systemInstruction={"parts": [MEMORY]})),
        (
            body(ASK, systemInstruction={"parts": [{"text": "Be short."}], "role": "user"}),
            body(ASK, systemInstruction={"parts": [{"text": "Be short."}, MEMORY], "role": "user"}),
        ),
        (
            body(ASK, system_instruction={"parts": [{"text": "Be short."}]}),
            body(ASK, system_instruction={"parts": [{"text": "Be short."}, MEMORY]}),
        ),
        (body(ASK, systemInstruction="Be short."), body(ASK, systemInstruction="Be short.")),
        (
            body(ASK, cachedContent="cachedContents/1"),
            body(user(MEMORY, *ASK["parts"]), cachedContent="cachedContents/1"),
        ),
        (
            body(ASK, generationConfig={"responseModalities": ["AUDIO"]}),
            body(ASK, generationConfig={"responseModalities": ["AUDIO"]}),
        ),
        (
            body(ASK, generationConfig={"responseModalities": ["TEXT"]}),
            body(
                ASK,
                generationConfig={"responseModalities": ["TEXT"]},
                systemInstruction={"parts": [MEMORY]},
            ),
        ),
    ],
)
def test_memory_is_at_the_end_of_the_system_instruction(request_body: Json, told: Json) -> None:
    assert GEMINI.add_memory(request_body, "M") == told


def test_a_model_without_a_system_instruction_gets_memory_with_the_question() -> None:
    turn = [ASK, model(CALL), user(RESULT)]

    told = GEMMA.add_memory(body(*turn), "M")

    assert told == body(user(MEMORY, *ASK["parts"]), *turn[1:])
    assert GEMMA.add_memory(body(user(RESULT)), "M") == body(user(RESULT))


def test_what_follows_the_last_reply_is_captured() -> None:
    failed = {"functionResponse": {"id": "f2", "name": "look", "response": {"error": "Dark."}}}
    listed = {"functionResponse": {"name": "list", "response": {"lamps": [1, 2], "result": ""}}}

    captured = GEMINI.new_messages(
        body(ASK, model(CALL), user(RESULT, failed, listed, {"text": "And?"}, PICTURE))
    )

    assert captured[:3] == [
        {"role": "tool", "content": "In Łódź.", "name": "look"},
        {
            "role": "tool",
            "content": "Dark.",
            "tool_call_id": "f2",
            "name": "look",
            "metadata": {"is_error": True},
        },
        {"role": "tool", "content": '{"lamps": [1, 2], "result": ""}', "name": "list"},
    ]
    text, picture = captured[3]["content"]
    assert text == {"type": "text", "text": "And?"}
    assert picture["type"] == "image"
    assert "left out" in picture["inlineData"]["data"]
    assert visible_texts(body(ASK, user(PICTURE))) == ["Where is the lamp?"]


def test_a_stream_adds_up_to_the_response_without_its_thoughts() -> None:
    first = {"candidates": [{"content": model({"text": "Hm.", "thought": True}, {"text": "In "})}]}
    second = {
        "candidates": [
            {"index": 1, "content": model({"text": "Or not."})},
            {"index": 0, "content": model({"text": "Łódź."}, CALL)},
        ]
    }
    last = {"candidates": [{"finishReason": "STOP"}], "modelVersion": "gemini-3-pro"}
    chunks = [first, second, last]
    expected = {
        "role": "assistant",
        "content": "In Łódź.",
        "tool_calls": [
            {"type": "function", "function": {"name": "look", "arguments": '{"at": "Łódź"}'}}
        ],
        "metadata": {"model": "gemini-3-pro"},
    }

    whole = GEMINI.assemble_stream(SseEvent("", chunk) for chunk in chunks)

    assert GEMINI.reply_messages(whole) == [expected]
    assert GEMINI.reply_messages(chunks) == [expected]
    assert GEMINI.reply_messages({"promptFeedback": {"blockReason": "SAFETY"}}) == []
