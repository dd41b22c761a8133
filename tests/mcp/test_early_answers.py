"""The first requests over pipes are answered before the package `mcp` is loaded."""

import json
import subprocess
import sys
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from recollect.mcp.early_answers import (
    PROTOCOL_VERSIONS,
    ClientPipes,
    EarlySession,
    answer_early,
)
from recollect.mcp.tool_profiles import PROFILES

pytestmark = pytest.mark.door

INITIALIZED = {"jsonrpc": "2.0", "method": "notifications/initialized"}
LIST_TOOLS = {"jsonrpc": "2.0", "id": "tools", "method": "tools/list"}
PING = {"jsonrpc": "2.0", "id": 3, "method": "ping", "params": {"_meta": {"progressToken": 1}}}
CALL = {"jsonrpc": "2.0", "id": 4, "method": "tools/call", "params": {"name": "status"}}
SERVE_WITHOUT_EARLY_ANSWERS = """
import sys
from recollect.app.local_recollect import LocalRecollect
from recollect.config import Settings
from recollect.mcp.caller_scope import Caller
from recollect.mcp.stdio_transport import serve_stdio

with LocalRecollect(Settings(db=":memory:", embedding_backend="none")) as rec:
    serve_stdio(rec, Caller(profile=sys.argv[1]), start_folder=None)
"""


def initialize(version: str = PROTOCOL_VERSIONS[-1], **changes: Any) -> dict[str, Any]:
    client = {"name": "test", "version": "1"}
    params = {"protocolVersion": version, "capabilities": {}, "clientInfo": client, **changes}
    return {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}


def early(messages: Sequence[Any], profile: str = "recollect") -> tuple[EarlySession, list[Any]]:
    """Return the session after *messages*, and the answers."""
    sent = "".join(f"{json.dumps(message)}\n" for message in messages)
    pipes = ClientPipes(BytesIO(sent.encode()), BytesIO())
    session = answer_early(pipes, profile)
    assert isinstance(pipes.outgoing, BytesIO)
    return session, [json.loads(line) for line in pipes.outgoing.getvalue().splitlines()]


def package_answers(messages: Sequence[Any], profile: str) -> list[Any]:
    """Return what the package answers to *messages*, each sent after the answer before."""
    answers = []
    with subprocess.Popen(
        [sys.executable, "-c", SERVE_WITHOUT_EARLY_ANSWERS, profile],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for message in messages:
            process.stdin.write(f"{json.dumps(message)}\n")
            process.stdin.flush()
            if "id" in message:
                answers.append(json.loads(process.stdout.readline()))
    return answers


def test_early_answers_are_those_of_the_package(subtests: pytest.Subtests) -> None:
    cases = [(version, "recollect") for version in PROTOCOL_VERSIONS]
    cases += [(PROTOCOL_VERSIONS[-1], profile) for profile in PROFILES if profile != "recollect"]
    for version, profile in cases:
        with subtests.test(version=version, profile=profile):
            messages = [initialize(version), INITIALIZED, LIST_TOOLS, PING]
            session, answers = early(messages, profile)

            assert answers == package_answers(messages, profile)
            assert len(answers) == 3
            assert session.has_ended


def test_the_first_other_message_goes_to_the_package_with_what_it_must_know() -> None:
    session, answers = early([initialize(), INITIALIZED, LIST_TOOLS, CALL, PING])

    assert [answer["id"] for answer in answers] == [1, "tools"]
    assert [json.loads(line) for line in session.lines] == [initialize(), INITIALIZED, CALL]
    assert session.answered_id == 1
    assert not session.has_ended
    assert json.loads(session.pipes.incoming.readline()) == PING


def test_what_is_not_an_ordinary_beginning_is_left_to_the_package(
    subtests: pytest.Subtests,
) -> None:
    for first in (
        LIST_TOOLS,  # without a session
        PING,
        initialize("2026-07-28"),
        initialize("1999-01-01"),
        initialize(capabilities=None),
        initialize(clientInfo={"name": "test"}),
        {**initialize(), "id": True},
        {**initialize(), "jsonrpc": "1.0"},
        ["not", "an object"],
    ):
        with subtests.test(first=first):
            session, answers = early([first, INITIALIZED])

            assert answers == []
            assert [json.loads(line) for line in session.lines] == [first]
            assert session.answered_id is None


def test_nothing_of_the_package_is_loaded_for_the_first_answer(tmp_path: Path) -> None:
    script = (
        "import sys\n"
        f"sys.argv = ['recollect', 'mcp', '--db', {str(tmp_path / 'm.db')!r}]\n"
        "from recollect.entry import main\n"
        "try:\n    main()\n"
        "finally:\n    print({'mcp', 'mcp_types', 'anyio'} & set(sys.modules), file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        input=f"{json.dumps(initialize())}\n",
        capture_output=True,
        text=True,
        check=True,
    )

    assert json.loads(done.stdout)["result"]["serverInfo"]["name"] == "recollect"
    assert done.stderr == "set()\n"
