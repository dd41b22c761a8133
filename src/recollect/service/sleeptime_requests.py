"""
Request a run of sleeptime, inside the transaction that makes it due.

Light: a program that ends a conversation does not load what reads it.
"""

from recollect.domain.conversation import Conversation
from recollect.domain.sleeptime import SleeptimeRun, SleeptimeTrigger, sleeptime_frequency
from recollect.service.services import Services
from recollect.store.protocol import Tables


def request_if_due(
    tables: Tables, services: Services, conversation: Conversation, trigger: SleeptimeTrigger
) -> None:
    """Request a run if the agent of a conversation has sleeptime and there is enough to read."""
    agent = tables.agents.get(conversation.agent_id) if conversation.agent_id else None
    frequency = sleeptime_frequency(agent) if agent is not None else 0
    if agent is None or not frequency or tables.sleeptime_runs.open_run(conversation.id):
        return
    after = tables.sleeptime_runs.read_to(conversation.id)
    turns = tables.sleeptime_runs.unread_turns(conversation.id, after=after)
    if turns >= (1 if trigger is SleeptimeTrigger.END else frequency):
        add_request(tables, services, agent.id, conversation, trigger)


def add_request(
    tables: Tables,
    services: Services,
    agent_id: str,
    conversation: Conversation,
    trigger: SleeptimeTrigger,
) -> SleeptimeRun:
    """Store a run that is due; the background worker, or `drain`, carries it out."""
    run = SleeptimeRun(
        id=services.clock.new_id(),
        agent_id=agent_id,
        conversation_id=conversation.id,
        trigger=trigger,
        requested_at=services.clock.now(),
    )
    tables.sleeptime_runs.add(run)
    return run
