"""Links between memories."""

from dataclasses import replace

import pytest

from recollect import InvalidInput, Relation, Status
from recollect.domain.link import Link, LinkedMemory, LinkEnd
from recollect.domain.scope import Scope
from recollect.store.protocol import Store, Tables
from store_records import Keep, project
from support import START, FakeClock


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
    assert store.write(lambda tables: tables.links.add(link)) == link
    assert store.write(lambda tables: tables.links.add(replace(link, id="again"))) == link
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


def test_a_removed_link_is_gone_and_an_unknown_one_is_ignored(
    store: Store, keep: Keep, clock: FakeClock
) -> None:
    memory, other = keep("one"), keep("other")
    link = Link(
        id=clock.new_id(),
        from_id=memory.id,
        relation=Relation.SUPPORTS,
        to_kind=LinkEnd.MEMORY,
        to_id=other.id,
        created_at=START,
    )
    kept = replace(link, id=clock.new_id(), relation=Relation.SUPERSEDES)
    store.write(lambda tables: [tables.links.add(new) for new in (link, kept)])

    store.write(lambda tables: tables.links.remove([link.id, "nobody"]))

    with store.read() as tables:
        assert tables.links.of_memory(memory.id) == [kept]


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
        assert {far.id, further.id} <= set(tables.links.ids_linked_to(b.id))
        assert here.id in tables.links.ids_linked_to(a.id)


def test_current_memories_that_contradict_each_other_are_listed_and_counted(
    store: Store, keep: Keep, clock: FakeClock
) -> None:
    first, second, third = keep("one"), keep("two"), keep("three", status=Status.ARCHIVED)

    def link(from_id: str, to_id: str) -> Link:
        return Link(
            id=clock.new_id(),
            from_id=from_id,
            relation=Relation.CONTRADICTS,
            to_kind=LinkEnd.MEMORY,
            to_id=to_id,
            created_at=START,
        )

    pairs = [(first.id, second.id), (second.id, first.id), (first.id, third.id)]
    links = [link(from_id, to_id) for from_id, to_id in pairs]

    def write(tables: Tables) -> None:
        for new in links:
            tables.links.add(new)

    store.write(write)
    with store.read() as tables:
        assert tables.links.count_conflicts() == 1
        assert tables.links.contradictions(9) == [links[1], links[0]]
        assert tables.links.contradictions(1) == [links[1]]


def test_linked_memories_are_read_from_both_ends_without_projects(
    store: Store, keep: Keep, clock: FakeClock
) -> None:
    first, second, third = keep("one"), keep("two"), keep("three")
    site = project(store, clock, "site")

    def link(from_id: str, relation: Relation, to_id: str, kind: LinkEnd = LinkEnd.MEMORY) -> None:
        new = Link(
            id=clock.new_id(),
            from_id=from_id,
            relation=relation,
            to_kind=kind,
            to_id=to_id,
            created_at=START,
        )
        store.write(lambda tables: tables.links.add(new))

    link(first.id, Relation.SUPPORTS, second.id)
    link(third.id, Relation.CONTRADICTS, first.id)
    link(first.id, Relation.APPLIES_TO, site.id, LinkEnd.PROJECT)

    with store.read() as tables:
        linked = tables.links.linked_memories([first.id, second.id])
        assert linked == {
            first.id: (
                LinkedMemory(second.id, Relation.SUPPORTS, is_target=True),
                LinkedMemory(third.id, Relation.CONTRADICTS, is_target=False),
            ),
            second.id: (LinkedMemory(first.id, Relation.SUPPORTS, is_target=False),),
        }
        assert tables.links.linked_memories([]) == {}
