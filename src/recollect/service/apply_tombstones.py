"""Delete here what a person deleted on another machine, after an import brought its tombstones."""

from collections import Counter
from collections.abc import Mapping
from contextlib import suppress

from recollect.domain.tombstone import DeletedKind, Tombstone
from recollect.errors import NotFound
from recollect.service.delete_agent import delete_agent
from recollect.service.delete_conversation import delete_conversation
from recollect.service.forget import forget
from recollect.service.services import Services
from recollect.store.protocol import Tables
from recollect.wire.requests.agents import DeleteAgentRequest
from recollect.wire.requests.conversations import DeleteConversationRequest
from recollect.wire.requests.recollect import ForgetRequest


def apply_tombstones(services: Services) -> Mapping[str, int]:
    """
    Delete every record that has a tombstone; return how many of each kind.

    A kill leaves the rest: the tombstones stay, and the next import goes on.
    """
    with services.store.read() as tables:
        tombstones = tables.tombstones.still_here()
    for tombstone in tombstones:
        with suppress(NotFound):  # it went with an agent or a conversation
            _delete(services, tombstone)
    return Counter(tombstone.kind.value for tombstone in tombstones)


def _delete(services: Services, tombstone: Tombstone) -> None:
    match tombstone.kind:
        case DeletedKind.MEMORY:
            forget(services, ForgetRequest.of({"memory_id": tombstone.id}))
        case DeletedKind.CONVERSATION:
            request = DeleteConversationRequest.of({"conversation": tombstone.id})
            delete_conversation(services, request)
        case DeletedKind.AGENT:
            delete_agent(services, DeleteAgentRequest.of({"agent": tombstone.id}))
        case DeletedKind.BLOCK:
            services.store.write(lambda tables: _delete_block(tables, tombstone.id))
        case DeletedKind.MESSAGE:
            services.store.write(lambda tables: _delete_message(tables, tombstone.id))
        case DeletedKind.DOCUMENT:
            services.store.write(lambda tables: _delete_document(tables, tombstone.id))
        case DeletedKind.SOURCE:
            pass  # it goes with its memory


def _delete_message(tables: Tables, message_id: str) -> None:
    message = tables.messages.get(message_id)
    if message is not None:
        tables.messages.delete(message)
        tables.conversations.advance_revision(message.conversation_id)


def _delete_document(tables: Tables, document_id: str) -> None:
    for document in tables.documents.get_many([document_id]):
        tables.documents.delete(document)


def _delete_block(tables: Tables, block_id: str) -> None:
    block = tables.blocks.get(block_id)
    if block is not None:
        tables.blocks.delete(block)
