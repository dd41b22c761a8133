"""What others learn of a block: who is told of changes, what is searched, what is kept out."""

from pathlib import Path
from typing import Any

import pytest

from recollect import BlockChange, BlockConflict, InvalidInput, NotFound, Recollect
from support import START, FakeClock, open_memory

SECRET = "ghp_" + "a1B2c3D4e5" * 4


@pytest.fixture
def two(memory: Recollect) -> Recollect:
    """A memory with the agents anna and ben."""
    memory.create_agent("anna")
    memory.create_agent("ben")
    return memory


def test_listeners_are_told_of_every_edit_after_it_is_kept_until_they_stop(two: Recollect) -> None:
    told: list[BlockChange] = []
    seen: list[str] = []
    two.on_block_change(lambda change: seen.append(two.block(None, change.block_id).value))
    stop = two.on_block_change(told.append)
    made = two.create_block("notes", "one", agent="anna")
    two.append_block("anna", "notes", "two", by="agent")
    with pytest.raises(BlockConflict):
        two.append_block("anna", "notes", "three", expected_version=1)
    stop()
    stop()
    two.append_block("anna", "notes", "four")

    assert [(one.block_id, one.version, one.by) for one in told] == [
        (made.id, 1, "user"),
        (made.id, 2, "agent"),
    ]
    assert seen == ["one", "one\ntwo", "one\ntwo\nfour"]


def test_a_listener_that_fails_spoils_neither_the_edit_nor_the_other_listeners(
    two: Recollect,
) -> None:
    def broken(change: BlockChange) -> None:
        raise ZeroDivisionError

    told: list[BlockChange] = []
    two.on_block_change(broken)
    two.on_block_change(told.append)

    kept = two.set_block("anna", "persona", "new")

    assert kept.value == "new"
    assert len(told) == 1


@pytest.mark.parametrize("verb", ["attach", "detach", "delete"])
def test_listeners_are_told_of_whatever_makes_a_prompt_stale(two: Recollect, verb: str) -> None:
    shared = two.create_block("team", "we", scope="global")
    told: list[BlockChange] = []
    two.on_block_change(told.append)
    match verb:
        case "attach":
            two.attach_block("anna", shared)
        case "detach":
            two.detach_block("anna", "human")
        case "delete":
            two.delete_block("anna", "persona")

    assert told


def test_changes_since_a_moment_are_those_of_the_blocks_that_are_seen(
    two: Recollect, clock: FakeClock
) -> None:
    two.set_block("ben", "persona", "before")
    clock.advance(minutes=1)
    since = clock.now()
    clock.advance(minutes=1)
    two.set_block("ben", "persona", "ben's own")
    two.set_block("ben", "human", "shared", by="agent")
    clock.advance(minutes=1)
    two.set_block("anna", "project", "of the project", project="site")

    assert [(one.label, one.version, one.by) for one in two.block_changes("anna", since)] == [
        ("human", 2, "agent")
    ]
    assert [one.label for one in two.block_changes("anna", since, project="site")] == [
        "human",
        "project",
        "project",
    ]
    assert two.block_changes("anna", clock.now()) == []
    with pytest.raises(InvalidInput, match="since when"):
        two.block_changes("anna", None)


def test_another_process_learns_that_a_block_was_hidden(
    two: Recollect, clock: FakeClock, path: Path
) -> None:
    with open_memory(path, clock=clock) as elsewhere:
        since = clock.now()
        clock.advance(minutes=1)
        two.update_block("anna", "human", hidden=True)

        assert [one.label for one in elsewhere.block_changes("anna", since)] == ["human"]


def test_secrets_reach_no_value_history_reason_or_description(two: Recollect, path: Path) -> None:
    two.create_block(
        "notes", f"a {SECRET}", agent="anna", description=SECRET, metadata={"k": SECRET}
    )
    two.set_block("anna", "notes", f"b {SECRET}", reason=f"because {SECRET}")
    two.append_block("anna", "notes", f"c {SECRET}")
    two.insert_in_block("anna", "notes", f"d {SECRET}", 0)
    two.replace_in_block("anna", "notes", "[redacted:github-token]\nb", f"{SECRET}\ne")
    two.update_block("anna", "notes", description=f"f {SECRET}", metadata={"k": [SECRET]})
    two.close()

    for file in path.parent.glob("memory.db*"):
        assert SECRET.encode() not in file.read_bytes()


def test_an_error_about_a_text_that_is_missing_does_not_repeat_a_secret(two: Recollect) -> None:
    with pytest.raises(InvalidInput) as caught:
        two.replace_in_block("anna", "persona", SECRET, "x")

    assert "does not occur" in str(caught.value)
    assert SECRET not in str(caught.value)


def test_blocks_are_found_by_words_and_by_meaning_where_they_are_seen(
    path: Path, clock: FakeClock
) -> None:
    with open_memory(path, clock=clock, synonyms={"beverage": "tea"}) as memory:
        memory.create_agent("anna")
        memory.create_agent("ben")
        memory.create_block("drinks", "likes tea", agent="anna")
        memory.set_block("anna", "persona", "speaks plainly")
        memory.set_block("ben", "persona", "a tea expert")
        memory.set_block("anna", "project", "tea shop", project="site")
        memory.drain()

        by_words = memory.search_blocks("tea", agent="anna")
        by_meaning = memory.search_blocks("beverage", agent="anna")
        in_project = memory.search_blocks("tea", agent="anna", project="site")

    assert [hit.block.value for hit in by_words] == ["likes tea"]
    assert by_words[0].matched_words == ("tea",)
    assert [hit.block.value for hit in by_meaning] == ["likes tea"]
    assert {hit.block.label for hit in in_project} == {"drinks", "project"}


def test_an_edited_block_is_found_by_its_new_words_only(two: Recollect) -> None:
    two.set_block("anna", "persona", "zebra")
    two.set_block("anna", "persona", "giraffe")

    assert two.search_blocks("zebra", agent="anna") == []
    assert [hit.block.label for hit in two.search_blocks("giraffe", agent="anna")] == ["persona"]
    assert two.search_blocks("   ", agent="anna") == []
    assert two.verify().ok


@pytest.mark.parametrize("text", ["\x00nul", "lone \ud800 half", "'; DROP TABLE blocks; --", "🦓"])
def test_any_text_is_kept_and_its_history_with_it(two: Recollect, text: str) -> None:
    kept = two.set_block("anna", "persona", text)
    two.append_block("anna", "persona", text)

    assert len(kept.value) == len(text)
    assert two.rollback_block("anna", "persona", kept.version).value == kept.value
    assert two.verify().ok


@pytest.mark.parametrize("line", [True, 1.0, "1", None])
def test_a_line_is_a_whole_number(two: Recollect, line: Any) -> None:
    with pytest.raises(InvalidInput, match="line must be a whole number"):
        two.insert_in_block("anna", "persona", "x", line)


def test_unknown_names_are_refused_with_the_known_ones(two: Recollect) -> None:
    with pytest.raises(InvalidInput, match="unknown: projekt; use conversation, project"):
        two.block("anna", "persona", projekt="p")  # type: ignore[call-arg]
    with pytest.raises(InvalidInput, match="unknown: version; use by, expected_version, reason"):
        two.set_block("anna", "persona", "x", version=1)  # type: ignore[call-arg]
    for unknown in ("nobody", "\ufffd", 5):
        with pytest.raises(NotFound):
            two.block(None, unknown)  # type: ignore[arg-type]
    assert two.block("anna", "persona").created_at == START
