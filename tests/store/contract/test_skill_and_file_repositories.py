"""Skills that were loaded, and files that were read."""

from dataclasses import replace
from datetime import timedelta

import pytest

from recollect import InvalidInput
from recollect.domain.scope import ItemKind, Owner, Scope
from recollect.domain.skill import SkillOrigin
from recollect.store.protocol import Store, Tables
from recollect.store.values import OpenFileWindow, StoredFile, StoredSkill
from store_records import EVERYBODY, count_matches, matching_ids
from support import START

pytestmark = pytest.mark.usefixtures("stored_agents")


def skill(skill_id: str, content: str, project_id: str | None = None) -> StoredSkill:
    return StoredSkill(
        id=skill_id,
        name="pdf",
        description="reads PDF files",
        origin=SkillOrigin.PROJECT if project_id else SkillOrigin.GLOBAL,
        project_id=project_id,
        path="/skills/pdf",
        content=content,
        sha256=content,
        metadata={"category": "files"},
    )


def test_a_skill_is_known_by_its_content_and_is_loaded_once(store: Store) -> None:
    later = START + timedelta(hours=1)

    def write(tables: Tables) -> list[str]:
        ids = [
            tables.skills.save(skill("s1", "old"), START),
            tables.skills.save(skill("s2", "old"), later),
            tables.skills.save(skill("s3", "new"), later),
            tables.skills.save(skill("s4", "of the project", "p1"), later),
        ]
        for skill_id, at in (("s1", START), ("s1", later), ("s4", later)):
            tables.skills.load("a1", skill_id, at)
        return ids

    assert store.write(write) == ["s1", "s1", "s3", "s4"]
    with store.read() as tables:
        assert tables.skills.loaded_by("a1") == [
            (skill("s1", "old"), START),
            (skill("s4", "of the project", "p1"), later),
        ]
        assert tables.skills.loaded_by("a2") == []
    store.write(lambda tables: tables.skills.unload("a1", "s1"))
    store.write(lambda tables: tables.skills.drop_unused())
    with store.read() as tables:
        assert [loaded.id for loaded, _ in tables.skills.loaded_by("a1")] == ["s4"]
    assert store.row_counts()["skills"] == 1
    with pytest.raises(InvalidInput):
        store.write(lambda tables: tables.skills.load("a1", "unknown", START))


def test_a_file_keeps_its_id_and_is_found_by_what_it_says_now(store: Store) -> None:
    first = StoredFile("f1", "p1", "a.py", "zebra", "h1")
    same = StoredFile("f2", "p1", "a.py", "zebra", "h1")
    second = StoredFile("f3", "p1", "a.py", "giraffe", "h2")
    elsewhere = StoredFile("f4", None, "a.py", "walrus", "h3")
    home = Owner(Scope.PROJECT, "p1")
    assert [store.write(lambda t, f=f: t.files.save(f, START)) for f in (first, same)] == [  # type: ignore[misc]
        first,
        first,
    ]
    kept = store.write(lambda tables: tables.files.save(second, START))
    store.write(lambda tables: tables.files.save(elsewhere, START))

    assert kept == replace(second, id="f1")
    assert count_matches(store, ItemKind.FILE, home, "zebra") == 0
    assert count_matches(store, ItemKind.FILE, home, "giraffe") == 1
    assert count_matches(store, ItemKind.FILE, EVERYBODY, "walrus") == 0  # it is not indexed
    with store.read() as tables:
        assert tables.files.at_path("a.py", "p1") == kept
        assert tables.files.at_path("a.py", None) == elsewhere
        assert tables.files.at_path("b.py", "p1") is None
        assert tables.files.get_many(["f4", "unknown", "f1"]) == [elsewhere, kept]
    ids = matching_ids(store, "giraffe", [home], kind=ItemKind.FILE, filters=None)
    assert ids == ["f1"]
    store.write(lambda tables: tables.files.delete(kept))
    assert count_matches(store, ItemKind.FILE, home, "giraffe") == 0
    assert store.check()[1] == []


def test_windows_of_files_are_listed_the_least_recently_used_first(store: Store) -> None:
    def window(file_id: str, minutes: int, first_line: int = 0) -> OpenFileWindow:
        return OpenFileWindow(
            file_id=file_id,
            project_id=None,
            path=f"{file_id}.py",
            root="/src",
            first_line=first_line,
            last_line=None,
            last_accessed_at=START + timedelta(minutes=minutes),
        )

    def write(tables: Tables) -> None:
        for number, file_id in enumerate(("f1", "f2", "f3")):
            tables.files.save(StoredFile(file_id, None, f"{file_id}.py", "x", "h"), START)
            tables.files.open("a1", window(file_id, number))
        tables.files.open("a1", window("f1", 0, first_line=5))
        tables.files.close("a1", "f2")
        tables.files.touch("a1", ["f1", "f2", "unknown"], START + timedelta(hours=1))

    store.write(write)
    with store.read() as tables:
        assert tables.files.open_windows("a1") == [window("f3", 2), window("f1", 60, first_line=5)]
        assert tables.files.open_windows("a2") == []


def test_files_of_a_project_are_listed_and_unopened_ones_of_none_are_dropped(store: Store) -> None:
    files = [
        StoredFile("f1", "p1", "b.py", "x", "h"),
        StoredFile("f2", "p1", "a.py", "x", "h"),
        StoredFile("f3", None, "open.py", "x", "h"),
        StoredFile("f4", None, "unopened.py", "x", "h"),
    ]
    window = OpenFileWindow(
        file_id="f3",
        project_id=None,
        path="open.py",
        root="/src",
        first_line=0,
        last_line=9,
        last_accessed_at=START,
    )

    def write(tables: Tables) -> None:
        for file in files:
            tables.files.save(file, START)
        tables.files.open("a1", window)
        tables.files.drop_unopened()

    store.write(write)
    with store.read() as tables:
        assert tables.files.paths_of("p1") == [("f2", "a.py"), ("f1", "b.py")]
        assert tables.files.get_many(["f1", "f2", "f3", "f4"]) == files[:3]
