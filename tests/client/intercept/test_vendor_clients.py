"""The dialects against the vendors' packages: requests are detected, responses read alike."""

import json
from collections.abc import Callable
from typing import Any

import anthropic
import httpx2
import openai
import pytest

from recollect.client.intercept.detect_dialect import detect_dialect
from recollect.client.intercept.dialect import Dialect
from recollect.client.intercept.sse import parse_events
from sample_responses import (
    chat_call,
    chat_response,
    function_call,
    messages_response,
    output_message,
    responses_response,
    tool_use,
)
from sample_streams import as_sse, chat_stream, messages_stream, responses_stream
from tables import each_row

pytestmark = pytest.mark.vendor

Json = dict[str, Any]

ASK: Any = {"role": "user", "content": "Where is the lamp?"}
ORDER: Any = {"role": "developer", "content": "Be short."}


class FixedResponseServer:
    """Answers every request with the same bytes, and remembers the last one."""

    def __init__(self, answer: Json, stream: bytes = b"") -> None:
        self.stream = stream
        self.answer = answer
        self.body: Any = None
        self.dialect: Dialect | None = None

    def __call__(self, request: httpx2.Request) -> httpx2.Response:
        self.body = json.loads(request.content)
        self.dialect = detect_dialect(request.url.path, request.headers, self.body)
        if self.body.get("stream"):
            kind = {"content-type": "text/event-stream"}
            return httpx2.Response(200, headers=kind, content=self.stream)
        return httpx2.Response(200, json=self.answer)

    @property
    def http(self) -> httpx2.Client:
        return httpx2.Client(transport=httpx2.MockTransport(self))

    def openai(self) -> openai.OpenAI:
        return openai.OpenAI(api_key="k", base_url="https://example.org/v1", http_client=self.http)

    def anthropic(self) -> anthropic.Anthropic:
        return anthropic.Anthropic(
            api_key="k", base_url="https://example.org", http_client=self.http
        )


CHAT_ANSWER = chat_response(
    {"content": "In Łódź.", "tool_calls": [chat_call("c1"), chat_call("c2")]}
)
RESPONSE = responses_response(output_message("In Łódź."), function_call("c1"), function_call("c2"))
MESSAGE = messages_response(
    {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"},
    {"type": "text", "text": "In Łódź."},
    tool_use("t1", at="Łódź", n=[1, 2.5]),
    tool_use("t2"),
)


def chat(server: FixedResponseServer) -> Any:
    return server.openai().chat.completions.create(model="gpt-6", messages=[ORDER, ASK])


def chat_streamed(server: FixedResponseServer) -> Any:
    talk = server.openai().chat.completions
    with talk.stream(model="gpt-6", messages=[ORDER, ASK]) as stream:
        return stream.get_final_completion()


def azure_chat(server: FixedResponseServer) -> Any:
    client = openai.AzureOpenAI(
        api_key="k",
        api_version="2026-01-01",
        azure_endpoint="https://example.org",
        http_client=server.http,
    )
    return client.chat.completions.create(model="gpt-6", messages=[ORDER, ASK])


def response(server: FixedResponseServer) -> Any:
    return server.openai().responses.create(model="gpt-6", input=[ORDER, ASK])


def response_streamed(server: FixedResponseServer) -> Any:
    with server.openai().responses.stream(model="gpt-6", input=[ORDER, ASK]) as stream:
        return stream.get_final_response()


def message(server: FixedResponseServer) -> Any:
    return server.anthropic().messages.create(
        model="claude-5", max_tokens=9, messages=[ASK], system="Be short."
    )


def message_streamed(server: FixedResponseServer) -> Any:
    talk = server.anthropic().messages
    with talk.stream(model="claude-5", max_tokens=9, messages=[ASK]) as stream:
        return stream.get_final_message()


def beta_message_streamed(server: FixedResponseServer) -> Any:
    talk = server.anthropic().beta.messages
    with talk.stream(model="claude-5", max_tokens=9, messages=[ASK]) as stream:
        return stream.get_final_message()


@each_row(
    ("ask", "answer", "events"),
    [
        (chat, CHAT_ANSWER, chat_stream(CHAT_ANSWER)),
        (chat_streamed, CHAT_ANSWER, chat_stream(CHAT_ANSWER)),
        (azure_chat, CHAT_ANSWER, chat_stream(CHAT_ANSWER)),
        (response, RESPONSE, responses_stream(RESPONSE)),
        (response_streamed, RESPONSE, responses_stream(RESPONSE)),
        (message, MESSAGE, messages_stream(MESSAGE)),
        (message_streamed, MESSAGE, messages_stream(MESSAGE)),
        (beta_message_streamed, MESSAGE, messages_stream(MESSAGE)),
    ],
)
def test_a_request_of_the_vendors_client_is_recognised_and_its_answer_read_alike(
    ask: Callable[[FixedResponseServer], Any], answer: Json, events: list[Any]
) -> None:
    server = FixedResponseServer(answer, as_sse(events))

    read = ask(server).to_dict()

    dialect = server.dialect
    assert dialect is not None
    assert dialect.last_user_text(server.body) == "Where is the lamp?"
    assert dialect.new_messages(server.body) == [ASK]
    expected = dialect.reply_messages(read)
    assert len(expected[0]["tool_calls"]) == 2
    assert dialect.reply_messages(answer) == expected
    assert dialect.reply_messages(dialect.assemble_stream(parse_events(server.stream))) == expected


@each_row("count", [4, 9, 14])
def test_a_cut_stream_is_put_together_as_anthropics_client_does(count: int) -> None:
    events = messages_stream(MESSAGE)[:count]
    server = FixedResponseServer(MESSAGE, as_sse(events).replace(b"data: [DONE]\n\n", b""))
    talk = server.anthropic().messages

    with talk.stream(model="claude-5", max_tokens=9, messages=[ASK]) as stream:
        for _ in stream:
            pass
        read = stream.current_message_snapshot.to_dict()

    assert server.dialect is not None
    texts = [one["content"] for one in server.dialect.reply_messages(read)]
    ours = server.dialect.reply_messages(
        server.dialect.assemble_stream(parse_events(server.stream))
    )
    assert [one["content"] for one in ours] == texts
