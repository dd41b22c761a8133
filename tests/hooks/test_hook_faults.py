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

import httpx2
import pytest

import recollect
from hooked import CLAUDE_CODE, HOOK, Home, Hooked, kill, until
from recollect.hooks import state
from recollect.hooks.capture import capture_all
from recollect.hooks.given import session_file
from recollect.hooks.whose import whose
from recollect.hooks.wishes import Wish, fulfilled
from served import serving

SECRET = "the password of the vault is hunter2hunter2"
DECIDED = "Let's go with PostgreSQL because we need JSON columns."
TALK = [("user", "Hello."), ("user", DECIDED), ("assistant", "Noted.")]


def knowing(home: Home) -> Path:
    """Return a project of which something is known."""
    project = home.project("site")
    with recollect.open(home.db, embedding_backend="none") as memory:
        memory.ingest(DECIDED, type="decision", project=project)
    return project


def silent(home: Home, event: str, told: bytes, *options: str) -> None:
    done = home.hook(event, told, *options)
    assert (done.code, done.out) == (0, "")
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
def test_whatever_a_client_says_is_survived(home: Home, event: str, told: bytes) -> None:
    knowing(home)

    silent(home, event, told)


def test_a_client_that_says_too_much_gets_nothing(home: Home) -> None:
    project = knowing(home)
    told = CLAUDE_CODE.told("s", project, None) | {"prompt": DECIDED + " x" * 5_000_000}

    silent(home, "prompt", json.dumps(told).encode())


def test_a_closed_input_is_survived(home: Home) -> None:
    done = subprocess.run(
        ["sh", "-c", f"exec {' '.join(HOOK)} prompt <&-"], env=home.env(), capture_output=True
    )

    assert (done.returncode, done.stdout) == (0, b"")


def test_a_client_that_does_not_close_what_it_writes_to_is_answered(home: Home) -> None:
    project = knowing(home)
    raw = json.dumps(CLAUDE_CODE.told("s", project, None) | {"x": {"y": "}" * 70_000}}).encode()
    with home.start("session-start") as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(raw)
        process.stdin.flush()

        assert DECIDED in Hooked(0, process.stdout.read().decode()).said
    assert process.returncode == 0


def test_a_pid_no_process_could_have_is_survived(home: Home) -> None:
    told = CLAUDE_CODE.told("s", knowing(home), None)
    home.state.mkdir(parents=True)
    kept = {"pid": 1 << 80, "host": "127.0.0.1", "port": 1, "db": str(home.db)}
    (home.state / "server-1.pid").write_text(json.dumps(kept))

    assert DECIDED in home.hook("session-start", told).said


def test_a_closed_output_is_survived(home: Home) -> None:
    project = knowing(home)
    told = json.dumps(CLAUDE_CODE.told("s", project, None)).encode()

    done = subprocess.run(
        ["sh", "-c", f"exec {' '.join(HOOK)} session-start >&-"],
        input=told,
        env=home.env(),
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0


@pytest.mark.parametrize("options", [("--nonsense",), ("--db",), ("--client", "nobody"), ("more",)])
def test_wrong_arguments_are_survived(home: Home, options: tuple[str, ...]) -> None:
    silent(home, "prompt", b"{}", *options)


@pytest.mark.parametrize("options", [("--nonsense",), ("prompt", "--nonsense"), ()])
def test_wrong_arguments_after_a_named_store_do_not_hold_a_prompt_back(
    home: Home, options: tuple[str, ...]
) -> None:
    for store in (["--db", str(home.db)], [f"--db={home.db}"]):
        line = [*HOOK[:-1], *store, "hook", *options]
        done = subprocess.run(line, input=b"{}", env=home.env(), capture_output=True, check=False)
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_the_store_may_be_named_before_the_command(home: Home) -> None:
    project = knowing(home)
    store = home.db
    home.more = {"RECOLLECT_DB": str(home.folder / "none.db")}
    line = [*HOOK[:-1], "--db", str(store), "hook", "session-start"]
    told = json.dumps(CLAUDE_CODE.told("s", project, None)).encode()

    done = subprocess.run(line, input=told, env=home.env(), capture_output=True, check=True)

    assert DECIDED in Hooked(0, done.stdout.decode()).said


def test_an_unknown_event_is_survived(home: Home) -> None:
    silent(home, "PostToolUse", b"{}")
    assert "no such event" in home.log


def test_without_a_store_nothing_is_made(home: Home) -> None:
    silent(home, "session-start", b'{"cwd": "/srv/x"}')
    assert not home.db.exists()


def test_a_damaged_store_is_survived(home: Home) -> None:
    home.db.write_bytes(b"no database at all" * 1_000)

    silent(home, "prompt", json.dumps({"prompt": SECRET}).encode())


def test_a_broken_configuration_file_is_survived(home: Home) -> None:
    knowing(home)
    (home.folder / "config" / "recollect").mkdir(parents=True)
    (home.folder / "config" / "recollect" / "config.toml").write_text("db = [")

    silent(home, "session-start", b"{}")
    assert "TOMLDecodeError" in home.log


def test_a_log_that_cannot_be_written_is_survived(home: Home) -> None:
    home.folder.joinpath("state").write_text("a file where a folder should be")

    assert home.hook("prompt", b"{").code == 0


def test_the_log_is_its_owners_and_does_not_grow_for_ever(home: Home) -> None:
    home.hook("prompt", b"{")
    path = home.state / "hooks.log"
    assert path.stat().st_mode & 0o777 == 0o600
    assert home.state.stat().st_mode & 0o777 == 0o700

    path.write_bytes(b"x" * 1_000_001)
    home.hook("prompt", b"{")
    home.hook("prompt", b"{")
    assert path.stat().st_size < 1_000


@contextmanager
def listening(home: Home, answer: bytes | None) -> Iterator[None]:
    """Stand in for the server of the store: accept, and answer with *answer*, or never."""
    with socket.create_server(("127.0.0.1", 0)) as standing:
        port = standing.getsockname()[1]
        home.state.mkdir(parents=True, exist_ok=True)
        told = {"pid": os.getpid(), "host": "127.0.0.1", "port": port, "db": str(home.db)}
        (home.state / f"server-{port}.pid").write_text(json.dumps(told | {"started_at": ""}))
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
        for one in taken:
            one.close()


def test_a_server_that_never_answers_is_not_waited_for(home: Home) -> None:
    home.more = {"RECOLLECT_HOOK_TIMEOUT_MS": "100"}
    told = json.dumps(CLAUDE_CODE.told("s", knowing(home), None)).encode()

    with listening(home, None):
        silent(home, "session-start", told)
    assert "late" in home.log


def test_a_name_that_nobody_looks_up_in_time_is_not_waited_for(home: Home) -> None:
    slow = "import socket, time\nsocket.getaddrinfo = lambda *a, **k: time.sleep(600)\n"
    home.project("site").joinpath("sitecustomize.py").write_text(slow)
    path = f"{home.project('site')}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"
    home.more = {
        "PYTHONPATH": path,
        "RECOLLECT_SERVER_URL": "http://memory.example:8283",
        "RECOLLECT_HOOK_TIMEOUT_MS": "100",
    }

    silent(home, "session-start", b"{}")
    assert "gave up" in home.log


def test_what_a_server_says_too_late_was_not_told(home: Home) -> None:
    project = knowing(home)
    told = CLAUDE_CODE.told("s", project, None)
    prompt = told | {"prompt": "Which database did we choose for JSON columns, PostgreSQL?"}
    with serving(home.db, env=home.env()) as server:
        path = f"{server.url}/api/hooks/claude-code"
        for event, what in (("session-start", told), ("prompt", prompt)):
            late = httpx2.post(
                f"{path}/{event}", json={"told": what, "until": time.time() - 1}, timeout=60
            )
            assert DECIDED in late.text

        assert DECIDED in home.hook("prompt", prompt).said
        assert home.hook("prompt", prompt).out == ""


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
def test_an_answer_that_is_none_is_not_printed(home: Home, answer: bytes) -> None:
    told = json.dumps(CLAUDE_CODE.told("s", knowing(home), None)).encode()

    with listening(home, answer):
        silent(home, "session-start", told)


def test_a_server_that_was_killed_is_replaced_by_the_file(home: Home) -> None:
    project = knowing(home)
    with serving(home.db, env=home.env()) as server:
        server.process.kill()
        server.process.wait(timeout=30)

        assert list(home.state.glob("server-*.pid"))
        told = CLAUDE_CODE.told("s", project, None)
        assert DECIDED in home.hook("session-start", told).said
    assert "(file)" in home.log


def test_a_server_of_another_store_is_not_asked(home: Home) -> None:
    project = knowing(home)
    with serving(home.folder / "other.db", env=home.env()) as server:
        told = CLAUDE_CODE.told("s", project, None)
        assert DECIDED in home.hook("session-start", told).said

        home.more = {"RECOLLECT_SERVER_URL": server.url}  # somebody says so, and names a store too
        assert DECIDED in home.hook("session-start", told).said
    assert "(server)" not in home.log


def test_a_server_with_a_token_is_asked_with_it(home: Home) -> None:
    project = knowing(home)
    home.more = {"RECOLLECT_TOKEN": "letmein"}
    with serving(home.db, env=home.env()):
        told = CLAUDE_CODE.told("s", project, None)

        assert DECIDED in home.hook("session-start", told).said
        assert "(server)" in home.log
        home.more = {}
        assert DECIDED in home.hook("session-start", told).said
        assert "(file)" in home.log


def test_where_only_a_server_is_named_it_is_the_memory(home: Home) -> None:
    project = home.project("site")
    path = CLAUDE_CODE.write(home.folder / "a.jsonl", TALK, session="a", cwd=project)
    own, far = home.env(), home.folder / "far.db"
    home.more = {"RECOLLECT_DB": "", "HOME": str(home.folder)}
    told = CLAUDE_CODE.told("a", project, path)
    with serving(far, env=own) as server:
        home.more = {**home.more, "RECOLLECT_SERVER_URL": server.url}
        home.hook("session-end", told)
        home.captured()
        with recollect.connect(server.url) as remote:
            until(lambda: bool(remote.memories(project=project, types=["decision"])))

        begun = home.hook("session-start", CLAUDE_CODE.told("b", project, None))
        assert DECIDED in begun.said
    assert home.hook("session-start", told).out == ""
    assert "no server" in home.log
    assert not (home.folder / ".local-memory").exists()


def test_a_session_named_like_a_secret_is_told_all_the_same(home: Home) -> None:
    project = knowing(home)

    told = CLAUDE_CODE.told("ghp_" + "a1B2" * 9, project, None)
    assert DECIDED in home.hook("session-start", told).said


def transcripts(home: Home) -> dict[str, Path]:
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


def test_what_is_no_transcript_is_not_captured(home: Home) -> None:
    for path in transcripts(home).values():
        told = CLAUDE_CODE.told("s", home.project("site"), path)
        silent(home, "session-end", json.dumps(told).encode())
    until(lambda: not list(home.files.glob("*.wanted")))
    until(lambda: " capture of " not in home.log or home.log.count("worked off") >= 1)

    if home.db.exists():
        with recollect.open(home.db, embedding_backend="none") as memory:
            assert memory.events() == [] or all("nobody" in one.uri for one in memory.events())


@pytest.mark.slow
@pytest.mark.parametrize("after_s", [0.0, 0.01, 0.03, 0.06, 0.1, 0.2, 0.4])
def test_a_killed_hook_leaves_nothing_broken(home: Home, after_s: float) -> None:
    project = knowing(home)
    told = json.dumps(CLAUDE_CODE.told("s", project, None) | {"prompt": DECIDED}).encode()
    for event in ("session-start", "prompt"):
        with home.start(event) as process:
            assert process.stdin is not None
            process.stdin.write(told)
            process.stdin.close()
            process.stdin = None
            time.sleep(after_s)  # where it is then is the point
            kill(process)

    fresh = CLAUDE_CODE.told("later", project, None)
    assert DECIDED in home.hook("session-start", fresh).said
    with recollect.open(home.db, embedding_backend="none") as memory:
        assert memory.verify().ok


def capturing(home: Home) -> list[int]:
    """Return the processes that capture for this person."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if str(home.db).encode() in words and any(b"hooks.capture" in one for one in words):
            found.append(int(folder.name))
    return found


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self").exists(), reason="finds processes by /proc")
@pytest.mark.parametrize("after_s", [0.0, 0.1, 0.3, 0.5, 0.7])
def test_a_killed_capture_is_made_up_for_by_the_next(home: Home, after_s: float) -> None:
    project = home.project("site")
    path = CLAUDE_CODE.write(home.folder / "a.jsonl", TALK, session="a", cwd=project)
    home.hook("session-end", CLAUDE_CODE.told("a", project, path))
    time.sleep(after_s)  # where it is then is the point
    for pid in capturing(home):
        os.kill(pid, 9)

    other = [("user", "Hello."), ("user", "We deploy on Fridays because nobody is there.")]
    path = CLAUDE_CODE.write(home.folder / "b.jsonl", other, session="b", cwd=project)
    home.hook("session-end", CLAUDE_CODE.told("b", project, path))
    until(lambda: not list(home.files.glob("*.wanted")))

    with recollect.open(home.db, embedding_backend="none") as memory:
        assert {Path(one.uri).name for one in memory.events()} == {"a.jsonl", "b.jsonl"}
        assert memory.verify().ok


def test_many_ends_at_once_capture_once(home: Home) -> None:
    project = home.project("site")
    path = CLAUDE_CODE.write(home.folder / "a.jsonl", TALK, session="a", cwd=project)
    told = json.dumps(CLAUDE_CODE.told("a", project, path)).encode()
    running = [home.start(event) for event in ("pre-compact", "session-end", "stop") * 2]
    for one in running:
        with one:
            assert one.communicate(told, timeout=60) == (b"", b"")
    until(lambda: home.log.count("worked off") >= home.log.count("capture now"))

    with recollect.open(home.db, embedding_backend="none") as memory:
        assert len(memory.events()) == 1
        assert len(memory.memories(project=project, types=["decision"])) == 1


@pytest.mark.slow
@pytest.mark.parametrize(("size", "outcome"), [(50, "captured 1"), (70, "larger than 64 MB")])
def test_a_huge_transcript_is_survived(home: Home, size: int, outcome: str) -> None:
    project = home.project("site")
    talk = [*TALK, *[("assistant", "y" * 9_000)] * (size * 111)]
    path = CLAUDE_CODE.write(home.folder / "a.jsonl", talk, session="a", cwd=project)
    assert path.stat().st_size > size * 1_000_000

    home.hook("session-end", CLAUDE_CODE.told("a", project, path))
    home.captured()

    assert outcome in home.log
    assert not list(home.files.glob("*.wanted"))


def test_a_wish_that_kills_is_given_up(home: Home) -> None:
    project = home.project("site")
    path = CLAUDE_CODE.write(home.folder / "a.jsonl", TALK, session="a", cwd=project)
    home.files.mkdir(parents=True)
    wish = session_file(str(home.files), str(home.db), "b.jsonl", ending="wanted")
    told = {"db": str(home.db), "transcript": "b.jsonl", "ripe_at": 0, "tries": 3}
    Path(wish).write_text(json.dumps(told))

    home.hook("session-end", CLAUDE_CODE.told("a", project, path))
    home.captured()

    assert "given up" in home.log
    assert not Path(wish).exists()


def test_what_is_to_be_captured_stays_however_long_nobody_was_there(home: Home) -> None:
    project = home.project("site")
    home.files.mkdir(parents=True)
    for ending in ("wanted", "later", "lock", "given", "captured", "wanted.12.34"):
        path = home.files / f"x.{ending}"
        path.write_text("{}")
        os.utime(path, (0, 0))

    knowing(home)
    home.hook("session-start", CLAUDE_CODE.told("s", project, None))

    left = {path.name for path in home.files.glob("x.*")}
    assert left == {"x.wanted", "x.later", "x.lock"}


@pytest.mark.parametrize(("more", "stays"), [("", False), ("{}\n", True)])
def test_a_wish_for_later_stays_if_more_was_said_meanwhile(
    tmp_path: Path, more: str, stays: bool
) -> None:
    transcript = tmp_path / "a.jsonl"
    transcript.write_text("{}\n")
    later, now = (
        session_file(str(tmp_path), "m.db", str(transcript), ending=one)
        for one in ("later", "wanted")
    )
    for path in (later, now):
        state.write_small(path, {"db": "m.db", "transcript": str(transcript), "ripe_at": 1.0})

    with transcript.open("a") as file:
        file.write(more)
    fulfilled(str(tmp_path), Wish(now, "m.db", "", "", "", str(transcript), 1.0), 3)

    assert Path(later).exists() == stays
    assert not Path(now).exists()


def test_a_transcript_that_cannot_be_read_does_not_hold_up_the_others(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = home.project("site")
    for place, name in enumerate("ab"):
        path = CLAUDE_CODE.write(home.folder / f"{name}.jsonl", TALK, session=name, cwd=project)
        told = {"db": str(home.db), "transcript": str(path), "place": str(project)}
        wish = session_file(str(home.files), str(home.db), str(path), ending="wanted")
        state.write_small(wish, told | {"ripe_at": place})
    nowhere = {"db": str(home.db), "transcript": "/a\0b.jsonl", "ripe_at": 0}
    state.write_small(str(home.files / "x.wanted"), nowhere)
    opened = open

    def broken(path: str, *given: Any, **more: Any) -> Any:
        if str(path).endswith("a.jsonl"):
            raise OSError(5, "Input/output error")
        return opened(path, *given, **more)

    monkeypatch.setattr("builtins.open", broken)
    outcome = capture_all(str(home.state), whose(home.env()))

    assert outcome.startswith("captured 1,")
    assert "it may not be read" in home.log


def test_what_is_wished_during_the_work_is_captured_before_the_lock_is_freed(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = home.project("site")
    drain = recollect.Recollect.drain_in_steps
    meanwhile = ["b"]

    def wished(name: str) -> None:
        path = CLAUDE_CODE.write(home.folder / f"{name}.jsonl", TALK, session=name, cwd=project)
        told = {"db": str(home.db), "transcript": str(path), "place": str(project), "ripe_at": 1}
        wish = session_file(str(home.files), str(home.db), str(path), ending="wanted")
        state.write_small(wish, told)

    def working(memory: recollect.Recollect) -> Iterator[int]:
        if meanwhile:
            wished(meanwhile.pop())
        yield from drain(memory)

    monkeypatch.setattr(recollect.Recollect, "drain_in_steps", working)
    wished("a")
    outcome = capture_all(str(home.state), whose(home.env()))

    assert outcome.startswith("captured 2,")
