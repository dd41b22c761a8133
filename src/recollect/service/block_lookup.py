"""
Find blocks: by id, by label, and all that are visible from a place.

An agent sees the blocks attached to it (its own, and global ones it shares), those of the project
it works in, and those of the conversation. If two have the same label, the narrower scope wins.
This file only reads; blocks.py writes.
"""

from collections.abc import Sequence
from datetime import datetime

from recollect.domain.agent import DEFAULT_BLOCKS, Agent
from recollect.domain.block import Block
from recollect.domain.conversation import Conversation
from recollect.domain.scope import Owner, Scope
from recollect.errors import InvalidInput, NotFound
from recollect.lazy_dataclass import dataclass
from recollect.service import validate
from recollect.service.agents import require_agent
from recollect.service.place_lookup import RequestPlace, find_viewer, main_project_id
from recollect.store.protocol import Tables
from recollect.wire.fields import parse_text
from recollect.wire.requests.shared import BlockFields, BlockPlaceFields

MAX_LABEL = 100
EXCERPT_CHARS = 500  # of each value in the message of a conflict; the error has both in full

_NARROW_FIRST = (Scope.SESSION, Scope.AGENT, Scope.PROJECT, Scope.GLOBAL)
_ORDER = {block.label: position for position, block in enumerate(DEFAULT_BLOCKS)}


@dataclass(frozen=True, kw_only=True)
class BlockPlace:
    """Where blocks are seen from: an agent, the project it works in, the conversation."""

    agent: Agent | None = None
    project_id: str | None = None
    conversation: Conversation | None = None


def visible_blocks(
    tables: Tables, place: BlockPlace, linked_ids: Sequence[str] | None = None
) -> list[Block]:
    """
    Return the blocks that are seen from *place*, one of each label, in prompt order.

    *linked_ids* are the projects that are part of the place's project, if they are known.
    """
    blocks = list(tables.blocks.attached_to(place.agent.id)) if place.agent else []
    if place.project_id:
        if linked_ids is None:
            linked_ids = tables.projects.linked_ids(place.project_id)
        # Blocks of the project itself come before those of projects that are linked to it.
        for project_id in (place.project_id, *linked_ids):
            blocks += tables.blocks.of_owner(Owner(Scope.PROJECT, project_id))
    if place.conversation:
        blocks += tables.blocks.of_owner(Owner(Scope.SESSION, place.conversation.id))
    by_label: dict[str, Block] = {}
    for block in sorted(blocks, key=lambda block: _NARROW_FIRST.index(block.scope)):
        by_label.setdefault(block.label, block)
    return sorted(by_label.values(), key=_prompt_order)


def _prompt_order(block: Block) -> tuple[int, datetime, str]:
    return (_ORDER.get(block.label, len(_ORDER)), block.created_at, block.id)


def requested_block(tables: Tables, request: BlockFields) -> Block:
    """Return the block of a request: by id if it gives no place, else by label."""
    if request.is_empty:
        return block_by_id(tables, request.label)
    return block_by_label(tables, resolve_place(tables, request), request.label)


def block_by_id(tables: Tables, block_id: str) -> Block:
    """Return the block with that id, or raise `NotFound`."""
    block = tables.blocks.get(block_id)
    if block is None:
        raise NotFound(
            f"there is no block {block_id!r} in this store; `recollect block list` shows them"
        )
    return block


def block_by_label(tables: Tables, place: BlockPlace, label: str) -> Block:
    """Return the block with that label that is seen from *place*, or raise `NotFound`."""
    label = validate_label(label)
    blocks = {block.label: block for block in visible_blocks(tables, place)}
    if label not in blocks:
        whose = f"agent {place.agent.name!r}" if place.agent else "this place"
        labels = ", ".join(blocks) or "no blocks"
        raise NotFound(f"{whose} has no block {label!r}; it has {labels}")
    return blocks[label]


def resolve_place(tables: Tables, request: BlockPlaceFields) -> BlockPlace:
    """Look up what a request names; a conversation brings its agent and its project."""
    conversation = agent = project_id = None
    if request.conversation is not None:
        conversation = require_conversation(tables, request.conversation)
        project_id = conversation.project_id
        project_id = main_project_id(tables, project_id) if project_id else None
        agent = tables.agents.get(conversation.agent_id) if conversation.agent_id else None
    if request.agent is not None:
        agent = require_agent(tables, request.agent)
        if conversation and conversation.agent_id != agent.id:
            raise InvalidInput(f"conversation {conversation.id} is not one of agent {agent.name!r}")
    if request.project is not None:
        project_id = find_viewer(tables, RequestPlace.of(request.project)).project_id
    return BlockPlace(agent=agent, project_id=project_id, conversation=conversation)


def require_conversation(tables: Tables, conversation_id: str) -> Conversation:
    """Return the conversation with that id, or raise `NotFound`."""
    conversation = tables.conversations.get(conversation_id)
    if conversation is None:
        raise NotFound(f"there is no conversation {conversation_id!r} in this store")
    return conversation


def validate_label(value: str) -> str:
    """Return *value* as a label: one line that can be the name of a tag."""
    label = parse_text("label", value, max_chars=MAX_LABEL).strip()
    if not label or validate.has_control(label) or any(char in "<>&\"'/" for char in label):
        raise InvalidInput(
            f"the label {value!r} is empty or has characters that the tags of a prompt cannot "
            "contain; use letters, digits, - and _"
        )
    return validate.plain_name("label", label)


def excerpt(value: str) -> str:
    """Return the beginning of a value for the message of a conflict."""
    return value if len(value) <= EXCERPT_CHARS else value[: EXCERPT_CHARS - 1] + "…"
