"""
Read the user's space and those of projects, and combine the responses.

Hits are ordered by their score, which means the same in every store. Each space is read through its
own transport, so that its audit log and the database know who reads.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from recollect.app.audited_transport import AuditedTransport
from recollect.domain.context_bundle import Bundle
from recollect.domain.maintenance import InboxItem
from recollect.domain.memory import Memory
from recollect.domain.retrieval import RELATED, Hit, mark_unreviewed
from recollect.domain.team import Membership
from recollect.lazy_dataclass import dataclass
from recollect.service import briefing, task_context
from recollect.service.services import Services
from recollect.wire.request import VerbRequest
from recollect.wire.requests.inbox import ListInboxRequest
from recollect.wire.requests.memories import ListMemoriesRequest
from recollect.wire.requests.recollect import BriefingRequest, ContextForRequest, SearchRequest

MAX_PAGE = 1_000


@dataclass(frozen=True, kw_only=True)
class OpenSpace:
    """A space that a request may use now. `membership` is None for the user's own."""

    services: Services
    transport: AuditedTransport
    membership: Membership | None = None


Parts = Sequence[tuple[OpenSpace, VerbRequest[Any]]]


def _search(own: OpenSpace, request: SearchRequest, parts: Parts) -> list[Hit]:
    end = min(request.offset + request.limit, MAX_PAGE)
    first = {"offset": 0, "limit": end}
    hits = own.transport.send(request.model_copy(update=first))
    for space, part in parts:
        hits = [*hits, *space.transport.send(part.model_copy(update=first))]
    direct = [hit for hit in hits if hit.reached != RELATED]
    page = sorted(direct, key=lambda hit: -hit.score)[request.offset : end]
    related = [hit for hit in hits if hit.reached == RELATED]
    return mark_unreviewed([*page, *related])


def _list_memories(own: OpenSpace, request: ListMemoriesRequest, parts: Parts) -> list[Memory]:
    memories = own.transport.send(request)
    for space, part in parts:
        memories = [*memories, *space.transport.send(part)]
    memories.sort(key=lambda memory: (memory.observed_at, memory.id), reverse=True)
    return memories[: request.limit]


def _list_inbox(own: OpenSpace, request: ListInboxRequest, parts: Parts) -> list[InboxItem]:
    items = own.transport.send(request)
    total = items[0].of if items else 0
    for space, part in parts:
        others = space.transport.send(part)
        total += others[0].of if others else 0
        items = [*items, *others]
    page = items[: request.limit]
    return [replace(item, number=n, of=total) for n, item in enumerate(page, start=1)]


def _concatenate(own: OpenSpace, request: VerbRequest[Any], parts: Parts) -> list[Any]:
    items = list(own.transport.send(request))
    for space, part in parts:
        items += space.transport.send(part)
    return items


def _list_projects(own: OpenSpace, request: VerbRequest[Any], parts: Parts) -> list[Any]:
    """Return the projects, each once; one with members as it is in its own space."""
    shared = [project for space, part in parts for project in space.transport.send(part)]
    identities = {project.identity for project in shared}
    own_ones = [item for item in own.transport.send(request) if item.identity not in identities]
    return sorted([*own_ones, *shared], key=lambda item: (item.name, item.identity))


def _context_for(own: OpenSpace, request: ContextForRequest, parts: Parts) -> Bundle:
    shared = [_run(space, part, task_context.shared_material) for space, part in parts]
    return own.transport.run(
        request, lambda: task_context.context_for(own.services, request, shared=shared)
    )


def _briefing(own: OpenSpace, request: BriefingRequest, parts: Parts) -> Bundle:
    shared = [_run(space, part, briefing.shared_briefing) for space, part in parts]
    return own.transport.run(
        request, lambda: briefing.briefing(own.services, request, shared=shared)
    )


def _run(space: OpenSpace, part: Any, call: Callable[[Services, Any], Any]) -> Any:
    return space.transport.run(part, lambda: call(space.services, part))


MERGERS: Mapping[str, Callable[[OpenSpace, Any, Parts], Any]] = {
    "search": _search,
    "list_memories": _list_memories,
    "list_inbox": _list_inbox,
    "review_order": _concatenate,
    "list_agents": _concatenate,
    "list_blocks": _concatenate,
    "list_projects": _list_projects,
    "context_for": _context_for,
    "briefing": _briefing,
}
