"""A streamed chat response is joined although none was requested; a broken one is an error."""

from collections.abc import Iterator
from typing import Any

import pytest

from chat_server import SSE, ChatServer, Reply, chat_server, openai_reply, sse_reply
from recollect.errors import ModelUnavailable
from recollect.models.chat_model import Completion
from recollect.models.http_chat import ChatServerKind, HttpChatModel

pytestmark = pytest.mark.door


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ChatServer]:
    """The chat server of one test."""
    monkeypatch.setenv("NO_PROXY", "*")
    with chat_server() as serving:
        yield serving


def delta(content: Any, reason: str | None = None, **more: Any) -> dict[str, Any]:
    return {
        "choices": [{"index": 0, "delta": {"content": content}, "finish_reason": reason}],
        **more,
    }


def block(text: Any, kind: str = "text_delta") -> dict[str, Any]:
    return {"type": "content_block_delta", "index": 0, "delta": {"type": kind, "text": text}}


def message(*blocks: Any) -> list[Any]:
    """Return the events of an Anthropic stream around those of its text."""
    return [
        {"type": "message_start", "message": {"usage": {"input_tokens": 7, "output_tokens": 1}}},
        {"type": "content_block_start", "content_block": {"type": "text", "text": ""}},
        {"type": "ping"},
        *blocks,
        {"type": "content_block_stop", "index": 0},
        {
            "type": "message_delta",
            "delta": {"stop_reason": "end_turn"},
            "usage": {"output_tokens": 3},
        },
        {"type": "message_stop"},
    ]


def complete(server: ChatServer, kind: ChatServerKind = "openai") -> Completion:
    chat = HttpChatModel(kind=kind, url=server.url, model="m")
    return chat.complete("Be brief.", "Hello?", max_tokens=50)


def test_the_deltas_of_openai_are_joined(server: ChatServer) -> None:
    server.replies = [
        sse_reply(
            {"choices": [{"delta": {"role": "assistant", "content": ""}}]},
            ": OPENROUTER PROCESSING",
            delta("Hi "),
            delta([{"type": "text", "text": "there"}]),
            delta("."),
            delta(None, "stop"),
            {"choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": 3}},
        )
    ]

    assert complete(server) == Completion("Hi there.", 7, 3)


def test_the_deltas_of_anthropic_are_joined(server: ChatServer) -> None:
    thinking = block("Hm.", "thinking_delta")
    server.replies = [sse_reply(*message(thinking, block("Hi "), block("there.")), done=False)]

    assert complete(server, "anthropic") == Completion("Hi there.", 7, 3)


@pytest.mark.parametrize(
    "body",
    [
        b'event: message\r\ndata: {"choices": [{"delta": {"content": "Hi."}}]}\r\n\r\n'
        b"data: [DONE]\r\n\r\n",
        b'\xef\xbb\xbfdata:{"choices": [{"delta": {"content": "Hi."}}]}\n\ndata:[DONE]',
        b'id: 1\nretry: 9\ndata: {"choices": [{"delta":\ndata: {"content": "Hi."}}]}\n\n'
        b"data: [DONE]\n\n",
        b'data:\n\nevent: ping\n\n:\n\ndata: {"choices": [{"delta": {"content": "Hi."}}]}\n\n'
        b"data: [DONE]\n\nwhatever comes later",
        b'data: {"choices": [{"message": {"content": "Hi."}, "finish_reason": "stop"}]}\n\n',
    ],
    ids=["crlf", "no space", "data in lines", "pings", "message without an end mark"],
)
def test_a_stream_may_be_written_in_many_ways(server: ChatServer, body: bytes) -> None:
    server.replies = [Reply(body, headers=SSE)]

    assert complete(server).text == "Hi."


def test_a_line_separator_inside_a_text_does_not_end_a_line(server: ChatServer) -> None:
    body = 'data: {"choices": [{"delta": {"content": "a\u2028b"}}]}\n\ndata: [DONE]\n\n'
    server.replies = [Reply(body.encode(), headers=SSE)]

    assert complete(server).text == "a\u2028b"


def test_an_emoji_split_between_two_deltas_is_joined(server: ChatServer) -> None:
    server.replies = [sse_reply(delta("\ud83d"), delta("\ude00"))]

    assert complete(server).text == "😀"


@pytest.mark.parametrize(
    ("kind", "reply"),
    [
        ("openai", sse_reply(delta("Hi"), done=False)),
        ("anthropic", sse_reply(*message(block("Hi"))[:4], done=False)),
        ("openai", sse_reply(delta("Hi."), "lorem ipsum")),
        ("openai", sse_reply(delta("Hi."), "<html>")),
        ("openai", sse_reply(delta("Hi."), 'data: {"choi')),
        ("openai", sse_reply(delta("Hi."), "data: NaN")),
        ("openai", sse_reply(delta("Hi."), "data: " + "[" * 100_000)),
        ("openai", sse_reply(delta("Hi."), ["Hi."])),
        ("openai", sse_reply(delta("Hi."), {"choices": "Hi."})),
        ("openai", sse_reply(delta("Hi."), {"choices": ["Hi."]})),
        ("openai", sse_reply(delta("Hi."), {"choices": [{"delta": "Hi."}]})),
        ("openai", sse_reply(delta("Hi."), delta(7))),
        ("openai", sse_reply({"error": {"message": "overloaded"}})),
        ("openai", sse_reply(delta("Hi."), {"error": "overloaded"})),
        ("openai", sse_reply({"choices": [{"delta": {"refusal": "No."}}]})),
        ("openai", sse_reply(delta(None, "stop"))),
        ("openai", sse_reply()),
        ("openai", Reply(b"", headers=SSE)),
        ("openai", Reply(b"data: \xff\n\n", headers=SSE)),
        ("openai", Reply(openai_reply("Hi.").body, headers=SSE)),
        ("anthropic", sse_reply(*message(block("Hi."), {"type": "error", "error": {}}))),
        ("anthropic", sse_reply(*message(block("Hi."), {"no": "type"}))),
        ("anthropic", sse_reply(*message(block("Hi."), {"type": 7}))),
        ("anthropic", sse_reply(*message(block(7)))),
        (
            "anthropic",
            sse_reply(*message(block("Hi."), {"type": "content_block_delta", "delta": 7})),
        ),
        ("anthropic", sse_reply(*message(block("Hi."), {"type": "message_delta", "usage": 7}))),
        ("anthropic", sse_reply(*message())),
    ],
)
def test_garbage_an_error_or_an_early_end_makes_a_stream_unavailable(
    server: ChatServer, kind: ChatServerKind, reply: Reply
) -> None:
    server.replies = [reply]

    with pytest.raises(ModelUnavailable, match=f"the chat model at {server.url} .+; "):
        complete(server, kind)


def test_a_slow_stream_ends_at_the_timeout(server: ChatServer) -> None:
    body = sse_reply(*[delta("Hi.")] * 99).body
    server.replies = [Reply(body, headers=SSE, drip_s=0.02)]
    chat = HttpChatModel(kind="openai", url=server.url, model="m", timeout_s=0.2)

    with pytest.raises(ModelUnavailable, match=r"within 0\.2 s"):
        chat.complete("", "Hello?", max_tokens=50)
