"""
The clients themselves: they start our server and run our hooks. Run it with `pytest trials`.

Their model is our vendor's server, so nothing leaves this machine. They have to be installed (`npm
install -g @anthropic-ai/claude-code @openai/codex opencode-ai`), and that is why these are no part
of the tests.
"""

import os
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from gate import until
from recollect import Recollect
from recollect.config import load_settings
from terminal import installed
from vendor_server import Answer, Call, VendorServer, vendor_server

DECIDED = "We deploy the invoices service on Fridays."
PREFERRED = "I always indent Go code with tabs."
PLUGIN = Path(__file__).parent.parent / "src" / "recollect" / "plugin"
WAIT = Answer(calls=[Call("exec_command", {"cmd": "sleep 5"})])  # Codex waits for no server

pytestmark = pytest.mark.timeout(600)


@dataclass
class Desk:
    """A person with a fresh home, two projects, and clients that talk to our vendor's server."""

    home: Path
    vendor: VendorServer

    def project(self, name: str) -> Path:
        path = self.home / "projects" / name
        if not path.exists():
            subprocess.run(["git", "init", "-q", str(path)], check=True)
        return path

    def run(self, *command: str, project: str = "shop") -> str:
        strange = ("CLAUDE", "CODEX", "ANTHROPIC", "OPENAI", "RECOLLECT_", "MEMORY_", "XDG_")
        own = {name: one for name, one in os.environ.items() if not name.startswith(strange)}
        path = f"{Path(installed('recollect')).parent}{os.pathsep}{own['PATH']}"
        assert shutil.which(command[0], path=path), f"{command[0]} is not installed: see above"
        done = subprocess.run(
            command,
            cwd=self.project(project),
            env={
                **own,
                "HOME": str(self.home),
                "PATH": path,
                "ANTHROPIC_BASE_URL": self.vendor.anthropic_url,
                "ANTHROPIC_API_KEY": "sk-test",
                "OPENAI_API_KEY": "sk-test",
                "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
                "RECOLLECT_HOOK_TIMEOUT_MS": "60000",
            },
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout + done.stderr

    def memory(self) -> Recollect:
        db = self.home / ".local-memory" / "memory.db"
        return Recollect(load_settings(db=str(db), embedding_backend="none"))

    def claude(self, prompt: str, *options: str, project: str = "shop") -> str:
        return self.run("claude", "-p", prompt, *options, project=project)

    def codex(self, prompt: str, *, project: str = "shop") -> str:
        url = self.vendor.openai_url
        provider = f'{{name="v",base_url="{url}",wire_api="responses",env_key="OPENAI_API_KEY"}}'
        return self.run(
            *("codex", "exec", "-c", "model_provider=v", "-c", f"model_providers.v={provider}"),
            *("--dangerously-bypass-hook-trust", "--dangerously-bypass-approvals-and-sandbox"),
            prompt,
            project=project,
        )

    def asked(self) -> list[str]:
        """Return what the model was sent so far, each request as one text."""
        return [one.raw.decode() for one in self.vendor.asked]


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    """A desk where a decision is remembered in one of the two projects."""
    with vendor_server() as vendor:
        desk = Desk(tmp_path, vendor)
        desk.run("recollect", "add", DECIDED, "--type", "decision", "--project", ".")
        yield desk


def preferred(desk: Desk) -> list[str]:
    with desk.memory() as memory:
        return [one.content for one in memory.inbox(everywhere=True)]


def test_a_session_of_claude_code_knows_what_was_decided_and_hands_over_what_it_learnt(
    desk: Desk,
) -> None:
    desk.run("recollect", "setup", "claude-code", "--yes")
    assert "Connected" in desk.run("claude", "mcp", "list")
    search = "mcp__recollect__search"
    desk.vendor.script(
        Answer(calls=[Call("ToolSearch", {"query": f"select:{search}"})]),
        Answer(calls=[Call(search, {"query": "when do we deploy?"})]),
        Answer(text="On Fridays."),
    )

    said = desk.claude(f"When do we deploy? {PREFERRED}", "--allowedTools", search)

    first, *_, last = desk.asked()
    assert DECIDED in first  # by the hook, before the model was asked anything
    assert "On Fridays." in said
    assert DECIDED in last.split("tool_result")[-1]
    assert until(lambda: PREFERRED in preferred(desk))


def test_another_project_in_claude_code_sees_none_of_it(desk: Desk) -> None:
    desk.run("recollect", "setup", "claude-code", "--yes")

    desk.claude("When do we deploy?", project="bank")

    assert desk.asked()
    assert not any(DECIDED in one for one in desk.asked())


def test_the_plugin_does_the_same_in_claude_code(desk: Desk) -> None:
    assert "passed" in desk.run("claude", "plugin", "validate", str(PLUGIN))

    desk.claude(f"When do we deploy? {PREFERRED}", "--plugin-dir", str(PLUGIN))

    assert DECIDED in desk.asked()[0]
    assert "recollect-memory" in desk.asked()[0]  # its skill
    assert until(lambda: PREFERRED in preferred(desk))


def test_a_session_of_codex_knows_what_was_decided_and_hands_over_what_it_learnt(
    desk: Desk,
) -> None:
    desk.run("recollect", "setup", "codex", "--yes")
    search = Call("search", {"query": "when do we deploy?"}, namespace="mcp__recollect")
    desk.vendor.script(WAIT, Answer(calls=[search]), Answer(text="On Fridays."))

    desk.codex(f"When do we deploy? {PREFERRED}")

    first, *_, last = desk.asked()
    assert DECIDED in first
    assert DECIDED in last.split("function_call_output")[-1]
    assert until(lambda: PREFERRED in preferred(desk))


def test_the_plugin_in_codex_works_for_the_project_that_is_worked_in(desk: Desk) -> None:
    desk.run("codex", "plugin", "marketplace", "add", str(PLUGIN.parent.parent.parent))
    desk.run("codex", "plugin", "add", "recollect@recollect")
    status = Call("status", namespace="mcp__recollect")
    desk.vendor.script(WAIT, Answer(calls=[status]), Answer(text="Done."))

    desk.codex("What do you remember?")

    assert '\\"project\\":\\"shop\\"' in desk.asked()[-1].replace("\\\\", "\\")


def test_opencode_starts_the_server(desk: Desk) -> None:
    desk.run("recollect", "setup", "opencode", "--yes")

    assert "connected" in desk.run("opencode", "mcp", "list")
