"""Whatever goes wrong, a hook ends with 0, says nothing, and leaves a line that tells no secret."""

import json
import os
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import apsw
import httpx2
import pytest

import recollect
from hook_clients import CLAUDE_CODE, HOOK, HookHome, HookResult, kill, wait_until
from recollect.app.engine_control import EngineControl
from recollect.hooks import state_files
from recollect.hooks.capture_process import capture_due_transcripts
from recollect.hooks.injected_memories import session_file
from recollect.hooks.pending_captures import PendingCapture, mark_done
from recollect.hooks.target_store import find_target_store
from server_process import run_server

pytestmark = pytest.mark.door

SECRET = "the password of the vault is hunter2hunter2"
DECIDED = "From now on, let's go with PostgreSQL because we need JSON columns."
TALK = [("user", "Hello."), ("user", DECIDED), ("assistant", "Noted.")]


def knowing(home: HookHome) -> Path:
    """Return a project of which something is known."""
    project = home.project("site")
    with recollect.open(home.db, embedding_backend="none") as rec:
        rec.ingest(DECIDED, type="decision", project=project)
    return project


def silent(home: HookHome, event: str, told: bytes, *options: str) -> None:
    done = home.run_hook(event, told, *options)
    assert (done.exit_code, done.output) == (0, "")
    assert home.log
    assert SECRET not in home.log


@pytest.mark.parametrize("event", ["session-start", "prompt", "stop", "session-end", "pre-compact"])
@pytest.mark.parametrize(
    "told",
    [
        b"",
        b"{",
        b"null",
        b"[1, 2]",
        b'"text"',
        b"\xff\xfe\x00{",
        b"[" * 100_000,
        f'{{"prompt": "{SECRET}"'.encode(),
        json.dumps({"prompt": 5, "cwd": ["x"], "session_id": {}, "transcript_path": 1}).encode(),
        json.dumps({"prompt": SECRET, "cwd": "\0", "transcript_path": "/\0"}).encode(),
        json.dumps({"prompt": SECRET, "cwd": "relative", "session_id": "x" * 5_000}).encode(),
    ],
    ids=range(11),
)
def test_a_hook_survives_any_payload(home: HookHome, event: str, told: bytes) -> None:
    knowing(home)

    silent(home, event, told)


def test_a_payload_that_is_too_large_gets_no_response(home: HookHome) -> None:
    project = knowing(home)
    payload = CLAUDE_CODE.payload("s", project, None) | {"prompt": DECIDED + " x" * 5_000_000}

    silent(home, "prompt", json.dumps(payload).encode())


def test_a_hook_survives_a_closed_input(home: HookHome) -> None:
    done = subprocess.run(
        ["sh", "-c", f"exec {' '.join(HOOK)} prompt <&-"], env=home.env(), capture_output=True
    )

    assert (done.returncode, done.stdout) == (0, b"")


def test_a_client_that_does_not_close_what_it_writes_to_is_answered(home: HookHome) -> None:
    project = knowing(home)
    raw = json.dumps(CLAUDE_CODE.payload("s", project, None) | {"x": {"y": "}" * 70_000}}).encode()
    with home.start_hook("session-start") as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(raw)
        process.stdin.flush()

        assert DECIDED in HookResult(0, process.stdout.read().decode()).injected_text
    assert process.returncode == 0


def test_a_hook_survives_an_impossible_pid_in_a_pid_file(home: HookHome) -> None:
    payload = CLAUDE_CODE.payload("s", knowing(home), None)
    home.state.mkdir(parents=True)
    content = {"pid": 1 << 80, "host": "127.0.0.1", "port": 1, "db": str(home.db)}
    (home.state / "server-1.pid").write_text(json.dumps(content))

    assert DECIDED in home.run_hook("session-start", payload).injected_text


def test_a_hook_survives_a_closed_output(home: HookHome) -> None:
    project = knowing(home)
    payload = json.dumps(CLAUDE_CODE.payload("s", project, None)).encode()

    done = subprocess.run(
        ["sh", "-c", f"exec {' '.join(HOOK)} session-start >&-"],
        input=payload,
        env=home.env(),
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0


@pytest.mark.parametrize("options", [("--nonsense",), ("--db",), ("--client", "nobody"), ("more",)])
def test_a_hook_survives_wrong_arguments(home: HookHome, options: tuple[str, ...]) -> None:
    silent(home, "prompt", b"{}", *options)


@pytest.mark.parametrize("options", [("--nonsense",), ("prompt", "--nonsense"), ()])
def test_wrong_arguments_after_a_named_store_do_not_hold_a_prompt_back(
    home: HookHome, options: tuple[str, ...]
) -> None:
    for store in (["--db", str(home.db)], [f"--db={home.db}"]):
        line = [*HOOK[:-1], *store, "hook", *options]
        done = subprocess.run(line, input=b"{}", env=home.env(), capture_output=True, check=False)
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_the_store_may_be_named_before_the_command(home: HookHome) -> None:
    project = knowing(home)
    store = home.db
    home.extra_env = {"RECOLLECT_DB": str(home.folder / "none.db")}
    line = [*HOOK[:-1], "--db", str(store), "hook", "session-start"]
    payload = json.dumps(CLAUDE_CODE.payload("s", project, None)).encode()

    done = subprocess.run(line, input=payload, env=home.env(), capture_output=True, check=True)

    assert DECIDED in HookResult(0, done.stdout.decode()).injected_text


def test_a_hook_survives_an_unknown_event(home: HookHome) -> None:
    silent(home, "Notification", b"{}")
    assert "unknown event" in home.log


def test_without_a_store_nothing_is_made(home: HookHome) -> None:
    silent(home, "session-start", b'{"cwd": "/srv/x"}')
    assert not home.db.exists()


def test_a_hook_survives_a_damaged_store(home: HookHome) -> None:
    home.db.write_bytes(b"no database at all" * 1_000)

    silent(home, "prompt", json.dumps({"prompt": SECRET}).encode())


def test_a_hook_survives_a_broken_configuration_file(home: HookHome) -> None:
    knowing(home)
    (home.folder / "config" / "recollect").mkdir(parents=True)
    (home.folder / "config" / "recollect" / "config.toml").write_text("db = [")

    silent(home, "session-start", b"{}")
    assert "TOMLDecodeError" in home.log


def test_a_hook_survives_a_log_that_cannot_be_written(home: HookHome) -> None:
    home.folder.joinpath("state").write_text("a file where a folder should be")

    assert home.run_hook("prompt", b"{").exit_code == 0


def test_the_log_is_its_owners_and_does_not_grow_for_ever(home: HookHome) -> None:
    home.run_hook("prompt", b"{")
    path = home.state / "hooks.log"
    assert path.stat().st_mode & 0o777 == 0o600
    assert home.state.stat().st_mode & 0o777 == 0o700

    path.write_bytes(b"x" * 1_000_001)
    home.run_hook("prompt", b"{")
    home.run_hook("prompt", b"{")
    assert path.stat().st_size < 1_000


@contextmanager
def listening(home: HookHome, answer: bytes | None) -> Iterator[None]:
    """Stand in for the server of the store: accept, and answer with *answer*, or never."""
    with socket.create_server(("127.0.0.1", 0)) as standing:
        port = standing.getsockname()[1]
        home.state.mkdir(parents=True, exist_ok=True)
        payload = {"pid": os.getpid(), "host": "127.0.0.1", "port": port, "db": str(home.db)}
        (home.state / f"server-{port}.pid").write_text(json.dumps(payload | {"started_at": ""}))
        taken: list[socket.socket] = []

        def accept() -> None:
            try:
                while True:
                    taken.append(standing.accept()[0])
                    if answer is not None:
                        taken[-1].sendall(answer)
                        taken[-1].shutdown(socket.SHUT_WR)
            except OSError:
                return

        thread = threading.Thread(target=accept)
        thread.start()
        yield
        standing.shutdown(socket.SHUT_RDWR)
        thread.join()
        for connection in taken:
            connection.close()


def test_a_server_that_never_answers_is_not_waited_for(home: HookHome) -> None:
    home.extra_env = {"RECOLLECT_HOOK_TIMEOUT_MS": "100"}
    payload = json.dumps(CLAUDE_CODE.payload("s", knowing(home), None)).encode()

    with listening(home, None):
        silent(home, "session-start", payload)
    assert "server timed out" in home.log


def test_a_name_that_nobody_looks_up_in_time_is_not_waited_for(home: HookHome) -> None:
    slow = "import socket, time\nsocket.getaddrinfo = lambda *a, **k: time.sleep(600)\n"
    home.project("site").joinpath("sitecustomize.py").write_text(slow)
    path = f"{home.project('site')}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"
    home.extra_env = {
        "PYTHONPATH": path,
        "RECOLLECT_SERVER_URL": "http://memory.example:8283",
        "RECOLLECT_HOOK_TIMEOUT_MS": "100",
    }

    silent(home, "session-start", b"{}")
    assert "timed out" in home.log


def test_a_response_after_the_deadline_is_not_recorded_as_injected(home: HookHome) -> None:
    project = knowing(home)
    payload = CLAUDE_CODE.payload("s", project, None)
    prompt = payload | {"prompt": "Which database did we choose for JSON columns, PostgreSQL?"}
    with run_server(home.db, env=home.env()) as server:
        path = f"{server.url}/api/hooks/claude-code"
        for event, what in (("session-start", payload), ("prompt", prompt)):
            late = httpx2.post(
                f"{path}/{event}", json={"told": what, "until": time.time() - 1}, timeout=60
            )
            assert DECIDED in late.text

        assert DECIDED in home.run_hook("prompt", prompt).injected_text
        assert home.run_hook("prompt", prompt).output == ""


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"220 mail.example ESMTP\r\n",
        b"HTTP/1.1 200 OK\r\ncontent-length: 500\r\n\r\n{",
        b"HTTP/1.1 500 Oh\r\ncontent-length: 2\r\n\r\n{}",
        b"HTTP/1.1 nonsense\r\n\r\n",
        b"x" * 3_000_000,
    ],
    ids=["nothing", "mail", "cut off", "error", "nonsense", "endless"],
)
def test_an_invalid_server_response_is_not_printed(home: HookHome, answer: bytes) -> None:
    payload = json.dumps(CLAUDE_CODE.payload("s", knowing(home), None)).encode()

    with listening(home, answer):
        silent(home, "session-start", payload)


def test_a_server_that_was_killed_is_replaced_by_the_file(home: HookHome) -> None:
    project = knowing(home)
    with run_server(home.db, env=home.env()) as server:
        server.process.kill()
        server.process.wait(timeout=30)

        assert list(home.state.glob("server-*.pid"))
        payload = CLAUDE_CODE.payload("s", project, None)
        assert DECIDED in home.run_hook("session-start", payload).injected_text
    assert "(file)" in home.log


def test_a_server_of_another_store_is_not_asked(home: HookHome) -> None:
    project = knowing(home)
    with run_server(home.folder / "other.db", env=home.env()) as server:
        payload = CLAUDE_CODE.payload("s", project, None)
        assert DECIDED in home.run_hook("session-start", payload).injected_text

        home.extra_env = {
            "RECOLLECT_SERVER_URL": server.url
        }  # somebody says so, and names a store too
        assert DECIDED in home.run_hook("session-start", payload).injected_text
    assert "(server)" not in home.log


def test_a_server_with_a_token_is_asked_with_it(home: HookHome) -> None:
    project = knowing(home)
    home.extra_env = {"RECOLLECT_TOKEN": "letmein"}
    with run_server(home.db, env=home.env()):
        payload = CLAUDE_CODE.payload("s", project, None)

        assert DECIDED in home.run_hook("session-start", payload).injected_text
        assert "(server)" in home.log
        home.extra_env = {}
        assert DECIDED in home.run_hook("session-start", payload).injected_text
        assert "(file)" in home.log


def test_where_only_a_server_is_named_it_is_the_memory(home: HookHome) -> None:
    project = home.project("site")
    path = CLAUDE_CODE.write_transcript(home.folder / "a.jsonl", TALK, session="a", cwd=project)
    own, far = home.env(), home.folder / "far.db"
    home.extra_env = {"RECOLLECT_DB": "", "HOME": str(home.folder)}
    payload = CLAUDE_CODE.payload("a", project, path)
    with run_server(far, env=own) as server:
        home.extra_env = {**home.extra_env, "RECOLLECT_SERVER_URL": server.url}
        home.run_hook("session-end", payload)
        home.wait_for_captures()
        with recollect.connect(server.url) as remote:
            wait_until(lambda: bool(remote.memories.list(project=project, types=["decision"])))

        begun = home.run_hook("session-start", CLAUDE_CODE.payload("b", project, None))
        assert DECIDED in begun.injected_text
    assert home.run_hook("session-start", payload).output == ""
    assert "no server" in home.log
    assert not (home.folder / ".local-memory").exists()


def test_memory_is_injected_into_a_session_whose_id_looks_like_a_secret(home: HookHome) -> None:
    project = knowing(home)

    payload = CLAUDE_CODE.payload("ghp_" + "a1B2" * 9, project, None)
    assert DECIDED in home.run_hook("session-start", payload).injected_text


def transcripts(home: HookHome) -> dict[str, Path]:
    """Return paths that are no transcript of this person."""
    folder = home.folder / "t"
    folder.mkdir()
    os.mkfifo(folder / "pipe.jsonl")
    (folder / "prose.jsonl").write_text("User: We use Rust because it is fast.\n")
    (folder / "notes.md").write_text("{}")
    (folder / "empty.jsonl").write_text("")
    (folder / "nobody.jsonl").write_text('{"type": "x"}\n')
    return {
        "missing": folder / "missing.jsonl",
        "folder": folder,
        "pipe": folder / "pipe.jsonl",
        "prose": folder / "prose.jsonl",
        "notes": folder / "notes.md",
        "empty": folder / "empty.jsonl",
        "nobody": folder / "nobody.jsonl",
        "outside": Path("/etc/passwd"),
        "device": Path("/dev/zero"),
    }


def test_files_that_are_not_transcripts_are_not_captured(home: HookHome) -> None:
    for path in transcripts(home).values():
        payload = CLAUDE_CODE.payload("s", home.project("site"), path)
        silent(home, "session-end", json.dumps(payload).encode())
    wait_until(lambda: not list(home.session_files.glob("*.wanted")))
    wait_until(lambda: " capture of " not in home.log or home.log.count(" jobs") >= 1)

    if home.db.exists():
        with recollect.open(home.db, embedding_backend="none") as rec:
            assert rec.captures.list() == [] or all(
                "nobody" in item.uri for item in rec.captures.list()
            )


@pytest.mark.parametrize("after_s", [0.0, 0.01, 0.03, 0.06, 0.1, 0.2, 0.4])
def test_a_killed_hook_leaves_nothing_broken(home: HookHome, after_s: float) -> None:
    project = knowing(home)
    payload = json.dumps(CLAUDE_CODE.payload("s", project, None) | {"prompt": DECIDED}).encode()
    for event in ("session-start", "prompt"):
        with home.start_hook(event) as process:
            assert process.stdin is not None
            process.stdin.write(payload)
            process.stdin.close()
            process.stdin = None
            time.sleep(after_s)  # where it is then is the point
            kill(process)

    fresh = CLAUDE_CODE.payload("later", project, None)
    assert DECIDED in home.run_hook("session-start", fresh).injected_text
    with recollect.open(home.db, embedding_backend="none") as rec:
        assert rec.maintenance.verify().ok


def capturing(home: HookHome) -> list[int]:
    """Return the processes that capture for this person."""
    results = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if str(home.db).encode() in words and any(b"hooks.capture" in word for word in words):
            results.append(int(folder.name))
    return results


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="finds processes by /proc")
@pytest.mark.parametrize("after_s", [0.0, 0.1, 0.3, 0.5, 0.7])
def test_the_next_capture_continues_after_one_that_was_killed(
    home: HookHome, after_s: float
) -> None:
    project = home.project("site")
    path = CLAUDE_CODE.write_transcript(home.folder / "a.jsonl", TALK, session="a", cwd=project)
    home.run_hook("session-end", CLAUDE_CODE.payload("a", project, path))
    time.sleep(after_s)  # where it is then is the point
    for pid in capturing(home):
        os.kill(pid, 9)

    other = [("user", "Hello."), ("user", "We deploy on Fridays because nobody is there.")]
    path = CLAUDE_CODE.write_transcript(home.folder / "b.jsonl", other, session="b", cwd=project)
    home.run_hook("session-end", CLAUDE_CODE.payload("b", project, path))
    wait_until(lambda: not list(home.session_files.glob("*.wanted")))

    with recollect.open(home.db, embedding_backend="none") as rec:
        assert {Path(item.uri).name for item in rec.captures.list()} == {"a.jsonl", "b.jsonl"}
        assert rec.maintenance.verify().ok


def test_many_ends_at_once_capture_once(home: HookHome) -> None:
    project = home.project("site")
    path = CLAUDE_CODE.write_transcript(home.folder / "a.jsonl", TALK, session="a", cwd=project)
    payload = json.dumps(CLAUDE_CODE.payload("a", project, path)).encode()
    running = [home.start_hook(event) for event in ("pre-compact", "session-end", "stop") * 2]
    for process in running:
        with process:
            assert process.communicate(payload, timeout=60) == (b"", b"")
    wait_until(lambda: home.log.count(" jobs") >= home.log.count("capture now"))

    with recollect.open(home.db, embedding_backend="none") as rec:
        assert len(rec.captures.list()) == 1
        assert len(rec.memories.list(project=project, types=["decision"])) == 1


@pytest.mark.parametrize(("size", "outcome"), [(50, "captured 1"), (70, "larger than 64 MB")])
def test_a_huge_transcript_is_captured_or_rejected(home: HookHome, size: int, outcome: str) -> None:
    project = home.project("site")
    talk = [*TALK, *[("assistant", "y" * 9_000)] * (size * 111)]
    path = CLAUDE_CODE.write_transcript(home.folder / "a.jsonl", talk, session="a", cwd=project)
    assert path.stat().st_size > size * 1_000_000

    home.run_hook("session-end", CLAUDE_CODE.payload("a", project, path))
    home.wait_for_captures()

    assert outcome in home.log
    assert not list(home.session_files.glob("*.wanted"))


@pytest.mark.parametrize(
    ("counts", "reason"),
    [
        ({"tries": 3, "kills": 0}, "it failed 3 times with an unexpected error"),
        ({"tries": 0, "kills": 20}, "the capture process was killed 20 times while it read it"),
    ],
)
def test_a_pending_capture_that_fails_again_and_again_is_given_up_with_its_reason(
    home: HookHome, counts: dict[str, int], reason: str
) -> None:
    path = CLAUDE_CODE.write_transcript(home.folder / "b.jsonl", TALK, session="b", cwd=home.folder)
    home.session_files.mkdir(parents=True)
    queue_file = session_file(str(home.session_files), str(home.db), str(path), suffix="wanted")
    content = {"db": str(home.db), "transcript": str(path), "ripe_at": 0, **counts}
    Path(queue_file).write_text(json.dumps(content))

    captured = capture_due_transcripts(str(home.state), find_target_store({}, str(home.db)))

    assert captured.startswith("captured 0")
    assert f"failed: {reason}; capture it yourself with: recollect capture {path}" in home.log
    assert not Path(queue_file).exists()


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="finds processes by /proc")
def test_kills_are_no_failures_of_a_capture(home: HookHome) -> None:
    project = home.project("site")
    path = CLAUDE_CODE.write_transcript(home.folder / "a.jsonl", TALK, session="a", cwd=project)
    recollect.open(home.db, embedding_backend="none").close()
    queue_file = session_file(str(home.session_files), str(home.db), str(path), suffix="wanted")
    lock = apsw.Connection(str(home.db))
    for kills in range(1, 5):
        lock.execute("BEGIN IMMEDIATE")  # so that the capture cannot end
        home.run_hook("session-end", CLAUDE_CODE.payload("a", project, path))
        wait_until(lambda kills=kills: state_files.read_json(queue_file).get("kills") == kills)  # type: ignore[misc]
        for pid in capturing(home):
            os.kill(pid, 9)
        wait_until(lambda: not capturing(home))
        lock.execute("ROLLBACK")
    lock.close()

    home.run_hook("session-end", CLAUDE_CODE.payload("a", project, path))
    wait_until(lambda: not Path(queue_file).exists())

    with recollect.open(home.db, embedding_backend="none") as rec:
        assert [Path(item.uri).name for item in rec.captures.list()] == ["a.jsonl"]


def test_pending_captures_are_never_removed_by_age(home: HookHome) -> None:
    project = home.project("site")
    home.session_files.mkdir(parents=True)
    for ending in ("wanted", "later", "lock", "given", "captured", "wanted.12.34"):
        path = home.session_files / f"x.{ending}"
        path.write_text("{}")
        os.utime(path, (0, 0))

    knowing(home)
    home.run_hook("session-start", CLAUDE_CODE.payload("s", project, None))

    left = {path.name for path in home.session_files.glob("x.*")}
    assert left == {"x.wanted", "x.later", "x.lock"}


@pytest.mark.parametrize(("more", "stays"), [("", False), ("{}\n", True)])
def test_a_deferred_capture_stays_if_the_transcript_has_grown(
    tmp_path: Path, more: str, stays: bool
) -> None:
    transcript = tmp_path / "a.jsonl"
    transcript.write_text("{}\n")
    later, now = (
        session_file(str(tmp_path), "m.db", str(transcript), suffix=item)
        for item in ("later", "wanted")
    )
    for path in (later, now):
        state_files.write_json(path, {"db": "m.db", "transcript": str(transcript), "ripe_at": 1.0})

    with transcript.open("a") as file:
        file.write(more)
    mark_done(str(tmp_path), PendingCapture(now, "m.db", "", "", "", str(transcript), 1.0), 3)

    assert Path(later).exists() == stays
    assert not Path(now).exists()


def test_an_unreadable_transcript_does_not_block_the_others(
    home: HookHome, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = home.project("site")
    for place, name in enumerate("ab"):
        path = CLAUDE_CODE.write_transcript(
            home.folder / f"{name}.jsonl", TALK, session=name, cwd=project
        )
        content = {"db": str(home.db), "transcript": str(path), "place": str(project)}
        queue_file = session_file(str(home.session_files), str(home.db), str(path), suffix="wanted")
        state_files.write_json(queue_file, content | {"ripe_at": place})
    nowhere = {"db": str(home.db), "transcript": "/a\0b.jsonl", "ripe_at": 0}
    state_files.write_json(str(home.session_files / "x.wanted"), nowhere)
    opened = open

    def broken(path: str, *given: Any, **more: Any) -> Any:
        if str(path).endswith("a.jsonl"):
            raise OSError(5, "Input/output error")
        return opened(path, *given, **more)

    monkeypatch.setattr("builtins.open", broken)
    outcome = capture_due_transcripts(str(home.state), find_target_store(home.env()))

    assert outcome.startswith("captured 1,")
    assert "the file cannot be read" in home.log


def test_a_capture_queued_while_jobs_run_is_done_before_the_lock_is_released(
    home: HookHome, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = home.project("site")
    drain = EngineControl.drain_in_steps
    meanwhile = ["b"]

    def wished(name: str) -> None:
        path = CLAUDE_CODE.write_transcript(
            home.folder / f"{name}.jsonl", TALK, session=name, cwd=project
        )
        content = {"db": str(home.db), "transcript": str(path), "place": str(project), "ripe_at": 1}
        queue_file = session_file(str(home.session_files), str(home.db), str(path), suffix="wanted")
        state_files.write_json(queue_file, content)

    def working(engine: EngineControl) -> Iterator[int]:
        if meanwhile:
            wished(meanwhile.pop())
        yield from drain(engine)

    monkeypatch.setattr(EngineControl, "drain_in_steps", working)
    wished("a")
    outcome = capture_due_transcripts(str(home.state), find_target_store(home.env()))

    assert outcome.startswith("captured 2,")
