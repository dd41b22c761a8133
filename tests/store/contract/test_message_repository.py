"""Messages."""

from dataclasses import replace
from datetime import timedelta

import pytest

from recollect import InvalidInput
from recollect.domain.conversation import MessageFilters, Role
from recollect.domain.scope import ItemKind, Owner, Scope
from recollect.store.protocol import Store, Tables
from store_records import ALONE, TALK, count_matches, matching_ids, message, say, summary
from support import START

pytestmark = pytest.mark.usefixtures("stored_agents")


def test_a_message_comes_back_as_it_was_written(store: Store) -> None:
    whole = message(
        0,
        "zebra",
        role=Role.ASSISTANT,
        parts=({"type": "text", "text": "zebra"}, None),
        tool_calls=({"id": "c"},),
        tool_call_id="c",
        name="n",
        tokens=3,
        pinned=True,
        metadata={"k": "é"},
        payload={"any": ["\x00", "é", 1e300, 2**70, None, {}]},
    )
    call = message(1, "", tool_calls=({"id": "d"},))
    say(store, whole, call)

    with store.read() as tables:
        assert tables.messages.get(whole.id) == whole
        assert tables.messages.get_many([call.id, "unknown", whole.id]) == [call, whole]
        assert tables.messages.next_position("c1") == 2
        assert tables.messages.next_position("unknown") == 0
        assert tables.messages.in_context("c1", last=1) == [call]
    assert count_matches(store, ItemKind.MESSAGE, Owner(Scope.AGENT, "a1"), "zebra") == 1
    assert store.check()[1] == []


def test_a_deleted_message_is_gone_from_the_rows_and_from_the_index(store: Store) -> None:
    first, last, call = message(0, "zebra"), message(1, "zebra"), message(2, "", payload=[1])
    say(store, first, last, call)
    store.write(lambda tables: tables.messages.delete(last))
    store.write(lambda tables: tables.messages.delete(call))

    with store.read() as tables:
        assert tables.messages.page("c1", start=0, limit=9) == [first]
        assert tables.messages.next_position("c1") == 1
    assert count_matches(store, ItemKind.MESSAGE, Owner(Scope.AGENT, "a1"), "zebra") == 1
    assert store.check()[1] == []


def test_two_messages_at_one_position_are_refused(store: Store) -> None:
    say(store, message(0, "first"))

    with pytest.raises(InvalidInput):
        say(store, message(0, "second", id="other"))
    with pytest.raises(InvalidInput):
        store.write(lambda tables: tables.messages.add(ALONE, message(1, "of nobody")))
    assert count_matches(store, ItemKind.MESSAGE, Owner(Scope.AGENT, "a1"), "second nobody") == 0


def test_a_message_cannot_be_another_agents_than_its_conversation(store: Store) -> None:
    say(store, message(0, "first"))
    stolen = replace(TALK, agent_id="a2")

    with pytest.raises(InvalidInput, match="agent of its conversation"):
        store.write(lambda tables: tables.messages.add(stolen, message(1, "second")))


def test_messages_of_a_conversation_without_agent_have_their_own_partition(store: Store) -> None:
    say(store, message(0, "zebra", ALONE), talk=ALONE)

    assert count_matches(store, ItemKind.MESSAGE, Owner(Scope.SESSION, "c2"), "zebra") == 1
    assert count_matches(store, ItemKind.MESSAGE, Owner(Scope.AGENT, "a1"), "zebra") == 0
    with store.read() as tables:
        assert tables.agents.archive_summary("a1", tag_limit=1) == (0, 0, ())


def test_messages_are_filtered(store: Store) -> None:
    search = ({"function": {"name": "find"}},)
    say(
        store,
        message(0, "zebra zero"),
        message(1, "zebra one", role=Role.TOOL),
        message(2, "zebra two", role=Role.ASSISTANT, tool_calls=search),
        message(3, "", role=Role.ASSISTANT, tool_calls=search),
    )

    def positions(**options: object) -> list[int]:
        filters = MessageFilters(**options)  # type: ignore[arg-type]
        with store.read() as tables:
            by_list = [stored.position for stored in tables.messages.latest("a1", filters, limit=9)]
            owner = Owner(Scope.AGENT, "a1")
            ids = matching_ids(store, "zebra", [owner], kind=ItemKind.MESSAGE, filters=filters)
            by_search = {stored.position for stored in tables.messages.get_many(ids)}
        assert set(by_list) == by_search
        return by_list

    assert positions() == [2, 1, 0]
    assert positions(roles=frozenset({Role.TOOL})) == [1]
    assert positions(roles=frozenset()) == []
    assert positions(since=START + timedelta(minutes=1)) == [2, 1]
    assert positions(until=START + timedelta(minutes=1)) == [1, 0]
    assert positions(besides_calls_of="find") == [1, 0]
    assert positions(besides_calls_of="fin") == [2, 1, 0]
    assert positions(conversation_id="c1") == [2, 1, 0]
    assert positions(conversation_id="c2") == []
    assert positions(besides_conversation="c1") == []
    assert positions(besides_conversation="c2") == [2, 1, 0]


def test_messages_are_deleted_a_bounded_number_at_a_time(store: Store) -> None:
    owner = Owner(Scope.AGENT, "a1")
    say(store, message(0, "zebra"), message(1, ""), message(2, "zebra horse"), message(3, "zebra"))

    def delete(rows: int, chars: int) -> tuple[int, int]:
        return store.write(lambda tables: tables.messages.delete_some("c1", rows=rows, chars=chars))

    assert delete(2, 1_000) == (2, 5)
    assert count_matches(store, ItemKind.MESSAGE, owner, "zebra") == 2
    assert store.check()[1] == []
    assert delete(1_000, 6) == (1, 11)
    assert delete(1_000, 1_000) == (1, 5)
    assert delete(1_000, 1_000) == (0, 0)
    assert count_matches(store, ItemKind.MESSAGE, owner, "zebra horse") == 0
    assert store.check()[1] == []


def test_a_partition_is_dropped_with_all_items_and_others_stay(store: Store) -> None:
    say(store, message(0, "zebra"), message(1, "zebra"))
    say(store, message(0, "zebra", ALONE), talk=ALONE)

    def write(tables: Tables) -> tuple[int, int]:
        dropped = tables.search_index.drop(ItemKind.MESSAGE, Owner(Scope.AGENT, "a1"))
        again = tables.search_index.drop(ItemKind.MESSAGE, Owner(Scope.AGENT, "a1"))
        tables.conversations.delete("c1")
        return dropped, again

    assert store.write(write) == (2, 0)
    assert count_matches(store, ItemKind.MESSAGE, Owner(Scope.SESSION, "c2"), "zebra") == 1
    assert store.check()[1] == []


def test_messages_are_read_in_pages_and_counted_in_context(store: Store) -> None:
    messages = [message(0, "four words are here", tokens=0), message(1, "", tokens=3)]
    messages += [message(2, "two", tokens=5), message(3, "three", tokens=7)]
    say(store, *messages)

    with store.read() as tables:
        size = tables.messages.context_size("c1")
        assert size[0] == 4
        assert size[1] > 15  # the tokens of the first are estimated
        assert tables.messages.page_back("c1", before=3, limit=2) == [messages[2], messages[1]]
        assert tables.messages.in_context_from("c1", start=1, limit=2) == messages[1:3]
        assert tables.messages.speakers("a1", MessageFilters()) == [
            (messages[position].id, Role.USER) for position in (0, 2, 3)
        ]
        assert tables.messages.speakers("a1", MessageFilters(conversation_id="c1"))[1:] == [
            (messages[2].id, Role.USER),
            (messages[3].id, Role.USER),
        ]


def test_speakers_are_narrowed_by_metadata(store: Store) -> None:
    marked = replace(message(1, "one"), metadata={"n": 1})
    say(store, message(0, "zero"), marked)

    with store.read() as tables:
        for conversation_id in (None, "c1"):
            filters = MessageFilters(conversation_id=conversation_id, metadata={"n": {"$gt": 0}})
            assert tables.messages.speakers("a1", filters) == [(marked.id, Role.USER)]


def test_a_message_is_pinned_and_goes_back_to_the_context(store: Store) -> None:
    say(store, message(0, "zero"), message(1, "one"))

    def write(tables: Tables) -> None:
        tables.conversations.add_summary(summary("s", "both"))
        tables.messages.mark_summarized(["c1 m0", "c1 m1"], "s")
        tables.messages.restore_to_context("c1 m0")
        tables.messages.set_pinned("c1 m0", True)

    store.write(write)
    with store.read() as tables:
        assert tables.messages.in_context("c1") == [replace(message(0, "zero"), pinned=True)]
        assert tables.messages.in_context_from("c1", start=0, limit=9) == [
            replace(message(0, "zero"), pinned=True)
        ]


def test_the_first_messages_of_conversations_are_read_together(store: Store) -> None:
    say(store, message(0, "zero"), message(1, "one"), message(2, "two"))
    say(store, message(5, "five", ALONE), talk=ALONE)

    with store.read() as tables:
        openings = tables.messages.openings(["c2", "unknown", "c1"], limit=2)

    assert [(m.conversation_id, m.content) for m in openings] == [
        ("c2", "five"),
        ("c1", "zero"),
        ("c1", "one"),
    ]


def test_messages_are_read_between_two_ids_in_both_directions(store: Store) -> None:
    say(store, *(message(position, "", tool_calls=({"id": "c"},)) for position in range(4)))
    say(store, message(0, "zebra", ALONE), talk=ALONE)

    def ids(agent_id: str | None, after: str = "", before: str = "", **how: object) -> list[str]:
        options = {"limit": 9, "newest_first": False, **how}
        with store.read() as tables:
            found = tables.messages.stored(agent_id, after=after, before=before, **options)  # type: ignore[arg-type]
        return [stored.id for stored in found]

    own = [f"c1 m{position}" for position in range(4)]
    assert ids("a1") == own
    assert ids("a1", limit=2) == own[:2]
    assert ids("a1", limit=2, newest_first=True) == own[:1:-1]
    assert ids("a1", own[0], own[3]) == own[1:3]
    assert ids("a1", own[0], own[3], newest_first=True) == own[2:0:-1]
    assert ids("unknown") == []
    assert ids(None) == [*own, "c2 m0"]
    assert ids(None, after=own[3], newest_first=True) == ["c2 m0"]
