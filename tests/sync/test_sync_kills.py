"""A process that is killed while it syncs leaves a store and a folder that go on."""

import random
import shutil
import sys
from pathlib import Path

import pytest

from killed_process import run_until_killed
from recollect import LocalRecollect
from recollect.store.key_places import read_key_file
from recollect.store.sqlite.sync.sync_folder import SharedFolder
from synced_devices import settings_of

pytestmark = [
    pytest.mark.kill,
    pytest.mark.skipif(sys.platform == "win32", reason="needs fork"),
]
STATEMENT = "The zebrafish tank is in Berlin."


def prepare(folder: Path, scene: str) -> None:
    """Make two devices with something to exchange."""
    with (
        LocalRecollect(settings_of(folder, "a")) as a,
        LocalRecollect(settings_of(folder, "b")) as b,
    ):
        for rec in (a, b):
            rec.sync.init(str(folder / "shared"))
        forgotten = a.ingest(STATEMENT, scope="global")
        kept = a.ingest("Deploys happen on Fridays.", scope="global", status="inbox")
        if scene == "first":
            return
        for rec in (a, b, a):
            rec.sync.run()
        if scene == "merge":
            a.promote(kept.id)
            b.reject(kept.id)
        if scene in ("forget", "rewrite"):
            b.promote(kept.id)
            (b if scene == "forget" else a).forget(forgotten.id)
        b.ingest("The build takes an hour.", scope="global")
        b.sync.run()
    if scene in ("restored", "lost"):
        continue_and_lose(folder, restores=scene == "restored")


def continue_and_lose(folder: Path, *, restores: bool) -> None:
    """Let the first device publish more; then restore its store from before, or lose a file."""
    shutil.copytree(folder / "a", folder / "backup")
    with LocalRecollect(settings_of(folder, "a")) as a:
        a.ingest("Lunch is at noon.", scope="global")
        a.sync.run()
        device = a.sync.status().device
    if restores:
        shutil.rmtree(folder / "a")
        shutil.copytree(folder / "backup", folder / "a")
    else:
        (folder / "shared" / f"device-{device}" / "000001.sync").unlink()


def sync_a(folder: Path, scene: str) -> object:
    with LocalRecollect(settings_of(folder, "a")) as rec:
        return rec.sync.rekey() if scene == "rekey" else rec.sync.run()


@pytest.mark.parametrize(
    "scene", ["first", "merge", "forget", "rewrite", "rekey", "restored", "lost"]
)
def test_a_killed_sync_is_finished_by_the_next_one(tmp_path: Path, scene: str, kills: int) -> None:
    pristine = tmp_path / "run"  # the same path each time: a copy elsewhere is another device
    pristine.mkdir()
    prepare(pristine, scene)
    saved = tmp_path / "saved"
    shutil.copytree(pristine, saved)
    total = run_until_killed(lambda: sync_a(pristine, scene), 0)
    assert total > kills

    for kill_at in sorted(random.Random(7).sample(range(1, total), kills)):
        shutil.rmtree(pristine)
        shutil.copytree(saved, pristine)
        run_until_killed(lambda: sync_a(pristine, scene), kill_at)

        with (
            LocalRecollect(settings_of(pristine, "a")) as a,
            LocalRecollect(settings_of(pristine, "b")) as b,
        ):
            for rec in (a, b, a, b, a):
                rec.sync.run()
            assert a.maintenance.verify().ok, kill_at
            assert memories_of(a) == memories_of(b), kill_at
            assert len(a.sync.status().peers) <= 2, kill_at
            keys = {rec.sync.status().key_id for rec in (a, b)}
            assert len(keys) == 1, kill_at
            assert not a.sync.status().problems, kill_at
            assert not b.sync.status().problems, kill_at
            assert is_readable(pristine / "shared", keys.pop()), kill_at
            if scene in ("forget", "rewrite"):
                assert not a.search("zebrafish")
                assert not b.search("zebrafish")
            else:
                assert a.search("zebrafish")
                assert b.search("zebrafish")


def memories_of(rec: LocalRecollect) -> list[tuple[str, str, str]]:
    memories = rec.memories.list(everywhere=True, limit=50)
    return sorted((memory.id, memory.status, memory.content) for memory in memories)


def is_readable(path: Path, key_id: str) -> bool:
    """Return whether the key of the folder alone opens every file."""
    [key] = [key for key in read_key_file(path.parent / "shared.key") if key.id == key_id]
    folder = SharedFolder(path, key)
    return all(
        list(folder.read(file)) for device in folder.devices() for file in folder.files(device)
    )
