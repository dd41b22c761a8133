"""
The two stub servers: `python -m benchmarks.server.stub_servers plain|vendor`.

`plain` is one ordinary FastAPI route that takes a message and returns a small JSON. `vendor`
answers a chat completion at once, always the same. Both use the settings of the memory server, and
print their URL first.
"""

import json
import socket
import sys
from typing import Any

import uvicorn
from fastapi import FastAPI
from pydantic import BaseModel

from benchmarks.server.processes import HOST

ANSWER = "That was decided in spring: the exports stay as they are, and the report moves to Monday."
COMPLETION = {
    "id": "chatcmpl-1",
    "object": "chat.completion",
    "created": 1_760_000_000,
    "model": "gpt-4o",
    "choices": [
        {
            "index": 0,
            "finish_reason": "stop",
            "message": {"role": "assistant", "content": ANSWER},
        }
    ],
    "usage": {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120},
}


class PlainMessage(BaseModel):
    """What the plain route takes."""

    role: str
    content: str


def plain() -> FastAPI:
    """Return an application with one route."""
    app = FastAPI()

    @app.post("/messages")
    def add(message: PlainMessage) -> dict[str, Any]:
        return {"id": "0199a000", "role": message.role, "length": len(message.content)}

    return app


async def vendor(scope: Any, receive: Any, send: Any) -> None:
    """Answer a chat completion."""
    if scope["type"] != "http":
        return
    while (await receive()).get("more_body"):
        pass
    headers = [(b"content-type", b"application/json")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": json.dumps(COMPLETION).encode()})


def main() -> int:
    app: Any = plain() if sys.argv[1] == "plain" else vendor
    config = uvicorn.Config(
        app,
        http="h11",
        ws="none",
        loop="asyncio",
        lifespan="off",
        log_level="error",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=30,
    )
    # With its protocol named, or asyncio leaves Nagle's delay of 40 ms on every answer.
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP) as bound:
        bound.bind((HOST, 0))
        print(json.dumps({"url": f"http://{HOST}:{bound.getsockname()[1]}"}), flush=True)
        uvicorn.Server(config).run(sockets=[bound])
    return 0


if __name__ == "__main__":
    sys.exit(main())
