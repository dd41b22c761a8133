"""
The conversation a message goes to when its writer names none.

An agent has one that runs: the latest that was begun here and still goes on. Once nothing was said
in it for four hours it is over, and the next message begins another. Finding it, ending it and
writing to it are one transaction, so writers in several threads or processes share one
conversation. Conversations that somebody began by name are never touched.
"""

from dataclasses import replace
from datetime import datetime, timedelta

from recollect.domain.agent import Agent
from recollect.domain.conversation import Conversation, Message
from recollect.service.agents import known_agent
from recollect.service.conversations import Draft, add_to
from recollect.service.services import Services
from recollect.store.protocol import Tables

IDLE = timedelta(hours=4)
BEGUN_BY = "add_message"  # in the metadata of conversations that began here


def add_message(services: Services, agent: object, wanted: Draft) -> Message:
    """Add a message to an agent's running conversation, which begins with it if none runs."""
    moment = wanted.created_at or services.clock.now()

    def write(tables: Tables) -> Message:
        who = known_agent(tables, agent)
        here = _running(tables, services, who, moment)
        return add_to(tables, services, here, [replace(wanted, created_at=moment)])[0]

    return services.store.write(write)


def _running(tables: Tables, services: Services, agent: Agent, moment: datetime) -> Conversation:
    found = tables.conversations.latest_open(agent.id, begun_by=BEGUN_BY)
    if found is not None:
        conversation, last_at = found
        if moment - last_at <= IDLE:
            return conversation
        # It was over when the last word fell, not when somebody noticed.
        ended_at = max(last_at, conversation.started_at)
        tables.conversations.set(replace(conversation, ended_at=ended_at))
    begun = Conversation(
        id=services.clock.new_id(),
        agent_id=agent.id,
        metadata={"begun_by": BEGUN_BY},
        started_at=moment,
    )
    tables.conversations.add(begun)
    return begun
