"""
List the candidates that wait for a decision, in the order of review.

Candidates are grouped by owner and type (the decisions of a project, facts about the user), because
a person decides about those together. The group with the most certain candidate comes first, and
within a group the most certain candidate; records of sessions come last. Duplicates are one item
(`engine/inbox_duplicates.py`), and so are two candidates that contradict each other: the newer one,
with the older one among its conflicts. Nothing is changed here; `service/review.py` does that.

`list_inbox` reads all candidates to group every duplicate. For a page of a large inbox,
`review_order` returns the ids in the same order from one statement, and `inbox_items` reads some.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

from recollect.domain.change import Change, ChangeKind
from recollect.domain.maintenance import InboxItem
from recollect.domain.memory import Memory, MemoryType, Status
from recollect.domain.project import project_label, project_labels
from recollect.domain.scope import Owner, Scope
from recollect.service.duplicate_search import (
    NO_DUPLICATES,
    Duplicates,
    count_sessions,
    find_duplicates,
)
from recollect.service.keep_candidate import owners_when_kept
from recollect.service.memory_query import inbox_query_of, owners_of, visible_filters
from recollect.service.services import Services
from recollect.store.protocol import Tables
from recollect.text.lazy_pattern import LazyPattern

if TYPE_CHECKING:
    # For the type checker only: a hook counts proposals, and sends none of these requests.
    from recollect.wire.requests.inbox import (
        InboxItemsRequest,
        ListInboxRequest,
        ReviewOrderRequest,
    )

_UNNAMED_SESSION = LazyPattern(r"begins ([0-9a-f]{8})[0-9a-f]{8} \d+$")  # named by capture.py
_UUID = LazyPattern(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$")
CONTEXT_CHARS = 160  # of the source, before and after a quote
MAX_CANDIDATES = 20_000  # read for one list
TYPE_NAMES = {
    MemoryType.PROFILE: "about the user",
    MemoryType.DECISION: "decisions",
    MemoryType.PROJECT: "how things are",
    MemoryType.ARTIFACT: "notes",
    MemoryType.TASK_HINT: "next steps",
    MemoryType.EPISODE: "records of sessions",
}


def list_inbox(services: Services, request: "ListInboxRequest") -> list[InboxItem]:
    """
    Return candidates in the order of review; the limit counts items without their duplicates.

    If not *grouped*, every candidate is an item of its own, newest first.
    """
    query = inbox_query_of(request)
    limit = MAX_CANDIDATES if request.grouped else query.limit
    single_user = services.settings.single_user
    with services.store.read() as tables:
        filters = visible_filters(tables, query, single_user=single_user)
        candidates = tables.memories.newest(owners_of(tables, query), filters, limit)
        if request.grouped:
            items = _order_by_group(
                _add_places(
                    tables,
                    _without_older_sides(
                        tables, _group_duplicates(tables, candidates, single_user=single_user)
                    ),
                    single_user=single_user,
                )
            )
        else:
            named = _add_places(tables, _items(tables, candidates), single_user=single_user)
            items = [replace(item, group="") for item in named]
        page = [
            replace(item, number=number, of=len(items))
            for number, item in enumerate(items[: query.limit], start=1)
        ]
        duplicates = find_duplicates(
            tables, [item.memory for item in page], single_user=single_user
        )
        return _add_details(tables, page, duplicates)


def review_order(services: Services, request: "ReviewOrderRequest") -> list[str]:
    """Return the ids of all candidates in the order of `list_inbox`."""
    with services.store.read() as tables:
        return tables.memories.review_order()


def inbox_items(services: Services, request: "InboxItemsRequest") -> list[InboxItem]:
    """Return some candidates with the duplicates that the word index finds."""
    single_user = services.settings.single_user
    with services.store.read() as tables:
        memories = tables.memories.get_many(request.memory_ids)
        candidates = [memory for memory in memories if memory.status is Status.INBOX]
        duplicates = find_duplicates(tables, candidates, single_user=single_user)
        items = [
            replace(item, duplicates=duplicates.get(item.memory.id, NO_DUPLICATES).waiting)
            for item in _add_places(tables, _items(tables, candidates), single_user=single_user)
        ]
        return _add_details(tables, items, duplicates)


def _items(tables: Tables, candidates: Sequence[Memory]) -> list[InboxItem]:
    sessions = count_sessions(tables, candidates)
    return [InboxItem(memory=memory, why="", sessions=sessions[memory.id]) for memory in candidates]


def _group_duplicates(
    tables: Tables, candidates: Sequence[Memory], *, single_user: bool
) -> list[InboxItem]:
    """Return one item per group of duplicates, the most certain first."""
    # Imported here, because only a review needs the rules of similarity.
    from recollect.engine.inbox_duplicates import group_duplicates, review_order

    sessions = count_sessions(tables, candidates)
    ranked = sorted(candidates, key=lambda memory: review_order(memory, sessions[memory.id]))
    return [
        InboxItem(
            memory=group.representative,
            duplicates=group.duplicates,
            why="",
            sessions=sessions[group.representative.id],
        )
        for group in group_duplicates(ranked, single_user=single_user)
    ]


def _without_older_sides(tables: Tables, items: Sequence[InboxItem]) -> list[InboxItem]:
    """
    Return *items* without those that a newer item contradicts: it shows both sides.

    One with duplicates stays, because a decision about the newer item does not include them.
    """
    conflicts = tables.links.conflicts([item.memory.id for item in items])
    newest_first = sorted(items, key=_time_and_id, reverse=True)
    items_by_id: dict[str, InboxItem] = {}
    for item in newest_first:
        is_older_side = any(
            other_id in items_by_id for other_id in conflicts.get(item.memory.id, ())
        )
        if item.duplicates or not is_older_side:
            items_by_id[item.memory.id] = item
    return [item for item in items if item.memory.id in items_by_id]


def _time_and_id(item: InboxItem) -> tuple[datetime, str]:
    return item.memory.observed_at, item.memory.id


def _add_places(
    tables: Tables, items: Iterable[InboxItem], *, single_user: bool
) -> list[InboxItem]:
    """Return the items with the names of the places in which they are kept, and their groups."""
    items = list(items)
    owner_of = owners_when_kept(tables, [item.memory for item in items], single_user=single_user)
    owners = set(owner_of.values())
    places = {owner: place_name(tables, owner) for owner in owners if not _is_project(owner)}
    labels = project_labels(tables.projects.projects()) if len(places) < len(owners) else {}
    named = []
    for item in items:
        owner = owner_of[item.memory.id]
        place = labels.get(owner.id, owner.id) if _is_project(owner) else places[owner]
        group = f"{place} · {TYPE_NAMES[item.memory.type]}"
        named.append(replace(item, place=place, group=group))
    return named


def _order_by_group(items: Sequence[InboxItem]) -> list[InboxItem]:
    """Return the items group by group, each group at the position of its first item."""
    groups: dict[tuple[bool, str], list[InboxItem]] = {}
    for item in items:
        is_last = item.memory.type is MemoryType.EPISODE
        groups.setdefault((is_last, item.group), []).append(item)
    ordered = sorted(groups, key=lambda key: key[0])  # stable: only records of sessions move
    return [item for key in ordered for item in groups[key]]


def _is_project(owner: Owner) -> bool:
    return owner.scope is Scope.PROJECT


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


def _add_details(
    tables: Tables, items: Sequence[InboxItem], duplicates: Mapping[str, Duplicates]
) -> list[InboxItem]:
    """Return the items with the reason they wait, their source, and what is stored already."""
    conflicts = tables.links.conflicts([item.memory.id for item in items])
    ids = sorted({other_id for others in conflicts.values() for other_id in others})
    others = {memory.id: memory for memory in tables.memories.get_many(ids)}
    context = _quote_contexts(tables, [item.memory for item in items])
    return [
        replace(
            item,
            why=_why_it_waits(tables, item.memory),
            conflicts=tuple(others[other_id] for other_id in conflicts.get(item.memory.id, ())),
            source=_source_title(tables, item.memory),
            voice=item.memory.evidence[0].voice if item.memory.evidence else "",
            before=context.get(item.memory.id, ("", ""))[0],
            after=context.get(item.memory.id, ("", ""))[1],
            already_stored=duplicates.get(item.memory.id, NO_DUPLICATES).active,
        )
        for item in items
    ]


def _quote_contexts(tables: Tables, memories: Sequence[Memory]) -> Mapping[str, tuple[str, str]]:
    """Return the text before and after the first quote of each memory, by its id."""
    quoted = [memory for memory in memories if memory.evidence]
    first_quotes = [memory.evidence[0] for memory in quoted]
    spans = [(quote.source_id, quote.start, quote.end) for quote in first_quotes]
    contexts = tables.sources.around(spans, CONTEXT_CHARS + 1)
    return {
        memory.id: (_last_words(before), _first_words(after))
        for memory, (before, after) in zip(quoted, contexts, strict=True)
    }


def _last_words(text: str) -> str:
    """Return a text before a quote; if it is cut, from the beginning of a word on."""
    if len(text) <= CONTEXT_CHARS:
        return text
    space = re.search(r"\s", text)
    return f"… {text[space.end() :]}" if space else f"…{text}"


def _first_words(text: str) -> str:
    """Return a text after a quote; if it is cut, up to the end of a word."""
    if len(text) <= CONTEXT_CHARS:
        return text
    words = re.sub(r"\s+\S*$", "", text)
    return f"{words} …" if words != text else f"{text}…"


def _why_it_waits(tables: Tables, memory: Memory) -> str:
    """Return the reason of the last change that left a memory in the inbox."""
    waiting = (ChangeKind.CREATED, ChangeKind.HELD)
    changes: Iterable[Change] = reversed(tables.memories.changes(memory.id))
    last = next((change for change in changes if change.kind in waiting), None)
    if last is None:
        return ""
    return f"held: {last.reason}" if last.kind is ChangeKind.HELD else last.reason


def _source_title(tables: Tables, memory: Memory) -> str:
    """Return the session a candidate came from, by its title if it has one, and the date."""
    event = tables.sources.event(memory.provenance.event_id or "")
    title = event.title if event else ""
    return f"{title or _session_label(memory)}, {memory.observed_at:%Y-%m-%d}"


def _session_label(memory: Memory) -> str:
    """Return the name of the session of *memory* or a part of its id; else the kind of source."""
    session = memory.provenance.session
    if unnamed := _UNNAMED_SESSION.match(session):
        return f"session {unnamed[1]}"
    if _UUID.match(session):
        return f"conversation …{session[-8:]}"
    return f"session {session}" if session else memory.source_kind.value
