"""
What every store must do. Runs through `Store` and `Tables` only.

A second implementation joins by adding itself to the `store` fixture of conftest.py; nothing here
knows SQLite. What agents need of a store is in test_contract_agents.py.
"""

import threading
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path

import apsw
import numpy as np
import pytest

from recollect import (
    Change,
    EvidenceMissing,
    InvalidInput,
    Memory,
    MemoryType,
    Project,
    Relation,
    Repo,
    Retrieval,
    Scope,
    Status,
    StoreClosed,
    View,
)
from recollect.domain.agent import Agent
from recollect.domain.capture_event import Event, EventState, Trigger
from recollect.domain.link import Link, LinkEnd
from recollect.domain.memory import ChangeEffects
from recollect.domain.retrieval import Filters, LoggedHit, LoggedItem
from recollect.domain.scope import ItemKind, Owner
from recollect.domain.source import Evidence, Source, SourceKind
from recollect.store.protocol import Store, Tables
from recollect.store.repositories.retrieval_packing import pack
from recollect.store.sqlite import word_index
from recollect.store.sqlite.store import SqliteStore
from recollect.store.sqlite.writer_thread import Writer, _Ticket
from recollect.store.values import ChunkEmbedding, ModelsInUse, PendingFilter, RegisteredModel
from recollect.text.fingerprint import sha256_hex, short_hash
from support import START, FakeClock

EVERYTHING = Filters(statuses=frozenset(Status))
GLOBAL = Owner(Scope.GLOBAL, "")


def agent(agent_id: str, name: str) -> Agent:
    return Agent(id=agent_id, name=name, created_at=START, updated_at=START)


Keep = Callable[..., Memory]


@pytest.fixture
def keep(store: Store, clock: FakeClock) -> Keep:
    """Store a memory of the given content with its source and evidence."""

    def write_memory(content: str, **fields: object) -> Memory:
        source = Source(
            id=clock.new_id(),
            kind=SourceKind.MANUAL,
            content=content,
            sha256=sha256_hex(content),
            captured_at=START,
            observed_at=START,
        )
        memory_id = clock.new_id()
        evidence = Evidence(
            id=clock.new_id(),
            memory_id=memory_id,
            source_id=source.id,
            start=0,
            end=len(content),
            quote=content,
            created_at=START,
        )
        values: dict[str, object] = {
            "id": memory_id,
            "type": MemoryType.PROFILE,
            "scope": Scope.GLOBAL,
            "status": Status.ACTIVE,
            "content": content,
            "observed_at": START,
            "confirmed_at": START,
            "created_at": START,
            "updated_at": START,
            "evidence": (evidence,),
        }
        memory = Memory(**(values | fields))  # type: ignore[arg-type]

        def write(tables: Tables) -> None:
            tables.sources.add(source)
            tables.memories.add(memory)

        store.write(write)
        return memory

    return write_memory


def project(store: Store, clock: FakeClock, name: str) -> Project:
    created = Project(id=clock.new_id(), name=name, identity=name, created_at=START)
    store.write(lambda tables: tables.projects.add_project(created))
    return created


def matching_items(store: Store, query: str, owners: list[Owner] | None = None) -> list[int]:
    with store.read() as tables:
        partitions = tables.word_index.partitions(ItemKind.MEMORY, owners)
        return [
            match.item_id for match in tables.word_index.match(query, partitions, limit=10).matches
        ]


def item_id_of(store: Store, memory: Memory) -> int | None:
    with store.read() as tables:
        return tables.memories.item_id_of(memory.id)


def test_a_memory_comes_back_as_it_was_written(store: Store, keep: Keep, clock: FakeClock) -> None:
    home = project(store, clock, "site")
    kept = keep(
        "Use pnpm.",
        type=MemoryType.DECISION,
        scope=Scope.PROJECT,
        project_id=home.id,
        title="Package manager",
        summary="pnpm",
        tags=("build", "ci"),
        rationale="faster",
        alternatives=("npm", "yarn"),
        confidence=0.5,
        metadata={"by": "hand"},
    )

    with store.read() as tables:
        assert tables.memories.get(kept.id) == kept
        assert tables.memories.get_many([kept.id, "unknown"]) == [kept]
        assert tables.memories.get("unknown") is None
        assert tables.memories.item_id_of("unknown") is None
        assert tables.sources.of_memory(kept.id)[0].content == "Use pnpm."


def test_a_memory_is_found_by_its_words_as_soon_as_it_is_written(store: Store, keep: Keep) -> None:
    kept = keep("The build uses pnpm.", tags=("tooling",), title="Bundles")

    for query in ("builds", "PNPM", "tooling", "bundle"):
        assert matching_items(store, query) == [item_id_of(store, kept)]
    assert matching_items(store, "yarn") == []


def test_a_failed_write_leaves_nothing_behind(store: Store, clock: FakeClock) -> None:
    def write(tables: Tables) -> None:
        tables.projects.add_project(Project(id="p1", name="one", created_at=START))
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        store.write(write)

    with store.read() as tables:
        assert tables.projects.projects() == []


def test_a_write_inside_a_write_is_refused_and_harms_nothing(store: Store) -> None:
    with pytest.raises(RuntimeError, match="inside a write"):
        store.write(lambda tables: store.write(lambda inner: None))

    store.write(lambda tables: tables.agents.add(agent("a", "anna")))
    with store.read() as tables:
        assert tables.agents.by_name("anna") == agent("a", "anna")


def test_many_threads_write_at_once_and_each_sees_its_own_error(store: Store) -> None:
    errors: list[str] = []

    def work(number: int) -> None:
        name = "same" if number % 2 else f"project {number}"

        def write(tables: Tables) -> None:
            project = Project(id=f"id{number}", name=name, identity=name, created_at=START)
            tables.projects.add_project(project)

        try:
            store.write(write)
        except InvalidInput as error:
            errors.append(str(error))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(40)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    with store.read() as tables:
        assert len(tables.projects.projects()) == 21
    assert len(errors) == 19


def test_a_read_sees_one_moment_of_the_store(store: Store, keep: Keep) -> None:
    first = keep("one")
    with store.read() as tables:
        assert tables.memories.get(first.id) is not None
        second = keep("two")

        assert tables.memories.get(second.id) is None
    with store.read() as tables:
        assert tables.memories.get(second.id) is not None


def test_a_reader_cannot_write(store: Store) -> None:
    with (
        pytest.raises(Exception, match=r"readonly|read-only|cannot be used"),
        store.read() as tables,
    ):
        tables.agents.add(agent("a", "anna"))


def test_an_active_memory_without_evidence_is_refused(store: Store, keep: Keep) -> None:
    with pytest.raises(EvidenceMissing):
        keep("no proof", evidence=())

    candidate = keep("no proof yet", evidence=(), status=Status.INBOX)
    active = replace(candidate, status=Status.ACTIVE)
    with pytest.raises(EvidenceMissing):
        store.write(lambda tables: tables.memories.update_status(active))


def test_a_quote_that_is_not_in_its_source_is_refused(
    store: Store, keep: Keep, clock: FakeClock
) -> None:
    honest = keep("The sky is blue.")
    forged = replace(honest.evidence[0], id=clock.new_id(), memory_id="x", quote="The sky is red.")

    with pytest.raises(EvidenceMissing, match="verbatim"):
        keep("The sky is red.", id="x", evidence=(forged,))


def test_a_source_knows_when_each_of_its_messages_was_said(
    store: Store, keep: Keep, clock: FakeClock
) -> None:
    kept = keep("raw material")
    turns = [(0, 4, "user", "", 1_000), (6, 9, "assistant", "", None)]
    with store.read() as tables:
        [plain] = tables.sources.of_memory(kept.id)
    with_turns = replace(plain, id=clock.new_id(), sha256="other", metadata={"turns": turns})
    store.write(lambda tables: tables.sources.add(with_turns))

    with store.read() as tables:
        times = [tables.sources.said_at(with_turns.id, position) for position in (0, 3, 4, 6)]
        assert times == [1_000, 1_000, None, None]
        assert tables.sources.said_at(plain.id, 0) is None
        assert tables.sources.said_at("unknown", 0) is None


def test_a_source_does_not_change_and_is_stored_once(store: Store, keep: Keep) -> None:
    kept = keep("raw material")
    with store.read() as tables:
        [source] = tables.sources.of_memory(kept.id)
        assert tables.sources.with_hash(source.sha256, SourceKind.MANUAL) == source
        assert tables.sources.get(source.id) == source
        assert tables.sources.get("unknown") is None
        assert tables.sources.kind_of(source.id) is SourceKind.MANUAL
        assert tables.sources.kind_of("unknown") is None
        assert tables.sources.evidence_in(source.id) == list(kept.evidence)

    with pytest.raises(InvalidInput, match="immutable"):
        store.write(lambda tables: tables.sources.overwrite(source.id, "something else", "hash"))
    with pytest.raises(InvalidInput):
        store.write(lambda tables: tables.sources.add(replace(source, id="other")))


def test_the_status_changes_and_the_change_is_stored(
    store: Store, keep: Keep, clock: FakeClock
) -> None:
    kept = keep("a fact")
    moved = replace(kept, status=Status.ARCHIVED, updated_at=START + timedelta(days=1))
    change = Change(
        id=clock.new_id(),
        memory_id=kept.id,
        before=Status.ACTIVE,
        after=Status.ARCHIVED,
        by="user",
        reason="old",
        at=START,
        effects=ChangeEffects(superseded=("a", "b"), duplicate_of="c", confidence_before=0.5),
    )

    def write(tables: Tables) -> None:
        tables.memories.update_status(moved)
        tables.memories.add_change(change)

    store.write(write)

    with store.read() as tables:
        assert tables.memories.get(kept.id) == moved
        assert tables.memories.changes(kept.id) == [change]
        assert tables.memories.count_by_status() == {"archived": 1}


def test_deleting_removes_every_trace_and_says_how_much(
    store: Store, keep: Keep, clock: FakeClock
) -> None:
    kept = keep("unrepeatable zebra", tags=("animal",))
    other = keep("another animal")

    removed = store.write(lambda tables: tables.memories.delete(kept.id))

    assert removed["memories"] == 1
    assert removed["memory_tags"] == 1
    assert removed["evidence"] == 1
    assert removed["postings"] == 3
    assert matching_items(store, "zebra") == []
    assert matching_items(store, "animal") == [item_id_of(store, other)]
    assert store.write(lambda tables: tables.memories.delete(kept.id)) == {}
    assert store.check()[1] == []


def test_memories_are_filtered(store: Store, keep: Keep) -> None:
    old = keep("old", observed_at=START - timedelta(days=10), tags=("x",))
    new = keep("new", type=MemoryType.EPISODE, tags=("x", "y"))
    waiting = keep("waiting", status=Status.INBOX)

    def newest(**filters: object) -> list[str]:
        with store.read() as tables:
            chosen = Filters(**filters)  # type: ignore[arg-type]
            return [memory.id for memory in tables.memories.newest([GLOBAL], chosen, 10)]

    assert newest() == [new.id, old.id]
    assert newest(statuses=frozenset({Status.INBOX})) == [waiting.id]
    assert newest(types=frozenset({MemoryType.EPISODE})) == [new.id]
    assert newest(tags=frozenset({"x", "y"})) == [new.id]
    assert newest(since=START - timedelta(days=1)) == [new.id]
    assert newest(until=START - timedelta(days=1)) == [old.id]
    with store.read() as tables:
        item_ids = [tables.memories.item_id_of(memory.id) or 0 for memory in (old, new, waiting)]
        candidate_rows = tables.memories.candidate_rows(item_ids, Filters(tags=frozenset({"y"})))
    assert [row.id for row in candidate_rows] == [new.id]


def test_a_timeline_is_in_order_and_says_when_there_is_too_much(store: Store, keep: Keep) -> None:
    new = keep("new", type=MemoryType.EPISODE)
    old = keep("old", observed_at=START - timedelta(days=10))
    keep("waiting", status=Status.INBOX)

    with store.read() as tables:
        both = tables.memories.timeline([GLOBAL], Filters(), limit=2)
        late = tables.memories.timeline(None, Filters(since=START), limit=2)
        too_many = tables.memories.timeline([GLOBAL], Filters(), limit=1)

    in_order = [(memory.observed_at, item_id_of(store, memory)) for memory in (old, new)]
    assert (both, late, too_many) == (in_order, in_order[1:], None)


def test_partitions_keep_owners_apart(store: Store, keep: Keep, clock: FakeClock) -> None:
    a, b = project(store, clock, "a"), project(store, clock, "b")
    in_a = keep("shared word", scope=Scope.PROJECT, project_id=a.id)
    in_b = keep("shared word again", scope=Scope.PROJECT, project_id=b.id)

    assert matching_items(store, "shared", [Owner(Scope.PROJECT, a.id)]) == [
        item_id_of(store, in_a)
    ]
    assert matching_items(store, "shared", [Owner(Scope.PROJECT, b.id)]) == [
        item_id_of(store, in_b)
    ]
    assert matching_items(store, "shared", [GLOBAL]) == []
    assert set(matching_items(store, "shared")) == {
        item_id_of(store, in_a),
        item_id_of(store, in_b),
    }


def test_links_go_both_ways_and_end_with_their_memories(
    store: Store, keep: Keep, clock: FakeClock
) -> None:
    memory, other = keep("one"), keep("other")
    link = Link(
        id=clock.new_id(),
        from_id=memory.id,
        relation=Relation.CONTRADICTS,
        to_kind=LinkEnd.MEMORY,
        to_id=other.id,
        created_at=START,
    )
    store.write(lambda tables: tables.links.add(link))
    store.write(lambda tables: tables.links.add(replace(link, id="again")))
    with pytest.raises(InvalidInput, match="target"):
        store.write(lambda tables: tables.links.add(replace(link, id="l2", to_id="nobody")))

    with store.read() as tables:
        assert tables.links.of_memory(memory.id) == [link]
        assert tables.links.of_memory(other.id) == [link]
        assert tables.links.conflicts([memory.id]) == {memory.id: (other.id,)}
        assert tables.links.conflicts([other.id]) == {other.id: (memory.id,)}

    store.write(lambda tables: tables.memories.delete(other.id))

    with store.read() as tables:
        assert tables.links.of_memory(memory.id) == []


def test_links_reach_a_project_directly_or_through_its_memories(
    store: Store, keep: Keep, clock: FakeClock
) -> None:
    a, b = project(store, clock, "a"), project(store, clock, "b")
    far = keep("far away", scope=Scope.PROJECT, project_id=a.id)
    further = keep("further", scope=Scope.PROJECT, project_id=a.id)
    here = keep("here", scope=Scope.PROJECT, project_id=b.id)

    def link(from_id: str, relation: Relation, kind: LinkEnd, to_id: str) -> None:
        new = Link(
            id=clock.new_id(),
            from_id=from_id,
            relation=relation,
            to_kind=kind,
            to_id=to_id,
            created_at=START,
        )
        store.write(lambda tables: tables.links.add(new))

    link(far.id, Relation.APPLIES_TO, LinkEnd.PROJECT, b.id)
    link(here.id, Relation.DERIVED_FROM, LinkEnd.MEMORY, further.id)

    with store.read() as tables:
        linked = set(tables.links.item_ids_linked_to(b.id))
        assert {
            tables.memories.item_id_of(far.id),
            tables.memories.item_id_of(further.id),
        } <= linked
        assert tables.memories.item_id_of(here.id) in set(tables.links.item_ids_linked_to(a.id))


def test_projects_and_repos_are_found_by_name_remote_and_root(
    store: Store, clock: FakeClock
) -> None:
    home = project(store, clock, "site")
    repo = Repo(
        id="r1",
        project_id=home.id,
        name="web",
        remote="host/acme/web",
        root="/src/web",
        created_at=START,
    )
    store.write(lambda tables: tables.projects.add_repo(repo))
    store.write(lambda tables: tables.projects.move_repo("r1", remote="host/acme/web", root="/new"))
    store.write(lambda tables: tables.agents.add(agent("a1", "anna")))

    with store.read() as tables:
        projects = tables.projects
        assert projects.project_by_identity("site") == home == projects.project(home.id)
        assert projects.project_by_identity("none") is None
        assert projects.project("none") is None
        assert projects.projects() == [home]
        moved = projects.repo("r1")
        assert moved is not None
        assert moved.root == "/new"
        assert projects.repo_by_remote("host/acme/web") == moved == projects.repo_by_root("/new")
        assert projects.repo_by_root("/src/web") is None
        assert projects.repo_by_name("web", home.id) == moved
        assert projects.repo_by_name("web", None) is None  # it is known by its remote
        assert projects.repo_by_name("web", "other") is None
        assert projects.repos_of(home.id) == [moved]
        assert tables.agents.by_name("anna") == agent("a1", "anna")
        assert tables.agents.by_name("bert") is None


def test_uris_of_events_without_a_source_are_listed(store: Store, clock: FakeClock) -> None:
    def event(uri: str, trigger: Trigger = Trigger.MANUAL) -> Event:
        return Event(
            id=clock.new_id(),
            trigger=trigger,
            source_id=None,
            owner=GLOBAL,
            state=EventState.DONE,
            uri=uri,
            created_at=START,
            updated_at=START,
        )

    events = [event("file:///a#1"), event(""), event("file:///b", Trigger.CONVERSATION)]
    for new in events:
        store.write(lambda tables, new=new: tables.sources.add_event(new))  # type: ignore[misc]

    with store.read() as tables:
        assert tables.sources.uris_without_source(Trigger.MANUAL) == {"file:///a#1"}


def test_events_are_kept_in_order(store: Store, clock: FakeClock) -> None:
    events = [
        Event(
            id=clock.new_id(),
            trigger=Trigger.MANUAL,
            source_id=None,
            owner=GLOBAL,
            state=EventState.DONE,
            created_at=START,
            updated_at=START,
        )
        for _ in range(3)
    ]
    for event in events:
        store.write(lambda tables, event=event: tables.sources.add_event(event))  # type: ignore[misc]

    with store.read() as tables:
        assert tables.sources.events() == events


def test_the_oldest_retrievals_beyond_those_kept_go_a_few_at_a_time(
    store: Store, keep: Keep
) -> None:
    hit = LoggedHit(rank=1, memory_id=keep("zebra").id, score=0.5, parts={}, explanation="")
    item = LoggedItem(kind="pin", item_id="b", tokens=1, outcome="in")
    for number, name in enumerate("abcdef"):
        retrieval = Retrieval(
            id=name,
            verb="search",
            query="zebra",
            asking={},
            notes=(),
            asked_at=START - timedelta(days=number),  # what a caller may say; it does not count
            hits=(hit,),
            context=(item,),
        )
        logged_at = START + timedelta(days=number)
        store.write(partial(_add_retrieval, retrieval, logged_at))

    def left() -> str:
        with store.read() as tables:
            assert tables.retrievals.count() == tables.retrievals.times_returned(hit.memory_id)
            return "".join(name for name in "abcdef" if tables.retrievals.get(name))

    def prune(before: int | None, most_bytes: int | None, limit: int) -> tuple[int, str]:
        moment = None if before is None else START + timedelta(days=before)
        with store.read() as tables:
            count = tables.retrievals.count_prunable(
                before=moment, most_bytes=most_bytes, limit=limit
            )
        pruned = store.write(
            lambda tables: tables.retrievals.prune(
                before=moment, most_bytes=most_bytes, limit=limit
            )
        )
        assert pruned == count
        return pruned, left()

    size = pack(retrieval).size  # of each, give or take a byte
    assert prune(None, None, 3) == (0, "abcdef")
    assert prune(0, 7 * size, 3) == (0, "abcdef")
    assert prune(2, None, 1) == (1, "bcdef")
    assert prune(2, None, 9) == (1, "cdef")
    assert prune(None, 5 * size // 2, 9) == (1, "def")
    assert prune(4, 3 * size // 2, 9) == (1, "ef")
    assert not store.check()[1]


def _add_retrieval(retrieval: Retrieval, logged_at: datetime, tables: Tables) -> None:
    tables.retrievals.add(retrieval, logged_at=logged_at)


def test_a_retrieval_is_logged_and_loses_hits_whose_memory_is_gone(
    store: Store, keep: Keep
) -> None:
    kept, gone = keep("kept zebra"), keep("gone zebra")
    hits = tuple(
        LoggedHit(
            rank=rank, memory_id=memory_id, score=0.5, parts={"keyword": 1.0}, explanation="why"
        )
        for rank, memory_id in enumerate([kept.id, gone.id], start=1)
    )
    retrieval = Retrieval(
        id="q1",
        verb="search",
        query="Where is the gone zebra?",
        asking={"limit": 3},
        notes=("note",),
        asked_at=START,
        hits=hits,
    )
    store.write(partial(_add_retrieval, retrieval, START))

    with store.read() as tables:
        logged = tables.retrievals.get("q1")
        assert tables.retrievals.times_returned(kept.id) == 1
        assert tables.retrievals.get("none") is None
        assert list(tables.retrievals.queries()) == [("q1", "Where is the gone zebra?")]
        assert list(tables.retrievals.result_ids()) == [("q1", [kept.id, gone.id])]
    scrubbed = store.write(lambda tables: tables.retrievals.scrub(["q1", "none"], gone={gone.id}))
    with store.read() as tables:
        after = tables.retrievals.get("q1")

    assert logged == retrieval
    assert scrubbed == 1
    assert after is not None
    assert after.query == ""
    assert after.hits == (replace(hits[0], explanation=""),)


def test_a_retrieval_that_is_logged_after_its_memory_was_deleted_has_no_words(
    store: Store, keep: Keep
) -> None:
    kept, gone = keep("kept zebra"), keep("gone zebra")
    hits = tuple(
        LoggedHit(rank=rank, memory_id=memory.id, score=0.5, parts={}, explanation="zebra")
        for rank, memory in enumerate([kept, gone], start=1)
    )
    asking = {"project": "zebra", "conversation_id": "c"}
    retrieval = Retrieval(
        id="q1",
        verb="search",
        query="zebra?",
        asking=asking,
        notes=("zebra",),
        asked_at=START,
        hits=hits,
    )
    store.log_retrieval(retrieval)
    assert store.queued_retrieval("q1") in (retrieval, None)  # None once it is written
    store.write(lambda tables: tables.memories.delete(gone.id))
    store.write(partial(_add_retrieval, replace(retrieval, id="q2"), START))

    with store.read() as tables:
        logged = tables.retrievals.get("q2")
    assert logged is not None
    assert "zebra" not in repr(logged)
    assert logged.hits == (replace(hits[0], explanation=""),)
    assert logged.asking == {"conversation_id": "c"}


def test_views_are_kept_by_name_and_replaced(store: Store) -> None:
    view = View(name="v", query="q", asking={"limit": 1}, created_at=START, updated_at=START)
    later = replace(view, query="other", created_at=START + timedelta(1), updated_at=START)
    store.write(lambda tables: tables.retrievals.save_view(view))
    store.write(lambda tables: tables.retrievals.save_view(later))

    with store.read() as tables:
        assert tables.retrievals.views() == [replace(view, query="other")]
        assert tables.retrievals.view("none") is None
    assert store.write(lambda tables: tables.retrievals.delete_view("v"))
    assert not store.write(lambda tables: tables.retrievals.delete_view("v"))


def test_one_profile_fact_of_a_name_is_active_at_a_time(store: Store, keep: Keep) -> None:
    first = keep("vim", key="editor")
    with store.read() as tables:
        assert tables.memories.with_key("editor", GLOBAL) == first
        assert tables.memories.with_key("shell", GLOBAL) is None

    with pytest.raises(InvalidInput):
        keep("emacs", key="editor")


def save_vectors(store: Store, model_id: int, vectors: dict[int, list[float]]) -> None:
    rows = [
        ChunkEmbedding(
            item_id, 0, 1, short_hash(str(item_id)), np.asarray(values, dtype="<f2").tobytes()
        )
        for item_id, values in vectors.items()
    ]
    store.write(lambda tables: tables.embeddings.save(model_id, list(vectors), rows))


def test_vectors_of_one_model_are_found_and_those_of_another_are_not(
    store: Store, keep: Keep
) -> None:
    near, far = item_id_of(store, keep("near")) or 0, item_id_of(store, keep("far")) or 0
    first = store.write(lambda tables: tables.embeddings.add_model("one", 4))
    second = store.write(lambda tables: tables.embeddings.add_model("two", 4))
    query = np.asarray([1, 0, 0, 0], dtype=np.float32)

    with store.read() as tables:
        assert {item.text for item in tables.embeddings.pending(first, 10, PendingFilter.ALL)} == {
            "near",
            "far",
        }
        assert tables.embeddings.count_pending(first) == 2
    save_vectors(store, first, {near: [1, 0, 0, 0], far: [0, 1, 0, 0]})

    with store.read() as tables:
        partitions = tables.word_index.partitions(ItemKind.MEMORY, None)
        matches = tables.embeddings.nearest(first, query, partitions, limit=10)
        assert matches[near].similarity == pytest.approx(1.0)
        assert matches[far].similarity == pytest.approx(0.0)
        assert tables.embeddings.nearest(second, query, partitions, limit=10) == {}
        assert tables.embeddings.nearest(first, query, [], limit=10) == {}
        assert set(tables.embeddings.similarities(first, query, [near])) == {near}
        assert tables.embeddings.pairwise_similarities(first, [near, far])[
            near, far
        ] == pytest.approx(0.0)
        assert tables.embeddings.pairwise_similarities(first, [near]) == {}
        assert tables.embeddings.pending(first, 10, PendingFilter.ALL) == []
        assert len(tables.embeddings.pending(second, 10, PendingFilter.ALL)) == 2
        assert len(tables.embeddings.pending(second, 10, PendingFilter.REEMBED)) == 2
        assert tables.embeddings.pending(second, 10, PendingFilter.NEW) == []
        assert tables.embeddings.count_by_model() == {"one": 2}
        assert tables.embeddings.model_id("one", 4) == first
        assert tables.embeddings.model_id("one", 5) is None
        assert set(
            tables.embeddings.vectors_by_hash(first, [short_hash(str(near)), b"unknown"])
        ) == {short_hash(str(near))}


def test_new_and_deleted_vectors_are_seen_at_once(store: Store, keep: Keep) -> None:
    model = store.write(lambda tables: tables.embeddings.add_model("m", 4))
    query = np.asarray([1, 0.1, 0.1, 0.1], dtype=np.float32)
    memories = [keep(f"memory {number}") for number in range(6)]
    item_ids = [item_id_of(store, memory) or 0 for memory in memories]

    def near(limit: int = 10) -> set[int]:
        with store.read() as tables:
            partitions = tables.word_index.partitions(ItemKind.MEMORY, None)
            return set(tables.embeddings.nearest(model, query, partitions, limit=limit))

    save_vectors(store, model, {item_id: [1, item_id / 100, 0.1, 0.1] for item_id in item_ids[:3]})
    assert near() == set(item_ids[:3])
    save_vectors(
        store, model, {item_id: [-1, -item_id / 100, -0.1, 0.1] for item_id in item_ids[3:]}
    )
    assert near() == set(item_ids)
    assert near(limit=3) == set(item_ids[:3])
    for memory in memories[:3]:
        store.write(lambda tables, memory=memory: tables.memories.delete(memory.id))  # type: ignore[misc]
    assert near() == set(item_ids[3:])
    assert near() == set(item_ids[3:])


def test_an_old_models_vectors_go_when_the_new_ones_are_complete(store: Store, keep: Keep) -> None:
    item_id = item_id_of(store, keep("one")) or 0
    old = store.write(lambda tables: tables.embeddings.add_model("old", 4))
    new = store.write(lambda tables: tables.embeddings.add_model("new", 4))
    save_vectors(store, old, {item_id: [1, 0, 0, 0]})
    save_vectors(store, new, {item_id: [0, 1, 0, 0]})

    with store.read() as tables:
        assert tables.embeddings.models_in_use() == ModelsInUse(None, None)
    store.write(lambda tables: tables.embeddings.choose_model(new))
    store.write(lambda tables: tables.embeddings.set_serving_model(old))
    store.write(lambda tables: tables.embeddings.drop_unused_vectors())
    with store.read() as tables:
        assert tables.embeddings.models_in_use() == ModelsInUse(
            RegisteredModel(new, "new", 4), RegisteredModel(old, "old", 4)
        )
        assert tables.embeddings.count_vectors() == {("old", 4): 1, ("new", 4): 1}
        assert not tables.embeddings.has_unused_vectors()
    store.write(lambda tables: tables.embeddings.set_serving_model(new))
    with store.read() as tables:
        assert tables.embeddings.has_unused_vectors()
    store.write(lambda tables: tables.embeddings.drop_unused_vectors())

    query = np.asarray([1, 0, 0, 0], dtype=np.float32)
    with store.read() as tables:
        assert tables.embeddings.similarities(old, query, [item_id]) == {}
        assert set(tables.embeddings.similarities(new, query, [item_id])) == {item_id}


def test_a_closed_store_says_so(path: Path, clock: FakeClock) -> None:
    store = SqliteStore(path, clock)
    store.flush_log(timeout_s=0.0)
    with store.read():
        store.close()
    store.close()

    with pytest.raises(StoreClosed, match="open it again"):
        store.write(lambda tables: None)


def test_what_was_written_is_there_after_opening_again(
    store: Store, keep: Keep, path: Path, clock: FakeClock
) -> None:
    kept = keep("still here")
    store.close()

    again = SqliteStore(path, clock)
    with again.read() as tables:
        assert tables.memories.get(kept.id) == kept
    again.close()


def test_a_reader_on_an_older_snapshot_hides_nothing_from_those_after_it(
    store: Store, keep: Keep, clock: FakeClock
) -> None:
    model = store.write(lambda tables: tables.embeddings.add_model("m", 4))
    query = np.asarray([1, 0.1, 0.1, 0.1], dtype=np.float32)
    home = project(store, clock, "p")
    there = [Owner(Scope.PROJECT, home.id)]
    elsewhere = item_id_of(store, keep("elsewhere")) or 0
    first = item_id_of(store, keep("first", scope=Scope.PROJECT, project_id=home.id)) or 0
    save_vectors(store, model, {elsewhere: [1, 0, 0, 0], first: [1, 0, 0, 0]})

    def near(tables: Tables, owners: list[Owner]) -> set[int]:
        partitions = tables.word_index.partitions(ItemKind.MEMORY, owners)
        return set(tables.embeddings.nearest(model, query, partitions, limit=10))

    with store.read() as older:
        assert near(older, [GLOBAL]) == {elsewhere}
        second = item_id_of(store, keep("second", scope=Scope.PROJECT, project_id=home.id)) or 0
        save_vectors(store, model, {second: [1, 0, 0, 0]})
        with store.read() as newer:
            assert near(newer, [GLOBAL]) == {elsewhere}

        assert near(older, there) == {first}
    with store.read() as tables:
        assert near(tables, there) == {first, second}
        assert near(tables, there) == {first, second}


def test_writes_that_wait_while_the_store_closes_are_refused_not_acknowledged(
    store: Store, path: Path
) -> None:
    started, go_on = threading.Event(), threading.Event()
    outcomes: list[str] = []

    def slow(tables: Tables) -> None:
        started.set()
        go_on.wait(60)

    def late(number: int) -> None:
        try:
            store.write(lambda tables: tables.agents.add(agent(f"a{number}", f"n{number}")))
            outcomes.append("acknowledged")
        except StoreClosed:
            outcomes.append("refused")

    threads = [threading.Thread(target=store.write, args=(slow,))]
    threads[0].start()
    started.wait(60)
    threads += [threading.Thread(target=late, args=(number,)) for number in range(4)]
    closing = threading.Thread(target=store.close)
    for thread in (closing, *threads[1:]):
        thread.start()
    go_on.set()
    for thread in (*threads, closing):
        thread.join()

    again = SqliteStore(path, FakeClock())
    with again.read() as tables:
        kept = sum(tables.agents.by_name(f"n{number}") is not None for number in range(4))
    again.close()
    assert outcomes.count("acknowledged") == kept
    assert len(outcomes) == 4


def test_a_commit_that_fails_raises_in_every_writer_of_the_group(path: Path) -> None:
    class FailingConnection:
        """A connection whose commits and rollbacks fail."""

        in_transaction = True

        def execute(self, sql: str) -> None:
            if sql in ("COMMIT", "ROLLBACK"):
                raise apsw.IOError(sql)

    writer = Writer(FailingConnection(), path)  # type: ignore[arg-type]
    tickets = [_Ticket(lambda: "done"), _Ticket(lambda: "done")]

    with pytest.raises(apsw.IOError):
        writer._commit(tickets)

    assert all(ticket.done and ticket.error is not None for ticket in tickets)


def test_one_name_with_two_dimensions_is_two_models(store: Store) -> None:
    small = store.write(lambda tables: tables.embeddings.add_model("m", 4))
    large = store.write(lambda tables: tables.embeddings.add_model("m", 8))

    assert small != large
    assert store.write(lambda tables: tables.embeddings.add_model("m", 4)) == small
    with store.read() as tables:
        assert tables.embeddings.latest_model("m") == (large, 8)
        assert tables.embeddings.latest_model("other") is None


def test_a_large_partition_does_not_hide_a_small_one(
    store: Store, keep: Keep, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(word_index, "POSTINGS_BUDGET", 20)
    home = project(store, clock, "p")
    for number in range(30):
        keep(f"apple {number}")
    ours = keep("apple of ours", scope=Scope.PROJECT, project_id=home.id)
    for number in range(30, 60):
        keep(f"apple {number}")

    assert item_id_of(store, ours) in matching_items(
        store, "apple", [GLOBAL, Owner(Scope.PROJECT, home.id)]
    )
