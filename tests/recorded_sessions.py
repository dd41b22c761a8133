"""Transcripts of Claude Code with tool calls, as JSON Lines."""

import json
from collections.abc import Iterable
from typing import Any

SESSION = "s-1"


class RecordedSession:
    """A session that is written line by line."""

    def __init__(self, session: str = SESSION, day: str = "2026-05-08") -> None:
        self.session = session
        self._day = day
        self._lines: list[dict[str, Any]] = []

    def say(self, text: str) -> "RecordedSession":
        """Add what the user typed."""
        return self._add("user", text)

    def call(
        self, tool: str, arguments: dict[str, Any], output: str, *, failed: bool = False
    ) -> "RecordedSession":
        """Add a tool call and its result."""
        return self.calls([(tool, arguments, output, failed)])

    def run(self, command: str, output: str = "ok", *, failed: bool = False) -> "RecordedSession":
        """Add a shell command and its result."""
        return self.call("Bash", {"command": command}, output, failed=failed)

    def edit(self, path: str, text: str = "b") -> "RecordedSession":
        """Add a change of a file."""
        arguments = {"file_path": path, "old_string": "a", "new_string": text}
        return self.call("Edit", arguments, f"The file {path} has been updated.")

    def calls(self, made: Iterable[tuple[str, dict[str, Any], str, bool]]) -> "RecordedSession":
        """Add parallel tool calls, and then their results."""
        uses, results = [], []
        for number, (tool, arguments, output, failed) in enumerate(made):
            call_id = f"t{len(self._lines)}-{number}"
            uses.append({"type": "tool_use", "id": call_id, "name": tool, "input": arguments})
            output = f"Exit code 1\n{output}" if failed else output
            result = {"type": "tool_result", "tool_use_id": call_id, "content": output}
            results.append({**result, "is_error": failed})
        return self._add("assistant", uses)._add("user", results)

    def text(self) -> str:
        """Return the transcript."""
        return "".join(f"{json.dumps(line)}\n" for line in self._lines)

    def _add(self, role: str, content: object) -> "RecordedSession":
        minute = len(self._lines)
        at = f"{self._day}T{10 + minute // 60:02}:{minute % 60:02}:00Z"
        message = {"role": role, "content": content}
        line = {"type": role, "sessionId": self.session, "timestamp": at, "message": message}
        self._lines.append(line)
        return self
