"""The directory draft of the Open Memory Protocol: Markdown files with MEMORY.md in each folder."""

from pathlib import Path

import pytest

from recollect import InvalidInput, LocalRecollect
from support import candidates


def markdown_files(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*.md"))


def test_every_folder_has_an_index_and_blocks_are_at_the_top(
    rec: LocalRecollect, tmp_path: Path
) -> None:
    rec.blocks.create("persona", "You are careful.", scope="global")
    rec.ingest("Answers should be short.", scope="global", type="profile")
    rec.ingest("We chose SQLite.", project="site", type="decision", rationale="One file.")
    rec.ingest("Not reviewed yet.", scope="global", status="inbox")
    folder = tmp_path / "memory"

    rec.engine.write_memory_directory(folder)

    assert markdown_files(folder) == [
        "MEMORY.md",
        "persona.md",
        "projects/MEMORY.md",
        "projects/site/MEMORY.md",
        "projects/site/decisions.md",
        "user/MEMORY.md",
        "user/profile.md",
    ]
    decisions = (folder / "projects/site/decisions.md").read_text()
    assert "- We chose SQLite. Reason: One file. (" in decisions
    assert "persona.md" in (folder / "MEMORY.md").read_text()
    assert "Not reviewed" not in "".join(path.read_text() for path in folder.rglob("*.md"))


def test_an_empty_store_has_a_valid_directory(rec: LocalRecollect, tmp_path: Path) -> None:
    rec.engine.write_memory_directory(tmp_path / "memory")

    assert markdown_files(tmp_path / "memory") == ["MEMORY.md"]


def test_writing_again_removes_what_is_gone(rec: LocalRecollect, tmp_path: Path) -> None:
    folder = tmp_path / "memory"
    memory = rec.ingest("We chose SQLite.", project="site", type="decision")
    rec.engine.write_memory_directory(folder)
    rec.forget(memory.id)

    rec.engine.write_memory_directory(folder)

    assert markdown_files(folder) == ["MEMORY.md"]


def test_files_of_somebody_else_are_never_removed(rec: LocalRecollect, tmp_path: Path) -> None:
    (tmp_path / "diary.md").write_text("mine")

    with pytest.raises(InvalidInput, match="did not write"):
        rec.engine.write_memory_directory(tmp_path)

    assert (tmp_path / "diary.md").read_text() == "mine"


def test_a_directory_is_imported_as_candidates_of_its_projects(
    rec: LocalRecollect, tmp_path: Path
) -> None:
    folder = tmp_path / "memory"
    (folder / "projects/shop").mkdir(parents=True)
    (folder / "drafts").mkdir()
    (folder / "MEMORY.md").write_text("# Memory\n\n- [projects](projects/MEMORY.md)\n")
    (folder / "human.md").write_text("The user prefers short answers.\n")
    (folder / "projects/MEMORY.md").write_text("- [shop](shop/MEMORY.md)\n")
    (folder / "projects/shop/MEMORY.md").write_text("We decided to use PostgreSQL for orders.\n")
    (folder / "drafts/notes.md").write_text("We decided to use MongoDB.\n")

    list(rec.engine.import_history_in_steps("memory-dir", [folder]))
    rec.drain()

    texts = " ".join(memory.content for memory in candidates(rec))
    assert "short answers" in texts
    assert "PostgreSQL" in texts
    assert "MongoDB" not in texts
    assert rec.memories.list(statuses=["inbox"], project="shop")


def test_a_folder_without_an_index_is_refused(rec: LocalRecollect, tmp_path: Path) -> None:
    (tmp_path / "notes.md").write_text("Something.")

    with pytest.raises(InvalidInput, match=r"has no MEMORY\.md"):
        list(rec.engine.import_history_in_steps("memory-dir", [tmp_path]))
