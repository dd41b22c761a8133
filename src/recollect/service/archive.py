"""
Store and search the archive of an agent: passages found by words, meaning, tags and time.

A passage is a memory of agent scope, so evidence, links, explain, forget and export work for it as
for any other. Its length in tokens is limited: its author should split a longer text, because a
cut at the limit would separate sentences that belong together.
"""

from dataclasses import replace

from recollect.domain.memory import Memory, MemoryType
from recollect.domain.retrieval import Hit
from recollect.domain.scope import Scope
from recollect.errors import TooLarge
from recollect.service import read, write
from recollect.service.agents import require_agent
from recollect.service.services import Services
from recollect.text.redact import redact
from recollect.text.token_counter import counter_for
from recollect.wire.requests.archive import InsertPassageRequest, SearchPassagesRequest
from recollect.wire.requests.recollect import IngestRequest, SearchRequest


def insert_passage(services: Services, request: InsertPassageRequest) -> Memory:
    """Store a passage in an agent's archive."""
    with services.store.read() as tables:
        agent = require_agent(tables, request.agent)
    fields = request.model_dump(exclude={"agent", "token_limit"})
    fields |= {"agent": agent.id, "type": MemoryType.ARTIFACT, "scope": Scope.AGENT}
    passage = write.draft_memory(IngestRequest(**fields))
    counter = counter_for(agent.model)
    content = passage.request.content
    if not counter.fits(content, request.token_limit):
        raise TooLarge(
            f"the passage has {counter.count(content):,} tokens; the limit of archival memory is "
            f"{request.token_limit:,}. Split it into passages that make sense alone"
        )
    return write.store_draft(services, passage, by=f"agent {agent.name}")


def search_passages(services: Services, request: SearchPassagesRequest) -> list[Hit]:
    """Return the passages that match a query, best first; the newest if it is empty."""
    with services.store.read() as tables:
        agent = require_agent(tables, request.agent)
    fields = request.model_dump(exclude={"agent", "tags", "tag_match"})
    search = SearchRequest(**fields, agent=agent.id, scopes=(Scope.AGENT,))
    query = read.memory_query_of(search, search.query)
    query = replace(query, below_threshold=request.below_threshold)
    tags = frozenset(redact(tag).text for tag in request.tags)
    if request.tag_match == "any":
        query = replace(query, filters=replace(query.filters, any_tags=tags))
    else:
        query = replace(query, filters=replace(query.filters, tags=tags))
    if query.query.strip():
        return read.search_memories(services, query)
    return read.newest_hits(services, query)
