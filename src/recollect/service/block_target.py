"""
Which block is meant, and which blocks are seen from where.

An agent sees the blocks attached to it (its own, and global ones it shares), those of the project
it works in, and those of the conversation. Where two have one label the narrower counts. This file
only looks; blocks.py writes.
"""

from dataclasses import dataclass
from datetime import datetime

from recollect.domain.agent import DEFAULT_BLOCKS, Agent
from recollect.domain.block import Block
from recollect.domain.conversation import Conversation
from recollect.domain.scope import Owner, Scope
from recollect.errors import InvalidInput, NotFound
from recollect.service import inputs
from recollect.service.agents import known_agent
from recollect.service.places import Where, find
from recollect.store.protocol import Tables
from recollect.text.clean_text import clean

MAX_LABEL = 100

_NARROW_FIRST = (Scope.SESSION, Scope.AGENT, Scope.PROJECT, Scope.GLOBAL)
_ORDER = {block.label: place for place, block in enumerate(DEFAULT_BLOCKS)}


@dataclass(frozen=True, kw_only=True)
class Place:
    """Whose blocks are meant: an agent's, with the project and the conversation it is in."""

    agent: object = None
    project: object = None
    conversation: object = None


@dataclass(frozen=True)
class ByLabel:
    """A block as its readers name it."""

    place: Place
    label: object


@dataclass(frozen=True)
class ById:
    """A block by its id, or by itself."""

    block: object


Target = ByLabel | ById


def visible(
    tables: Tables, agent: Agent | None, project_id: str | None, conversation: Conversation | None
) -> list[Block]:
    """Return the blocks an agent sees, one of each label, in the order of the prompt."""
    found = list(tables.blocks.attached_to(agent.id)) if agent else []
    if project_id:
        found += tables.blocks.of_owner(Owner(Scope.PROJECT, project_id))
    if conversation:
        found += tables.blocks.of_owner(Owner(Scope.SESSION, conversation.id))
    chosen: dict[str, Block] = {}
    for block in sorted(found, key=lambda one: _NARROW_FIRST.index(one.scope)):
        chosen.setdefault(block.label, block)
    return sorted(chosen.values(), key=_place_in_prompt)


def _place_in_prompt(block: Block) -> tuple[int, datetime, str]:
    return (_ORDER.get(block.label, len(_ORDER)), block.created_at, block.id)


def known_block(tables: Tables, target: Target) -> Block:
    """Return the block that is meant, or raise `NotFound`."""
    if isinstance(target, ById):
        block_id = target.block.id if isinstance(target.block, Block) else target.block
        found = tables.blocks.get(clean(block_id)) if isinstance(block_id, str) else None
        if found is None:
            raise NotFound(
                f"there is no block {block_id!r} in this store; `recollect memory list` shows them"
            )
        return found
    label = label_of(target.label)
    agent, project_id, conversation = found_in(tables, target.place)
    seen = visible(tables, agent, project_id, conversation)
    for one in seen:
        if one.label == label:
            return one
    whose = f"agent {agent.name!r}" if agent else "this place"
    has = ", ".join(one.label for one in seen) or "no blocks"
    raise NotFound(f"{whose} has no block {label!r}; it has {has}")


def found_in(tables: Tables, place: Place) -> tuple[Agent | None, str | None, Conversation | None]:
    """Return what *place* names: the agent, the project's id, the conversation."""
    conversation = known_conversation(tables, place.conversation) if place.conversation else None
    agent = known_agent(tables, place.agent) if place.agent is not None else None
    if agent is None and conversation is not None and conversation.agent_id is not None:
        agent = tables.agents.get(conversation.agent_id)
    if agent and conversation and conversation.agent_id != agent.id:
        raise InvalidInput(f"conversation {conversation.id} is not one of agent {agent.name!r}")
    project_id = conversation.project_id if conversation else None
    if place.project is not None:
        project_id = find(tables, Where.of(place.project, None, None, None)).project_id
    return agent, project_id, conversation


def known_conversation(tables: Tables, conversation: object) -> Conversation:
    """Return the conversation with that id, or raise `NotFound`."""
    if isinstance(conversation, Conversation):
        conversation = conversation.id
    found = None
    if isinstance(conversation, str):
        found = tables.conversations.get(clean(conversation))
    if found is None:
        raise NotFound(f"there is no conversation {conversation!r} in this store")
    return found


def label_of(value: object) -> str:
    """Return *value* as a label: one line that a tag can carry."""
    text = inputs.text_of("label", value, most=MAX_LABEL).strip()
    if not text or inputs.has_control(text) or any(ch in "<>&\"'/" for ch in text):
        raise InvalidInput(
            f"the label {value!r} is empty or has characters a prompt's tags cannot carry; "
            "use letters, digits, - and _"
        )
    return inputs.plain_name("label", text)
