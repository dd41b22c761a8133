"""Texts over all tables: found, read again and overwritten, also in the index."""

import pytest

from recollect.domain.conversation import Conversation
from recollect.domain.scope import ItemKind
from recollect.store.protocol import Store, Tables
from recollect.store.repositories.stored_texts import COLUMNS
from recollect.store.values import ItemWithWord, TextCell
from store_records import (
    EVERYBODY,
    GLOBAL,
    TALK,
    Keep,
    block,
    block_version,
    count_matches,
    matching_ids,
    message,
    say,
)


def cells_of(store: Store, table: str) -> list[TextCell]:
    with store.read() as tables:
        return list(tables.texts.cells(table))


@pytest.mark.usefixtures("stored_agents")
def test_the_texts_of_a_table_are_listed_row_by_row_without_the_empty_ones(store: Store) -> None:
    say(store, message(0, "zebra", tool_calls=({"id": "c"},)), message(1, "horse"))

    assert cells_of(store, "messages") == [
        TextCell("messages", ("c1 m0",), "content", "zebra"),
        TextCell("messages", ("c1 m0",), "tool_calls", '[{"id":"c"}]', is_json=True),
        TextCell("messages", ("c1 m1",), "content", "horse"),
    ]
    assert {(cell.column, cell.text) for cell in cells_of(store, "agents")} == {
        ("name", "anna"),
        ("name", "ben"),
    }


@pytest.mark.parametrize("table", COLUMNS)
def test_every_table_with_texts_can_be_listed(store: Store, table: str) -> None:
    assert cells_of(store, table) == []


def test_an_overwritten_text_is_what_is_read_and_found_from_then_on(
    store: Store, keep: Keep
) -> None:
    memory = keep("the zebra sleeps", title="night", rationale="seen", tags=("x",))
    other = keep("a giraffe")
    [content] = [cell for cell in cells_of(store, "memories") if cell.text == memory.content]
    with store.read() as tables:
        assert tables.texts.current(content.with_text("former")) == content

    store.write(lambda tables: tables.texts.overwrite([content.with_text("the … sleeps")]))

    with store.read() as tables:
        changed = tables.memories.get(memory.id)
        assert changed is not None
        assert (changed.content, changed.title, changed.rationale) == (
            "the … sleeps",
            "night",
            "seen",
        )
        assert tables.memories.get(other.id) == other
        assert tables.texts.current(content) == content.with_text("the … sleeps")
        gone = TextCell("memories", ("unknown",), "content", "x")
        assert tables.texts.current(gone) is None
        assert tables.texts.current(TextCell("memories", (memory.id,), "summary", "x")) is None
    assert matching_ids(store, "zebra") == []
    assert matching_ids(store, "sleep") == [memory.id]
    assert store.check()[1] == []


@pytest.mark.usefixtures("stored_agents")
def test_a_text_in_each_kind_of_table_is_overwritten(store: Store) -> None:
    shared = block("b1", "notes", "zebra", scope=EVERYBODY.scope, owner_id="")
    talk = Conversation(id="c9", agent_id="a1", title="zebra", started_at=TALK.started_at)

    def write(tables: Tables) -> None:
        tables.blocks.add(shared)
        tables.blocks.add_version(block_version(shared))
        tables.conversations.add(talk)

    store.write(write)
    say(store, message(0, "zebra", talk), talk=talk)

    for table in ("blocks", "block_history", "conversations", "messages"):
        cells = [cell for cell in cells_of(store, table) if cell.text == "zebra"]
        redacted = [cell.with_text("horse") for cell in cells]
        store.write(lambda tables, redacted=redacted: tables.texts.overwrite(redacted))  # type: ignore[misc]
        assert len(cells) == 1

    with store.read() as tables:
        kept_block, kept_talk = tables.blocks.get("b1"), tables.conversations.get("c9")
        kept_message = tables.messages.get("c9 m0")
        assert kept_block is not None
        assert kept_talk is not None
        assert kept_message is not None
        assert (kept_block.value, kept_talk.title, kept_message.content) == ("horse",) * 3
    assert count_matches(store, ItemKind.BLOCK, EVERYBODY, "horse") == 1
    assert count_matches(store, ItemKind.BLOCK, EVERYBODY, "zebra") == 0
    assert store.check()[1] == []


@pytest.mark.usefixtures("stored_agents")
def test_items_are_found_by_any_form_of_a_word(store: Store, keep: Keep) -> None:
    memory = keep("two zebras")
    say(store, message(0, "a zebra"), message(1, "a horse"))

    with store.read() as tables:
        items = tables.texts.items_with("zebra", limit=9)
        assert sorted(items, key=lambda item: item.kind) == [
            ItemWithWord(ItemKind.MEMORY, memory.id, None),
            ItemWithWord(ItemKind.MESSAGE, "c1 m0", "c1"),
        ]
        assert len(tables.texts.items_with("zebra", limit=1)) == 1
        assert tables.texts.items_with("walrus", limit=9) == []
        assert tables.texts.items_with("!", limit=9) == []
        among = tables.texts.messages_among(["c1 m0", "c1 m1", memory.id], ["c1"])
        assert among == {"c1 m0", "c1 m1"}
        assert tables.texts.messages_among(["c1 m0"], ["other"]) == set()


def test_the_contents_of_all_sources_are_listed(store: Store, keep: Keep) -> None:
    memories = [keep("one"), keep("two", scope=GLOBAL.scope)]

    with store.read() as tables:
        assert list(tables.texts.sources()) == [
            (memory.evidence[0].source_id, memory.content) for memory in memories
        ]
