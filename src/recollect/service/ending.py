"""
End a conversation, and hand what was said in it over to the engine if its caller wants that.

Laying a conversation out takes a while, so it is done before the transaction, which then only
checks that nothing was said meanwhile. Ended and handed over are one write: there is no moment in
which a conversation is over and nobody will learn from it.
"""

from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any

from recollect.domain.conversation import Conversation, Message
from recollect.domain.capture_event import Trigger
from recollect.errors import InvalidInput
from recollect.service import inputs
from recollect.service.block_target import known_conversation
from recollect.service.capture import Capture, captures, take_in
from recollect.service.places import Where
from recollect.service.services import Services
from recollect.store.protocol import Tables
from recollect.wire.requests.shared import CaptureFields

MOST_MESSAGES = 100_000


class _SaidMore(Exception):
    """Somebody said something while the conversation was laid out."""


def end(
    services: Services, conversation: object, *, ended_at: object = None, capture: bool = False
) -> Conversation:
    """End a conversation; ending it twice is ending it once."""
    moment = inputs.moment_of("ended_at", ended_at) or services.clock.now()
    while True:
        laid_out, count = _laid_out(services, conversation) if capture else ([], None)

        def write(
            tables: Tables, laid_out: Sequence[Capture] = laid_out, count: int | None = count
        ) -> Conversation:
            found = known_conversation(tables, conversation)
            if count is not None and tables.messages.count(found.id)[0] != count:
                raise _SaidMore
            for one in laid_out:
                take_in(services, tables, one)
            if found.ended_at is not None:
                return found
            ended = replace(found, ended_at=max(moment, found.started_at))
            tables.conversations.set(ended)
            return ended

        try:
            return services.store.write(write)
        except _SaidMore:
            continue


def _laid_out(services: Services, conversation: object) -> tuple[list[Capture], int]:
    """Return a conversation ready to be taken in, and how many messages that is."""
    with services.store.read() as tables:
        found = known_conversation(tables, conversation)
        messages = tables.messages.page(found.id, start=0, limit=MOST_MESSAGES)
        count = tables.messages.count(found.id)[0]
        project = tables.projects.project(found.project_id) if found.project_id else None
        where = Where(
            project=project.name if project else None, agent=found.agent_id, session=found.id
        )
    said = [_said(message) for message in messages]
    try:
        request = CaptureFields(**asdict(where), title=found.title)
        return captures(said, request, trigger=Trigger.CONVERSATION), count
    except InvalidInput:
        return [], count  # nothing in it is for the engine: no words, or all of it was private


def _said(message: Message) -> dict[str, Any]:
    said: dict[str, Any] = {
        "role": message.role.value,
        "content": message.content,
        "created_at": message.created_at.isoformat(),
    }
    return {**said, "name": message.name} if message.name else said
