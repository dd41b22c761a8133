"""A local store and one behind a server behave alike: one contract for both."""

from collections.abc import Callable, Iterator
from importlib import import_module
from inspect import isfunction
from pathlib import Path
from typing import Any, get_type_hints

import pytest

import recollect
from api_scenes import NOUNS, SCENES, RecordedCalls
from in_process_server import serve_in_thread
from recollect.api.recollect import Recollect
from support import FakeClock, open_memory

pytestmark = pytest.mark.door

Scene = Callable[[RecordedCalls], None]


def played(scene: Scene, tmp_path: Path, *, over_http: bool) -> RecordedCalls:
    """Play *scene* on a fresh store in a folder of the same name, and return what happened."""
    folder = tmp_path / "here"
    folder.mkdir()
    try:
        reach = [folder] if over_http else None
        with open_memory(folder / "memory.db", clock=FakeClock(), reach=reach) as rec:
            if not over_http:
                door = RecordedCalls(rec, folder)
                scene(door)
                return door
            with (
                serve_in_thread(rec) as url,
                recollect.connect(url) as remote,
            ):
                door = RecordedCalls(remote, folder)
                scene(door)
                return door
    finally:
        folder.rename(tmp_path / ("served" if over_http else "opened"))


@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.__name__)
def test_every_call_gives_the_same_on_both(scene: Scene, tmp_path: Path) -> None:
    opened = played(scene, tmp_path, over_http=False)
    served = played(scene, tmp_path, over_http=True)

    for mine, theirs in zip(opened.lines, served.lines, strict=True):
        assert mine == theirs


def test_the_scenes_use_every_verb(tmp_path: Path) -> None:
    used = set()
    for number, scene in enumerate(SCENES):
        folder = tmp_path / str(number)
        folder.mkdir()
        used |= {verb for verb, _ in played(scene, folder, over_http=False).lines}

    assert used >= set(every_verb())


def every_verb() -> Iterator[str]:
    """Yield every verb of the API: those of `Recollect`, and those of its nouns."""
    verbs = {name for name, value in vars(Recollect).items() if isfunction(value)}
    yield from (name for name in verbs if not name.startswith("_") and name != "close")
    for noun in NOUNS:
        kind = get_type_hints(vars(Recollect)[noun].func, noun_types())["return"]
        for name, value in vars(kind).items():
            if isfunction(value) and not name.startswith("_") and f"{noun}.{name}" not in LOCAL:
                yield f"{noun}.{name}"


# Done on the caller's side with other verbs; or yielding (tests/runtime/test_run_doors.py).
LOCAL = {"agents.tools", "captures.add_file", "agents.stream", "agents.stream_decision"}


def noun_types() -> dict[str, Any]:
    """Return the classes of the nouns by name, for their annotations."""
    modules = [import_module(f"recollect.api.{noun}") for noun in NOUNS]
    return {name: value for module in modules for name, value in vars(module).items()}
