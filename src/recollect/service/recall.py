"""
Search what was said, by words, by meaning and by time, and log how.

`search` answers the Python door; `conversation_search` gives the same answer in the shape agents
of Letta know, without tool messages and without calls of itself, so that a search never finds an
earlier search.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from recollect.domain.conversation import Conversation, Message, MessageFilters, MessageHit, Role
from recollect.domain.retrieval import LoggedItem, Retrieval
from recollect.domain.scope import Owner, Scope
from recollect.errors import InvalidInput
from recollect.retrieval.candidates import QueryVector
from recollect.retrieval.message_search import ResolvedMessageQuery, find_messages
from recollect.retrieval.time_query import (
    SessionSpan,
    TimeQuery,
    TimeRange,
    parse_time_query,
    pick_sessions,
    range_of_sessions,
)
from recollect.service import inputs
from recollect.service.agents import known_agent
from recollect.service.block_target import known_conversation
from recollect.service.read import keep_log, meaning_of, still
from recollect.service.services import Services
from recollect.store.protocol import Tables
from recollect.text.message_text import send_message_text
from recollect.text.query_time_range import QueryTimeRange

TOOL_NAME = "conversation_search"
SPOKEN = frozenset({Role.USER, Role.ASSISTANT})
MODES = ("hybrid", "fts", "vector")
MOST_SESSIONS = 10_000  # of an agent, the latest: sessions before them are not counted
_INSTANT = timedelta(microseconds=1)


@dataclass(frozen=True, kw_only=True)
class Question:
    """A question about the past as its caller put it: checked, its places not yet looked up."""

    query: str
    agent: object
    conversation: object
    asked_in: object
    filters: MessageFilters
    asked_at: datetime | None
    mode: str
    limit: int


def question(
    query: object,
    *,
    agent: object = None,
    conversation: object = None,
    asked_in: object = None,
    roles: object = None,
    since: object = None,
    until: object = None,
    asked_at: object = None,
    mode: object = "hybrid",
    limit: object = 10,
) -> Question:
    """Check what a caller asks."""
    if mode not in MODES:
        raise InvalidInput(f"mode {mode!r} is not known; use one of {', '.join(MODES)}")
    if agent is None and conversation is None:
        raise InvalidInput("whose messages? pass agent=… or conversation=…")
    return Question(
        query=inputs.query_of(query),
        agent=agent,
        conversation=conversation,
        asked_in=asked_in,
        filters=MessageFilters(
            roles=frozenset(Role) if roles is None else inputs.some_of("role", Role, roles),
            since=inputs.moment_of("since", since),
            until=inputs.moment_of("until", until, end_of_day=True),
        ),
        asked_at=inputs.local_moment_of("asked_at", asked_at),
        mode=str(mode),
        limit=inputs.count_of("limit", limit, most=inputs.MAX_LIMIT),
    )


def search(
    services: Services, asked: Question, *, verb: str = "search_messages"
) -> list[MessageHit]:
    """Return the messages that answer a question, best first, each with its reasons."""
    asked_at = asked.asked_at or services.clock.now()
    time = parse_time_query(asked.query, asked_at=asked_at)
    query = asked.query if time is None else time.topic
    meaning, trouble = meaning_of(services, query) if asked.mode != "fts" else (None, "")
    with services.store.read() as tables:
        meaning = still(services, tables, query, meaning)
        agent_id, owner, filters = _walls(tables, asked)
        present = _present(tables, asked, filters)
        asking = ResolvedMessageQuery(
            text=asked.query,
            agent_id=agent_id,
            owner=owner,
            filters=filters,
            limit=asked.limit,
            use_words=asked.mode != "vector",
        )
        then, note = _then(tables, time, asking, meaning, present, asked_at)
        if then is not None:
            query = "" if time is not None and time.session_step else query
            asking = replace(
                asking,
                text=query,
                time_range=then,
                include_all=time is not None and time.include_all,
            )
        else:
            query = asked.query  # a time that means nothing here: its words may still match
        may_list = then is not None or _has_range(filters)
        hits = find_messages(tables, asking, meaning) if query.strip() or may_list else []
    told = {
        "agent_id": agent_id,
        "conversation_id": filters.conversation_id or (present.id if present else None),
        "mode": asked.mode,
        "limit": asked.limit,
    }
    notes = [line for line in (note, trouble) if line]
    retrieval_id = _log(services, verb, asked, told, hits, notes, asked_at)
    return [replace(hit, retrieval_id=retrieval_id) for hit in hits]


def conversation_search(services: Services, asked: Question) -> Mapping[str, Any]:
    """Return the same as agents of Letta know it; tools' words and own calls are left out."""
    roles = asked.filters.roles & SPOKEN
    filters = replace(asked.filters, roles=roles, besides_calls_of=TOOL_NAME)
    hits = search(services, replace(asked, filters=filters), verb=TOOL_NAME)
    now = asked.asked_at or services.clock.now()
    if not hits:
        return {"message": "No results found.", "results": []}
    return {
        "message": f"Showing {len(hits)} results:",
        "results": [_result(hit, now) for hit in hits],
    }


def latest(
    services: Services,
    agent: object,
    *,
    limit: object = 100,
    offset: object = 0,
    roles: object = None,
) -> list[Message]:
    """Return what an agent said and heard, the last first."""
    most = inputs.count_of("limit", limit, most=10_000)
    skip = inputs.count_of("offset", offset, least=0, most=10**9)
    wanted = frozenset(Role) if roles is None else inputs.some_of("role", Role, roles)
    with services.store.read() as tables:
        who = known_agent(tables, agent)
        filters = MessageFilters(roles=wanted)
        return tables.messages.latest(who.id, filters, limit=most, offset=skip)


def _walls(tables: Tables, asked: Question) -> tuple[str | None, Owner, MessageFilters]:
    """Return whose messages may be seen: one agent's, or one conversation's."""
    if asked.conversation is None:
        agent = known_agent(tables, asked.agent)
        return agent.id, Owner(Scope.AGENT, agent.id), asked.filters
    conversation = known_conversation(tables, asked.conversation)
    if asked.agent is not None and known_agent(tables, asked.agent).id != conversation.agent_id:
        raise InvalidInput(f"conversation {conversation.id} is not one of agent {asked.agent!r}")
    filters = replace(asked.filters, conversation_id=conversation.id)
    return conversation.agent_id, conversation.owner, filters


def _then(
    tables: Tables,
    time: TimeQuery | None,
    asking: ResolvedMessageQuery,
    meaning: QueryVector | None,
    present: Conversation | None,
    asked_at: datetime,
) -> tuple[TimeRange | None, str]:
    if time is None:
        return None, ""
    when = time.time
    if when is not None and when.session_count is None:
        told = f"{when.text!r} is {when.start} to {when.end}"
        return TimeRange(start=when.start, end=when.end), told
    if asking.filters.conversation_id is not None:
        return None, "sessions are not looked for inside of one conversation"
    if when is None:
        best = find_messages(tables, replace(asking, limit=1), meaning)
        then = _beside(tables, best, asking.agent_id, time.session_step, asked_at) if best else None
        return (
            then,
            f"{'before' if time.session_step < 0 else 'after'} the session that matches best",
        )
    meant = _sessions_meant(tables, asking.agent_id, when, present, asked_at)
    if not meant:
        return None, f"{when.text!r}: there are not so many sessions"
    if len(meant) == 1:
        return TimeRange(
            conversation_id=meant[0].id
        ), f"{when.text!r} is conversation {meant[0].id}"
    told = f"{when.text!r} is conversations {meant[0].id} to {meant[-1].id}"
    return range_of_sessions(
        [SessionSpan(one.started_at, one.ended_at or asked_at) for one in meant]
    ), told


def _present(tables: Tables, asked: Question, filters: MessageFilters) -> Conversation | None:
    """Return the conversation in which the question is asked, where the caller names it."""
    if asked.asked_in is None or filters.conversation_id is not None:
        return None
    return known_conversation(tables, asked.asked_in)


def _sessions_meant(
    tables: Tables,
    agent_id: str | None,
    when: QueryTimeRange,
    present: Conversation | None,
    asked_at: datetime,
) -> Sequence[Conversation]:
    """Return the conversations that *when* counts to, of those in which anything was said."""
    count = when.session_count
    if agent_id is None or count is None:
        return ()
    then = TimeRange(start=when.start, end=when.end)
    is_short = not count.from_first and when.start is None and when.end is None
    before = present.started_at if present else asked_at + _INSTANT
    most = count.number + 1 if is_short else MOST_SESSIONS
    found = tables.conversations.with_messages(agent_id, before=before, limit=most)
    if present is None and found and found[0].ended_at is None:
        found = found[1:]  # the one that still goes on is where the question is asked
    return pick_sessions(count, [one for one in reversed(found) if then.contains(one.started_at)])


def _beside(
    tables: Tables, best: list[MessageHit], agent_id: str | None, step: int, asked_at: datetime
) -> TimeRange | None:
    """Return the conversation *step* places from the one of the best hit."""
    if agent_id is None:
        return None
    before = asked_at + _INSTANT
    found = tables.conversations.with_messages(agent_id, before=before, limit=MOST_SESSIONS)
    ids = [one.id for one in reversed(found)]
    said_in = best[0].message.conversation_id
    place = ids.index(said_in) + step if said_in in ids else -1
    return TimeRange(conversation_id=ids[place]) if 0 <= place < len(ids) else None


def _result(hit: MessageHit, now: datetime) -> Mapping[str, Any]:
    message, parts = hit.message, hit.parts
    return {
        "timestamp": message.created_at.isoformat(),
        "time_ago": time_ago(now - message.created_at),
        "role": message.role.value,
        "relevance": {
            "rrf_score": parts.rrf_score,
            "vector_rank": parts.vector_rank,
            "fts_rank": parts.fts_rank,
            "search_mode": parts.search_mode,
            "score": hit.score,
        },
        **_spoken(message),
    }


def _spoken(message: Message) -> Mapping[str, str]:
    """Return what was said; words sent by a `send_message` call are the content, others thought."""
    sent = send_message_text((*message.tool_calls, *(message.parts or ())))
    if message.role is Role.ASSISTANT and sent:
        return {"thinking": message.content, "content": sent}
    return {"content": message.content}


def time_ago(age: timedelta) -> str:
    """Return how long ago something was, in the largest unit that fits."""
    seconds = int(age.total_seconds())
    if seconds < 0:
        return "in the future"
    for unit, size in (("d", 86_400), ("h", 3_600), ("m", 60)):
        if seconds >= size:
            return f"{seconds // size}{unit} ago"
    return f"{seconds}s ago"


def _has_range(filters: MessageFilters) -> bool:
    return filters.since is not None or filters.until is not None


def _log(
    services: Services,
    verb: str,
    asked: Question,
    told: Mapping[str, Any],
    hits: list[MessageHit],
    notes: list[str],
    asked_at: datetime,
) -> str | None:
    retrieval = Retrieval(
        id=services.clock.new_id(),
        verb=verb,
        query=asked.query,
        asking={name: value for name, value in told.items() if value is not None},
        notes=tuple(notes),
        asked_at=asked_at,
        context=tuple(
            LoggedItem(kind="message", item_id=hit.message.id, outcome=hit.explanation)
            for hit in hits
        ),
    )
    return keep_log(services, retrieval)
