"""
A local chat server with scripted replies.

    with chat_server() as server:
        server.replies = [openai("Hello."), Reply(status=500)]

Each request gets the next reply; the last reply repeats. The received requests are in `requests`.
Delays end when the server closes, so a slow reply never delays the end of a test.
"""

import json
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from recollect.errors import ModelUnavailable
from recollect.models.chat_model import ChatModel
from recollect.models.http_chat import ChatServerKind, HttpChatModel

SSE = {"Content-Type": "text/event-stream; charset=utf-8"}


@dataclass(frozen=True)
class Reply:
    """One reply. `missing` bytes are announced but not sent; a drip sends one byte at a time."""

    body: bytes = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    delay_s: float = 0.0
    drip_s: float = 0.0
    drip_head: bool = False
    missing: int = 0
    sized: bool = True  # without a size the body ends when the connection closes


@dataclass(frozen=True)
class ChatRequest:
    """A received request."""

    path: str
    headers: Mapping[str, str]
    body: Any


@dataclass
class ChatServer:
    """The URL of the server, its replies and the received requests."""

    url: str
    replies: Sequence[Reply] = ()
    requests: list[ChatRequest] = field(default_factory=list)
    closing: threading.Event = field(default_factory=threading.Event)


def json_reply(value: Any, **how: Any) -> Reply:
    """Return a reply with *value* as JSON."""
    return Reply(json.dumps(value).encode(), **how)


def openai_reply(
    content: Any, *, usage: Any = None, refusal: Any = None, reason: str = "stop"
) -> Reply:
    """Return a chat completion in OpenAI's format."""
    message = {"role": "assistant", "content": content, "refusal": refusal}
    choice = {"index": 0, "message": message, "finish_reason": reason}
    return json_reply({"object": "chat.completion", "choices": [choice], "usage": usage})


def anthropic_reply(content: Any, *, usage: Any = None, reason: str = "end_turn") -> Reply:
    """Return a message in Anthropic's format; a text becomes one block."""
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
    return json_reply({"type": "message", "content": blocks, "stop_reason": reason, "usage": usage})


def completion(kind: str, content: Any, **how: Any) -> Reply:
    """Return a reply in the format of a server of *kind*."""
    return anthropic_reply(content, **how) if kind == "anthropic" else openai_reply(content, **how)


def sse_reply(*events: Any, done: bool = True) -> Reply:
    """Return server-sent events: text as it is, anything else as the data of an event."""
    lines = [event if isinstance(event, str) else f"data: {json.dumps(event)}" for event in events]
    ending = ["data: [DONE]"] if done else []
    return Reply("".join(f"{line}\n\n" for line in (*lines, *ending)).encode(), headers=SSE)


class _ChatHandler(BaseHTTPRequestHandler):
    server: "_ChatHttpServer"

    def do_POST(self) -> None:
        script = self.server.script
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        script.requests.append(ChatRequest(self.path, dict(self.headers.items()), body))
        reply = script.replies[min(len(script.requests), len(script.replies)) - 1]
        script.closing.wait(reply.delay_s)
        with suppress(OSError):  # the client has disconnected
            self._send(reply)

    def _send(self, reply: Reply) -> None:
        head = [f"HTTP/1.1 {reply.status} Scripted", "Connection: close"]
        if reply.sized:
            head.append(f"Content-Length: {len(reply.body) + reply.missing}")
        head += [f"{name}: {value}" for name, value in reply.headers.items()]
        start = "\r\n".join(head).encode("latin-1") + b"\r\n\r\n"
        self._write(start, reply.drip_s if reply.drip_head else 0)
        self._write(reply.body, reply.drip_s)

    def _write(self, data: bytes, drip_s: float) -> None:
        for part in [data[i : i + 1] for i in range(len(data))] if drip_s else [data]:
            self.wfile.write(part)
            if drip_s and self.server.script.closing.wait(drip_s):
                return

    def log_message(self, format: str, *args: Any) -> None:
        """Do not log."""


class _ChatHttpServer(ThreadingHTTPServer):
    script: ChatServer


@contextmanager
def run_http_server(listening: ThreadingHTTPServer) -> Iterator[str]:
    """Serve in a thread until the block ends; gives the address."""
    thread = threading.Thread(target=listening.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{listening.server_port}"
    finally:
        listening.shutdown()
        thread.join()


@contextmanager
def chat_server() -> Iterator[ChatServer]:
    """Serve on a free port until the block ends."""
    with (
        _ChatHttpServer(("127.0.0.1", 0), _ChatHandler) as listening,
        run_http_server(listening) as url,
    ):
        script = listening.script = ChatServer(url)
        try:
            yield script
        finally:
            script.closing.set()


# Clients


def chat_model(
    server: ChatServer, kind: ChatServerKind = "openai", path: str = "", **how: Any
) -> HttpChatModel:
    return HttpChatModel(kind=kind, url=server.url + path, model="m", **how)


def complete(model: ChatModel) -> str:
    return model.complete("Be brief.", "Hello?", max_tokens=50).text


def raised_error(model: ChatModel) -> ModelUnavailable:
    with pytest.raises(ModelUnavailable) as raised:
        complete(model)
    return raised.value
