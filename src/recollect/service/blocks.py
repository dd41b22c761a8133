"""
Create, read, edit, share and delete blocks.

Every edit runs in one transaction that checks the version, so two writers never overwrite each
other unnoticed; the history contains every value.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from recollect.domain import block as edits
from recollect.domain import limits
from recollect.domain.agent import DEFAULT_LABELS, Agent
from recollect.domain.block import Block, BlockAuthor, Edit
from recollect.domain.scope import Owner, Scope
from recollect.domain.tombstone import DeletedKind, Tombstone
from recollect.errors import AlreadyExists, BlockConflict, BlockReadOnly, InvalidInput, NotFound
from recollect.service import block_lookup as lookup
from recollect.service import block_proposals as proposals
from recollect.service import block_writing as writing
from recollect.service import validate
from recollect.service.agents import require_agent
from recollect.service.place_lookup import RequestPlace, ensure_place
from recollect.service.services import Services
from recollect.store.protocol import Tables
from recollect.wire.requests import blocks as requests
from recollect.wire.requests.shared import BlockEditFields, BlockPlaceFields

FIRST_LABEL = "persona"  # an agent without it was created by being named, and has no blocks yet

_SETTINGS = frozenset({"new_label", "description", "limit", "read_only", "hidden", "metadata"})


def create_block(services: Services, request: requests.CreateBlockRequest) -> Block:
    """Create a block of an agent, a project, a conversation, or a global one."""
    now = services.clock.now()
    draft = Block(
        id=services.clock.new_id(),
        label=lookup.validate_label(request.label),
        value=validate.plain_text_of("value", request.value),
        description=validate.plain_text_of("description", request.description),
        limit=request.limit,
        read_only=request.read_only,
        hidden=request.hidden,
        metadata=validate.json_object_of("metadata", request.metadata),
        created_at=now,
        updated_at=now,
    )
    edits.check_limit(draft.value, draft.limit)

    def write(tables: Tables) -> Block:
        agent, owner = _owner(tables, services, request, request.scope)
        _refuse_agent(request.by, owner.scope)
        author = ""
        if request.by is BlockAuthor.AGENT and draft.value:
            author = agent.name if agent is not None else edits.UNKNOWN_AUTHOR
        block = replace(draft, scope=owner.scope, owner_id=owner.id, unconfirmed_author=author)
        if agent is not None:
            attached = tables.blocks.attached_to(agent.id)
            _refuse_duplicate(attached, block.label, f"agent {agent.name!r}")
        elif owner.scope is not Scope.GLOBAL:
            _refuse_duplicate(tables.blocks.of_owner(owner), block.label, f"this {owner.scope}")
        writing.add_block(tables, block, by=request.by, reason="made")
        if agent is not None:
            tables.blocks.attach(agent.id, block)
        return block

    block = services.store.write(write)
    services.listeners.notify(writing.change_of(block, request.by))
    return block


def list_blocks(services: Services, request: requests.ListBlocksRequest) -> list[Block]:
    """Return the blocks seen from a place; every block if no place is given."""
    with services.store.read() as tables:
        if request.is_empty:
            return tables.blocks.all()
        return lookup.visible_blocks(tables, lookup.resolve_place(tables, request))


def get_block(services: Services, request: requests.GetBlockRequest) -> Block:
    """Return one block."""
    with services.store.read() as tables:
        return lookup.requested_block(tables, request)


def set_block(services: Services, request: requests.SetBlockRequest) -> Block:
    """Replace the value of a block."""
    value = validate.plain_text_of("value", request.value)
    return edit_value(services, request, edits.replace_all(value), unconfirmed_author="")


def append_block(services: Services, request: requests.AppendBlockRequest) -> Block:
    """Append lines to a block."""
    text = validate.plain_text_of("text", request.text)
    return edit_value(services, request, edits.append(text))


def replace_in_block(services: Services, request: requests.ReplaceInBlockRequest) -> Block:
    """Replace a text that occurs once in a block."""
    old = validate.plain_text_of("old", request.old)
    new = validate.plain_text_of("new", request.new)
    return edit_value(services, request, edits.replace_once(old, new))


def insert_in_block(services: Services, request: requests.InsertInBlockRequest) -> Block:
    """Insert lines into a block."""
    text = validate.plain_text_of("text", request.text)
    return edit_value(services, request, edits.insert_at(request.line, text))


def edit_value(
    services: Services,
    request: BlockEditFields,
    edit: Edit,
    *,
    default_reason: str = "",
    unconfirmed_author: str | None = None,
) -> Block:
    """
    Change the value of a block; a default block is created if it is missing.

    An agent's edit of a block that others are told becomes a proposal: the block is returned
    unchanged with `proposal_id`. *unconfirmed_author* is the agent whose words are in the value
    if the user makes the edit; None: the same as before.
    """
    reason = _reason(request) or default_reason

    def write(tables: Tables) -> tuple[Block, Sequence[Block]]:
        current = block_or_default(tables, services, request)
        _refuse_conflict(current, edit, request.expected_version)
        now, mark = services.clock.now(), unconfirmed_author
        if mark is None:
            mark = current.unconfirmed_author
        if request.by is BlockAuthor.AGENT:
            mark, is_own = _agent_author(tables, request, current)
            if edits.needs_person(current, by=request.by, is_own=is_own):
                proposal_id = proposals.add_proposal(
                    tables, services.clock, current, edit, author=mark, reason=reason
                )
                return replace(current, proposal_id=proposal_id), ()
        block = edits.edit_block(current, edit, by=request.by, at=now, unconfirmed_author=mark)
        if block.value == current.value:
            return current, ()
        writing.save_version(tables, block, by=request.by, reason=reason)
        return block, (block,)

    return writing.write_and_notify(services, write, request.by)


def update_block(services: Services, request: requests.UpdateBlockRequest) -> Block:
    """Change the settings of a block: its label, its limit, who may see and edit it."""
    changes = _changed_settings(request)
    reason = _reason(request) or f"settings changed: {', '.join(sorted(changes))}"

    def write(tables: Tables) -> tuple[Block, Sequence[Block]]:
        current = lookup.requested_block(tables, request)
        _refuse_agent(request.by, current.scope)
        _refuse_conflict(current, lambda value: value, request.expected_version)
        if replace(current, **changes) == current:
            return current, ()
        now = services.clock.now()
        block = replace(current, **changes, version=current.version + 1, updated_at=now)
        edits.check_limit(block.value, block.limit)
        if block.label != current.label:
            for agent_id in tables.blocks.agent_ids_of(current.id):
                attached = tables.blocks.attached_to(agent_id)
                _refuse_duplicate(attached, block.label, "an agent that has it")
            if current.scope in (Scope.PROJECT, Scope.SESSION):
                siblings = tables.blocks.of_owner(current.owner)
                _refuse_duplicate(siblings, block.label, f"this {current.scope}")
        writing.save_version(tables, block, by=request.by, reason=reason)
        return block, (block,)

    return writing.write_and_notify(services, write, request.by)


def confirm_block(services: Services, request: requests.ConfirmBlockRequest) -> Block:
    """Confirm the text of a block that an agent wrote, which is then no longer marked."""
    reason = validate.plain_text_of("reason", request.reason, limits.MAX_SUMMARY)

    def write(tables: Tables) -> tuple[Block, Sequence[Block]]:
        current = lookup.requested_block(tables, request)
        _refuse_conflict(current, lambda value: value, request.expected_version)
        if not current.unconfirmed_author:
            return current, ()
        now = services.clock.now()
        block = replace(current, unconfirmed_author="", version=current.version + 1, updated_at=now)
        writing.save_version(tables, block, by=BlockAuthor.USER, reason=reason or "confirmed")
        return block, (block,)

    return writing.write_and_notify(services, write, BlockAuthor.USER)


def _agent_author(tables: Tables, request: BlockEditFields, block: Block) -> tuple[str, bool]:
    """Return the name of the agent that edits *block*, and whether the block is its own."""
    place = None if request.is_empty else lookup.resolve_place(tables, request)
    owner = tables.agents.get(block.owner_id) if block.scope is Scope.AGENT else None
    named = place.agent if place is not None else owner
    name = request.author.strip() or (named.name if named is not None else edits.UNKNOWN_AUTHOR)
    return validate.name_of("author", name), owner is None or owner.name == name


def _refuse_agent(by: BlockAuthor, scope: Scope) -> None:
    if by is BlockAuthor.AGENT and scope in edits.SHARED_SCOPES:
        raise BlockReadOnly(
            "an agent cannot create a shared block or change its settings; ask the user to do it "
            "with `recollect block`. An agent can propose another text for a shared block"
        )


def _changed_settings(request: requests.UpdateBlockRequest) -> dict[str, Any]:
    changes = {name: getattr(request, name) for name in _SETTINGS & request.model_fields_set}
    if "new_label" in changes:
        changes["label"] = lookup.validate_label(changes.pop("new_label"))
    if "description" in changes:
        changes["description"] = validate.plain_text_of("description", request.description)
    if "metadata" in changes:
        changes["metadata"] = validate.json_object_of("metadata", request.metadata)
    return changes


def _reason(request: BlockEditFields) -> str:
    return validate.plain_text_of("reason", request.reason, limits.MAX_SUMMARY)


def attach_block(services: Services, request: requests.AttachBlockRequest) -> Block:
    """Attach a global block to an agent, which then sees and edits the same text."""

    def write(tables: Tables) -> Block:
        agent = require_agent(tables, request.agent)
        block = lookup.block_by_id(tables, request.block)
        if block.scope is not Scope.GLOBAL:
            raise InvalidInput(
                f"the block {block.label!r} is of {block.scope} scope; only a global block can be "
                "shared: make one with scope='global'"
            )
        attached = tables.blocks.attached_to(agent.id)
        if all(other.id != block.id for other in attached):
            _refuse_duplicate(attached, block.label, f"agent {agent.name!r}")
            tables.blocks.attach(agent.id, block)
        return block

    return _announce(services, services.store.write(write))


def detach_block(services: Services, request: requests.DetachBlockRequest) -> Block:
    """Detach a shared block from an agent; the block and its other readers stay."""

    def write(tables: Tables) -> Block:
        agent = require_agent(tables, request.agent)
        block = lookup.block_by_label(tables, lookup.BlockPlace(agent=agent), request.label)
        if block.scope is Scope.AGENT:
            raise InvalidInput(
                f"the block {block.label!r} is the agent's own and would be lost; delete it instead"
            )
        tables.blocks.detach(agent.id, block.id)
        return block

    return _announce(services, services.store.write(write))


def share_block(services: Services, request: requests.ShareBlockRequest) -> Block:
    """Make an agent's own block a global one, which other agents can be given."""

    def write(tables: Tables) -> Block:
        current = lookup.requested_block(tables, request)
        if current.scope is Scope.GLOBAL:
            return current
        if current.scope is not Scope.AGENT:
            raise InvalidInput(
                f"the block {current.label!r} is of {current.scope} scope; only an agent's own "
                "block can be made a shared one"
            )
        block = replace(
            current,
            scope=writing.EVERYBODY.scope,
            owner_id=writing.EVERYBODY.id,
            version=current.version + 1,
            updated_at=services.clock.now(),
        )
        writing.save_version(tables, block, by=BlockAuthor.USER, reason="made a shared block")
        return block

    return _announce(services, services.store.write(write))


def list_agents_of_block(
    services: Services, request: requests.ListAgentsOfBlockRequest
) -> list[Agent]:
    """Return the agents that have a block attached, by name."""
    with services.store.read() as tables:
        block = lookup.block_by_id(tables, request.block)
        agents = [tables.agents.get(agent_id) for agent_id in tables.blocks.agent_ids_of(block.id)]
    return sorted((agent for agent in agents if agent is not None), key=lambda agent: agent.name)


def delete_block(services: Services, request: requests.DeleteBlockRequest) -> Block:
    """Delete a block and its history, for every agent that has it."""

    def write(tables: Tables) -> Block:
        block = lookup.requested_block(tables, request)
        tables.blocks.delete(block)
        now = services.clock.now()
        tables.tombstones.add(Tombstone(kind=DeletedKind.BLOCK, id=block.id, deleted_at=now))
        return block

    return _announce(services, services.store.write(write))


def _announce(services: Services, block: Block) -> Block:
    """Tell listeners that a prompt may have gained or lost a block."""
    services.listeners.notify(
        replace(writing.change_of(block, BlockAuthor.USER), changed_at=services.clock.now())
    )
    return block


def block_or_default(tables: Tables, services: Services, request: BlockEditFields) -> Block:
    """Return the block of a request; a default block is created when it is first written."""
    try:
        return lookup.requested_block(tables, request)
    except NotFound:
        default = None
        if not request.is_empty:
            default = DEFAULT_LABELS.get(lookup.validate_label(request.label))
        if default is None:
            raise
        if default.scope in (Scope.AGENT, Scope.GLOBAL):
            _give_missing_blocks(tables, services, lookup.resolve_place(tables, request).agent)
            return lookup.requested_block(tables, request)  # raises if the agent detached it
        is_session = default.scope is Scope.SESSION
        if request.conversation is None and (is_session or request.project is None):
            needed = "project" if default.scope is Scope.PROJECT else "conversation"
            raise InvalidInput(
                f"the block {default.label!r} belongs to a {default.scope}: pass {needed}=…"
            ) from None
        _, owner = _owner(tables, services, request, default.scope)
        block = writing.default_block(default, owner, services.clock)
        writing.add_block(tables, block, by=BlockAuthor.SYSTEM, reason="made when first written")
        return block


def _give_missing_blocks(tables: Tables, services: Services, agent: Agent | None) -> None:
    """Give the default blocks to an agent that was created without any."""
    if agent is not None:
        labels = {block.label for block in tables.blocks.attached_to(agent.id)}
        if FIRST_LABEL not in labels:
            writing.give_default_blocks(tables, services.clock, agent)


def _owner(
    tables: Tables, services: Services, request: BlockPlaceFields, scope: Scope | None
) -> tuple[Agent | None, Owner]:
    """Return the agent the block is attached to, if any, and the owner of the block."""
    place = lookup.resolve_place(tables, request)
    scope = scope or _default_scope(request)
    match scope:
        case Scope.GLOBAL:
            return place.agent, writing.EVERYBODY
        case Scope.AGENT if place.agent is not None:
            return place.agent, Owner(Scope.AGENT, place.agent.id)
        case Scope.PROJECT if request.project is not None:
            where = RequestPlace.of(request.project)
            places = ensure_place(tables, where, services.clock)
            return None, Owner(Scope.PROJECT, places.project_id or "")
        case Scope.PROJECT if place.project_id is not None:
            return None, Owner(Scope.PROJECT, place.project_id)
        case Scope.SESSION if place.conversation is not None:
            return None, Owner(Scope.SESSION, place.conversation.id)
        case Scope.REPO:
            raise InvalidInput("a block is of global, project, agent or session scope")
    needed = "conversation" if scope is Scope.SESSION else scope.value
    raise InvalidInput(f"scope {scope} needs the {needed} it belongs to: pass {needed}=…")


def _default_scope(request: BlockPlaceFields) -> Scope:
    """Return the scope of the one owner that is given; refuse to choose between two."""
    owners = {"agent": Scope.AGENT, "project": Scope.PROJECT, "conversation": Scope.SESSION}
    scopes = {name: scope for name, scope in owners.items() if getattr(request, name) is not None}
    if len(scopes) > 1:
        choices = " or ".join(f"scope={str(scope)!r}" for scope in scopes.values())
        raise InvalidInput(
            f"a block has one owner, but {' and '.join(scopes)} were given: pass only one of them, "
            f"or choose the owner with {choices}"
        )
    return next(iter(scopes.values()), Scope.GLOBAL)


def _refuse_duplicate(blocks: list[Block], label: str, whose: str) -> None:
    if any(block.label == label for block in blocks):
        raise AlreadyExists(
            f"{whose} has a block {label!r} already; edit it, or choose another label"
        )


def _refuse_conflict(current: Block, edit: Edit, expected_version: int | None) -> None:
    if expected_version is None or expected_version == current.version:
        return
    try:
        yours = edit(current.value)
    except InvalidInput as error:  # the text to be replaced is gone
        yours = f"({error})"
    raise BlockConflict(
        f"the block {current.label!r} is at version {current.version}, you read version "
        f"{expected_version}; nothing was written.\n"
        f"Current value: {lookup.excerpt(current.value)}\n"
        f"Your value: {lookup.excerpt(yours)}\n"
        "Read it again, merge, and write with the new version",
        yours=yours,
        theirs=current.value,
        version=current.version,
    )
