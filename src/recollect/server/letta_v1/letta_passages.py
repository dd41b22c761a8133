"""Routes of passages: the archival memory of an agent, and the search in all of them."""

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, Literal

from pydantic import Field

from recollect.app.local_recollect import LocalRecollect
from recollect.domain.agent import Agent
from recollect.domain.limits import MAX_LIMIT
from recollect.domain.memory import Memory
from recollect.domain.retrieval import Hit
from recollect.domain.scope import Scope
from recollect.errors import NotFound
from recollect.server.letta_v1.letta_agent_lookup import find_agent, require_agent
from recollect.server.letta_v1.letta_archive_lookup import find_archive
from recollect.server.letta_v1.letta_call import LettaBody, LettaCall, LettaQuery, LettaRoute, Texts
from recollect.server.letta_v1.letta_ids import letta_id, our_id

TagMatch = Literal["any", "all"]


class NewPassage(LettaBody):
    """A new passage."""

    text: str
    tags: list[str] | None = None
    created_at: str | None = None


class PassageQuery(LettaQuery):
    """Which passages of an agent are listed."""

    after: str | None = None
    before: str | None = None
    limit: int = Field(100, ge=0, le=MAX_LIMIT)
    search: str | None = None
    ascending: bool = True


class PassageSearchQuery(LettaQuery):
    """What is searched in the archival memory of an agent."""

    query: str
    tags: Texts = ()
    tag_match_mode: TagMatch = "any"
    top_k: int | None = Field(None, ge=1, le=MAX_LIMIT)
    start_datetime: str | None = None
    end_datetime: str | None = None


class PassageSearchBody(LettaBody):
    """What is searched in the passages of an agent, of an archive or of all."""

    query: str | None = None
    agent_id: str | None = None
    archive_id: str | None = None
    tags: list[str] | None = None
    tag_match_mode: TagMatch = "any"
    limit: int = Field(50, ge=1, le=MAX_LIMIT)
    start_date: str | None = None
    end_date: str | None = None


def create_passage(call: LettaCall) -> Any:
    """Store a passage in the archive of an agent; Letta returns a list."""
    return [passage_json(insert_passage(call.rec, require_agent(call), call.body_as(NewPassage)))]


def list_passages(call: LettaCall) -> Any:
    """Return passages of an agent, or those that contain what *search* says."""
    agent, query = require_agent(call), call.query_as(PassageQuery)
    if query.limit == 0:
        return []
    after = None if query.after is None else our_id("passage", query.after)
    before = None if query.before is None else our_id("passage", query.before)
    newest_first = not query.ascending
    if query.search:
        containing = _passages_containing(
            call.rec, agent, query.search, after=after, before=before, newest_first=newest_first
        )
        return [passage_json(passage) for passage in islice(containing, query.limit)]
    passages = call.rec.archive.list(
        agent, after=after, before=before, newest_first=newest_first, limit=query.limit
    )
    return [passage_json(passage) for passage in passages]


def _passages_containing(
    rec: LocalRecollect,
    agent: Agent,
    text: str,
    *,
    after: str | None,
    before: str | None,
    newest_first: bool,
) -> Iterator[Memory]:
    """Yield the passages that contain *text* in any case, in the order of the list."""
    while page := rec.archive.list(agent, after=after, newest_first=newest_first, limit=MAX_LIMIT):
        for passage in page:
            if passage.id == before:
                return
            if text.casefold() in passage.content.casefold():
                yield passage
        after = page[-1].id


def search_agent_passages(call: LettaCall) -> Any:
    """Return the best passages of an agent and its archives, also below the threshold."""
    agent, query = require_agent(call), call.query_as(PassageSearchQuery)
    hits = _search_all(
        call.rec,
        [agent],
        query.query,
        limit=query.top_k or 10,
        tags=query.tags,
        tag_match=query.tag_match_mode,
        since=query.start_datetime,
        until=query.end_datetime,
    )
    return {"results": [_result(hit.memory) for hit in hits], "count": len(hits)}


def delete_passage(call: LettaCall) -> Any:
    """Delete a passage of an agent."""
    remove_passage(call.rec, require_agent(call), call.path_id("memory_id", "passage"))
    return {"message": "Archival memory has been successfully deleted"}


def search_passages(call: LettaCall) -> Any:
    """Return the best passages of an agent with its archives, of an archive, or of all."""
    rec, body = call.rec, call.body_as(PassageSearchBody)
    if body.archive_id is not None:
        owners = [find_archive(rec, our_id("archive", body.archive_id))]
    elif body.agent_id is not None:
        owners = [find_agent(rec, our_id("agent", body.agent_id))]  # with the archives it shares
    else:
        owners = rec.agents.list()
    hits = _search_all(
        rec,
        owners,
        body.query or "",
        limit=body.limit,
        tags=tuple(body.tags or ()),
        tag_match=body.tag_match_mode,
        since=body.start_date,
        until=body.end_date,
    )
    return [
        {
            "passage": passage_json(hit.memory),
            "score": hit.score,
            "metadata": {"explanation": hit.explanation},
        }
        for hit in hits
    ]


def insert_passage(rec: LocalRecollect, owner: Agent, new: NewPassage) -> Memory:
    """Store a passage of an agent, or of what stands for an archive."""
    return rec.archive.insert(owner, new.text, tags=new.tags or (), observed_at=new.created_at)


def remove_passage(rec: LocalRecollect, owner: Agent, passage_id: str) -> None:
    """Delete a passage, if it belongs to *owner*."""
    passage = rec.memories.get(passage_id)
    if passage.scope is not Scope.AGENT or passage.agent_id != owner.id:
        raise NotFound(f"there is no passage {passage_id!r} in the archive of {owner.name!r}")
    rec.forget(passage.id)


def passage_json(passage: Memory) -> dict[str, Any]:
    """Return a passage as Letta shows it."""
    return {
        "id": letta_id("passage", passage.id),
        "text": passage.content,
        "tags": list(passage.tags),
        "metadata": dict(passage.metadata),
        "archive_id": letta_id("archive", passage.agent_id or ""),
        "created_at": passage.observed_at.isoformat(),
        "updated_at": passage.updated_at.isoformat(),
        "embedding": None,
        "embedding_config": None,
        "is_deleted": False,
    }


def _result(passage: Memory) -> Mapping[str, Any]:
    return {
        "id": letta_id("passage", passage.id),
        "timestamp": passage.observed_at.isoformat(),
        "content": passage.content,
        "tags": list(passage.tags),
    }


def _search_all(
    rec: LocalRecollect, owners: list[Agent], query: str, *, limit: int, **filters: Any
) -> list[Hit]:
    hits = [hit for owner in owners for hit in _search(rec, owner, query, limit=limit, **filters)]
    hits.sort(key=lambda hit: (hit.score, hit.memory.observed_at), reverse=True)
    # Archives that agents share come up once for each of them.
    return list({hit.memory.id: hit for hit in hits}.values())[:limit]


def _search(
    rec: LocalRecollect, owner: Agent, query: str, *, limit: int, **filters: Any
) -> list[Hit]:
    return rec.archive.search(owner, query, limit=limit, below_threshold=True, **filters)


_OF_AGENT = "/agents/{agent_id}/archival-memory"
ROUTES = (
    LettaRoute("POST", _OF_AGENT, create_passage),
    LettaRoute("GET", _OF_AGENT, list_passages),
    LettaRoute("GET", f"{_OF_AGENT}/search", search_agent_passages),
    LettaRoute("DELETE", f"{_OF_AGENT}/{{memory_id}}", delete_passage),
    LettaRoute("POST", "/passages/search", search_passages),
)
