"""A server reads files for its callers only in the folders of --files; by default in none."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import recollect
from in_process_server import serve_in_thread
from recollect import LocalRecollect
from recollect.errors import RecollectError, RequestRefused
from support import FakeClock, open_memory

pytestmark = pytest.mark.door

SECRET = "zebra-crossing-4711"


class FileRootsScene:
    """Folders inside and outside of what may be read, a memory, and the client of its server."""

    def __init__(self, folder: Path) -> None:
        self.inside = folder / "inside"
        self.outside = folder / "outside"
        for one in (self.inside, self.outside):
            (one / ".skills" / "greet").mkdir(parents=True)
            (one / "app.py").write_text(f"print('{SECRET}')\n")
            (one / ".skills" / "greet" / "SKILL.md").write_text(
                f"---\nname: greet\ndescription: {SECRET}.\n---\nSay hello.\n"
            )
        (self.inside / "link").symlink_to(self.outside)
        (self.inside / "link.py").symlink_to(self.outside / "app.py")
        (self.inside / "skills" / ".skills").mkdir(parents=True)
        (self.inside / "linked").mkdir()
        (self.inside / "linked" / ".skills").symlink_to(self.outside / ".skills")


@contextmanager
def served(rec: LocalRecollect) -> Iterator[Any]:
    with serve_in_thread(rec) as url, recollect.connect(url) as remote:
        yield remote


def told(ask: Callable[[], Any]) -> str:
    """Return all that a caller gets to see: what came back, or why not."""
    try:
        return repr(ask())
    except RecollectError as error:
        return str(error)


def talk(door: Any) -> Any:
    """A conversation in which something was done."""
    said = door.conversations.start(agent="ada")
    door.conversations.append(said, "user", "Please deploy the docs site.")
    for number, command in enumerate(("pnpm install", "pnpm build", "./ship --staging")):
        function = {"name": "bash", "arguments": json.dumps({"command": command})}
        calls = [{"id": f"c{number}", "function": function}]
        door.conversations.append(said, "assistant", f"Now {command}.", tool_calls=calls)
        door.conversations.append(said, "tool", "Done.\nexit code: 0", tool_call_id=f"c{number}")
    door.conversations.append(said, "assistant", "The docs site is deployed.")
    return said


Asked = Callable[[Any, Path], Any]
# Each would read or write in the folder it is given.
ASKED: dict[str, Asked] = {
    "open_files": lambda door, at: door.files.open("ada", ["app.py"], project=at),
    "open_files, roots": lambda door, at: door.files.open("ada", ["app.py"], roots=[at]),
    "open_files, whole": lambda door, at: door.files.open("ada", [at / "app.py"], roots=[at]),
    "grep_files": lambda door, at: door.files.grep("zebra", roots=[at]),
    "grep_files, project": lambda door, at: door.files.grep("zebra", project=at),
    "grep_files, paths": lambda door, at: door.files.grep("zebra", roots=[at], paths=["app.py"]),
    "index_files": lambda door, at: door.files.index(project=at),
    "index_files, roots": lambda door, at: door.files.index(project=at, roots=[at]),
    "discover_skills": lambda door, at: door.skills.list(project=at),
    "search_skills": lambda door, at: door.skills.search("greet", project=at),
    "load_skill": lambda door, at: door.skills.load("ada", "greet", project=at),
    "refresh_skills": lambda door, at: door.skills.refresh("ada", project=at),
    "context_for": lambda door, at: door.context_for("x", file=at / "app.py", project=at),
    "learn_skill": lambda door, at: door.skills.learn(talk(door), "made", project=at),
}
GLOBAL: Asked = lambda door, at: door.skills.learn(talk(door), "made", save="global")  # noqa: E731


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> FileRootsScene:
    """Folders with a secret in each."""
    return FileRootsScene(tmp_path_factory.mktemp("walls"))


@pytest.fixture(scope="module")
def closed(place: FileRootsScene) -> Iterator[Any]:
    """The client of a server that reads nothing."""
    with open_memory(place.inside.parent / "closed.db", words_only=True, reach=[]) as rec:
        rec.agents.create("ada")
        with served(rec) as door:
            yield door


@pytest.fixture(scope="module")
def open_inside(place: FileRootsScene) -> Iterator[Any]:
    """The client of a server that reads inside."""
    path = place.inside.parent / "inside.db"
    with open_memory(path, words_only=True, reach=[place.inside]) as rec:
        rec.agents.create("ada")
        with served(rec) as door:
            yield door


@pytest.mark.parametrize("asked", ASKED)
def test_without_files_nothing_is_read(place: FileRootsScene, closed: Any, asked: str) -> None:
    with pytest.raises(RequestRefused) as refused:
        ASKED[asked](closed, place.outside)

    assert refused.value.status == 403
    assert "--files" in str(refused.value)
    assert SECRET not in str(refused.value)
    assert not (place.outside / ".skills" / "made").exists()


def test_without_files_nothing_is_written_for_everybody(
    closed: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))

    with pytest.raises(RequestRefused):
        GLOBAL(closed, tmp_path)

    assert list(tmp_path.rglob("SKILL.md")) == []


@pytest.mark.parametrize("asked", ASKED)
def test_with_files_what_is_inside_is_read(
    place: FileRootsScene, open_inside: Any, asked: str
) -> None:
    assert ASKED[asked](open_inside, place.inside) is not None


@pytest.mark.parametrize("way", ["..", "link", "../outside", "./link/.", "app.py/../../outside"])
@pytest.mark.parametrize("asked", ASKED)
def test_with_files_no_way_leads_outside(
    place: FileRootsScene, open_inside: Any, asked: str, way: str
) -> None:
    assert SECRET not in told(lambda: ASKED[asked](open_inside, place.inside / way))
    assert not (place.outside / ".skills" / "made").exists()


@pytest.mark.parametrize(
    "path", ["link.py", "link/app.py", "../outside/app.py", "/etc/passwd", "/proc/self/environ"]
)
def test_a_file_outside_is_not_opened_from_inside(
    place: FileRootsScene, open_inside: Any, path: str
) -> None:
    asked: list[Callable[[], Any]] = [
        lambda: open_inside.files.open("ada", [path], roots=[place.inside]),
        lambda: open_inside.files.grep("zebra|root", roots=[place.inside], paths=[path]),
        lambda: open_inside.context_for("x", file=place.inside / path, project=place.inside),
    ]
    for ask in asked:
        answer = told(ask)
        assert SECRET not in answer
        assert "root:" not in answer


def test_skills_behind_a_link_that_leads_outside_are_not_read(
    place: FileRootsScene, open_inside: Any
) -> None:
    report = open_inside.skills.list(project=place.inside / "linked")

    assert SECRET not in repr(report)


def test_what_was_opened_where_the_server_may_not_read_does_not_spoil_the_rest(
    place: FileRootsScene, tmp_path: Path
) -> None:
    path = tmp_path / "memory.db"
    with open_memory(path, clock=FakeClock(), words_only=True) as rec:
        rec.agents.create("ada")
        rec.files.open("ada", ["app.py"], project=place.outside)
    with (
        open_memory(path, clock=FakeClock(), words_only=True, reach=[]) as rec,
        served(rec) as door,
    ):
        windows = door.files.list_open("ada")
        door.context_for("x", agent="ada")
        door.agents.context_window("ada")

    assert SECRET not in repr(windows)
