"""
Run a tool that came as Python source with an agent file: in a process of its own.

The code is not ours and not checked: a person approves each call, and sees the code. The process
has a time limit, an empty folder, and no environment but the path. This is not a sandbox: the code
can do whatever the user can do.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from typing import Any

from recollect.errors import RecollectError
from recollect.runtime.agent_settings import FileTool
from recollect.runtime.agent_tool import RETURN_CHARS, AgentTool

TIMEOUT_S = 60.0
_RUNNER = """
import json, os, sys
answer = os.fdopen(os.dup(1), "w", encoding="utf-8")
os.dup2(2, 1)  # what the tool prints is not its result
task = json.load(sys.stdin)
names = {"__name__": "tool"}
exec(compile(task["source"], task["name"], "exec"), names)
result = names[task["name"]](**task["arguments"])
json.dump(result, answer, default=str)
answer.flush()
"""


class SourceToolFailed(RecollectError):
    """A tool that came as source code failed; the message says how."""


def source_tool(tool: FileTool) -> AgentTool:
    """Return a tool that runs the source code of *tool*; each call needs an approval."""

    def run(arguments: Mapping[str, Any]) -> Any:
        return run_source(tool, arguments)

    return AgentTool(
        name=tool.name,
        description=tool.description,
        parameters=tool.parameters or {"type": "object", "properties": {}},
        run=run,
        return_char_limit=tool.return_char_limit or RETURN_CHARS,
        enable_parallel_execution=tool.enable_parallel_execution,
        requires_approval=True,
        source_code=tool.source_code,
    )


def run_source(tool: FileTool, arguments: Mapping[str, Any]) -> Any:
    """Return what the tool returns for *arguments*."""
    task = {"source": tool.source_code, "name": tool.name, "arguments": dict(arguments)}
    environment = {name: os.environ[name] for name in ("PATH", "SYSTEMROOT") if name in os.environ}
    with tempfile.TemporaryDirectory(prefix="recollect-tool-") as folder:
        try:
            done = subprocess.run(
                [sys.executable, "-I", "-c", _RUNNER],
                input=json.dumps(task).encode(),
                capture_output=True,
                cwd=folder,
                env=environment,
                timeout=TIMEOUT_S,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise SourceToolFailed(f"{tool.name} did not end within {TIMEOUT_S:g} s") from None
    if done.returncode:
        lines = done.stderr.decode(errors="replace").strip().splitlines() or ["no message"]
        raise SourceToolFailed(f"{tool.name} failed: {lines[-1]}")
    if not done.stdout.strip():  # the code ended the process by itself
        raise SourceToolFailed(
            f"{tool.name} returned no result; its function must return a JSON value"
        )
    return json.loads(done.stdout)
