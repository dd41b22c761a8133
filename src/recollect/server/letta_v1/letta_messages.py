"""Routes of messages: send, list, capture and search those of an agent, and of all."""

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field

from recollect.app.local_recollect import LocalRecollect
from recollect.domain.conversation import Conversation, Message, MessageHit
from recollect.domain.limits import MAX_LIMIT
from recollect.errors import NotFound
from recollect.server.letta_v1.letta_agent_lookup import (
    all_agents,
    default_conversation,
    find_agent,
    find_default_conversation,
    require_agent,
)
from recollect.server.letta_v1.letta_call import LettaBody, LettaCall, LettaRoute, Texts
from recollect.server.letta_v1.letta_ids import DEFAULT_CONVERSATION, letta_id, our_id
from recollect.server.letta_v1.letta_message_json import (
    flat_messages,
    found_message,
    letta_messages,
)
from recollect.server.letta_v1.letta_paging import PageQuery
from recollect.server.letta_v1.letta_turns import MessagesBody, respond_to_messages

SPOKEN = ("user", "assistant", "system")


class MessageQuery(PageQuery):
    """Which messages are listed."""

    limit: int = Field(100, ge=1, le=MAX_LIMIT)
    conversation_id: str | None = None
    include_return_message_types: Texts = ()


class MessageSearchBody(LettaBody):
    """What is searched in messages."""

    query: str
    search_mode: Literal["vector", "fts", "hybrid"] = "hybrid"
    agent_id: str | None = None
    conversation_id: str | None = None
    start_date: str | None = None
    end_date: str | None = None
    limit: int = Field(50, ge=1, le=MAX_LIMIT)


class CapturedTurn(LettaBody):
    """A call of a model elsewhere: what it was sent and what it answered."""

    provider: str = ""
    model: str = ""
    request_messages: list[dict[str, Any]] = Field(default_factory=list)
    response_dict: dict[str, Any] = Field(default_factory=dict)


def create_messages(call: LettaCall) -> Any:
    """Send messages to an agent, in its default conversation."""
    agent, body = require_agent(call), call.body_as(MessagesBody)
    conversation = default_conversation(call.rec, agent)
    return respond_to_messages(call.rec, agent, conversation, body, streaming=bool(body.streaming))


def stream_messages(call: LettaCall) -> Any:
    """Send messages to an agent, in its default conversation; answer with a stream of events."""
    agent, body = require_agent(call), call.body_as(MessagesBody)
    conversation = default_conversation(call.rec, agent)
    return respond_to_messages(call.rec, agent, conversation, body, streaming=True)


def capture_messages(call: LettaCall) -> Any:
    """Store what a model was sent and what it answered in another program."""
    agent, turn = require_agent(call), call.body_as(CapturedTurn)
    answer = _answer_of(turn.response_dict)
    sent = [message for message in (*turn.request_messages, answer) if message.get("content")]
    metadata = {"provider": turn.provider, "model": turn.model}
    drafts = [
        {
            "role": message.get("role") or "user",
            "content": message["content"],
            "metadata": {name: value for name, value in metadata.items() if value},
        }
        for message in sent
    ]
    if drafts:
        call.rec.conversations.append_many(default_conversation(call.rec, agent), drafts)
    return {"success": True, "messages_created": len(drafts), "run_ids": []}


def cancel_run(call: LettaCall) -> Any:
    """Stop the open run of an agent's default conversation."""
    agent = require_agent(call)
    conversation = find_default_conversation(call.rec, agent)
    return {} if conversation is None else stop_run(call.rec, conversation)


def stop_run(rec: LocalRecollect, conversation: Conversation) -> dict[str, str]:
    """Stop the open run of a conversation; return its id and what became of it."""
    run = rec.agents.cancel(conversation)
    return {} if run is None else {letta_id("run", run.id): "cancelled"}


def list_agent_messages(call: LettaCall) -> Any:
    """Return messages of an agent, of all its conversations or of one."""
    agent, query = require_agent(call), call.query_as(MessageQuery)
    if query.conversation_id is None:
        messages = _stored_messages(call.rec, query, agent=agent.id)
    elif query.conversation_id == DEFAULT_CONVERSATION:
        conversation = find_default_conversation(call.rec, agent)
        messages = [] if conversation is None else messages_of(call.rec, conversation, query)
    else:
        messages = messages_of(call.rec, _conversation(call.rec, query.conversation_id), query)
    return flat_messages(messages, query.include_return_message_types)


def list_messages(call: LettaCall) -> Any:
    """Return messages of all agents, or of one conversation."""
    query = call.query_as(MessageQuery)
    if query.conversation_id is None:
        messages = _stored_messages(call.rec, query)
    else:
        messages = messages_of(call.rec, _conversation(call.rec, query.conversation_id), query)
    return flat_messages(messages, query.include_return_message_types)


def retrieve_message(call: LettaCall) -> Any:
    """Return one message: a list, because Letta shows its parts one by one."""
    return letta_messages(call.rec.conversations.get_message(call.path_id("message_id", "message")))


def search_messages(call: LettaCall) -> Any:
    """Return the messages that match best, also below the relevance threshold."""
    rec, body = call.rec, call.body_as(MessageSearchBody)
    if body.conversation_id is not None:
        hits = _search(rec, body, conversation=_conversation(rec, body.conversation_id))
    elif body.agent_id is not None:
        hits = _search(rec, body, agent=find_agent(rec, our_id("agent", body.agent_id)))
    else:
        hits = [hit for agent in all_agents(rec) for hit in _search(rec, body, agent=agent)]
        hits = sorted(hits, key=lambda hit: hit.score, reverse=True)[: body.limit]
    conversation_ids = {hit.message.conversation_id for hit in hits}
    conversations = {
        conversation_id: rec.conversations.get(conversation_id)
        for conversation_id in conversation_ids
    }
    return [found_message(hit.message, conversations[hit.message.conversation_id]) for hit in hits]


def messages_of(
    rec: LocalRecollect, conversation: Conversation, query: MessageQuery
) -> list[Message]:
    """Return the page of the messages of a conversation that *query* asks for."""
    after = None if query.after is None else _position(rec, conversation, query.after)
    before = None if query.before is None else _position(rec, conversation, query.before)
    oldest_first = query.order == "asc"
    low, high = (after, before) if oldest_first else (before, after)
    ends_there = before is not None and after is None
    messages = rec.conversations.messages
    if oldest_first is not ends_there:  # reads from the low end up
        page = messages(conversation, start=0 if low is None else low + 1, limit=query.limit)
        page = [message for message in page if high is None or message.position < high]
    elif high is None:
        page = messages(conversation, newest_first=True, limit=query.limit)
    else:
        page = messages(conversation, before=high, limit=query.limit)
        page = [message for message in page if low is None or message.position > low]
    return page[::-1] if ends_there else page


def _stored_messages(
    rec: LocalRecollect, query: MessageQuery, agent: str | None = None
) -> list[Message]:
    return rec.conversations.all_messages(
        agent=agent,
        after=None if query.after is None else our_id("message", query.after),
        before=None if query.before is None else our_id("message", query.before),
        newest_first=query.order == "desc",
        limit=query.limit,
    )


def _position(rec: LocalRecollect, conversation: Conversation, message_id: str) -> int:
    message = rec.conversations.get_message(our_id("message", message_id))
    if message.conversation_id != conversation.id:
        raise NotFound(f"{message_id!r} is not a message of this conversation")
    return message.position


def _conversation(rec: LocalRecollect, conversation_id: str) -> Conversation:
    return rec.conversations.get(our_id("conv", conversation_id))


def _search(rec: LocalRecollect, body: MessageSearchBody, **where: Any) -> list[MessageHit]:
    return rec.conversations.search(
        body.query,
        roles=SPOKEN,
        since=body.start_date,
        until=body.end_date,
        mode=body.search_mode,
        limit=body.limit,
        below_threshold=True,
        **where,
    )


def _answer_of(response: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the message in a model's response: our own form, or OpenAI's."""
    choices = response.get("choices")
    if isinstance(choices, list) and choices and isinstance(choices[0], Mapping):
        message = choices[0].get("message")
        response = message if isinstance(message, Mapping) else {}
    return {"role": "assistant", "content": response.get("content")}


_OF_AGENT = "/agents/{agent_id}/messages"
ROUTES = (
    LettaRoute("GET", _OF_AGENT, list_agent_messages),
    LettaRoute("POST", _OF_AGENT, create_messages),
    LettaRoute("POST", f"{_OF_AGENT}/stream", stream_messages),
    LettaRoute("POST", f"{_OF_AGENT}/capture", capture_messages),
    LettaRoute("POST", f"{_OF_AGENT}/cancel", cancel_run),
    LettaRoute("POST", "/messages/search", search_messages),
    LettaRoute("GET", "/messages", list_messages),
    LettaRoute("GET", "/messages/{message_id}", retrieve_message),
)
