"""
Secrets brought in through every door, and the bytes of every file that exists afterwards.

The client programs are real: a server process, hooks, the command line and MCP over pipes. Every
secret is drawn at random, so that none of them can stand in a file by chance.
"""

import json
import random
import string
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import anyio
import httpx2
import pytest
from mcp import Client

import recollect
from hook_clients import CLAUDE_CODE, CODEX, CURSOR, CodingAgent, HookHome
from mcp_clients import stdio_server
from server_process import ServerProcess, run_server
from terminal import installed

pytestmark = pytest.mark.door

SHAPES = (
    "SECRET_KEY={}",
    "JWT_SECRET_KEY={}",
    "DB_PASS={}",
    "GITHUB_PAT={}",
    "ghp_{}",
    "my token is {}",
    "Cookie: sessionid={}",
    "Authorization: Bearer {}",
    "postgres://app:{}@db.acme.io/app",
    "curl -u ana:{} https://ci.acme.io",
    "mein Passwort lautet {}",
    "密码是{}",
    "use {} as the password",
)


@dataclass
class SecretPlanter:
    """Draws secrets and puts them into texts."""

    rng: random.Random = field(default_factory=lambda: random.Random(16))
    secrets: list[str] = field(default_factory=list)

    def text(self, shape: str) -> str:
        """Return *shape* with a new secret in it."""
        self.secrets.append("x7" + "".join(self.rng.choices(string.ascii_letters, k=32)) + "Q4")
        return shape.format(self.secrets[-1])

    def commands(self) -> list[str]:
        """Return one command with each shape, behind a line break and a tab."""
        return [f"cat .env\n\t{self.text(shape)}\nexit 0" for shape in SHAPES]

    def named(self) -> dict[str, Any]:
        """Return an object in which only a name or a place says that a string is a secret."""
        word = "".join(self.rng.choices(string.ascii_lowercase, k=14))
        self.secrets.append(word)
        return {
            "password": word,
            "env": [{"name": "API_TOKEN", "value": self.text("{}")}],
            "command": ["mysql", "--password", self.text("{}")],
        }


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> HookHome:
    return HookHome(tmp_path_factory.mktemp("home"))


@pytest.fixture(scope="module")
def server(home: HookHome) -> Iterator[ServerProcess]:
    with run_server(home.db, env=home.env(), log=home.folder / "server.log") as process:
        yield process


def assert_no_file_holds(home: HookHome, planter: SecretPlanter) -> None:
    """Assert that the store, its log, and the files of hooks and server hold no secret."""
    files = [home.db, *home.folder.glob("memory.db-*"), home.folder / "server.log"]
    files += [path for path in home.state.rglob("*") if path.is_file()]
    contents = {path.name: path.read_bytes() for path in files if path.exists()}
    leaked = [
        (name, secret)
        for name, content in contents.items()
        for secret in planter.secrets
        if secret.encode() in content
    ]

    assert leaked == []
    stored = contents["memory.db"] + contents.get("memory.db-wal", b"")
    assert b"[redacted:" in stored


def run_cli(home: HookHome, *arguments: str) -> None:
    command = [installed("recollect"), *arguments]
    subprocess.run(command, env=home.env(), cwd=home.folder, check=True, capture_output=True)


def tool_calls(planter: SecretPlanter, *, as_text: bool) -> list[dict[str, Any]]:
    inputs: list[dict[str, Any]] = [{"command": text} for text in planter.commands()]
    inputs.append(planter.named())
    return [
        {
            "id": f"call_{number}",
            "type": "function",
            "function": {"name": "bash", "arguments": json.dumps(each) if as_text else each},
        }
        for number, each in enumerate(inputs)
    ]


def test_messages_with_tool_calls_sent_over_http_leave_no_secret(
    home: HookHome, server: ServerProcess
) -> None:
    planter = SecretPlanter(random.Random(1))
    result = json.dumps({"stdout": "\n".join(planter.commands()), "config": planter.named()})
    parts = [{"type": "tool_result", "tool_use_id": "call_1", "content": result}]
    messages: list[dict[str, Any]] = [
        {"role": "user", "content": "\n".join(planter.commands())},
        {"role": "assistant", "content": "", "tool_calls": tool_calls(planter, as_text=True)},
        {"role": "assistant", "content": "", "tool_calls": tool_calls(planter, as_text=False)},
        {"role": "tool", "content": result, "tool_call_id": "call_1"},
        {"role": "tool", "content": parts, "tool_call_id": "call_2"},
        {"role": "user", "content": "Done.", "metadata": planter.named()},
    ]
    with httpx2.Client(base_url=server.url) as client:
        started = client.post("/api/conversations", json={"agent": "http"})
        assert started.is_success, started.text
        path = f"/api/conversations/{started.json()['id']}/messages/batch"
        added = client.post(path, json={"messages": messages})

    assert added.is_success, added.text
    assert_no_file_holds(home, planter)


def test_tool_call_arguments_recorded_by_learning_leave_no_secret(
    home: HookHome, server: ServerProcess
) -> None:
    planter = SecretPlanter(random.Random(2))
    reply = {"role": "assistant", "content": None, "tool_calls": tool_calls(planter, as_text=True)}
    answer = {"model": "m", "choices": [{"index": 0, "message": reply}]}
    output = json.dumps({"output": "\n".join(planter.commands())})
    messages = [
        {"role": "user", "content": planter.text("my token is {}, remember it")},
        reply,
        {"role": "tool", "tool_call_id": "call_0", "content": output},
    ]
    transport = httpx2.MockTransport(lambda request: httpx2.Response(200, json=answer))

    with (
        recollect.connect(server.url) as remote,
        recollect.learning("learner", memory=remote, timeout_s=30.0, flush_s=30.0),
        httpx2.Client(transport=transport) as client,
    ):
        url = "http://vendor.example/v1/chat/completions"
        client.post(url, json={"model": "m", "messages": messages})

    assert_no_file_holds(home, planter)


def claude_code_lines(planter: SecretPlanter) -> Iterator[dict[str, Any]]:
    common = {"sessionId": "s", "cwd": "/srv/shop", "timestamp": "2026-03-01T10:00:00Z"}
    user = {"role": "user", "content": "Please show me the environment of the shop."}
    yield {"type": "user", "uuid": "u", "message": user, **common}
    inputs: list[dict[str, Any]] = [{"command": text} for text in planter.commands()]
    for number, each in enumerate([*inputs, planter.named()]):
        call = {"type": "tool_use", "id": f"t{number}", "name": "Bash", "input": each}
        yield {
            "type": "assistant",
            "uuid": f"a{number}",
            "message": {"role": "assistant", "content": [call]},
            **common,
        }
    output = json.dumps({"output": "\n".join(planter.commands())})
    results = [{"type": "tool_result", "tool_use_id": "t0", "content": output}]
    yield {
        "type": "user",
        "uuid": "r",
        "message": {"role": "user", "content": results},
        "toolUseResult": {"stdout": "ok"},
        **common,
    }


def codex_lines(planter: SecretPlanter) -> Iterator[dict[str, Any]]:
    def item(payload: dict[str, Any], kind: str = "response_item") -> dict[str, Any]:
        return {"timestamp": "2026-03-01T10:00:00Z", "type": kind, "payload": payload}

    yield item({"id": "s", "cwd": "/srv/shop"}, "session_meta")
    text = [{"type": "input_text", "text": "Please show me the environment of the shop."}]
    yield item({"type": "message", "role": "user", "content": text})
    inputs: list[dict[str, Any]] = [{"command": ["bash", "-lc", t]} for t in planter.commands()]
    for number, each in enumerate([*inputs, planter.named()]):
        call = {"type": "function_call", "name": "shell", "call_id": f"c{number}"}
        yield item(call | {"arguments": json.dumps(each)})
    output = json.dumps({"output": "\n".join(planter.commands()), "metadata": {"exit_code": 0}})
    yield item({"type": "function_call_output", "call_id": "c0", "output": output})


def cursor_lines(planter: SecretPlanter) -> Iterator[dict[str, Any]]:
    query = "<user_query>\nPlease show me the environment of the shop.\n</user_query>"
    yield {"role": "user", "message": {"content": [{"type": "text", "text": query}]}}
    inputs: list[dict[str, Any]] = [{"command": text} for text in planter.commands()]
    for each in [*inputs, planter.named()]:
        call = {"type": "tool_use", "name": "Shell", "input": each}
        yield {"role": "assistant", "message": {"content": [call]}}


TRANSCRIPTS = {
    CLAUDE_CODE: claude_code_lines,
    CODEX: codex_lines,
    CURSOR: cursor_lines,
}


@pytest.mark.parametrize("client", TRANSCRIPTS, ids=lambda client: client.name)
def test_tool_inputs_in_a_captured_transcript_leave_no_secret(
    home: HookHome, server: ServerProcess, client: CodingAgent
) -> None:
    planter = SecretPlanter(random.Random(client.name))
    path = home.folder / "transcripts" / f"{client.name}.jsonl"
    path.parent.mkdir(exist_ok=True)
    lines = [json.dumps(line) for line in TRANSCRIPTS[client](planter)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    payload = client.payload(f"session of {client.name}", home.project("shop"), path)
    captured = home.log.count(" jobs")

    home.run_hook(client.prompt, payload | {"prompt": planter.text("my token is {}")})
    home.run_hook(client.end, payload | {"reason": "other"})
    home.wait_for_captures(captured + 1)

    assert_no_file_holds(home, planter)


def test_the_command_line_mcp_and_imports_leave_no_secret(
    home: HookHome, server: ServerProcess
) -> None:
    planter = SecretPlanter(random.Random(4))
    texts = [json.dumps({"stdout": text}) for text in planter.commands()]
    file = home.folder / "import.jsonl"
    lines = [json.dumps({"role": "user", "content": text}) for text in planter.commands()]
    file.write_text("\n".join(lines), encoding="utf-8")

    async def remember(text: str) -> None:
        async with Client(stdio_server(home.db)) as client:
            arguments = {"content": text}
            result = await client.call_tool("remember", arguments)
            assert not result.is_error, result

    run_cli(home, "add", "\n".join(texts))
    run_cli(home, "capture", str(file))
    anyio.run(remember, "The output was " + "\n".join(planter.commands()))

    assert_no_file_holds(home, planter)
