"""
The archive of an agent: passages it keeps for itself, found by words, meaning, tags and time.

A passage is a memory of agent scope, so evidence, links, explain, forget and export hold for it as
for any other. A passage is bounded in tokens: what is longer should be cut where its author knows
how, not where a limit falls.
"""

from dataclasses import replace

from recollect.domain.memory import Memory, MemoryType
from recollect.domain.retrieval import Filters, Hit
from recollect.domain.scope import Scope
from recollect.errors import InvalidInput, TooLarge
from recollect.service import inputs, read, write
from recollect.service.agents import known_agent
from recollect.service.places import Where
from recollect.service.services import Services
from recollect.text.redact import redact
from recollect.text.token_counter import counter_for
from recollect.wire.requests.archive import TOKEN_LIMIT
from recollect.wire.requests.recollect import SearchRequest


def insert(
    services: Services,
    agent: object,
    content: object,
    *,
    tags: object = (),
    title: object = "",
    observed_at: object = None,
    token_limit: object = TOKEN_LIMIT,
) -> Memory:
    """Keep a passage in an agent's archive."""
    with services.store.read() as tables:
        who = known_agent(tables, agent)
    passage = write.draft(
        content,
        where=Where(agent=who.id),
        type=MemoryType.ARTIFACT,
        scope=Scope.AGENT,
        title=title,
        tags=tags,
        observed_at=observed_at,
    )
    most = inputs.count_of("token_limit", token_limit, most=10**7)
    counter = counter_for(who.model)
    if not counter.fits(passage.content, most):
        raise TooLarge(
            f"the passage has {counter.count(passage.content):,} tokens; the limit of archival "
            f"memory is {most:,}. Split it into passages that make sense alone"
        )
    return write.ingest(services, passage, by=f"agent {who.name}")


def search(
    services: Services,
    agent: object,
    query: object,
    *,
    tags: object = (),
    tag_match: object = "any",
    since: object = None,
    until: object = None,
    asked_at: object = None,
    limit: object = 10,
) -> list[Hit]:
    """Return the passages that answer *query*, best first; the newest where it is empty."""
    if tag_match not in ("any", "all"):
        raise InvalidInput(f"tag_match {tag_match!r} is not known; use any or all")
    with services.store.read() as tables:
        who = known_agent(tables, agent)
    request = SearchRequest.of(
        {
            "query": query,
            "agent": who.id,
            "scopes": [Scope.AGENT],
            "since": since,
            "until": until,
            "asked_at": asked_at,
            "limit": limit,
        }
    )
    asked = read.question_of(request, request.query)
    wanted = frozenset(redact(tag).text for tag in inputs.tags_of(tags))
    narrowed: Filters = (
        replace(asked.filters, any_tags=wanted)
        if tag_match == "any"
        else replace(asked.filters, tags=wanted)
    )
    asked = replace(asked, filters=narrowed)
    if asked.query.strip():
        return read.search(services, asked)
    return read.newest_hits(services, asked)
