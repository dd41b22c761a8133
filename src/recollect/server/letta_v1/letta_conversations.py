"""Routes of conversations: create, list, change, fork, compact, and their messages."""

from typing import Annotated, Any, Literal

from pydantic import Field

from recollect.app.local_recollect import LocalRecollect
from recollect.clock import SystemClock
from recollect.domain.agent import Agent
from recollect.domain.conversation import Conversation, Message
from recollect.domain.limits import MAX_LIMIT
from recollect.errors import InvalidInput
from recollect.server.letta_v1.letta_agent_lookup import (
    default_conversation,
    find_agent,
    is_default_key,
    require_agent,
)
from recollect.server.letta_v1.letta_call import LettaBody, LettaCall, LettaQuery, LettaRoute
from recollect.server.letta_v1.letta_conversation_json import (
    conversation_fields,
    conversation_json,
    is_imported,
    title_of,
    with_fields,
)
from recollect.server.letta_v1.letta_ids import DEFAULT_CONVERSATION, letta_id, our_id
from recollect.server.letta_v1.letta_message_json import flat_messages
from recollect.server.letta_v1.letta_messages import MessageQuery, messages_of, stop_run
from recollect.server.letta_v1.letta_paging import PageQuery, page_of
from recollect.server.letta_v1.letta_turns import MessagesBody, respond_to_messages

KEPT_SHARE = 0.3  # of the messages that a sliding window keeps, unless a client says another

LAST_ACTIVITY = ("last_message_at", "last_run_completion")  # orders; every run stores a message


class ConversationFields(LettaBody):
    """What a client says about a conversation."""

    summary: str | None = None
    description: str | None = None
    archived: bool | None = None

    def sent_fields(self) -> dict[str, Any]:
        """Return the fields that the client sent."""
        return {**self.model_dump(include=self.model_fields_set), **self.other_fields}


class ConversationQuery(PageQuery):
    """Which conversations are listed."""

    agent_id: str | None = None
    summary_search: str = ""
    archive_status: Literal["unarchived", "archived", "all"] = "unarchived"
    order_by: str = "created_at"


class AgentOfConversation(LettaQuery):
    """The agent, if the conversation is named `default`."""

    agent_id: str | None = None


class ForkQuery(LettaQuery):
    """Where a conversation is forked."""

    message_id: str | None = None
    hidden: bool = False


class HowToCompact(LettaBody):
    """How much a compaction keeps."""

    mode: str = "sliding_window"
    sliding_window_percentage: Annotated[float, Field(ge=0, le=1)] = KEPT_SHARE


class CompactBody(LettaBody):
    """A compaction."""

    compaction_settings: HowToCompact | None = None


def create_conversation(call: LettaCall) -> Any:
    """Start a conversation of the agent that the query names."""
    agent = _named_agent(call)
    fields = call.body_as(ConversationFields).sent_fields()
    conversation = call.rec.conversations.start(
        agent=agent, title=title_of(fields), metadata=with_fields({}, fields)
    )
    return _show(call.rec, conversation)


def list_conversations(call: LettaCall) -> Any:
    """Return conversations, without the default conversations of agents."""
    query = call.query_as(ConversationQuery)
    agent = None
    if query.agent_id is not None:
        agent = find_agent(call.rec, our_id("agent", query.agent_id))
    conversations = [
        conversation for conversation in _all(call.rec, agent) if _matches(conversation, query)
    ]
    if query.order_by in LAST_ACTIVITY:
        conversations.sort(
            key=lambda conversation: (
                _last_message_at(call.rec, conversation) or conversation.started_at
            )
        )
    page = page_of(conversations, query, lambda conversation: letta_id("conv", conversation.id))
    return [
        conversation_json(conversation, last_message_at=_last_message_at(call.rec, conversation))
        for conversation in page
    ]


def retrieve_conversation(call: LettaCall) -> Any:
    """Return one conversation."""
    return _show(call.rec, _conversation(call))


def update_conversation(call: LettaCall) -> Any:
    """Change what a client says about a conversation."""
    conversation = _conversation(call)
    change = call.body_as(ConversationFields).sent_fields()
    fields = {**conversation_fields(conversation), **change}
    if "archived" in change:
        at = SystemClock().now().isoformat() if change["archived"] else None
        fields |= {"archived_at": at}
    if "summary" in change:
        call.rec.conversations.rename(conversation, title_of(fields))
    return _show(
        call.rec,
        call.rec.conversations.set_metadata(
            conversation, with_fields(conversation.metadata, fields)
        ),
    )


def delete_conversation(call: LettaCall) -> Any:
    """Delete a conversation and its messages."""
    call.rec.conversations.delete(_conversation(call))


def list_messages(call: LettaCall) -> Any:
    """Return messages of a conversation."""
    query = call.query_as(MessageQuery)
    messages = messages_of(call.rec, _conversation(call), query)
    return flat_messages(messages, query.include_return_message_types)


def create_messages(call: LettaCall) -> Any:
    """Send messages in a conversation; the answer is a stream unless the client refuses one."""
    conversation, body = _conversation(call), call.body_as(MessagesBody)
    if conversation.agent_id is None:
        raise InvalidInput(f"conversation {conversation.id} has no agent that could answer")
    model = conversation_fields(conversation).get("model")
    if body.override_model is None and isinstance(model, str):
        body = body.model_copy(update={"override_model": model})
    agent = call.rec.agents.get(conversation.agent_id)
    streaming = body.streaming is not False
    return respond_to_messages(call.rec, agent, conversation, body, streaming=streaming)


def fork_conversation(call: LettaCall) -> Any:
    """Copy a conversation, up to a message if one is named."""
    conversation, query = _conversation(call), call.query_as(ForkQuery)
    at = None if query.message_id is None else our_id("message", query.message_id)
    fork = call.rec.conversations.fork(conversation, at=at)
    fields = {**conversation_fields(conversation), "hidden": query.hidden, "archived": False}
    return _show(call.rec, call.rec.conversations.set_metadata(fork, with_fields({}, fields)))


def compact_conversation(call: LettaCall) -> Any:
    """Replace older messages of a conversation by a summary."""
    return _compact(call, _conversation(call))


def compact_agent(call: LettaCall) -> Any:
    """Compact the default conversation of an agent."""
    return _compact(call, default_conversation(call.rec, require_agent(call)))


def recompile_conversation(call: LettaCall) -> Any:
    """Return the instructions that the agent gets in a conversation."""
    conversation = _conversation(call)
    agent = None if conversation.agent_id is None else call.rec.agents.get(conversation.agent_id)
    return _instructions(call.rec, agent, conversation)


def recompile_agent(call: LettaCall) -> Any:
    """Return the instructions of an agent; they are compiled again for each answer."""
    agent = require_agent(call)
    return _instructions(call.rec, agent, default_conversation(call.rec, agent))


def cancel_run(call: LettaCall) -> Any:
    """Stop the open run of a conversation."""
    return stop_run(call.rec, _conversation(call))


def _conversation(call: LettaCall) -> Conversation:
    """Return the conversation of the path: by id, or the default one of an agent."""
    name = call.path["conversation_id"]
    if name.startswith("agent-"):
        return default_conversation(call.rec, find_agent(call.rec, our_id("agent", name)))
    if name == DEFAULT_CONVERSATION:
        return default_conversation(call.rec, _named_agent(call))
    return call.rec.conversations.get(our_id("conv", name))


def _named_agent(call: LettaCall) -> Agent:
    named = call.query_as(AgentOfConversation).agent_id or call.body.get("agent_id")
    if not isinstance(named, str):
        raise InvalidInput("agent_id is missing: say whose conversation it is")
    return find_agent(call.rec, our_id("agent", named))


def _show(rec: LocalRecollect, conversation: Conversation) -> dict[str, Any]:
    in_context = [message.id for message in rec.conversations.messages_in_context(conversation)]
    return conversation_json(
        conversation, last_message_at=_last_message_at(rec, conversation), in_context=in_context
    )


def _last_message_at(rec: LocalRecollect, conversation: Conversation) -> Any:
    last: list[Message] = rec.conversations.messages(conversation, newest_first=True, limit=1)
    return last[0].created_at if last else None


def _all(rec: LocalRecollect, agent: Agent | None) -> list[Conversation]:
    """Return the conversations that are not the default of an agent, oldest first."""
    conversations: list[Conversation] = []
    while page := rec.conversations.list(agent=agent, limit=MAX_LIMIT, offset=len(conversations)):
        conversations += page
    of_agents = (
        conversation for conversation in conversations if conversation.agent_id is not None
    )
    return [
        conversation
        for conversation in reversed(list(of_agents))
        if not is_default_key(conversation.key) and not is_imported(conversation)
    ]


def _matches(conversation: Conversation, query: ConversationQuery) -> bool:
    fields = conversation_fields(conversation)
    is_archived = bool(fields.get("archived"))
    summary = str(fields.get("summary") or conversation.title)
    return (
        not fields.get("hidden")
        and (query.archive_status == "all" or (query.archive_status == "archived") is is_archived)
        and query.summary_search.casefold() in summary.casefold()
    )


def _compact(call: LettaCall, conversation: Conversation) -> dict[str, Any]:
    how = call.body_as(CompactBody).compaction_settings or HowToCompact()
    before = len(call.rec.conversations.messages_in_context(conversation))
    keeps = 0 if how.mode.endswith("all") else int(before * how.sliding_window_percentage)
    compacted = call.rec.conversations.compact(
        conversation, mode="all", keep_last=keeps, force=True
    )
    summaries = call.rec.conversations.summaries(conversation)
    return {
        "summary": summaries[-1].content if summaries else "",
        "num_messages_before": before,
        "num_messages_after": before if compacted is None else before - compacted.evicted,
    }


def _instructions(rec: LocalRecollect, agent: Agent | None, conversation: Conversation) -> str:
    bundle = rec.context_for("", agent=agent, conversation=conversation, history=False)
    prompt = agent.system_prompt if agent is not None else ""
    return "\n\n".join(text for text in (prompt, bundle.text) if text)


_ONE = "/conversations/{conversation_id}"
ROUTES = (
    LettaRoute("POST", "/conversations", create_conversation),
    LettaRoute("GET", "/conversations", list_conversations),
    LettaRoute("GET", _ONE, retrieve_conversation),
    LettaRoute("PATCH", _ONE, update_conversation),
    LettaRoute("DELETE", _ONE, delete_conversation),
    LettaRoute("GET", f"{_ONE}/messages", list_messages),
    LettaRoute("POST", f"{_ONE}/messages", create_messages),
    LettaRoute("POST", f"{_ONE}/fork", fork_conversation),
    LettaRoute("POST", f"{_ONE}/compact", compact_conversation),
    LettaRoute("POST", f"{_ONE}/recompile", recompile_conversation),
    LettaRoute("POST", f"{_ONE}/cancel", cancel_run),
    LettaRoute("POST", "/agents/{agent_id}/summarize", compact_agent),
    LettaRoute("POST", "/agents/{agent_id}/recompile", recompile_agent),
)
