"""
List the candidates that wait for a decision, in the order of review.

Candidates are grouped by owner and type (the decisions of a project, facts about the user), because
a person decides about those together. The group with the most certain candidate comes first, and
within a group the most certain candidate; records of sessions come last. Duplicates are one item
(`engine/inbox_duplicates.py`). Nothing is changed here; `service/review.py` does that.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from recollect.domain.change import Change, ChangeKind
from recollect.domain.maintenance import InboxItem
from recollect.domain.memory import Memory, MemoryType, Status
from recollect.domain.project import project_label
from recollect.domain.retrieval import Filters
from recollect.domain.scope import Owner, Scope
from recollect.service.read import inbox_query_of, owners_of, visible_filters
from recollect.service.services import Services
from recollect.store.protocol import Tables
from recollect.store.search_index import NeighbourQuery
from recollect.text.fingerprint import fingerprint
from recollect.wire.requests.inbox import ListInboxRequest

MAX_CANDIDATES = 20_000  # read for one list
MAX_NEIGHBOURS = 3  # active memories that a candidate is compared with
TYPE_NAMES = {
    MemoryType.PROFILE: "about the user",
    MemoryType.DECISION: "decisions",
    MemoryType.PROJECT: "how things are",
    MemoryType.ARTIFACT: "notes",
    MemoryType.TASK_HINT: "next steps",
    MemoryType.EPISODE: "records of sessions",
}
_INBOX = frozenset({Status.INBOX})


def list_inbox(services: Services, request: ListInboxRequest) -> list[InboxItem]:
    """
    Return candidates in the order of review; the limit counts items without their duplicates.

    If not *grouped*, every candidate is an item of its own, newest first.
    """
    query = inbox_query_of(request)
    limit = MAX_CANDIDATES if request.grouped else query.limit
    with services.store.read() as tables:
        filters = visible_filters(tables, query)
        candidates = tables.memories.newest(owners_of(tables, query), filters, limit)
        if request.grouped:
            items = _order_by_group(tables, _group_duplicates(tables, candidates))
        else:
            sessions = _count_sessions(tables, candidates)
            items = [
                InboxItem(memory=memory, why="", sessions=sessions[memory.id])
                for memory in candidates
            ]
        page = items[: query.limit]
        conflicts = tables.links.conflicts([item.memory.id for item in page])
        return [
            _add_details(tables, replace(item, number=number, of=len(items)), conflicts)
            for number, item in enumerate(page, start=1)
        ]


def duplicate_ids(services: Services, memories: Iterable[Memory]) -> Mapping[str, list[str]]:
    """Return, for each candidate, the ids of its duplicates in the inbox."""
    partitions: dict[tuple[Owner, MemoryType], list[str]] = defaultdict(list)
    for memory in memories:
        partitions[memory.owner, memory.type].append(memory.id)
    duplicates: dict[str, list[str]] = {}
    with services.store.read() as tables:
        for (owner, kind), ids in partitions.items():
            filters = Filters(types=frozenset({kind}), statuses=_INBOX)
            candidates = tables.memories.newest([owner], filters, MAX_CANDIDATES)
            items = _group_duplicates(tables, candidates)
            groups = [[memory.id for memory in (item.memory, *item.duplicates)] for item in items]
            group_of = {member: group for group in groups for member in group}
            for memory_id in ids:
                group = group_of.get(memory_id, ())
                duplicates[memory_id] = [member for member in group if member != memory_id]
    return duplicates


def _group_duplicates(tables: Tables, candidates: Sequence[Memory]) -> list[InboxItem]:
    """Return one item per group of duplicates, the most certain first."""
    # Imported here, because only a review needs the rules of similarity.
    from recollect.engine.inbox_duplicates import group_duplicates, review_order

    sessions = _count_sessions(tables, candidates)
    ranked = sorted(candidates, key=lambda memory: review_order(memory, sessions[memory.id]))
    return [
        InboxItem(
            memory=group.representative,
            duplicates=group.duplicates,
            why="",
            sessions=sessions[group.representative.id],
        )
        for group in group_duplicates(ranked)
    ]


def _order_by_group(tables: Tables, items: Sequence[InboxItem]) -> list[InboxItem]:
    """Return the items group by group, each group at the position of its first item."""
    places: dict[Owner, str] = {}
    groups: dict[tuple[bool, str], list[InboxItem]] = {}
    for item in items:
        memory = item.memory
        if memory.owner not in places:
            places[memory.owner] = place_name(tables, memory.owner)
        group = f"{places[memory.owner]} · {TYPE_NAMES[memory.type]}"
        is_last = memory.type is MemoryType.EPISODE
        groups.setdefault((is_last, group), []).append(replace(item, group=group))
    ordered = sorted(groups, key=lambda key: key[0])  # stable: only records of sessions move
    return [item for key in ordered for item in groups[key]]


def place_name(tables: Tables, owner: Owner) -> str:
    """Return the name of an owner as people see it: "project site", "everywhere"."""
    match owner.scope:
        case Scope.GLOBAL:
            return "everywhere"
        case Scope.PROJECT:
            project = tables.projects.project(owner.id)
            return project_label(project, tables.projects.projects()) if project else owner.id
        case Scope.REPO:
            repo = tables.projects.repo(owner.id)
            return f"repo {repo.name}" if repo else owner.id
        case Scope.AGENT:
            agent = tables.agents.get(owner.id)
            return f"agent {agent.name}" if agent else owner.id
        case Scope.SESSION:
            return f"session {owner.id}"


def _count_sessions(tables: Tables, candidates: Sequence[Memory]) -> Mapping[str, int]:
    """Return in how many separate sessions each candidate was said."""
    source_ids = {evidence.source_id for memory in candidates for evidence in memory.evidence}
    session_of = {source_id: tables.sources.session_of(source_id) for source_id in source_ids}
    return {
        memory.id: len({session_of[evidence.source_id] for evidence in memory.evidence})
        for memory in candidates
    }


def _add_details(
    tables: Tables, item: InboxItem, conflicts: Mapping[str, tuple[str, ...]]
) -> InboxItem:
    """Return *item* with the reason it waits, its source, and the memories it conflicts with."""
    memory = item.memory
    changes = reversed(tables.memories.changes(memory.id))
    waiting = (ChangeKind.CREATED, ChangeKind.HELD)
    last = next((change for change in changes if change.kind in waiting), None)
    return replace(
        item,
        why=_why_it_waits(last) if last else "",
        conflicts=tuple(tables.memories.get_many(conflicts.get(memory.id, ()))),
        source=_source_title(tables, memory),
        voice=memory.evidence[0].voice if memory.evidence else "",
        already_stored=active_duplicate(tables, memory),
    )


def _why_it_waits(change: Change) -> str:
    is_held = change.kind is ChangeKind.HELD
    return f"held: {change.reason}" if is_held else change.reason


def _source_title(tables: Tables, memory: Memory) -> str:
    """Return the title of the capture a candidate came from, and the date."""
    event = tables.sources.event(memory.provenance.event_id or "")
    title = event.title if event else ""
    return f"{title or memory.source_kind.value}, {memory.observed_at:%Y-%m-%d}"


def active_duplicate(tables: Tables, memory: Memory) -> Memory | None:
    """Return an active memory, of the same owner or global, that says the same."""
    # As above.
    from recollect.engine.inbox_duplicates import are_duplicates

    if memory.type is MemoryType.EPISODE:
        return None
    owners = dict.fromkeys([memory.owner, Owner(Scope.GLOBAL, "")])
    words = fingerprint(memory.content)
    same_by_owner = tables.memories.with_fingerprints([(words, owner) for owner in owners])
    same = [id_ for ids in same_by_owner for id_ in ids]
    query = NeighbourQuery(memory.content, list(owners), also=same)
    [near] = tables.search_index.neighbours([query], limit=MAX_NEIGHBOURS)
    for other in sorted(tables.memories.get_many(list(near)), key=lambda other: other.id):
        is_active = other.status is Status.ACTIVE and other.type is memory.type
        if is_active and are_duplicates(memory.content, other.content):
            return other
    return None
