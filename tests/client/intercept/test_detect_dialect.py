"""The dialect of a request is detected from its path, headers and body."""

from recollect.client.intercept.detect_dialect import detect_dialect, may_call_model
from tables import each_row

TALK = {"model": "m", "messages": []}
CONTENTS: dict[str, object] = {"contents": []}
VERSION = {"Anthropic-Version": "2023-06-01"}


@each_row(
    ("path", "headers", "body", "name"),
    [
        ("/v1/chat/completions", {}, TALK, "openai-chat"),
        ("/v1/chat/completions/", {}, TALK, "openai-chat"),
        ("/openai/deployments/gpt/chat/completions?api-version=1", {}, TALK, "openai-chat"),
        ("/chat/completions", {}, {"messages": []}, "openai-chat"),
        ("/v1/chat/completions", {}, {"messages": "hello"}, None),
        ("/v1/chat/completions/chatcmpl-1", {}, TALK, None),
        ("/v1/chat/completions/chatcmpl-1/messages", {}, TALK, None),
        ("/v1/completions", {}, TALK, None),
        ("/v1/responses", {}, {"model": "m", "input": "hello"}, "openai-responses"),
        ("/v1/responses?beta=true", {}, {"model": "m", "input": []}, "openai-responses"),
        ("/v1/responses", {}, {"input": []}, None),
        ("/openai/v1/responses", {}, {"prompt": {"id": "p"}}, "openai-responses"),
        ("/v1/responses", {}, {}, None),
        ("/v1/responses/resp_1", {}, {"model": "m"}, None),
        ("/v1/responses/resp_1/cancel", {}, {"model": "m"}, None),
        ("/v1/responses/compact", {}, {"model": "m", "input": []}, None),
        ("/v1/responses/input_tokens", {}, {"model": "m", "input": []}, None),
        ("/v1/messages", VERSION, TALK, "anthropic-messages"),
        ("/v1/messages?beta=true", {"ANTHROPIC-VERSION": "x"}, TALK, "anthropic-messages"),
        ("/v1/messages", {"anthropic-version": "x"}, TALK, "anthropic-messages"),
        ("/v1/messages", {}, TALK, None),
        ("/v1/threads/t/messages", {}, {"role": "user", "content": "hello"}, None),
        ("/v1/messages/count_tokens", VERSION, TALK, None),
        ("/v1/messages/batches", VERSION, {"requests": []}, None),
        ("/api/chat", {}, TALK, "ollama-chat"),
        ("/ollama/api/chat/", {}, TALK, "ollama-chat"),
        ("/api/chat", {}, {"messages": []}, None),
        ("/api/generate", {}, {"model": "m", "prompt": "hello"}, None),
        ("/v1beta/models/gemini-3-pro:generateContent", {}, CONTENTS, "gemini"),
        ("/v1beta/models/gemini-3-pro:streamGenerateContent?alt=sse", {}, CONTENTS, "gemini"),
        ("/v1/publishers/google/models/gemini-3-pro:generateContent", {}, CONTENTS, "gemini"),
        ("/v1beta/models/gemma-3-27b-it:generateContent", {}, CONTENTS, "gemma"),
        ("/v1beta/models/gemini-3-pro:generateContent", {}, {"contents": "hello"}, None),
        ("/v1beta/models/gemini-3-pro:countTokens", {}, CONTENTS, None),
        ("/v1beta/models/gemini-3-pro:batchGenerateContent", {}, CONTENTS, None),
        ("", {}, TALK, None),
    ],
)
def test_a_request_is_known_by_path_headers_and_body(
    path: str, headers: dict[str, str], body: object, name: str | None
) -> None:
    found = detect_dialect(path, headers, body)

    assert (found.name if found else None) == name
    assert found is None or may_call_model(path.partition("?")[0])


@each_row("body", [None, [], "text", 7])
def test_a_body_that_is_no_object_is_no_request_to_a_model(body: object) -> None:
    assert detect_dialect("/v1/chat/completions", {}, body) is None
    assert detect_dialect("/v1/responses", {}, body) is None
    assert detect_dialect("/v1/messages", VERSION, body) is None
