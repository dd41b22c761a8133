"""
What waits for a decision, in the order in which a reviewer wants to read it.

Candidates are grouped by where they belong and what kind of thing they are (the decisions of a
project, what is told of the user): that is what a person decides about in one go. The session one
came from is told with it, but most sessions leave one candidate or two, and a heading over each
would only double the lines. The group with the most certain candidate comes first, and within a
group the most certain; records of sessions come last of all. Near twins are folded into one
(`engine/group_duplicates.py`). Nothing here changes anything; `service/review.py` does.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from recollect.domain.maintenance import Waiting
from recollect.domain.memory import Memory, MemoryType, Status
from recollect.domain.retrieval import Filters
from recollect.domain.scope import ItemKind, Owner, Scope
from recollect.service.read import Question, owners_of
from recollect.service.services import Services
from recollect.store.protocol import Tables
from recollect.text.fingerprint import fingerprint

MOST_READ = 20_000  # candidates; more than anybody reviews, and they are there the next time
NEAREST = 3  # active memories a shown candidate is compared with
KINDS = {
    MemoryType.PROFILE: "about the user",
    MemoryType.DECISION: "decisions",
    MemoryType.PROJECT: "how things are",
    MemoryType.ARTIFACT: "notes",
    MemoryType.TASK_HINT: "next steps",
    MemoryType.EPISODE: "records of sessions",
}
_INBOX = frozenset({Status.INBOX})


def waiting(services: Services, asked: Question, *, grouped: bool = True) -> list[Waiting]:
    """
    Return the candidates a question admits, in review order; its limit counts groups.

    Without *grouped*, every candidate is an item of its own, newest first.
    """
    with services.store.read() as tables:
        if not grouped:
            memories = tables.memories.newest(owners_of(tables, asked), asked.filters, asked.limit)
            return _ungrouped(tables, memories)
        found = tables.memories.newest(owners_of(tables, asked), asked.filters, MOST_READ)
        ordered = _in_order(tables, _folded(tables, found))
        shown = ordered[: asked.limit]
        rivals = tables.links.conflicts([one.memory.id for one in shown])
        return [
            _told(tables, replace(one, number=number, of=len(ordered)), rivals)
            for number, one in enumerate(shown, start=1)
        ]


def _ungrouped(tables: Tables, memories: Sequence[Memory]) -> list[Waiting]:
    sessions = _sessions(tables, memories)
    conflicts = tables.links.conflicts([memory.id for memory in memories])
    return [
        _told(
            tables,
            Waiting(
                memory=memory,
                also=(),
                why="",
                sessions=sessions[memory.id],
                number=number,
                of=len(memories),
            ),
            conflicts,
        )
        for number, memory in enumerate(memories, start=1)
    ]


def duplicate_ids(services: Services, memories: Iterable[Memory]) -> Mapping[str, list[str]]:
    """Return, for each of some candidates, the ids of those that it is folded with."""
    wanted: dict[tuple[Owner, MemoryType], list[str]] = defaultdict(list)
    for one in memories:
        wanted[one.owner, one.type].append(one.id)
    found: dict[str, list[str]] = {}
    with services.store.read() as tables:
        for (owner, kind), ids in wanted.items():
            filters = Filters(types=frozenset({kind}), statuses=_INBOX)
            waiting = tables.memories.newest([owner], filters, MOST_READ)
            groups = [
                [one.memory.id, *(twin.id for twin in one.also)]
                for one in _folded(tables, waiting)
                if one.also
            ]
            group_of = {member: group for group in groups for member in group}
            for one_id in ids:
                found[one_id] = [one for one in group_of.get(one_id, ()) if one != one_id]
    return found


def _folded(tables: Tables, candidates: Sequence[Memory]) -> list[Waiting]:
    """Return candidates folded, the most certain first."""
    # As in jobs.py: the rules of likeness are loaded by those who review, not by everybody.
    from recollect.engine.group_duplicates import group_duplicates, review_order

    sessions = _sessions(tables, candidates)
    ranked = sorted(candidates, key=lambda one: review_order(one, sessions[one.id]))
    return [
        Waiting(
            memory=one.representative,
            also=one.duplicates,
            why="",
            sessions=sessions[one.representative.id],
        )
        for one in group_duplicates(ranked)
    ]


def _in_order(tables: Tables, folded: Sequence[Waiting]) -> list[Waiting]:
    """Return what is folded group by group, each where its most certain one stood."""
    places: dict[Owner, str] = {}
    groups: dict[tuple[bool, str], list[Waiting]] = {}
    for one in folded:
        memory = one.memory
        if memory.owner not in places:
            places[memory.owner] = _place(tables, memory.owner)
        group = f"{places[memory.owner]} · {KINDS[memory.type]}"
        last = memory.type is MemoryType.EPISODE
        groups.setdefault((last, group), []).append(replace(one, group=group))
    return [
        one for last in (False, True) for key in groups if key[0] is last for one in groups[key]
    ]


def _place(tables: Tables, owner: Owner) -> str:
    match owner.scope:
        case Scope.GLOBAL:
            return "everywhere"
        case Scope.PROJECT:
            project = tables.projects.project(owner.id)
            return project.name if project else owner.id
        case Scope.REPO:
            repo = tables.projects.repo(owner.id)
            return f"repo {repo.name}" if repo else owner.id
        case Scope.AGENT:
            agent = tables.agents.get(owner.id)
            return f"agent {agent.name}" if agent else owner.id
        case Scope.SESSION:
            return f"session {owner.id}"


def _sessions(tables: Tables, candidates: Sequence[Memory]) -> Mapping[str, int]:
    """Return in how many separate sessions each was said."""
    session_of: dict[str, str] = {}
    found = {}
    for one in candidates:
        for piece in one.evidence:
            if piece.source_id not in session_of:
                session_of[piece.source_id] = tables.sources.session_of(piece.source_id)
        found[one.id] = len({session_of[piece.source_id] for piece in one.evidence})
    return found


def _told(tables: Tables, one: Waiting, rivals: Mapping[str, tuple[str, ...]]) -> Waiting:
    """Return a candidate with what is known of it."""
    memory = one.memory
    changes = tables.memories.changes(memory.id)
    said = memory.evidence[0] if memory.evidence else None
    return replace(
        one,
        why=next((one.reason for one in reversed(changes) if one.before in (None, one.after)), ""),
        rivals=tuple(tables.memories.get_many(rivals.get(memory.id, ()))),
        source=_source_of(tables, memory),
        voice=said.voice if said else "",
        known=_known(tables, memory),
    )


def _source_of(tables: Tables, memory: Memory) -> str:
    """Return what the capture a candidate came from was called, and when it was said."""
    event = tables.sources.event(str(memory.metadata.get("event", "")))
    name = event.title if event else ""
    return f"{name or memory.source_kind.value}, {memory.observed_at:%Y-%m-%d}"


def _known(tables: Tables, memory: Memory) -> Memory | None:
    """Return an active memory, of the same owner or of everybody, that says so already."""
    # As above.
    from recollect.engine.group_duplicates import are_duplicates

    if memory.type is MemoryType.EPISODE:
        return None
    owners = dict.fromkeys([memory.owner, Owner(Scope.GLOBAL, "")])
    partitions = tables.word_index.partitions(ItemKind.MEMORY, list(owners))
    matches = tables.word_index.match(memory.content, partitions, limit=NEAREST).matches
    item_ids = {match.item_id for match in matches}
    for owner in owners:
        item_ids.update(tables.memories.with_fingerprint(fingerprint(memory.content), owner))
    active = Filters(statuses=frozenset({Status.ACTIVE}))
    standing = [one.id for one in tables.memories.candidate_rows(item_ids, active)]
    for other in sorted(tables.memories.get_many(standing), key=lambda one: one.id):
        if other.type is memory.type and are_duplicates(memory.content, other.content):
            return other
    return None
