"""What every store must do for agents: blocks, conversations, messages, skills, files."""

from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from recollect import AlreadyExists, InvalidInput, Project
from recollect.domain.agent import Agent, AgentPinning
from recollect.domain.block import Block, BlockAuthor, BlockVersion
from recollect.domain.conversation import (
    CompactionMode,
    Conversation,
    Message,
    MessageFilters,
    Pin,
    Role,
    Summary,
)
from recollect.domain.scope import ItemKind, Owner, Scope
from recollect.domain.skill import SkillOrigin
from recollect.domain.unfinished_work import UnfinishedWork, WorkKind
from recollect.store.protocol import Store, Tables
from recollect.store.values import OpenFileWindow, StoredFile, StoredSkill
from support import START

ANNA = Agent(id="a1", name="anna", created_at=START, updated_at=START)
BEN = Agent(id="a2", name="ben", created_at=START, updated_at=START)
EVERYBODY = Owner(Scope.GLOBAL, "")
TALK = Conversation(id="c1", agent_id="a1", started_at=START)
ALONE = Conversation(id="c2", started_at=START + timedelta(hours=1))


@pytest.fixture(autouse=True)
def agents(store: Store) -> None:
    def write(tables: Tables) -> None:
        tables.agents.add(ANNA)
        tables.agents.add(BEN)
        tables.projects.add_project(Project(id="p1", name="site", created_at=START))

    store.write(write)


def count_matches(store: Store, kind: ItemKind, owner: Owner, query: str) -> int:
    with store.read() as tables:
        partitions = tables.word_index.partitions(kind, [owner])
        return len(tables.word_index.match(query, partitions, limit=10).matches)


def block(block_id: str, label: str, value: str = "", **more: object) -> Block:
    values: dict[str, object] = {
        "id": block_id,
        "label": label,
        "value": value,
        "owner_id": "a1",
        "created_at": START,
        "updated_at": START,
    }
    return Block(**(values | more))  # type: ignore[arg-type]


def version(of: Block, at: datetime = START) -> BlockVersion:
    return BlockVersion(
        block_id=of.id,
        version=of.version,
        value=of.value,
        by=BlockAuthor.AGENT,
        reason="r",
        changed_at=at,
    )


def message(position: int, content: str, talk: Conversation = TALK, **more: object) -> Message:
    values: dict[str, object] = {
        "id": f"{talk.id} m{position}",
        "conversation_id": talk.id,
        "position": position,
        "role": Role.USER,
        "content": content,
        "created_at": START + timedelta(minutes=position),
    }
    return Message(**(values | more))  # type: ignore[arg-type]


def say(store: Store, *messages: Message, talk: Conversation = TALK) -> None:
    def write(tables: Tables) -> None:
        if tables.conversations.get(talk.id) is None:
            tables.conversations.add(talk)
        for new in messages:
            tables.messages.add(talk, new)

    store.write(write)


# Agents


def test_an_agent_comes_back_as_it_was_written_and_changes(store: Store) -> None:
    whole = replace(
        ANNA,
        name="ann",
        description="d",
        model="m",
        system_prompt="s",
        pinned=AgentPinning.GLOBAL,
        metadata={"k": ["é", 1, None]},
        updated_at=START + timedelta(days=1),
    )
    store.write(lambda tables: tables.agents.set(whole))

    with store.read() as tables:
        assert tables.agents.get("a1") == tables.agents.by_name("ann") == whole
        assert tables.agents.by_name("anna") is None
        assert tables.agents.all() == [whole, BEN]


def test_two_agents_of_one_name_are_refused(store: Store) -> None:
    with pytest.raises((InvalidInput, AlreadyExists)):
        store.write(lambda tables: tables.agents.add(replace(BEN, id="a3")))
    with pytest.raises((InvalidInput, AlreadyExists)):
        store.write(lambda tables: tables.agents.set(replace(BEN, name="anna")))

    with store.read() as tables:
        assert tables.agents.all() == [ANNA, BEN]


def test_deleting_an_agent_deletes_and_counts_its_rows(store: Store) -> None:
    own = block("b1", "persona")
    say(store, message(0, "zebra"), message(1, "zebra"))

    def write(tables: Tables) -> None:
        tables.blocks.add(own)
        tables.blocks.attach("a1", own)
        tables.conversations.add_pin(
            Pin(id="pin", conversation_id="c1", kind="note", content="x", pinned_at=START)
        )
        tables.word_index.drop_partition(ItemKind.MESSAGE, Owner(Scope.AGENT, "a1"))

    store.write(write)
    removed = store.write(lambda tables: tables.agents.delete("a1"))

    assert (removed["agents"], removed["messages"], removed["conversations"]) == (1, 2, 1)
    assert (removed["pins"], removed["agent_blocks"]) == (1, 1)
    with store.read() as tables:
        assert tables.agents.all() == [BEN]
        assert tables.conversations.get("c1") is None
        assert tables.messages.get("c1 m0") is None
    store.write(lambda tables: tables.blocks.delete(own))
    assert store.check()[1] == []


# Blocks


def test_a_block_comes_back_as_it_was_written_and_changes(store: Store) -> None:
    kept = block(
        "b1", "notes", "one", description="d", limit=None, read_only=True, metadata={"k": 1}
    )
    after = replace(
        kept, value="two", version=2, label="log", limit=9, hidden=True, read_only=False
    )
    store.write(lambda tables: tables.blocks.add(kept))
    with store.read() as tables:
        assert tables.blocks.get("b1") == kept
    store.write(lambda tables: tables.blocks.set(after))

    with store.read() as tables:
        assert tables.blocks.get("b1") == after
        assert tables.blocks.get("unknown") is None
        assert tables.blocks.all() == [after]
    owner = Owner(Scope.AGENT, "a1")
    assert count_matches(store, ItemKind.BLOCK, owner, "two log") == 1
    assert count_matches(store, ItemKind.BLOCK, owner, "one notes") == 0


@pytest.mark.parametrize(
    "invalid",
    [
        block("b1", "x", "too long", limit=3),
        block("b1", "x", limit=0),
        block("b1", "x", scope=Scope.GLOBAL),
        block("b1", "x", owner_id=""),
        block("b1", "x", scope=Scope.REPO),
    ],
    ids=["over its limit", "no limit at all", "global of one", "own of nobody", "of a repo"],
)
def test_the_store_itself_refuses_an_invalid_block(store: Store, invalid: Block) -> None:
    with pytest.raises(InvalidInput):
        store.write(lambda tables: tables.blocks.add(invalid))

    assert count_matches(store, ItemKind.BLOCK, Owner(Scope.AGENT, "a1"), "x") == 0


def test_blocks_are_attached_in_order_under_one_label_each(store: Store) -> None:
    shared = block("b1", "human", scope=Scope.GLOBAL, owner_id="")
    same_label = block("b2", "human", scope=Scope.GLOBAL, owner_id="")
    own = block("b3", "persona")

    def write(tables: Tables) -> None:
        for new in (shared, same_label, own):
            tables.blocks.add(new)
        tables.blocks.attach("a1", own)
        tables.blocks.attach("a1", shared)
        tables.blocks.attach("a2", shared)

    store.write(write)
    with pytest.raises(InvalidInput):
        store.write(lambda tables: tables.blocks.attach("a1", same_label))
    with pytest.raises(InvalidInput):
        store.write(lambda tables: tables.blocks.attach("nobody", same_label))
    with store.read() as tables:
        assert tables.blocks.attached_to("a1") == [own, shared]
        assert tables.blocks.agent_ids_of("b1") == ["a1", "a2"]
        assert tables.blocks.of_owner(EVERYBODY) == [shared, same_label]
        assert tables.blocks.of_owner(Owner(Scope.AGENT, "a1")) == [own]
    store.write(lambda tables: tables.blocks.detach("a1", "b1"))
    with store.read() as tables:
        assert tables.blocks.attached_to("a1") == [own]
        assert tables.blocks.get("b1") == shared
    store.write(lambda tables: tables.blocks.delete(shared))
    with store.read() as tables:
        assert tables.blocks.attached_to("a2") == []


def test_a_renamed_block_is_attached_under_its_new_label(store: Store) -> None:
    own, other = block("b1", "persona"), block("b2", "persona")

    def write(tables: Tables) -> None:
        tables.blocks.add(own)
        tables.blocks.attach("a1", own)
        tables.blocks.set(replace(own, label="self"))
        tables.blocks.add(other)
        tables.blocks.attach("a1", other)

    store.write(write)
    with store.read() as tables:
        assert [attached.label for attached in tables.blocks.attached_to("a1")] == [
            "self",
            "persona",
        ]


def test_every_version_of_a_block_is_kept_once(store: Store) -> None:
    first = block("b1", "notes", "one")
    second = replace(first, value="two", version=2)
    later = START + timedelta(hours=1)

    def write(tables: Tables) -> None:
        tables.blocks.add(first)
        tables.blocks.add_version(version(first))
        tables.blocks.set(second)
        tables.blocks.add_version(version(second, later))

    store.write(write)
    with pytest.raises(InvalidInput):
        store.write(lambda tables: tables.blocks.add_version(version(second)))
    with store.read() as tables:
        assert tables.blocks.versions("b1") == [version(first), version(second, later)]
        assert tables.blocks.version("b1", 2) == version(second, later)
        assert tables.blocks.version("b1", 3) is None
        [change] = tables.blocks.changes_since(["b1", "unknown"], START)
        assert (change.block_id, change.label, change.version) == ("b1", "notes", 2)
        assert tables.blocks.changes_since(["b1"], later) == []
        assert tables.blocks.changes_since([], START - timedelta(days=1)) == []
    assert store.check()[1] == []


# Conversations and messages


def test_a_conversation_comes_back_as_it_was_written_and_changes(store: Store) -> None:
    whole = replace(TALK, project_id="p1", title="t", metadata={"k": 1})
    after = replace(whole, title="u", metadata={}, ended_at=START + timedelta(hours=1))
    store.write(lambda tables: tables.conversations.add(whole))
    store.write(lambda tables: tables.conversations.add(ALONE))
    store.write(lambda tables: tables.conversations.set(after))

    with store.read() as tables:
        conversations = tables.conversations
        assert conversations.get("c1") == after
        assert conversations.get("unknown") is None
        assert conversations.latest(None, limit=10) == [ALONE, after]
        assert conversations.latest(None, limit=1, offset=1) == [after]
        assert conversations.latest("a1", limit=10) == [after]
        assert conversations.latest("a2", limit=10) == []
        assert conversations.latest(None, project_id="p1", limit=10) == [after]
        assert conversations.latest(None, before=ALONE.started_at, limit=10) == [after]


def test_the_latest_open_conversation_is_found_by_how_it_was_begun(store: Store) -> None:
    def write(tables: Tables) -> None:
        for number, metadata in enumerate(
            [{}, {"by": "x"}, {"begun_by": "me"}, {"begun_by": "me"}]
        ):
            begun = START + timedelta(minutes=number)
            talk = replace(TALK, id=f"r{number}", metadata=metadata, started_at=begun)
            tables.conversations.add(talk)
        last = replace(TALK, id="r3", metadata={"begun_by": "me"})
        tables.messages.add(last, message(0, "later", last))
        tables.messages.add(last, message(1, "last", last))

    store.write(write)
    with store.read() as tables:
        latest = tables.conversations.latest_open("a1", begun_by="me")
        assert latest is not None
        assert (latest[0].id, latest[1]) == ("r3", START + timedelta(minutes=1))
        assert tables.conversations.latest_open("a1", begun_by="you") is None
        assert tables.conversations.latest_open("a2", begun_by="me") is None
        ended = replace(latest[0], ended_at=START + timedelta(hours=1))
    store.write(lambda tables: tables.conversations.set(ended))
    with store.read() as tables:
        former = tables.conversations.latest_open("a1", begun_by="me")
        assert former is not None
        assert (former[0].id, former[1]) == ("r2", former[0].started_at)  # it has no messages


def test_summaries_and_pins_are_kept_in_order(store: Store) -> None:
    def summary(number: int) -> Summary:
        return Summary(
            id=f"s{number}",
            conversation_id="c1",
            mode=CompactionMode.SLIDING_WINDOW,
            content=f"summary {number}",
            first_position=number,
            last_position=number,
            tokens=2,
            made_by="extract",
            created_at=START + timedelta(minutes=number),
        )

    pin = Pin(id="p", conversation_id="c1", kind="ticket", content="ABC-1", pinned_at=START)
    say(store, message(0, "zero"), message(1, "one"), message(2, "two"))

    def write(tables: Tables) -> None:
        for number in range(2):
            tables.conversations.add_summary(summary(number))
            tables.messages.mark_summarized([f"c1 m{number}", "unknown"], f"s{number}")
        tables.messages.mark_summarized(["c1 m0"], "s1")  # a message is summarized once
        tables.conversations.add_pin(pin)
        tables.conversations.set_pin(replace(pin, active=False))

    store.write(write)
    with store.read() as tables:
        assert tables.conversations.summaries("c1") == [summary(0), summary(1)]
        assert tables.conversations.last_summaries(["c1", "c2"]) == {"c1": summary(1)}
        assert tables.conversations.pin("p") == replace(pin, active=False)
        assert tables.conversations.pins("c1") == [replace(pin, active=False)]
        assert tables.conversations.pin("unknown") is None
        assert [stored.summary_id for stored in tables.messages.page("c1", start=0, limit=9)] == [
            "s0",
            "s1",
            None,
        ]
        assert [stored.content for stored in tables.messages.in_context("c1")] == ["two"]
        assert tables.messages.count("c1") == (3, 1)
        assert tables.messages.count_of_agent("a1") == 3


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
        assert tables.messages.count_of_agent("a1") == 0


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
            partitions = tables.word_index.partitions(ItemKind.MESSAGE, [Owner(Scope.AGENT, "a1")])
            matches = tables.word_index.match("zebra", partitions, limit=9).matches
            item_ids = [match.item_id for match in matches]
            candidate_rows = tables.messages.candidate_rows(item_ids, filters)
            by_search = {tables.messages.get_many([row.id])[0].position for row in candidate_rows}
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


def test_a_conversation_that_is_being_deleted_is_hidden_at_once(store: Store) -> None:
    say(store, message(0, "zebra"))
    work = UnfinishedWork(kind=WorkKind.DELETE_CONVERSATION, subject="c1", started_at=START)
    store.write(lambda tables: tables.unfinished_work.add(work))

    with store.read() as tables:
        assert tables.unfinished_work.all() == [work]
        assert tables.conversations.get("c1") is None
        assert tables.conversations.latest("a1", limit=9) == []
        assert tables.messages.latest("a1", MessageFilters(), limit=9) == []
        assert tables.messages.speakers("a1", MessageFilters()) == []
        assert tables.messages.candidate_rows(range(99), MessageFilters()) == []
    assert not any(row.get("content") == "zebra" for row in store.export_rows())


def test_a_partition_is_dropped_with_all_items_and_others_stay(store: Store) -> None:
    say(store, message(0, "zebra"), message(1, "zebra"))
    say(store, message(0, "zebra", ALONE), talk=ALONE)

    def write(tables: Tables) -> tuple[int, int]:
        dropped = tables.word_index.drop_partition(ItemKind.MESSAGE, Owner(Scope.AGENT, "a1"))
        again = tables.word_index.drop_partition(ItemKind.MESSAGE, Owner(Scope.AGENT, "a1"))
        tables.conversations.delete("c1")
        return dropped, again

    assert store.write(write) == (2, 0)
    assert count_matches(store, ItemKind.MESSAGE, Owner(Scope.SESSION, "c2"), "zebra") == 1
    assert store.check()[1] == []


# Skills and files


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
        partitions = tables.word_index.partitions(ItemKind.FILE, [home])
        matches = tables.word_index.match("giraffe", partitions, limit=9).matches
        item_ids = [match.item_id for match in matches]
        assert tables.files.file_ids_of([*item_ids, 999]) == {item_ids[0]: "f1"}
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
