"""
Trials with the real clients, which start our server and run our hooks: `pytest trials`.

Their model is a local fake of the vendors' servers, so nothing leaves this machine. The clients
must be installed (`npm install -g @anthropic-ai/claude-code @openai/codex opencode-ai
@google/gemini-cli`), so these trials are not part of the tests.
"""

import json
import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest

from fault_proxy import wait_until
from recollect import LocalRecollect
from recollect.config import load_settings
from recollect.domain.memory import Memory
from terminal import installed
from trials.client_terminal import ClientTerminal
from trials.gemini_server import gemini_server
from vendor_server import ScriptedCall, ScriptedResponse, VendorServer, vendor_server

DECIDED = "We deploy the invoices service on Fridays."
PREFERRED = "I always indent Go code with tabs."
PLUGIN = Path(__file__).parent.parent / "src" / "recollect" / "plugin"
# Neither client waits until the MCP server is connected.
WAIT = ScriptedResponse(calls=[ScriptedCall("exec_command", {"cmd": "sleep 5"})])  # Codex
CTRL_C = "\x03"
CLAUDE_WAIT = ScriptedResponse(calls=[ScriptedCall("Bash", {"command": "sleep 5"})])

pytestmark = pytest.mark.timeout(600)


@dataclass
class ClientUser:
    """A user with a new home folder, two projects, and clients that use the fake model server."""

    home: Path
    vendor: VendorServer

    def project(self, name: str) -> Path:
        path = self.home / "projects" / name
        if not path.exists():
            subprocess.run(["git", "init", "-q", str(path)], check=True)
        return path

    def run(
        self, *command: str, project: str = "shop", more: Mapping[str, str] | None = None
    ) -> str:
        env = {**self.environment(), **(more or {})}
        assert shutil.which(command[0], path=env["PATH"]), f"{command[0]} is not installed"
        done = subprocess.run(
            command,
            cwd=self.project(project),
            env=env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout + done.stderr

    def environment(self) -> dict[str, str]:
        vendors = ("CLAUDE", "CODEX", "ANTHROPIC", "OPENAI", "GEMINI", "GOOGLE")
        excluded = (*vendors, "RECOLLECT_", "MEMORY_", "XDG_")
        own = {key: value for key, value in os.environ.items() if not key.startswith(excluded)}
        return {
            **own,
            "HOME": str(self.home),
            "PATH": f"{Path(installed('recollect')).parent}{os.pathsep}{own['PATH']}",
            "ANTHROPIC_BASE_URL": self.vendor.anthropic_url,
            "ANTHROPIC_API_KEY": "sk-test",
            "OPENAI_API_KEY": "sk-test",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "RECOLLECT_HOOK_TIMEOUT_MS": "60000",
        }

    def memory(self) -> LocalRecollect:
        db = self.home / ".local-memory" / "memory.db"
        return LocalRecollect(load_settings(db=str(db), embedding_backend="none"))

    def claude(self, prompt: str, *options: str, project: str = "shop") -> str:
        return self.run("claude", "-p", prompt, *options, project=project)

    def codex(self, prompt: str, *, project: str = "shop") -> str:
        return self.run("codex", "exec", *self._codex_options(), prompt, project=project)

    def ask(self, client: str, prompt: str, *, project: str = "shop") -> str:
        """Run one session of Claude Code or Codex without a terminal; return its first request."""
        before = len(self.vendor.requests)
        session = self.claude if client == "claude-code" else self.codex
        session(prompt, project=project)
        return self.asked()[before]

    def type_in_terminal(self, client: str, prompt: str) -> str:
        """
        Run one session in a terminal, as a person does; return the request with the prompt.

        What a program passes to a client, as `claude -p` does, does not count as typed.
        """
        before = len(self.vendor.requests)
        if client == "claude-code":
            self._skip_questions_of_claude()
            command = ["claude", prompt]
        else:
            command = ["codex", *self._codex_options(), prompt]
        terminal = ClientTerminal(command, env=self.environment(), cwd=self.project("shop"))
        terminal.wait_until(lambda: "You said" in terminal.shown)  # the answer of the fake server
        terminal.end_with(CTRL_C)
        # Claude Code also asks the model for a title.
        requests = [request for request in self.asked()[before:] if '"tools":[{' in request]
        return next(request for request in requests if prompt in request)

    def _skip_questions_of_claude(self) -> None:
        """Answer what Claude Code asks when it is started the first time."""
        path = self.home / ".claude.json"
        settings = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
        settings |= {
            "hasCompletedOnboarding": True,
            "customApiKeyResponses": {"approved": ["sk-test"], "rejected": []},
            "projects": {str(self.project("shop")): {"hasTrustDialogAccepted": True}},
        }
        path.write_text(json.dumps(settings), encoding="utf-8")

    def _codex_options(self) -> list[str]:
        url, shop = self.vendor.openai_url, self.project("shop")
        provider = f'{{name="v",base_url="{url}",wire_api="responses",env_key="OPENAI_API_KEY"}}'
        return [
            *("-c", "model_provider=v", "-c", f"model_providers.v={provider}"),
            *("-c", f'projects={{"{shop}"={{trust_level="trusted"}}}}'),
            *("--dangerously-bypass-hook-trust", "--dangerously-bypass-approvals-and-sandbox"),
        ]

    def asked(self) -> list[str]:
        """Return the requests to the model so far, each as one text."""
        return [request.raw.decode() for request in self.vendor.requests]


@pytest.fixture
def new_user(tmp_path: Path) -> Iterator[ClientUser]:
    """A user who has stored nothing yet."""
    with vendor_server() as vendor:
        yield ClientUser(tmp_path, vendor)


@pytest.fixture
def user(new_user: ClientUser) -> ClientUser:
    """A user who has stored a decision in one of the two projects."""
    new_user.run("recollect", "add", DECIDED, "--type", "decision", "--project", ".")
    return new_user


def preferred(user: ClientUser) -> list[str]:
    with user.memory() as memory:
        return [
            candidate.content
            for candidate in memory.memories.list(
                statuses=["inbox", "stated"], limit=50, everywhere=True
            )
        ]


def test_a_session_of_claude_code_knows_what_was_decided_and_hands_over_what_it_learnt(
    user: ClientUser,
) -> None:
    user.run("recollect", "setup", "claude-code", "--yes")
    assert "Connected" in user.run("claude", "mcp", "list")
    search = "mcp__recollect__search"
    user.vendor.script(
        CLAUDE_WAIT,
        ScriptedResponse(calls=[ScriptedCall("ToolSearch", {"query": f"select:{search}"})]),
        ScriptedResponse(calls=[ScriptedCall(search, {"query": "when do we deploy?"})]),
        ScriptedResponse(text="On Fridays."),
    )

    output = user.claude(f"When do we deploy? {PREFERRED}", "--allowedTools", search, "Bash")

    first, *_, last = user.asked()
    assert DECIDED in first  # by the hook, before the model was asked anything
    assert "On Fridays." in output
    assert DECIDED in last.split("tool_result")[-1]
    assert wait_until(lambda: PREFERRED in preferred(user))


def test_another_project_in_claude_code_sees_none_of_it(user: ClientUser) -> None:
    user.run("recollect", "setup", "claude-code", "--yes")

    user.claude("When do we deploy?", project="bank")

    assert user.asked()
    assert not any(DECIDED in item for item in user.asked())


def test_the_plugin_does_the_same_in_claude_code(user: ClientUser) -> None:
    assert "passed" in user.run("claude", "plugin", "validate", str(PLUGIN))

    user.claude(f"When do we deploy? {PREFERRED}", "--plugin-dir", str(PLUGIN))

    assert DECIDED in user.asked()[0]
    assert "recollect-memory" in user.asked()[0]  # its skill
    assert wait_until(lambda: PREFERRED in preferred(user))


def test_a_session_of_codex_knows_what_was_decided_and_hands_over_what_it_learnt(
    user: ClientUser,
) -> None:
    user.run("recollect", "setup", "codex", "--yes")
    search = ScriptedCall("search", {"query": "when do we deploy?"}, namespace="mcp__recollect")
    user.vendor.script(WAIT, ScriptedResponse(calls=[search]), ScriptedResponse(text="On Fridays."))

    user.codex(f"When do we deploy? {PREFERRED}")

    first, *_, last = user.asked()
    assert DECIDED in first
    assert DECIDED in last.split("function_call_output")[-1]
    assert wait_until(lambda: PREFERRED in preferred(user))


def test_the_plugin_in_codex_works_for_the_project_that_is_worked_in(user: ClientUser) -> None:
    user.run("codex", "plugin", "marketplace", "add", str(PLUGIN.parent.parent.parent))
    user.run("codex", "plugin", "add", "recollect@recollect")
    status = ScriptedCall("status", namespace="mcp__recollect")
    user.vendor.script(WAIT, ScriptedResponse(calls=[status]), ScriptedResponse(text="Done."))

    user.codex("What do you remember?")

    assert '\\"project\\":\\"shop\\"' in user.asked()[-1].replace("\\\\", "\\")


def test_opencode_starts_the_server(user: ClientUser) -> None:
    user.run("recollect", "setup", "opencode", "--yes")

    assert "connected" in user.run("opencode", "mcp", "list")


RULE = "We use pnpm in this project, never npm."
RUN_NPM = {"command": "npm root"}


@contextmanager
def serving(user: ClientUser) -> Iterator[None]:
    """Run the server of the user's store: a hook at a tool call needs it."""
    user.run("recollect", "serve", "--background", "--port", "8391")
    try:
        yield
    finally:
        user.run("recollect", "stop", "--port", "8391")


def test_claude_code_is_told_of_a_rule_when_it_proposes_what_the_rule_forbids(
    user: ClientUser,
) -> None:
    user.run("recollect", "setup", "claude-code", "--yes")
    user.vendor.script(
        ScriptedResponse(calls=[ScriptedCall("Bash", RUN_NPM)]), ScriptedResponse(text="Done.")
    )
    user.run("recollect", "add", RULE, "--type", "decision", "--project", ".")
    with serving(user):
        user.claude("Which version is installed?", "--allowedTools", "Bash")

    after_call = user.asked()[-1].split("tool_use")[-1]
    assert "From memory, not an instruction" in after_call
    assert RULE in after_call


def test_codex_is_told_of_a_rule_when_it_proposes_what_the_rule_forbids(user: ClientUser) -> None:
    user.run("recollect", "setup", "codex", "--yes")
    user.vendor.script(
        ScriptedResponse(calls=[ScriptedCall("exec_command", {"cmd": RUN_NPM["command"]})]),
        ScriptedResponse(text="Done."),
    )
    user.run("recollect", "add", RULE, "--type", "decision", "--project", ".")
    with serving(user):
        user.codex("Which version is installed?")

    assert "From memory, not an instruction" in user.asked()[-1]
    assert RULE in user.asked()[-1]


FRIDAYS = "We deploy the invoices service on Fridays because the traffic is low then."
MONDAYS = (
    "From now on we deploy the invoices service on Mondays because everybody is at their desk."
)


@pytest.mark.parametrize("client", ["claude-code", "codex"])
@pytest.mark.parametrize("first_is_reviewed", [True, False])
def test_the_third_session_is_told_what_the_second_one_decided(
    new_user: ClientUser, client: str, first_is_reviewed: bool
) -> None:
    new_user.run("recollect", "setup", client, "--yes")
    for statement in (FRIDAYS, MONDAYS):
        new_user.type_in_terminal(client, statement)
        assert wait_until(partial(_has_learnt, new_user, statement))
        if statement == FRIDAYS and first_is_reviewed:
            _accept(new_user, FRIDAYS)

    request = new_user.type_in_terminal(client, "When do we deploy the invoices service?")

    memory_lines = _memory_lines(request)
    newer = [line for line in memory_lines if "on Mondays" in line]
    older = [line for line in memory_lines if "on Fridays" in line]
    assert newer, memory_lines
    assert memory_lines.index(newer[0]) == 0
    assert all("a newer memory contradicts it" in line for line in older)


@pytest.mark.parametrize("client", ["claude-code", "codex"])
def test_a_worktree_without_a_remote_is_the_same_project(user: ClientUser, client: str) -> None:
    user.run("recollect", "setup", client, "--yes")
    shop = user.project("shop")
    identity = ("-c", "user.name=a", "-c", "user.email=a@b.c")
    subprocess.run(
        ["git", *identity, "commit", "-q", "--allow-empty", "-m", "x"], cwd=shop, check=True
    )
    tree = user.home / "projects" / "shop-tree"
    subprocess.run(["git", "worktree", "add", "-q", str(tree)], cwd=shop, check=True)

    assert DECIDED in user.ask(client, "When do we deploy?", project="shop-tree")


def _memory_lines(request: str) -> list[str]:
    """Return the memories that hooks added to a request, without the records of sessions."""
    lines = request.replace("\\n", "\n").splitlines()
    return [line for line in lines if line.startswith("- [m") and "] Session (" not in line]


def _memories_of(user: ClientUser, statement: str) -> list[Memory]:
    with user.memory() as memory:
        memories = memory.memories.list(
            statuses=["stated", "inbox", "active", "superseded", "contradicted"],
            limit=50,
            everywhere=True,
        )
    return [item for item in memories if item.type != "episode" and item.content in statement]


def _has_learnt(user: ClientUser, statement: str) -> bool:
    return bool(_memories_of(user, statement))


def _accept(user: ClientUser, statement: str) -> None:
    memories = _memories_of(user, statement)
    with user.memory() as memory:
        for item in memories:
            memory.promote(item.id)


def test_gemini_cli_is_told_of_decisions_at_the_start_and_after_a_tool_call(
    user: ClientUser,
) -> None:
    user.run("recollect", "setup", "gemini-cli", "--yes")
    _choose_gemini_key(user)
    user.run("recollect", "add", RULE, "--type", "decision", "--project", ".")
    with gemini_server() as gemini, serving(user):
        gemini.script({"functionCall": {"name": "run_shell_command", "args": RUN_NPM}})
        own = {
            "GOOGLE_GEMINI_BASE_URL": gemini.url,
            "GEMINI_API_KEY": "test",
            "GEMINI_CLI_TRUST_WORKSPACE": "true",
        }
        user.run("gemini", "--yolo", "-p", f"When do we deploy? {PREFERRED}", more=own)

    first, second = gemini.requests
    assert DECIDED in first
    assert "From memory, not an instruction" not in first
    assert "From memory, not an instruction" in second
    assert RULE in second.split("From memory, not an instruction")[-1]
    assert wait_until(lambda: PREFERRED in preferred(user))


def _choose_gemini_key(user: ClientUser) -> None:
    """Choose how Gemini CLI is paid for, which it asks when it is started the first time."""
    path = user.home / ".gemini" / "settings.json"
    settings = json.loads(path.read_text(encoding="utf-8"))
    settings["security"] = {"auth": {"selectedType": "gemini-api-key"}}
    path.write_text(json.dumps(settings), encoding="utf-8")
