"""The first requests over pipes are answered before the package `mcp` is loaded."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import IO, Any

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
# Loads the package once; each session is a fork of its own.
SERVE_WITHOUT_EARLY_ANSWERS = """
import os, sys
from recollect.app.local_recollect import LocalRecollect
from recollect.config import Settings
from recollect.mcp.caller_scope import Caller
from recollect.mcp.stdio_transport import serve_stdio

for session in sys.argv[1:]:
    profile, incoming, outgoing = session.split(":")
    if os.fork() == 0:
        os.dup2(int(incoming), 0)
        os.dup2(int(outgoing), 1)
        with LocalRecollect(Settings(db=":memory:", embedding_backend="none")) as rec:
            serve_stdio(rec, Caller(profile=profile), start_folder=None)
        os._exit(0)
for _ in sys.argv[1:]:
    os.wait()
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


@dataclass
class PackageSession:
    """One session with the package, over pipes."""

    to_server: IO[str]
    from_server: IO[str]

    def answers(self, messages: Sequence[Any]) -> list[Any]:
        """Return what the package answers to *messages*, each sent after the answer before."""
        answers = []
        for message in messages:
            self.to_server.write(f"{json.dumps(message)}\n")
            self.to_server.flush()
            if "id" in message:
                answers.append(json.loads(self.from_server.readline()))
        return answers


@contextmanager
def package_sessions(profiles: Sequence[str]) -> Iterator[list[PackageSession]]:
    """Yield a session with the package for each of *profiles*."""
    with ExitStack() as stack:
        sessions, arguments, server_ends = [], [], []
        for profile in profiles:
            (incoming, to_server), (from_server, outgoing) = os.pipe(), os.pipe()
            reading = stack.enter_context(os.fdopen(from_server))
            sessions.append(PackageSession(stack.enter_context(os.fdopen(to_server, "w")), reading))
            arguments.append(f"{profile}:{incoming}:{outgoing}")
            server_ends += [incoming, outgoing]
        command = [sys.executable, "-c", SERVE_WITHOUT_EARLY_ANSWERS, *arguments]
        process = subprocess.Popen(command, pass_fds=server_ends)
        stack.callback(process.wait)  # after the pipes are closed, which ends the sessions
        for server_end in server_ends:
            os.close(server_end)
        with ExitStack() as pipes:
            for session in sessions:
                pipes.callback(session.to_server.close)
            yield sessions


def test_early_answers_are_those_of_the_package(subtests: pytest.Subtests) -> None:
    cases = [(version, "recollect") for version in PROTOCOL_VERSIONS]
    cases += [(PROTOCOL_VERSIONS[-1], profile) for profile in PROFILES if profile != "recollect"]
    with package_sessions([profile for _, profile in cases]) as sessions:
        for (version, profile), package in zip(cases, sessions, strict=True):
            with subtests.test(version=version, profile=profile):
                messages = [initialize(version), INITIALIZED, LIST_TOOLS, PING]
                session, answers = early(messages, profile)

                assert answers == package.answers(messages)
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
