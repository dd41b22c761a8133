"""One contract, two doors: a memory that is open here and one behind a server answer alike."""

from collections.abc import Callable
from pathlib import Path

import pytest

import recollect
from door_scenes import SCENES, Played
from hosted import hosted
from recollect.wire.routes import EXPORTS, IMPORTS, ROUTES
from support import FakeClock, open_memory

Scene = Callable[[Played], None]


def played(scene: Scene, tmp_path: Path, *, over_http: bool) -> Played:
    """Play *scene* on a fresh store in a folder of the same name, and return what happened."""
    folder = tmp_path / "here"
    folder.mkdir()
    try:
        reach = [folder] if over_http else None
        with open_memory(folder / "memory.db", clock=FakeClock(), reach=reach) as memory:
            if not over_http:
                door = Played(memory, folder)
                scene(door)
                return door
            with (
                hosted(memory) as url,
                recollect.connect(url) as remote,
            ):
                door = Played(remote, folder)
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

    assert used >= ROUTES.keys() | EXPORTS.keys() | IMPORTS.keys()
