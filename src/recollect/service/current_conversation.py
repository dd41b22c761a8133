"""
Add messages to the current conversation of an agent, for callers that do not name one.

The current conversation is the latest one that was started here and has not ended. After four
hours without a message it is over, and the next message starts another. Finding it, ending it and
writing to it are one transaction, so writers in several threads or processes share one
conversation. Conversations that were started with `conversations.start` are never used.
"""

from dataclasses import replace
from datetime import datetime, timedelta

from recollect.domain.agent import Agent
from recollect.domain.conversation import Conversation, Message
from recollect.service.agents import require_agent
from recollect.service.compaction import compact_if_full
from recollect.service.conversations import add_to, draft_message
from recollect.service.services import Services
from recollect.store.protocol import Tables
from recollect.wire.requests.conversations import AddMessageRequest, AppendMessageRequest

IDLE = timedelta(hours=4)
STARTED_BY = "add_message"  # in the metadata of conversations that were started here


def add_message(services: Services, request: AddMessageRequest) -> Message:
    """Add a message to an agent's current conversation, which is started if there is none."""
    fields = request.model_dump(exclude={"agent"})
    message = draft_message(services, AppendMessageRequest(**fields, conversation=""))

    def write(tables: Tables) -> Message:
        agent = require_agent(tables, request.agent)
        conversation = current_conversation(tables, services, agent, message.created_at)
        return add_to(tables, services, conversation, [message])[0]

    added = services.store.write(write)
    compact_if_full(services, [added])
    return added


def current_conversation(
    tables: Tables, services: Services, agent: Agent, now: datetime
) -> Conversation:
    """Return the current conversation of an agent, which is started if there is none."""
    latest = tables.conversations.latest_open(agent.id, begun_by=STARTED_BY)
    if latest is not None:
        conversation, last_at = latest
        if now - last_at <= IDLE:
            return conversation
        # It ended with its last message, not when the next one arrived.
        ended_at = max(last_at, conversation.started_at)
        tables.conversations.set(replace(conversation, ended_at=ended_at))
    new_id, metadata = services.clock.new_id(), {"begun_by": STARTED_BY}
    started = Conversation(id=new_id, agent_id=agent.id, metadata=metadata, started_at=now)
    tables.conversations.add(started)
    return started
