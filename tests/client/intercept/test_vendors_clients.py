"""Against the vendors' own clients: what they send is recognised, what they read we read alike."""

import json
from collections.abc import Callable
from typing import Any

import anthropic
import httpx2
import openai
import pytest

from recollect.client.intercept.dialect import Dialect
from recollect.client.intercept.recognise import dialect_of
from recollect.client.intercept.sse import events_of
from wire_answers import (
    chat_answer,
    chat_call,
    function_call,
    messages_answer,
    responses_answer,
    spoken,
    tool_use,
)
from wire_streams import as_sse, chat_stream, messages_stream, responses_stream

Json = dict[str, Any]

ASK: Any = {"role": "user", "content": "Where is the lamp?"}
ORDER: Any = {"role": "developer", "content": "Be short."}


class Server:
    """Answers every request with the same bytes, and remembers the last one."""

    def __init__(self, answer: Json, stream: bytes = b"") -> None:
        self.stream = stream
        self.answer = answer
        self.body: Any = None
        self.dialect: Dialect | None = None

    def __call__(self, request: httpx2.Request) -> httpx2.Response:
        self.body = json.loads(request.content)
        self.dialect = dialect_of(request.url.path, request.headers, self.body)
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


CHAT_ANSWER = chat_answer({"content": "In Łódź.", "tool_calls": [chat_call("c1"), chat_call("c2")]})
RESPONSE = responses_answer(spoken("In Łódź."), function_call("c1"), function_call("c2"))
MESSAGE = messages_answer(
    {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"},
    {"type": "text", "text": "In Łódź."},
    tool_use("t1", at="Łódź", n=[1, 2.5]),
    tool_use("t2"),
)


def chat(server: Server) -> Any:
    return server.openai().chat.completions.create(model="gpt-6", messages=[ORDER, ASK])


def chat_streamed(server: Server) -> Any:
    talk = server.openai().chat.completions
    with talk.stream(model="gpt-6", messages=[ORDER, ASK]) as stream:
        return stream.get_final_completion()


def azure_chat(server: Server) -> Any:
    client = openai.AzureOpenAI(
        api_key="k",
        api_version="2026-01-01",
        azure_endpoint="https://example.org",
        http_client=server.http,
    )
    return client.chat.completions.create(model="gpt-6", messages=[ORDER, ASK])


def response(server: Server) -> Any:
    return server.openai().responses.create(model="gpt-6", input=[ORDER, ASK])


def response_streamed(server: Server) -> Any:
    with server.openai().responses.stream(model="gpt-6", input=[ORDER, ASK]) as stream:
        return stream.get_final_response()


def message(server: Server) -> Any:
    return server.anthropic().messages.create(
        model="claude-5", max_tokens=9, messages=[ASK], system="Be short."
    )


def message_streamed(server: Server) -> Any:
    talk = server.anthropic().messages
    with talk.stream(model="claude-5", max_tokens=9, messages=[ASK]) as stream:
        return stream.get_final_message()


def beta_message_streamed(server: Server) -> Any:
    talk = server.anthropic().beta.messages
    with talk.stream(model="claude-5", max_tokens=9, messages=[ASK]) as stream:
        return stream.get_final_message()


@pytest.mark.parametrize(
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
    ask: Callable[[Server], Any], answer: Json, events: list[Any]
) -> None:
    server = Server(answer, as_sse(events))

    read = ask(server).to_dict()

    dialect = server.dialect
    assert dialect is not None
    assert dialect.asked(server.body) == "Where is the lamp?"
    assert dialect.said(server.body) == [ASK]
    wanted = dialect.replied(read)
    assert len(wanted[0]["tool_calls"]) == 2
    assert dialect.replied(answer) == wanted
    assert dialect.replied(dialect.assembled(events_of(server.stream))) == wanted


@pytest.mark.parametrize("count", [4, 9, 14])
def test_a_cut_stream_is_put_together_as_anthropics_client_does(count: int) -> None:
    events = messages_stream(MESSAGE)[:count]
    server = Server(MESSAGE, as_sse(events).replace(b"data: [DONE]\n\n", b""))
    talk = server.anthropic().messages

    with talk.stream(model="claude-5", max_tokens=9, messages=[ASK]) as stream:
        for _ in stream:
            pass
        read = stream.current_message_snapshot.to_dict()

    assert server.dialect is not None
    texts = [one["content"] for one in server.dialect.replied(read)]
    ours = server.dialect.replied(server.dialect.assembled(events_of(server.stream)))
    assert [one["content"] for one in ours] == texts
