"""The skills that an agent has loaded reach the other devices with their text."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from recollect import LocalRecollect
from recollect.clock import SystemClock
from recollect.store.sqlite.connection import connect
from recollect.store.sqlite.migrate import known_migrations, migrate
from support import file_store
from synced_devices import SyncedDevice, make_device, settings_of, settle, words_in_folder

Pair = tuple[SyncedDevice, SyncedDevice]


@pytest.fixture
def pair(tmp_path: Path) -> Iterator[Pair]:
    first, second = make_device(tmp_path, "a", 1), make_device(tmp_path, "b", 2)
    yield first, second
    first.rec.close()
    second.rec.close()


def write_skill(home: Path, text: str, *, name: str = "deploy", folder: str = ".agents") -> Path:
    path = home / folder / "skills" / name / "SKILL.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"---\nname: {name}\ndescription: How to {name}.\n---\n{text}\n")
    return path


def texts_of(device: SyncedDevice) -> dict[str, str]:
    loaded = device.rec.skills.loaded("coder")
    return {skill.skill.name: skill.skill.body.strip() for skill in loaded}


def test_a_loaded_skill_reaches_the_other_device_without_its_path(
    pair: Pair, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    a, b = pair
    monkeypatch.setenv("HOME", str(tmp_path / "home-of-a"))
    write_skill(tmp_path / "home-of-a", "Push on Fridays.")
    a.rec.agents.create("coder")
    a.rec.skills.load("coder", "deploy")

    settle(a, b)

    assert texts_of(b) == {"deploy": "Push on Fridays."}
    assert b.rec.skills.loaded("coder")[0].skill.path == ""
    assert "home-of-a" not in words_in_folder(a)
    assert a.rows() == b.rows()

    b.rec.skills.unload("coder", "deploy")
    settle(a, b)
    assert texts_of(a) == {}
    assert not any("Push on Fridays" in row and '"skills"' in row for row in a.rows())


def test_another_skill_that_is_loaded_here_keeps_the_one_from_the_other_device(
    pair: Pair, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    a, b = pair
    monkeypatch.setenv("HOME", str(tmp_path))
    write_skill(tmp_path, "Push on Fridays.")
    write_skill(tmp_path, "Ask two people.", name="review")
    a.rec.agents.create("coder")
    a.rec.skills.load("coder", "deploy")
    settle(a, b)

    b.rec.skills.load("coder", "review")
    settle(a, b)

    assert set(texts_of(a)) == set(texts_of(b)) == {"deploy", "review"}
    block = b.rec.blocks.get("coder", "loaded_skills").value
    assert "Push on Fridays." in block
    assert "Ask two people." in block
    assert a.rows() == b.rows()


def test_the_text_that_was_loaded_last_stays(
    pair: Pair, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    a, b = pair
    a.rec.agents.create("coder")
    settle(a, b)
    for device in pair:
        home = tmp_path / f"home-{device.name}"
        monkeypatch.setenv("HOME", str(home))
        write_skill(home, f"From {device.name}.")
        device.rec.skills.load("coder", "deploy")
        b.clock.advance(hours=1)

    settle(a, b)

    assert texts_of(a) == texts_of(b) == {"deploy": "From b."}
    assert a.rows() == b.rows()


def test_a_skill_of_another_device_is_refreshed_after_it_was_loaded_here(
    pair: Pair, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    a, b = pair
    monkeypatch.setenv("HOME", str(tmp_path / "home-of-a"))
    write_skill(tmp_path / "home-of-a", "Push on Fridays.")
    a.rec.agents.create("coder")
    a.rec.skills.load("coder", "deploy")
    settle(a, b)
    monkeypatch.setenv("HOME", str(tmp_path / "home-of-b"))
    path = write_skill(tmp_path / "home-of-b", "Push on Mondays.")

    b.rec.skills.refresh("coder")
    assert texts_of(b) == {"deploy": "Push on Fridays."}  # it may be another skill of that name

    write_skill(tmp_path / "home-of-b", "Push on Fridays.")
    b.rec.skills.load("coder", "deploy")
    settle(a, b)
    assert b.rec.skills.loaded("coder")[0].skill.path == str(path)
    assert a.rows() == b.rows()

    write_skill(tmp_path / "home-of-b", "Push on Mondays.")
    b.rec.skills.refresh("coder")
    settle(a, b)
    assert texts_of(a) == texts_of(b) == {"deploy": "Push on Mondays."}


def test_a_store_that_synced_before_publishes_the_skills_it_has(tmp_path: Path) -> None:
    settings = settings_of(tmp_path, "a")
    settings.db_path.parent.mkdir()
    db = connect(settings.db_path, create=True)
    steps = [step for step in known_migrations() if step.number < 30]
    migrate(db, settings.db_path, SystemClock(), steps)
    db.execute(
        "INSERT INTO agents (id, name, created_at, updated_at) VALUES ('g', 'coder', 1, 1);"
        "INSERT INTO skills (id, name, origin, content, sha256, created_at, updated_at)"
        " VALUES ('s', 'deploy', 'global', 'x', 'x', 1, 1);"
        "INSERT INTO agent_skills VALUES ('g', 's', 1);"
        "INSERT INTO sync_device (id, device, place, folder, key_id) VALUES (1, 'd', 'p', 'f', 'k')"
    )
    db.close()

    with LocalRecollect(settings) as rec, file_store(rec).read() as tables:
        sql = "SELECT id FROM sync_changes WHERE kind = 'agent_skills'"
        assert tables.connection.db.execute(sql).get == "g s"
