"""What others learn of a block: who is told of changes, what is searched, what is kept out."""

from pathlib import Path
from typing import Any

import pytest

from recollect import BlockChange, BlockConflict, InvalidInput, LocalRecollect, NotFound
from support import START, FakeClock, open_memory

SECRET = "ghp_" + "a1B2c3D4e5" * 4


@pytest.fixture
def two(rec: LocalRecollect) -> LocalRecollect:
    """A memory with the agents anna and ben."""
    rec.agents.create("anna")
    rec.agents.create("ben")
    return rec


def test_listeners_are_told_of_every_edit_after_it_is_kept_until_they_stop(
    two: LocalRecollect,
) -> None:
    changes: list[BlockChange] = []
    seen: list[str] = []
    two.engine.on_block_change(
        lambda change: seen.append(two.blocks.get(None, change.block_id).value)
    )
    stop = two.engine.on_block_change(changes.append)
    made = two.blocks.create("notes", "one", agent="anna")
    two.blocks.append("anna", "notes", "two", by="agent")
    with pytest.raises(BlockConflict):
        two.blocks.append("anna", "notes", "three", expected_version=1)
    stop()
    stop()
    two.blocks.append("anna", "notes", "four")

    assert [(change.block_id, change.version, change.by) for change in changes] == [
        (made.id, 1, "user"),
        (made.id, 2, "agent"),
    ]
    assert seen == ["one", "one\ntwo", "one\ntwo\nfour"]


def test_a_listener_that_fails_spoils_neither_the_edit_nor_the_other_listeners(
    two: LocalRecollect,
) -> None:
    def broken(change: BlockChange) -> None:
        raise ZeroDivisionError

    changes: list[BlockChange] = []
    two.engine.on_block_change(broken)
    two.engine.on_block_change(changes.append)

    block = two.blocks.set("anna", "persona", "new")

    assert block.value == "new"
    assert len(changes) == 1


@pytest.mark.parametrize("verb", ["attach", "detach", "delete"])
def test_listeners_are_told_of_whatever_makes_a_prompt_stale(
    two: LocalRecollect, verb: str
) -> None:
    shared = two.blocks.create("team", "we", scope="global")
    changes: list[BlockChange] = []
    two.engine.on_block_change(changes.append)
    match verb:
        case "attach":
            two.blocks.attach("anna", shared)
        case "detach":
            two.blocks.detach("anna", "human")
        case "delete":
            two.blocks.delete("anna", "persona")

    assert changes


def test_changes_since_a_moment_are_those_of_the_blocks_that_are_seen(
    two: LocalRecollect, clock: FakeClock
) -> None:
    two.blocks.set("ben", "persona", "before")
    clock.advance(minutes=1)
    since = clock.now()
    clock.advance(minutes=1)
    two.blocks.set("ben", "persona", "ben's own")
    two.blocks.set("ben", "human", "shared")
    clock.advance(minutes=1)
    two.blocks.set("anna", "project", "of the project", project="site")

    assert [
        (block.label, block.version, block.by) for block in two.blocks.changes("anna", since)
    ] == [("human", 2, "user")]
    assert [block.label for block in two.blocks.changes("anna", since, project="site")] == [
        "human",
        "project",
        "project",
    ]
    assert two.blocks.changes("anna", clock.now()) == []
    with pytest.raises(InvalidInput, match="since must be a datetime"):
        two.blocks.changes("anna", None)


def test_another_process_learns_that_a_block_was_hidden(
    two: LocalRecollect, clock: FakeClock, path: Path
) -> None:
    with open_memory(path, clock=clock) as elsewhere:
        since = clock.now()
        clock.advance(minutes=1)
        two.blocks.update("anna", "human", hidden=True)

        assert [block.label for block in elsewhere.blocks.changes("anna", since)] == ["human"]


def test_secrets_reach_no_value_history_reason_or_description(
    two: LocalRecollect, path: Path
) -> None:
    two.blocks.create(
        "notes", f"a {SECRET}", agent="anna", description=SECRET, metadata={"k": SECRET}
    )
    two.blocks.set("anna", "notes", f"b {SECRET}", reason=f"because {SECRET}")
    two.blocks.append("anna", "notes", f"c {SECRET}")
    two.blocks.insert("anna", "notes", f"d {SECRET}", 0)
    two.blocks.replace("anna", "notes", "[redacted:github-token]\nb", f"{SECRET}\ne")
    two.blocks.update("anna", "notes", description=f"f {SECRET}", metadata={"k": [SECRET]})
    two.close()

    for file in path.parent.glob("memory.db*"):
        assert SECRET.encode() not in file.read_bytes()


def test_an_error_about_a_text_that_is_missing_does_not_repeat_a_secret(
    two: LocalRecollect,
) -> None:
    with pytest.raises(InvalidInput) as caught:
        two.blocks.replace("anna", "persona", SECRET, "x")

    assert "does not occur" in str(caught.value)
    assert SECRET not in str(caught.value)


def test_blocks_are_found_by_words_and_by_meaning_where_they_are_seen(
    path: Path, clock: FakeClock
) -> None:
    with open_memory(path, clock=clock, synonyms={"beverage": "tea"}) as rec:
        rec.agents.create("anna")
        rec.agents.create("ben")
        rec.blocks.create("drinks", "likes tea", agent="anna")
        rec.blocks.set("anna", "persona", "speaks plainly")
        rec.blocks.set("ben", "persona", "a tea expert")
        rec.blocks.set("anna", "project", "tea shop", project="site")
        rec.drain()

        by_words = rec.blocks.search("tea", agent="anna")
        by_meaning = rec.blocks.search("beverage", agent="anna")
        in_project = rec.blocks.search("tea", agent="anna", project="site")

    assert [hit.block.value for hit in by_words] == ["likes tea"]
    assert by_words[0].matched_words == ("tea",)
    assert [hit.block.value for hit in by_meaning] == ["likes tea"]
    assert {hit.block.label for hit in in_project} == {"drinks", "project"}


def test_an_edited_block_is_found_by_its_new_words_only(two: LocalRecollect) -> None:
    two.blocks.set("anna", "persona", "zebra")
    two.blocks.set("anna", "persona", "giraffe")

    assert two.blocks.search("zebra", agent="anna") == []
    assert [hit.block.label for hit in two.blocks.search("giraffe", agent="anna")] == ["persona"]
    assert two.blocks.search("   ", agent="anna") == []
    assert two.maintenance.verify().ok


@pytest.mark.parametrize("text", ["\x00nul", "lone \ud800 half", "'; DROP TABLE blocks; --", "🦓"])
def test_any_text_is_kept_and_its_history_with_it(two: LocalRecollect, text: str) -> None:
    block = two.blocks.set("anna", "persona", text)
    two.blocks.append("anna", "persona", text)

    assert len(block.value) == len(text)
    assert two.blocks.rollback("anna", "persona", block.version).value == block.value
    assert two.maintenance.verify().ok


@pytest.mark.parametrize("line", [True, 1.0, "1", None])
def test_a_line_is_a_whole_number(two: LocalRecollect, line: Any) -> None:
    with pytest.raises(InvalidInput, match="line must be a whole number"):
        two.blocks.insert("anna", "persona", "x", line)


def test_unknown_arguments_and_unknown_blocks_are_refused(two: LocalRecollect) -> None:
    with pytest.raises(TypeError, match="projekt"):
        two.blocks.get("anna", "persona", projekt="p")  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="version"):
        two.blocks.set("anna", "persona", "x", version=1)  # type: ignore[call-arg]
    for unknown in ("nobody", "\ufffd"):
        with pytest.raises(NotFound, match="there is no block"):
            two.blocks.get(None, unknown)
    with pytest.raises(InvalidInput, match="label must be text, not int"):
        two.blocks.get(None, 5)  # type: ignore[arg-type]
    assert two.blocks.get("anna", "persona").created_at == START
