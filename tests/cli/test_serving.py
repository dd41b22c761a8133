"""`recollect serve` and `stop` as processes: one address, one server, nothing lost at the end."""

import http.client
import json
import logging
import os
import signal
import socket
import stat
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import recollect
from recollect import connect
from recollect.cli.serve import STOP_WITHIN_S
from recollect.cli.server_files import (
    MAX_LOG_BYTES,
    ServerRecord,
    open_log,
    read_pid,
    remove_pid,
    state_folder,
    write_pid,
)
from recollect.config import Settings
from recollect.errors import AlreadyExists, InvalidInput, TokenRefused
from recollect.server.listen_address import NotRecollectServer, fetch_health, listen, local_url
from recollect.server.log_format import SingleLineFormatter
from server_process import run_server, without_embedder
from terminal import installed

pytestmark = pytest.mark.door

ROOT = Path(__file__).parent.parent.parent
POSIX = pytest.mark.skipif(os.name != "posix", reason="signals and modes as on POSIX")


def until(wanted: Callable[[], object], within_s: float = 60) -> None:
    """Wait until *wanted* holds."""
    end = time.monotonic() + within_s
    while not wanted():
        assert time.monotonic() < end
        time.sleep(0.01)


def run(*args: str, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [installed("recollect"), *args],
        env=without_embedder(**env),
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
    )


@pytest.fixture
def started(path: Path) -> Iterator[dict[str, Any]]:
    """A server in the background, stopped after the test."""
    done = run("serve", "--background", "--port", "0", "--db", str(path), "--json")
    assert done.returncode == 0, done.stderr
    told: dict[str, Any] = json.loads(done.stdout)
    try:
        yield told
    finally:
        run("stop", "--port", str(told["port"]))


def ended(pid: int, port: int) -> bool:
    """Say whether a server is gone: as a process, or at least from its port."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    try:
        return fetch_health("127.0.0.1", port) is None
    except NotRecollectServer:
        return False


# In the foreground


def test_it_says_in_one_line_what_it_serves_and_where(path: Path) -> None:
    with subprocess.Popen(
        [installed("recollect"), "serve", "--db", str(path), "--port", "0"],
        env=without_embedder(),
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        process.terminate()
        rest = process.communicate(timeout=60)[0]

    assert line.startswith(f"Recollect 0.1.0 serves {path} at http://127.0.0.1:")
    assert line.endswith(" (stop with Ctrl-C)\n")
    assert rest == ""
    assert process.returncode == 0


@POSIX
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_polite_signal_ends_it_without_a_word(path: Path, number: signal.Signals) -> None:
    with run_server(path) as server:
        assert fetch_health("127.0.0.1", server.port) is not None
        server.process.send_signal(number)
        _, errors = server.process.communicate(timeout=60)

    assert server.process.returncode == 0
    assert errors == ""
    assert not path.with_name(f"{path.name}-wal").exists()  # the store was closed


def test_a_capture_that_waits_for_its_model_is_handed_back_by_a_server_that_stops(
    path: Path,
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as model:  # accepts and never answers
        env = without_embedder(
            RECOLLECT_CHAT_BACKEND="openai",
            RECOLLECT_CHAT_MODEL="m",
            RECOLLECT_OPENAI_API_KEY="k",
            RECOLLECT_OPENAI_BASE_URL=f"http://127.0.0.1:{model.getsockname()[1]}/v1",
        )
        with run_server(path, env=env) as server:
            with connect(server.url) as remote:
                event = remote.capture_session("User: We use pnpm here, not npm.\n")
                connection, _ = model.accept()  # the worker asks now
            server.process.terminate()
            begun = time.monotonic()
            _, errors = server.process.communicate(timeout=60)
            spent_s = time.monotonic() - begun
        connection.close()
    with recollect.open(path, embedding_backend="none") as rec:
        jobs = rec.jobs.list()
        rec.drain()  # without a model
        state = rec.captures.get(event.id).state

    assert spent_s < STOP_WITHIN_S
    assert server.process.returncode == 0
    [line] = errors.splitlines()
    assert "a job takes long and was handed back" in line
    assert {(job.state, job.attempts, job.worker) for job in jobs} == {("todo", 0, "")}
    assert state in ("done", "working")


@pytest.mark.parametrize("verbose", [True, False])
def test_requests_are_logged_when_asked_for_and_the_token_never(path: Path, verbose: bool) -> None:
    env = without_embedder(RECOLLECT_TOKEN="s3cret-token")
    with run_server(path, *["--verbose"] * verbose, env=env) as server:
        assert fetch_health("127.0.0.1", server.port, "s3cret-token") is not None
        with pytest.raises(TokenRefused):
            fetch_health("127.0.0.1", server.port, "other-token")
        server.process.terminate()
        _, errors = server.process.communicate(timeout=60)

    assert ('"GET /health HTTP/1.1" 200' in errors) is verbose
    assert "token" not in errors


def test_a_message_forges_no_line_of_the_log() -> None:
    record = logging.LogRecord("x", logging.WARNING, "", 0, "a\nERROR b\x1b[2J", None, None)

    assert SingleLineFormatter("%(message)s").format(record) == "a�ERROR b�[2J"


def test_the_variables_of_a_memory_server_are_honoured(tmp_path: Path) -> None:
    db = tmp_path / "from-the-environment.db"
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    env = without_embedder(MEMORY_SERVER_DB_PATH=str(db), MEMORY_SERVER_PORT=str(port))
    env.pop("RECOLLECT_DB")
    with subprocess.Popen(
        [installed("recollect"), "serve"], env=env, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        process.terminate()
        process.communicate(timeout=60)

    assert f"serves {db} at http://127.0.0.1:{port} " in line


SLOW = """
    import sys, time
    from recollect.server.serve import serve
    from recollect.server.web_app import web_app
    from recollect.config import load_settings

    def make_app(rec, settings):
        app = web_app(rec, settings)

        @app.post("/slow")
        def slow() -> str:
            print("begun", flush=True)
            time.sleep(1)
            return rec.ingest("Written at the last moment.").id

        return app

    def announce(started):
        print(started.port, flush=True)

    serve(load_settings(port=0), on_start=announce, make_app=make_app)
    print("closed", flush=True)
"""


@POSIX
def test_a_request_under_way_is_finished_before_the_end(path: Path) -> None:
    answers: list[tuple[int, bytes]] = []

    def ask(port: int) -> None:
        asking = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        asking.request("POST", "/slow")
        answer = asking.getresponse()
        answers.append((answer.status, answer.read()))
        asking.close()

    with subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(SLOW)],
        env=without_embedder(RECOLLECT_DB=str(path)),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        asking = threading.Thread(target=ask, args=(int(process.stdout.readline()),))
        asking.start()
        assert process.stdout.readline() == "begun\n"
        process.send_signal(signal.SIGTERM)
        asking.join(60)
        rest, errors = process.communicate(timeout=60)

    assert (process.returncode, rest, errors) == (0, "closed\n", "")
    [(status, body)] = answers
    assert status == 200
    found = run("show", json.loads(body), "--db", str(path))
    assert "Written at the last moment." in found.stdout


# The address


def test_a_taken_port_names_the_store_and_pid_of_the_recollect_there(
    path: Path, tmp_path: Path
) -> None:
    with run_server(path) as server:
        second = run("serve", "--port", str(server.port), "--db", str(tmp_path / "other.db"))

    assert second.returncode == 1
    assert f"a Recollect server (pid {server.pid}) serves {path}" in second.stderr
    assert f"recollect stop --port {server.port}" in second.stderr
    assert not (tmp_path / "other.db").exists()  # known before anything was started


def test_a_port_taken_by_something_else_says_so() -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        with pytest.raises(AlreadyExists, match="by another program"):
            listen(Settings(port=other.getsockname()[1]))


def test_a_port_taken_by_a_recollect_with_another_token_says_so(path: Path) -> None:
    env = without_embedder(RECOLLECT_TOKEN="s3cret")
    with run_server(path, env=env) as server:
        with pytest.raises(AlreadyExists, match="requires another token"):
            listen(Settings(port=server.port))
        with pytest.raises(TokenRefused):
            fetch_health("127.0.0.1", server.port, "nope")
        found = fetch_health("127.0.0.1", server.port, "s3cret")

    assert found is not None
    assert found["database_path"] == str(path)


def test_a_small_answer_is_not_held_back(path: Path) -> None:
    with run_server(path) as server:
        asking = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
        took_s = []
        for _ in range(100):
            begun = time.perf_counter()
            asking.request("GET", "/health")
            asking.getresponse().read()
            took_s.append(time.perf_counter() - begun)
        asking.close()

    # Nagle's algorithm and a delayed acknowledgement together cost 40 ms, each time.
    assert min(took_s[1:]) < 0.03


def test_two_that_start_at_once_do_not_share_a_port() -> None:
    with (
        listen(Settings(port=0)) as first,
        pytest.raises(AlreadyExists, match="in use"),
    ):
        listen(Settings(port=first.getsockname()[1]))


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "memory.example"])
def test_other_machines_are_not_let_in_without_a_token(host: str) -> None:
    with pytest.raises(InvalidInput, match="RECOLLECT_TOKEN"):
        listen(Settings(host=host, port=0))


def test_with_a_token_other_machines_may_be_let_in() -> None:
    with listen(Settings(host="0.0.0.0", port=0, token="s3cret")) as found:
        assert found.getsockname()[0] == "0.0.0.0"


def test_an_address_that_is_not_this_machines_is_refused_kindly() -> None:
    with pytest.raises(InvalidInput, match=r"cannot listen on 192\.0\.2\.1"):
        listen(Settings(host="192.0.2.1", port=0, token="s3cret"))


@pytest.mark.parametrize(
    ("host", "url"),
    [
        ("127.0.0.1", "http://127.0.0.1:8283"),
        ("0.0.0.0", "http://127.0.0.1:8283"),
        ("::", "http://[::1]:8283"),
        ("::1", "http://[::1]:8283"),
        ("[::1]", "http://[::1]:8283"),
        ("memory.lan", "http://memory.lan:8283"),
    ],
)
def test_a_server_is_asked_where_it_can_be_reached(host: str, url: str) -> None:
    assert local_url(host, 8283) == url


def test_nobody_there_is_none_and_not_an_error() -> None:
    with listen(Settings(port=0)) as found:
        port = found.getsockname()[1]

    assert fetch_health("127.0.0.1", port) is None


# In the background


@POSIX
def test_it_goes_on_in_the_background_until_it_is_stopped(
    started: dict[str, Any], path: Path
) -> None:
    health = fetch_health("127.0.0.1", started["port"])
    log, pid_file = Path(started["log"]), Path(started["pid_file"])

    assert health is not None
    assert health["pid"] == started["pid"]
    assert health["database_path"] == started["db"] == str(path)
    assert started["ready_s"] > 0
    assert os.getsid(started["pid"]) == started["pid"]
    assert stat.S_IMODE(log.stat().st_mode) == stat.S_IMODE(pid_file.stat().st_mode) == 0o600
    running = read_pid(pid_file)
    assert running is not None
    assert (running.pid, running.port, running.db) == (started["pid"], started["port"], str(path))

    stopped = run("stop", "--port", str(started["port"]), "--json")

    assert json.loads(stopped.stdout)["stopped"] is True
    assert not pid_file.exists()
    until(lambda: ended(started["pid"], started["port"]))


def test_a_second_start_on_its_port_says_so(started: dict[str, Any]) -> None:
    second = run("serve", "--background", "--port", str(started["port"]))

    assert second.returncode == 1
    assert f"a Recollect server (pid {started['pid']}) serves {started['db']}" in second.stderr
    assert fetch_health("127.0.0.1", started["port"]) is not None


def test_stopping_when_nothing_runs_says_so_kindly(started: dict[str, Any]) -> None:
    port = str(started["port"])
    first, second = run("stop", "--port", port), run("stop", "--port", port)

    assert first.returncode == second.returncode == 0
    assert f"(pid {started['pid']})" in first.stdout
    assert second.stdout == f"You have no server on port {port}.\n"


@POSIX
def test_a_pid_file_left_by_a_killed_server_is_no_obstacle(
    started: dict[str, Any], path: Path
) -> None:
    port = str(started["port"])
    os.kill(started["pid"], signal.SIGKILL)
    until(lambda: ended(started["pid"], started["port"]))
    assert Path(started["pid_file"]).exists()

    again = run("serve", "--background", "--port", port, "--db", str(path), "--json")
    stopped = run("stop", "--port", port)

    assert again.returncode == stopped.returncode == 0, again.stderr
    assert str(json.loads(again.stdout)["pid"]) in stopped.stdout


@POSIX
def test_stop_signals_nobody_on_the_word_of_an_old_pid_file(tmp_path: Path) -> None:
    with listen(Settings(port=0)) as found:
        port = found.getsockname()[1]
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as bystander:
        file = state_folder(os.environ) / f"server-{port}.pid"
        write_pid(
            file,
            ServerRecord(pid=bystander.pid, host="127.0.0.1", port=port, db="x", started_at=""),
        )
        done = run("stop", "--port", str(port))
        alive = bystander.poll() is None
        bystander.communicate(b"\n")

    assert done.returncode == 0
    assert "You have no server" in done.stdout
    assert alive
    assert not file.exists()


@POSIX
def test_stop_leaves_a_server_alone_that_was_not_started_from_here(path: Path) -> None:
    with run_server(path, env=without_embedder(XDG_STATE_HOME=str(path.parent / "else"))) as server:
        done = run("stop", "--port", str(server.port))

        assert done.returncode == 1
        assert f"(pid {server.pid}) was not started from here" in done.stderr
        assert server.process.poll() is None


def test_a_server_that_cannot_start_shows_the_end_of_its_log(tmp_path: Path) -> None:
    (tmp_path / "no.db").write_text("this is no database" * 100, encoding="utf-8")

    done = run("serve", "--background", "--port", "0", "--db", str(tmp_path / "no.db"))

    assert done.returncode == 1
    assert "ended at once" in done.stderr
    assert "no.db" in done.stderr.split("the end of its log")[1]
    assert "Traceback" not in done.stderr


def test_with_a_token_file_every_question_needs_the_token(path: Path, tmp_path: Path) -> None:
    secret = tmp_path / "token"
    secret.write_text("s3cret-token\n", encoding="utf-8")
    with_token = ("--token-file", str(secret))

    done = run("serve", "--background", "--port", "0", "--db", str(path), "--json", *with_token)
    told = json.loads(done.stdout)
    refused = run("stop", "--port", str(told["port"]))
    stopped = run("stop", "--port", str(told["port"]), *with_token)

    assert refused.returncode == 1
    assert "--token-file" in refused.stderr
    assert stopped.returncode == 0
    assert "s3cret" not in Path(told["log"]).read_text(encoding="utf-8")


@pytest.mark.parametrize("content", [None, b"", b" \n", b"\xff", b"two words"])
def test_a_token_file_of_no_use_is_refused_without_its_content(
    tmp_path: Path, content: bytes | None
) -> None:
    file = tmp_path / "token"
    if content is not None:
        file.write_bytes(content)

    done = run("serve", "--port", "0", "--token-file", str(file))

    assert done.returncode == 1
    assert "token" in done.stderr
    assert "two words" not in done.stderr


# Its files


def test_state_lies_in_the_usual_place() -> None:
    if os.name == "nt":
        assert state_folder({"LOCALAPPDATA": "C:/x"}) == Path("C:/x/recollect")
    else:
        assert state_folder({"XDG_STATE_HOME": "/x"}) == Path("/x/recollect")
        assert state_folder({}) == Path.home() / ".local/state/recollect"


@pytest.mark.parametrize(
    "content", ["", "7", "{}", '{"pid": 7}', "[1]", '{"pid": -1, "host": "", "port": 1}', "\x00"]
)
def test_a_broken_pid_file_tells_nothing(tmp_path: Path, content: str) -> None:
    file = tmp_path / "server-1.pid"
    file.write_text(content, encoding="utf-8")

    assert read_pid(file) is None


def test_a_pid_file_of_another_server_is_not_removed(tmp_path: Path) -> None:
    file = tmp_path / "deep" / "server-1.pid"
    write_pid(file, ServerRecord(pid=77, host="127.0.0.1", port=1, db="x", started_at=""))

    remove_pid(file, 78)
    assert file.exists()

    remove_pid(file, 77)
    assert not file.exists()


def test_a_log_that_has_grown_large_is_started_anew(tmp_path: Path) -> None:
    log = tmp_path / "server-1.log"
    log.write_bytes(b"x" * (MAX_LOG_BYTES + 1))

    os.close(open_log(log))
    assert log.stat().st_size == 0

    log.write_bytes(b"short")
    os.close(open_log(log))
    assert log.read_bytes() == b"short"


# From a checkout


@pytest.mark.timeout(600)
def test_uv_runs_the_server_from_a_checkout(path: Path) -> None:
    uv = Path(installed("uv"))
    if not uv.exists():
        pytest.skip("uv is not installed")
    env = without_embedder(MEMORY_SERVER_DB_PATH=str(path))
    for name in ("RECOLLECT_DB", "PYTHONPATH", "VIRTUAL_ENV"):
        env.pop(name, None)
    with subprocess.Popen(
        [str(uv), "run", "--quiet", "server.py", "--port", "0", "--json"],
        cwd=ROOT,
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        lines = []
        while (line := process.stdout.readline()) and line != "}\n":
            lines.append(line)
        if not line:
            pytest.fail(process.communicate()[1])
        told = json.loads("".join(lines) + "}")
        health = fetch_health("127.0.0.1", told["port"])
        os.kill(told["pid"], signal.SIGTERM)
        process.communicate(timeout=60)

    assert health is not None
    assert health["database_path"] == str(path)
