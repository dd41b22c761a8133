"""A local server with the part of Gemini's API that the Gemini CLI uses, and scripted responses."""

import json
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from chat_server import run_http_server

Part = dict[str, Any]


class GeminiServer:
    """The URL of the server, the requests so far, and the responses to the next ones."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.requests: list[str] = []  # those that may call tools, each as text
        self._script: deque[Part] = deque()
        self._lock = threading.Lock()

    def script(self, *parts: Part) -> None:
        """Respond to the next requests with *parts*, one each, and then with a text."""
        self._script.extend(parts)

    def response_part(self, body: dict[str, Any]) -> Part:
        """Record a request and return the part to respond with."""
        with self._lock:
            if "tools" not in body:  # asked by the program itself, for a summary or a route
                return {"text": "{}"}
            self.requests.append(json.dumps(body, ensure_ascii=False))
            return self._script.popleft() if self._script else {"text": "Done."}


@contextmanager
def gemini_server() -> Iterator[GeminiServer]:
    """Serve on a free port until the block ends."""
    with (
        _GeminiHttpServer(("127.0.0.1", 0), _GeminiHandler) as listening,
        run_http_server(listening) as url,
    ):
        listening.gemini = GeminiServer(url)
        yield listening.gemini


class _GeminiHttpServer(ThreadingHTTPServer):
    gemini: GeminiServer


class _GeminiHandler(BaseHTTPRequestHandler):
    server: _GeminiHttpServer

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        content = {"role": "model", "parts": [self.server.gemini.response_part(body)]}
        usage = {"promptTokenCount": 9, "candidatesTokenCount": 3, "totalTokenCount": 12}
        response = {
            "candidates": [{"content": content, "finishReason": "STOP", "index": 0}],
            "usageMetadata": usage,
        }
        text = json.dumps(response)
        is_stream = "streamGenerateContent" in self.path
        data = (f"data: {text}\r\n\r\n" if is_stream else text).encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream" if is_stream else "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None:
        """Print nothing."""
