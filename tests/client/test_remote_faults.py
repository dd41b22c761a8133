"""The client against servers that are not there, not ours, or not well; odd names and values."""

import inspect
import ssl
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

import recollect
from in_process_server import serve_in_thread
from recollect import LocalRecollect, RecollectError, errors
from recollect.client.connection import Connection
from recollect.errors import InvalidInput, NotFound, ServerUnavailable
from recollect.wire.problem import error_from_problem, problem_from_error
from support import open_memory

pytestmark = pytest.mark.door

Answer = Callable[["ForeignServerHandler"], None]


class ForeignServerHandler(BaseHTTPRequestHandler):
    """A server that is none of ours: it answers as its maker says, and notes what it was asked."""

    protocol_version = "HTTP/1.1"
    answer: Answer
    seen: list[tuple[str, str, str]]

    def say(self, status: int, body: bytes, *headers: tuple[str, str]) -> None:
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        self.rfile.read(length)
        self.seen.append((self.command, self.path, self.headers.get("Authorization") or ""))
        type(self).answer(self)

    do_POST = do_PUT = do_DELETE = do_PATCH = do_GET

    def log_message(self, format: str, *args: Any) -> None:
        pass


@contextmanager
def other(answer: Answer) -> Iterator[tuple[str, list[tuple[str, str, str]]]]:
    """Serve something else inside the block; give its address and what it was asked."""
    seen: list[tuple[str, str, str]] = []
    kind = type("One", (ForeignServerHandler,), {"answer": answer, "seen": seen})
    with ThreadingHTTPServer(("127.0.0.1", 0), kind) as server:
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}", seen
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalRecollect]:
    """A memory that the tests of this file share."""
    path = tmp_path_factory.mktemp("faults") / "memory.db"
    with open_memory(path, words_only=True, reach=[]) as rec:
        yield rec


@pytest.fixture(scope="module")
def door(opened: LocalRecollect) -> Iterator[Any]:
    """The same memory behind its server."""
    with serve_in_thread(opened) as url, recollect.connect(url) as remote:
        yield remote


HTML = ("Content-Type", "text/html")
JSON = ("Content-Type", "application/json")
WRONG: dict[str, Answer] = {
    "a page": lambda handler: handler.say(200, b"<html>hello</html>", HTML),
    "another list": lambda handler: handler.say(200, b'[{"a": 1}]', JSON),
    "another object": lambda handler: handler.say(200, b'{"a": 1}', JSON),
    "null": lambda handler: handler.say(200, b"null", JSON),
    "nothing": lambda handler: handler.say(204, b""),
    "not found": lambda handler: handler.say(404, b"<html>Not Found</html>", HTML),
    "their own error": lambda handler: handler.say(500, b'{"oops": true}', JSON),
    "no bytes of JSON": lambda handler: handler.say(500, b"\xff\xfe", JSON),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_another_service_on_that_port_is_told(wrong: str) -> None:
    with other(WRONG[wrong]) as (url, _), recollect.connect(url) as remote:
        quick = remote.within(30)
        for call in (
            quick.agents.list,
            quick.maintenance.status,
            quick.health,
            lambda: quick.ingest("x"),
        ):
            with pytest.raises(RecollectError) as raised:
                call()
            assert url in str(raised.value) or wrong == "their own error"


def test_a_file_is_not_replaced_by_another_services_page(tmp_path: Path) -> None:
    target = tmp_path / "all.jsonl"
    target.write_text("my last export")
    with (
        other(WRONG["a page"]) as (url, _),
        recollect.connect(url) as remote,
        pytest.raises((RecollectError, KeyError)),
    ):
        remote.export(target)

    assert target.read_text() == "my last export"


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_nobody_is_followed_elsewhere(status: int) -> None:
    with other(lambda handler: handler.say(200, b"[]", JSON)) as (elsewhere, seen):
        away = ("Location", elsewhere + "/api/agents")
        with (
            other(lambda handler: handler.say(status, b"", away)) as (url, _),
            recollect.connect(url, token="secret") as remote,
        ):
            with pytest.raises(ServerUnavailable):
                remote.within(30).agents.list()
            with pytest.raises(ServerUnavailable):
                remote.within(30).ingest("x")

        assert seen == []


def test_a_next_page_elsewhere_is_not_asked_for() -> None:
    with other(lambda handler: handler.say(200, b"[]", JSON)) as (elsewhere, seen):
        away = ("Link", f'<{elsewhere}/api/agents?offset=1>; rel="next"')
        with (
            other(lambda handler: handler.say(200, b"[]", JSON, away)) as (url, _),
            recollect.connect(url, token="secret") as remote,
        ):
            remote.agents.list()

        assert seen == []


def test_nobody_there_is_told_with_what_to_do() -> None:
    with other(WRONG["a page"]) as (url, _):
        pass
    with recollect.connect(url) as remote, pytest.raises(ServerUnavailable) as raised:
        remote.agents.list()

    assert url in str(raised.value)
    assert "recollect serve" in str(raised.value)


def test_tls_to_a_port_without_it_is_told() -> None:
    with (
        other(WRONG["a page"]) as (url, _),
        recollect.connect(url.replace("http:", "https:")) as remote,
        pytest.raises(ServerUnavailable) as raised,
    ):
        remote.within(30).agents.list()

    assert isinstance(raised.value.__cause__, Exception)
    assert "https://" in str(raised.value)
    assert ssl.HAS_TLSv1_3


def test_a_server_that_does_not_answer_is_unavailable_in_time() -> None:
    done = threading.Event()

    def silent(handler: ForeignServerHandler) -> None:
        done.wait(60)

    with other(silent) as (url, _):
        try:
            with recollect.connect(url) as remote, pytest.raises(ServerUnavailable) as raised:
                remote.within(0.2).agents.list()
        finally:
            done.set()

    assert "in time" in str(raised.value)


def test_a_connection_that_was_closed_meanwhile_is_made_anew() -> None:
    def once(handler: ForeignServerHandler) -> None:
        handler.say(200, b"[]", JSON)
        handler.close_connection = True  # without having said so

    with other(once) as (url, seen), recollect.connect(url) as remote:
        for _ in range(5):
            assert remote.agents.list() == []

    assert len(seen) == 5


def test_an_answer_that_breaks_off_is_asked_for_again() -> None:
    def broken_once(handler: ForeignServerHandler) -> None:
        if len(handler.seen) == 1:
            handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n[")
            handler.close_connection = True
        else:
            handler.say(200, b"[]", JSON)

    with other(broken_once) as (url, seen), recollect.connect(url) as remote:
        assert remote.agents.list() == []

    assert len(seen) == 2


def test_proxies_of_the_environment_are_not_used(
    rec: LocalRecollect, monkeypatch: pytest.MonkeyPatch
) -> None:
    with other(WRONG["a page"]) as (proxy, seen), serve_in_thread(rec) as url:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy", "HTTPS_PROXY"):
            monkeypatch.setenv(name, proxy)
        monkeypatch.delenv("NO_PROXY", raising=False)
        monkeypatch.delenv("no_proxy", raising=False)
        with recollect.connect(url, token="secret") as remote:
            assert remote.agents.list() == []

        assert seen == []


def test_used_after_closing_is_told_as_an_open_memory_tells_it(rec: LocalRecollect) -> None:
    with serve_in_thread(rec) as url:
        remote = recollect.connect(url)
        remote.close()
        remote.close()

        with pytest.raises(RecollectError):
            remote.agents.list()


def test_one_client_serves_many_threads(door: Any) -> None:
    door.agents.create("ada")

    def work(number: int) -> int:
        door.conversations.add_message("ada", "user", f"word {number}")
        return len(door.conversations.agent_messages("ada", limit=1_000))

    with ThreadPoolExecutor(16) as pool:
        list(pool.map(work, range(96)))

    assert {
        handler.content for handler in door.conversations.agent_messages("ada", limit=1_000)
    } == {f"word {number}" for number in range(96)}


NAMES = [
    "a/b",
    "/",
    "//",
    "a/../b",
    "..",
    ".",
    "...",
    "%",
    "%2F",
    "%2f..",
    "%00",
    "a?b=c",
    "a#b",
    "a b",
    "a+b",
    "a&b",
    "a;b",
    "ä ö ü",
    "漢字",
    "🦀",
    "e\u0301",
    "search",
    "batch",
    "import",
    "a\\b",
    "'\"`<>",
    "x" * 100,
]


@pytest.mark.parametrize("name", NAMES)
def test_odd_names_are_names(door: Any, opened: LocalRecollect, name: str) -> None:
    agent = opened.agents.create(name)

    assert door.agents.get(name) == opened.agents.get(agent.id)
    assert door.agents.update(name, description="x").id == agent.id
    door.conversations.add_message(name, "user", "hello")
    assert [handler.content for handler in door.conversations.agent_messages(name)] == ["hello"]
    assert door.agents.pin(name).id == agent.id
    door.views.save(name, "hello")
    assert [view.name for view in door.views.list()] == [view.name for view in opened.views.list()]
    door.views.run(name)
    door.views.delete(name)
    fact = door.upsert_profile_fact(name, "x")
    assert fact == opened.memories.get(fact.id)
    assert door.agents.delete(name).agent_id == agent.id


@pytest.mark.parametrize(
    "name",
    [
        "",
        " ",
        "\x1f",
        "\x1e",
        "a\x1fb",
        "\x00",
        "\ud800",
        "a\nb",
    ],
)
def test_what_is_no_name_is_refused_alike(door: Any, opened: LocalRecollect, name: str) -> None:
    with pytest.raises(RecollectError) as here:
        opened.agents.get(name)
    with pytest.raises(RecollectError) as there:
        door.agents.get(name)

    assert type(here.value) is type(there.value)
    if "\x00" not in name and "\ud800" not in name:  # these are shown as U+FFFD there
        assert str(here.value) == str(there.value)


@pytest.mark.parametrize("length", [1_000, 20_000, 70_000, 300_000])
def test_a_very_long_name_is_refused_as_ours(door: Any, length: int) -> None:
    with pytest.raises(RecollectError):
        door.agents.get("x" * length)


VALUES: dict[str, Callable[[Any], Any]] = {
    "nan": lambda door: door.ingest("x", confidence=float("nan")),
    "infinite": lambda door: door.ingest("x", confidence=float("inf")),
    "nan inside": lambda door: door.agents.create("n", metadata={"a": [float("nan")]}),
    "too deep": lambda door: door.agents.create("n", metadata={"a": _deep(3_000)}),
    "an object": lambda door: door.ingest("x", tags=[object()]),
    "bytes": lambda door: door.ingest(b"x"),
}


def _deep(levels: int) -> Any:
    nested: Any = []
    for _ in range(levels):
        nested = [nested]
    return nested


@pytest.mark.parametrize("value", VALUES)
def test_a_value_json_does_not_know_is_invalid_input(
    door: Any, opened: LocalRecollect, value: str
) -> None:
    with pytest.raises(InvalidInput):
        VALUES[value](opened)

    with pytest.raises(InvalidInput):
        VALUES[value](door)


def test_keys_of_metadata_that_are_no_text_become_the_same_text(
    door: Any, opened: LocalRecollect
) -> None:
    fields: Any = {2: "a", None: "b", True: "c"}
    here = opened.agents.create("here", metadata=fields).metadata
    there = door.agents.create("there", metadata=fields).metadata

    assert there == here


CLASSES = [
    error_class
    for _, error_class in inspect.getmembers(errors, inspect.isclass)
    if issubclass(error_class, RecollectError)
]


def example(kind: type[RecollectError]) -> RecollectError:
    fields: dict[str, Any] = {}
    if kind is errors.BlockConflict:
        fields = {"yours": "mine \ud83e", "theirs": "", "version": 3}
    if kind in (errors.TooManyRequests, errors.ModelUnavailable):
        fields = {"retry_after_s": 0.01}
    return kind("what happened to 'ä\u2028漢🦀'; do\nthis next", **fields)


def test_every_error_arrives_as_what_it_was(
    opened: LocalRecollect, monkeypatch: pytest.MonkeyPatch
) -> None:
    raising: list[RecollectError] = []

    def send(request: object) -> object:
        raise raising[-1]

    monkeypatch.setattr(opened.engine.transport, "send", send)
    with serve_in_thread(opened) as url, recollect.connect(url) as remote:
        for kind in CLASSES:
            raising.append(example(kind))
            with pytest.raises(RecollectError) as raised:
                remote.within(30).agents.list()

            assert type(raised.value) is kind
            assert str(raised.value) == str(raising[-1])
            assert vars(raised.value) == vars(raising[-1])
            assert raised.value.status == kind.status


def test_an_error_of_a_class_of_ones_own_arrives_as_its_nearest_known() -> None:
    class SpecialNotFound(NotFound):
        """Somebody's own."""

    error = error_from_problem(problem_from_error(SpecialNotFound("gone")), 404)

    assert type(error) is NotFound


@pytest.mark.parametrize("token", ["tökén", "a\nb", "漢"])
def test_a_token_that_is_no_header_is_invalid_input(token: str) -> None:
    with pytest.raises(InvalidInput):
        recollect.connect("http://127.0.0.1:9", token=token).within(1).agents.list()


@pytest.mark.parametrize(
    "url",
    ["", "localhost:8283", "ftp://x", "http://", "http:///x", "//x", "http://[::1", "x" * 70_000],
)
def test_what_is_no_address_is_refused_at_once(url: str) -> None:
    with pytest.raises(InvalidInput):
        Connection(url)


def test_connecting_loads_no_server_and_no_store(tmp_path: Path) -> None:
    code = (
        "import sys, recollect\n"
        "remote = recollect.connect('http://127.0.0.1:9')\n"
        "try: remote.within(0.5).agents.list()\n"
        "except recollect.ServerUnavailable: pass\n"
        "bad = {'fastapi', 'starlette', 'uvicorn', 'apsw', 'numpy', 'onnxruntime'}\n"
        "sys.exit(', '.join(sorted(bad & set(sys.modules))) or None)\n"
    )

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)

    assert done.returncode == 0, done.stderr
