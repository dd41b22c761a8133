"""
Search messages by words, by meaning and by time, and log each search.

`search_messages` serves the Python API. `search_for_letta` returns the result of Letta's tool
`conversation_search`, without tool messages and without calls of that tool, so that a search never
finds an earlier search.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from recollect.domain.conversation import Conversation, Message, MessageFilters, MessageHit, Role
from recollect.domain.document import check_filter
from recollect.domain.retrieval import LoggedItem, Retrieval
from recollect.domain.scope import Owner, Scope
from recollect.errors import InvalidInput
from recollect.retrieval import time_query
from recollect.retrieval.message_search import ResolvedMessageQuery, find_messages
from recollect.service import validate
from recollect.service.agents import require_agent
from recollect.service.block_lookup import require_conversation
from recollect.service.place_lookup import RequestPlace, find_viewer, main_project_id
from recollect.service.query_snapshot import query_snapshot
from recollect.service.retrieval_log import log_retrieval
from recollect.service.services import Services
from recollect.store.protocol import Tables
from recollect.store.search_index import QueryVector
from recollect.text.message_text import send_message_text
from recollect.text.query_time_range import QueryTimeRange
from recollect.wire.requests.conversations import (
    ListAgentMessagesRequest,
    SearchForLettaRequest,
    SearchMessagesRequest,
)

TOOL_NAME = "conversation_search"
RRF_K = 60  # as Letta has it
SPOKEN = frozenset({Role.USER, Role.ASSISTANT})
MAX_SESSIONS = 10_000  # of an agent, the newest: older sessions are not counted
_INSTANT = timedelta(microseconds=1)


def search_messages(services: Services, request: SearchMessagesRequest) -> list[MessageHit]:
    """Return the messages that match a query, best first, each with an explanation."""
    if request.agent is None and request.conversation is None:
        raise InvalidInput("whose messages? pass agent=… or conversation=…")
    return _search(services, request, _filters(request), verb="search_messages")


def search_for_letta(services: Services, request: SearchForLettaRequest) -> Mapping[str, Any]:
    """Search an agent's messages; return what Letta's conversation_search returns."""
    fields = request.model_dump(exclude={"start_date", "end_date", "project"})
    search = SearchMessagesRequest(**fields, since=request.start_date, until=request.end_date)
    filters = _filters(search)
    filters = replace(
        filters,
        roles=filters.roles & SPOKEN,
        project_id=_project_of(services, request),
        besides_calls_of=TOOL_NAME,
    )
    hits = _search(services, search, filters, verb=TOOL_NAME)
    now = request.asked_at or services.clock.now()
    message = f"Showing {len(hits)} results:" if hits else "No results found."
    return {"message": message, "results": [_result(hit, now) for hit in hits]}


def _project_of(services: Services, request: SearchForLettaRequest) -> str | None:
    """Return the project in which an agent searches: what it said in others stays there."""
    with services.store.read() as tables:
        if request.project is not None:
            return find_viewer(tables, RequestPlace.of(request.project)).project_id
        if request.asked_in is None:
            return None
        project_id = require_conversation(tables, request.asked_in).project_id
        return None if project_id is None else main_project_id(tables, project_id)


def list_agent_messages(services: Services, request: ListAgentMessagesRequest) -> list[Message]:
    """Return the messages of all conversations of an agent, newest first."""
    with services.store.read() as tables:
        agent = require_agent(tables, request.agent)
        filters = MessageFilters(roles=_roles(request.roles))
        return tables.messages.latest(agent.id, filters, limit=request.limit, offset=request.offset)


def _roles(roles: tuple[Role, ...] | None) -> frozenset[Role]:
    return frozenset(Role if roles is None else roles)


def _filters(request: SearchMessagesRequest) -> MessageFilters:
    conditions = request.filter if request.filter is not None else {}
    if not isinstance(conditions, Mapping):
        raise InvalidInput("filter must be an object with a condition for each field of metadata")
    check_filter(conditions)
    return MessageFilters(
        roles=_roles(request.roles), since=request.since, until=request.until, metadata=conditions
    )


def _search(
    services: Services, request: SearchMessagesRequest, filters: MessageFilters, *, verb: str
) -> list[MessageHit]:
    query = validate.query_of(request.query)
    asked_at = request.asked_at or services.clock.now()
    time = time_query.parse_time_query(query, asked_at=asked_at)
    topic = query if time is None else time.topic
    with query_snapshot(services, topic if request.mode != "fts" else "") as snapshot:
        tables, meaning = snapshot.tables, snapshot.vector
        agent_id, owner, filters = _boundary(tables, request, filters)
        asked_in = None  # the conversation in which the query is asked
        if request.asked_in is not None and filters.conversation_id is None:
            asked_in = require_conversation(tables, request.asked_in)
        resolved = ResolvedMessageQuery(
            text=query,
            agent_id=agent_id,
            owner=owner,
            filters=filters,
            limit=request.limit,
            offset=request.offset,
            use_words=request.mode != "vector",
            correct_spelling=True,
            below_threshold=request.below_threshold,
        )
        time_range, note = _time_range(tables, time, resolved, meaning, asked_in, asked_at)
        if time_range is None:
            topic = query  # the time means nothing here, but its words may still match
        else:
            topic = "" if time is not None and time.session_step else topic
            include_all = time is not None and time.include_all
            resolved = replace(resolved, text=topic, time_range=time_range, include_all=include_all)
        has_range = time_range is not None or filters.since is not None or filters.until is not None
        hits = find_messages(tables, resolved, meaning) if topic.strip() or has_range else []
    arguments = {
        "agent_id": agent_id,
        "conversation_id": filters.conversation_id or (asked_in.id if asked_in else None),
        "mode": request.mode,
        "limit": request.limit,
    }
    retrieval = Retrieval(
        id=services.clock.new_id(),
        verb=verb,
        query=query,
        asking={name: value for name, value in arguments.items() if value is not None},
        notes=tuple(line for line in (note, snapshot.failure) if line),
        asked_at=asked_at,
        context=tuple(
            LoggedItem(kind="message", item_id=hit.message.id, outcome=hit.explanation)
            for hit in hits
        ),
    )
    retrieval_id = log_retrieval(services, retrieval)
    return [replace(hit, retrieval_id=retrieval_id) for hit in hits]


def _boundary(
    tables: Tables, request: SearchMessagesRequest, filters: MessageFilters
) -> tuple[str | None, Owner, MessageFilters]:
    """Return whose messages may be seen: those of one agent, or of one conversation."""
    agent = require_agent(tables, request.agent) if request.agent is not None else None
    if request.conversation is not None:
        conversation = require_conversation(tables, request.conversation)
        if agent is not None and agent.id != conversation.agent_id:
            raise InvalidInput(f"conversation {conversation.id} is not one of agent {agent.name!r}")
        filters = replace(filters, conversation_id=conversation.id)
        return conversation.agent_id, conversation.owner, filters
    assert agent is not None  # the callers ensure that one of both is given
    return agent.id, Owner(Scope.AGENT, agent.id), filters


def _time_range(
    tables: Tables,
    time: time_query.TimeQuery | None,
    resolved: ResolvedMessageQuery,
    meaning: QueryVector | None,
    asked_in: Conversation | None,
    asked_at: datetime,
) -> tuple[time_query.TimeRange | None, str]:
    """Return the time range that a query names, and a note for the log."""
    if time is None:
        return None, ""
    when = time.time
    if when is not None and when.session_count is None:
        note = f"{when.text!r} is {when.start} to {when.end}"
        return time_query.TimeRange(start=when.start, end=when.end), note
    if resolved.filters.conversation_id is not None:
        return None, "sessions are not looked for inside of one conversation"
    if when is None:
        best = find_messages(tables, replace(resolved, limit=1, offset=0), meaning)
        agent_id, step = resolved.agent_id, time.session_step
        adjacent = _adjacent_session(tables, best, agent_id, step, asked_at) if best else None
        return adjacent, f"{'before' if step < 0 else 'after'} the session that matches best"
    sessions = _counted_sessions(tables, resolved.agent_id, when, asked_in, asked_at)
    if not sessions:
        return None, f"{when.text!r}: there are not so many sessions"
    first, last = sessions[0].id, sessions[-1].id
    if len(sessions) == 1:
        return time_query.TimeRange(conversation_id=first), f"{when.text!r} is conversation {first}"
    spans = [
        time_query.SessionSpan(conversation.started_at, conversation.ended_at or asked_at)
        for conversation in sessions
    ]
    return time_query.range_of_sessions(spans), f"{when.text!r} is conversations {first} to {last}"


def _counted_sessions(
    tables: Tables,
    agent_id: str | None,
    when: QueryTimeRange,
    asked_in: Conversation | None,
    asked_at: datetime,
) -> Sequence[Conversation]:
    """Return the conversations that *when* counts ("the last two"), of those with messages."""
    count = when.session_count
    if agent_id is None or count is None:
        return ()
    time_range = time_query.TimeRange(start=when.start, end=when.end)
    is_short = not count.from_first and when.start is None and when.end is None
    before = asked_in.started_at if asked_in else asked_at + _INSTANT
    limit = count.number + 1 if is_short else MAX_SESSIONS
    sessions = tables.conversations.with_messages(agent_id, before=before, limit=limit)
    if asked_in is None and sessions and sessions[0].ended_at is None:
        sessions = sessions[1:]  # the query is asked in the one that has not ended
    inside = [
        conversation
        for conversation in reversed(sessions)
        if time_range.contains(conversation.started_at)
    ]
    return time_query.pick_sessions(count, inside)


def _adjacent_session(
    tables: Tables, best: list[MessageHit], agent_id: str | None, step: int, asked_at: datetime
) -> time_query.TimeRange | None:
    """Return the conversation *step* places from the one of the best hit."""
    if agent_id is None:
        return None
    before = asked_at + _INSTANT
    sessions = tables.conversations.with_messages(agent_id, before=before, limit=MAX_SESSIONS)
    ids = [session.id for session in reversed(sessions)]
    best_id = best[0].message.conversation_id
    index = ids.index(best_id) + step if best_id in ids else -1
    return time_query.TimeRange(conversation_id=ids[index]) if 0 <= index < len(ids) else None


def _result(hit: MessageHit, now: datetime) -> Mapping[str, Any]:
    message, parts = hit.message, hit.parts
    return {
        "timestamp": message.created_at.isoformat(),
        "time_ago": time_ago(now - message.created_at),
        "role": message.role.value,
        "relevance": {
            "rrf_score": _reciprocal_rank_sum(parts.vector_rank, parts.fts_rank),
            "vector_rank": parts.vector_rank,
            "fts_rank": parts.fts_rank,
            "search_mode": parts.search_mode,
            "score": hit.score,
        },
        **_content(message),
    }


def _reciprocal_rank_sum(*ranks: int | None) -> float:
    """Return what Letta calls the RRF score; it takes no part in the ranking."""
    return round(sum((1 / (RRF_K + rank) for rank in ranks if rank), 0.0), 6)


def _content(message: Message) -> Mapping[str, str]:
    """Return the text; text sent by a `send_message` call is the content, other text thinking."""
    sent = send_message_text((*message.tool_calls, *(message.parts or ())))
    if message.role is Role.ASSISTANT and sent:
        return {"thinking": message.content, "content": sent}
    return {"content": message.content}


def time_ago(age: timedelta) -> str:
    """Return *age* in the largest unit that fits."""
    seconds = int(age.total_seconds())
    if seconds < 0:
        return "in the future"
    for unit, size in (("d", 86_400), ("h", 3_600), ("m", 60)):
        if seconds >= size:
            return f"{seconds // size}{unit} ago"
    return f"{seconds}s ago"
