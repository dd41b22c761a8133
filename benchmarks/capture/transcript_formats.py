"""The same messages in the formats that a program may capture."""

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from benchmarks.capture.generated_messages import GeneratedMessage

BEGAN_AT = datetime(2025, 3, 4, 9, 0, tzinfo=UTC)
_ROLES = {"user": "user", "assistant": "assistant", "call": "tool", "result": "tool"}


def as_claude_code(messages: Sequence[GeneratedMessage]) -> str:
    """Return JSON Lines as Claude Code writes them."""
    lines = (_line(number, message) for number, message in enumerate(messages))
    return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)


def as_list(messages: Sequence[GeneratedMessage]) -> list[Mapping[str, str]]:
    """Return messages with a role and a content."""
    return [{"role": _ROLES[message.kind], "content": message.text} for message in messages]


def as_text(messages: Sequence[GeneratedMessage]) -> str:
    """Return a dialogue with labels."""
    return "\n\n".join(
        f"{_ROLES[message.kind].capitalize()}: {message.text}" for message in messages
    )


def _line(number: int, message: GeneratedMessage) -> dict[str, Any]:
    by_agent = message.kind in ("assistant", "call")
    return {
        "parentUuid": f"m-{number - 1}" if number else None,
        "uuid": f"m-{number}",
        "sessionId": "benchmark",
        "isSidechain": False,
        "cwd": "/home/dev/shop",
        "gitBranch": "main",
        "version": "2.0.1",
        "timestamp": (BEGAN_AT + timedelta(seconds=20 * number)).isoformat(),
        "type": "assistant" if by_agent else "user",
        "message": {"role": "assistant" if by_agent else "user", "content": _content(message)},
    }


def _content(message: GeneratedMessage) -> object:
    match message.kind:
        case "user":
            return message.text
        case "assistant":
            return [{"type": "text", "text": message.text}]
        case "call":
            return [{"type": "tool_use", "name": "Bash", "input": {"command": message.text}}]
        case _:
            return [{"type": "tool_result", "content": message.text}]
