"""
Store and search the archive of an agent: passages found by words, meaning, tags and time.

A passage is a memory of agent scope, so evidence, links, explain, forget and export work for it as
for any other. Its length in tokens is limited: its author should split a longer text, because a
cut at the limit would separate sentences that belong together.
"""

from collections.abc import Mapping
from dataclasses import replace

from recollect.domain.agent import Agent
from recollect.domain.agent_transfer import LETTA, SHARED_ARCHIVES
from recollect.domain.memory import Memory, MemoryType, Status
from recollect.domain.retrieval import Filters, Hit
from recollect.domain.scope import Owner, Scope
from recollect.errors import NotFound, TooLarge
from recollect.service.agents import require_agent
from recollect.service.memory_query import memory_query_of
from recollect.service.search_memories import newest_hits, search_memories
from recollect.service.services import Services
from recollect.service.write_memory import draft_memory, store_draft
from recollect.text.redact import redact
from recollect.text.token_counter import counter_for
from recollect.wire.requests.archive import (
    InsertPassageRequest,
    ListPassagesRequest,
    SearchPassagesRequest,
)
from recollect.wire.requests.recollect import IngestRequest, SearchRequest

ALL_PASSAGES = 2**53
IN_ARCHIVE = Filters(statuses=frozenset({Status.ACTIVE}))


def insert_passage(services: Services, request: InsertPassageRequest) -> Memory:
    """Store a passage in an agent's archive."""
    with services.store.read() as tables:
        agent = require_agent(tables, request.agent)
    fields = request.model_dump(exclude={"agent", "token_limit"})
    fields |= {"agent": agent.id, "type": MemoryType.ARTIFACT, "scope": Scope.AGENT}
    passage = draft_memory(IngestRequest(**fields))
    counter = counter_for(agent.model)
    content = passage.request.content
    if not counter.fits(content, request.token_limit):
        raise TooLarge(
            f"the passage has {counter.count(content):,} tokens; the limit of archival memory is "
            f"{request.token_limit:,}. Split it into passages that make sense alone"
        )
    return store_draft(services, passage, by=f"agent {agent.name}")


def list_passages(services: Services, request: ListPassagesRequest) -> list[Memory]:
    """Return a page of an agent's passages, by the time they were observed."""
    with services.store.read() as tables:
        agent = require_agent(tables, request.agent)
        owner = Owner(Scope.AGENT, agent.id)
        ids = tables.memories.newest_ids([owner], IN_ARCHIVE, ALL_PASSAGES)
        if not request.newest_first:
            ids.reverse()
        for cursor in (request.after, request.before):
            if cursor is not None and cursor not in ids:
                raise NotFound(f"agent {agent.name!r} has no passage {cursor!r} in its archive")
        start = 0 if request.after is None else ids.index(request.after) + 1
        end = len(ids) if request.before is None else ids.index(request.before)
        page = ids[start:end]
        is_last = request.before is not None and request.after is None
        page = page[-request.limit :] if is_last else page[: request.limit]
        return tables.memories.get_many(page)


def search_passages(services: Services, request: SearchPassagesRequest) -> list[Hit]:
    """Return the passages that match a query, best first; the newest if it is empty."""
    with services.store.read() as tables:
        agent = require_agent(tables, request.agent)
        archives = [tables.agents.get(agent_id) for agent_id in _shared_archives(agent)]
    last = request.offset + request.limit
    hits = _search_archive(services, request, agent, limit=last)
    others = [archive for archive in archives if archive is not None]
    if not others:
        return hits[request.offset :]
    for archive in others:
        hits += _search_archive(services, request, archive, limit=last)
    hits.sort(key=lambda hit: (hit.score, hit.memory.observed_at), reverse=True)
    return hits[request.offset : last]


def _shared_archives(agent: Agent) -> list[str]:
    """Return the ids of the agents whose archives *agent* may search besides its own."""
    carry = agent.metadata.get(LETTA)
    ids = carry.get(SHARED_ARCHIVES) if isinstance(carry, Mapping) else None
    return [archive_id for archive_id in ids if isinstance(archive_id, str)] if ids else []


def _search_archive(
    services: Services, request: SearchPassagesRequest, owner: Agent, *, limit: int
) -> list[Hit]:
    fields = request.model_dump(exclude={"agent", "tags", "tag_match", "offset"})
    search = SearchRequest(**fields, agent=owner.id, scopes=(Scope.AGENT,))
    query = memory_query_of(search, search.query)
    query = replace(query, limit=limit, below_threshold=request.below_threshold)
    tags = frozenset(redact(tag).text for tag in request.tags)
    if request.tag_match == "any":
        query = replace(query, filters=replace(query.filters, any_tags=tags))
    else:
        query = replace(query, filters=replace(query.filters, tags=tags))
    if query.query.strip():
        return search_memories(services, query)
    return newest_hits(services, query)
