"""
Blocks: make, read, edit, share and delete them.

Every edit runs in one transaction that checks the version, so two writers never overwrite each
other unseen; each value stays in the history.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from recollect.domain.agent import DEFAULT_LABELS, Agent
from recollect.domain.block import (
    DEFAULT_LIMIT,
    Block,
    By,
    Edit,
    check_limit,
    edit_block,
)
from recollect.domain.scope import Owner, Scope
from recollect.errors import AlreadyExists, BlockConflict, InvalidInput, NotFound
from recollect.service import inputs
from recollect.service.agents import known_agent
from recollect.service.block_target import (
    ById,
    ByLabel,
    Place,
    Target,
    found_in,
    known_block,
    label_of,
    visible,
)
from recollect.service.block_writing import (
    EVERYBODY,
    add_block,
    change_of,
    default_block,
    give_default_blocks,
    keep_version,
)
from recollect.service.places import Where, settle
from recollect.service.services import Services
from recollect.store.protocol import Tables

BORN_WITH = "persona"  # an agent without it came into being by being named
SHOWN_CHARS = 500  # of each value, in the message of a conflict; the error holds both whole


def create(
    services: Services,
    label: object,
    value: object = "",
    *,
    place: Place,
    scope: object = None,
    description: object = "",
    limit: object = DEFAULT_LIMIT,
    read_only: bool = False,
    hidden: bool = False,
    metadata: object = None,
    by: object = By.USER,
) -> Block:
    """Make a block: an agent's own, or one of a project, a conversation, or everybody."""
    now = services.clock.now()
    block = Block(
        id=services.clock.new_id(),
        label=label_of(label),
        value=inputs.plain_text_of("value", value),
        description=inputs.plain_text_of("description", description),
        limit=_limit(limit),
        read_only=bool(read_only),
        hidden=bool(hidden),
        metadata=inputs.json_object_of("metadata", metadata),
        created_at=now,
        updated_at=now,
    )
    check_limit(block.value, block.limit)
    author = inputs.one_of("by", By, by)

    def write(tables: Tables) -> Block:
        agent, owner = _owner(tables, services, place, scope)
        whole = replace(block, scope=owner.scope, owner_id=owner.id)
        if agent is not None:
            _refuse_second(
                tables.blocks.attached_to(agent.id), whole.label, f"agent {agent.name!r}"
            )
        elif owner.scope is not Scope.GLOBAL:
            _refuse_second(tables.blocks.of_owner(owner), whole.label, f"this {owner.scope}")
        add_block(tables, whole, by=author, reason="made")
        if agent is not None:
            tables.blocks.attach(agent.id, whole)
        return whole

    made = services.store.write(write)
    services.listeners.tell(change_of(made, author))
    return made


def blocks(services: Services, place: Place) -> list[Block]:
    """Return the blocks that are visible from *place*; every block where it names nobody."""
    with services.store.read() as tables:
        if place == Place():
            return tables.blocks.all()
        agent, project_id, conversation = found_in(tables, place)
        if agent is None and conversation is None and project_id is None:
            return []
        return visible(tables, agent, project_id, conversation)


def block(services: Services, target: Target) -> Block:
    """Return one block."""
    with services.store.read() as tables:
        return known_block(tables, target)


def edit(
    services: Services,
    target: Target,
    how: Edit,
    *,
    expected_version: object = None,
    by: object = By.USER,
    reason: object = "",
) -> Block:
    """Change a block's value; a default block is made if it is missing."""
    author, expected, why = _author(by, expected_version, reason)

    def write(tables: Tables) -> tuple[Block, bool]:
        former = _known_or_default(tables, services, target)
        if expected is not None and expected != former.version:
            raise _conflict(former, how, expected)
        now = services.clock.now()
        kept = edit_block(former, how, by=author, at=now)
        if kept.value == former.value:
            return former, False
        keep_version(tables, kept, by=author, reason=why)
        return kept, True

    kept, is_new = services.store.write(write)
    if is_new:
        services.listeners.tell(change_of(kept, author))
    return kept


def update(
    services: Services,
    target: Target,
    changes: Mapping[str, Any],
    *,
    expected_version: object = None,
    by: object = By.USER,
    reason: object = "",
) -> Block:
    """Change what a block is called, how long it may be, or who may see and edit it."""
    author, expected, why = _author(by, expected_version, reason)
    checked: dict[str, Any] = {}
    for field, value in changes.items():
        match field:
            case "label":
                checked[field] = label_of(value)
            case "description":
                checked[field] = inputs.plain_text_of(field, value)
            case "limit":
                checked[field] = _limit(value)
            case "read_only" | "hidden":
                checked[field] = bool(value)
            case "metadata":
                checked[field] = inputs.json_object_of(field, value)
            case _:
                raise InvalidInput(
                    f"unknown: {field}; use new_label, description, limit, read_only, hidden, "
                    "metadata"
                )

    def write(tables: Tables) -> tuple[Block, bool]:
        former = known_block(tables, target)
        if expected is not None and expected != former.version:
            raise _conflict(former, lambda value: value, expected)
        if replace(former, **checked) == former:
            return former, False
        now = services.clock.now()
        kept = replace(former, **checked, version=former.version + 1, updated_at=now)
        check_limit(kept.value, kept.limit)
        if kept.label != former.label:
            for agent_id in tables.blocks.agent_ids_of(former.id):
                _refuse_second(
                    tables.blocks.attached_to(agent_id), kept.label, "an agent that has it"
                )
            if former.scope in (Scope.PROJECT, Scope.SESSION):
                others = tables.blocks.of_owner(former.owner)
                _refuse_second(others, kept.label, f"this {former.scope}")
        # A version of its own, so that prompts of other processes learn that they are stale.
        told = why or f"settings changed: {', '.join(sorted(checked))}"
        keep_version(tables, kept, by=author, reason=told)
        return kept, True

    kept, is_new = services.store.write(write)
    if is_new:
        services.listeners.tell(change_of(kept, author))
    return kept


def attach(services: Services, agent: object, shared: object) -> Block:
    """Give a global block to an agent, which from then on sees and edits the same text."""

    def write(tables: Tables) -> Block:
        who = known_agent(tables, agent)
        found = known_block(tables, ById(shared))
        if found.scope is not Scope.GLOBAL:
            raise InvalidInput(
                f"the block {found.label!r} is of {found.scope} scope; only a global block can be "
                "shared: make one with scope='global'"
            )
        attached = tables.blocks.attached_to(who.id)
        if any(one.id == found.id for one in attached):
            return found
        _refuse_second(attached, found.label, f"agent {who.name!r}")
        tables.blocks.attach(who.id, found)
        return found

    return _told(services, services.store.write(write))


def detach(services: Services, agent: object, label: object) -> Block:
    """Take a shared block from an agent; the block stays, and so do its other readers."""

    def write(tables: Tables) -> Block:
        who = known_agent(tables, agent)
        found = known_block(tables, ByLabel(Place(agent=who), label))
        if found.scope is Scope.AGENT:
            raise InvalidInput(
                f"the block {found.label!r} is the agent's own and would be lost; delete it instead"
            )
        tables.blocks.detach(who.id, found.id)
        return found

    return _told(services, services.store.write(write))


def delete(services: Services, target: Target) -> Block:
    """Remove a block with its history, for every agent that has it."""

    def write(tables: Tables) -> Block:
        found = known_block(tables, target)
        tables.blocks.delete(found)
        return found

    return _told(services, services.store.write(write))


def _known_or_default(tables: Tables, services: Services, target: Target) -> Block:
    """Return the block that is meant; a default one is made when it is first written."""
    try:
        return known_block(tables, target)
    except NotFound:
        if isinstance(target, ById):
            raise
        default = DEFAULT_LABELS.get(label_of(target.label))
        if default is None:
            raise
        if default.scope in (Scope.AGENT, Scope.GLOBAL):
            return _first_of_all(tables, services, target)
        here = target.place.conversation is not None
        if default.scope is Scope.PROJECT:
            here = here or target.place.project is not None
        if not here:
            needed = "project" if default.scope is Scope.PROJECT else "conversation"
            raise InvalidInput(
                f"the block {default.label!r} belongs to a {default.scope}: pass {needed}=…"
            ) from None
        _, owner = _owner(tables, services, target.place, default.scope)
        made = default_block(default, owner, services.clock)
        add_block(tables, made, by=By.SYSTEM, reason="made when first written")
        return made


def _first_of_all(tables: Tables, services: Services, target: ByLabel) -> Block:
    """Give an agent that was born bare its default blocks, now that one is written."""
    agent, _, _ = found_in(tables, target.place)
    has = {block.label for block in tables.blocks.attached_to(agent.id)} if agent else set()
    if agent is not None and BORN_WITH not in has:
        give_default_blocks(tables, services.clock, agent)
    return known_block(tables, target)  # one that was given away is not found


def _owner(
    tables: Tables, services: Services, place: Place, scope: object
) -> tuple[Agent | None, Owner]:
    """Return the agent that gets the block, if one does, and whose block it is."""
    agent, project_id, conversation = found_in(tables, place)
    chosen = _default_scope(place) if scope is None else inputs.one_of("scope", Scope, scope)
    match chosen:
        case Scope.GLOBAL:
            return agent, EVERYBODY
        case Scope.AGENT if agent is not None:
            return agent, Owner(Scope.AGENT, agent.id)
        case Scope.PROJECT if place.project is not None:
            places = settle(tables, Where.of(place.project, None, None, None), services.clock)
            return None, Owner(Scope.PROJECT, places.project_id or "")
        case Scope.PROJECT if project_id is not None:
            return None, Owner(Scope.PROJECT, project_id)
        case Scope.SESSION if conversation is not None:
            return None, Owner(Scope.SESSION, conversation.id)
        case Scope.REPO:
            raise InvalidInput("a block is of global, project, agent or session scope")
    needed = "conversation" if chosen is Scope.SESSION else chosen.value
    raise InvalidInput(f"scope {chosen} needs the {needed} it belongs to: pass {needed}=…")


def _default_scope(place: Place) -> Scope:
    """Return the scope of the one owner that *place* names; refuse to choose between two."""
    owners = {
        "agent": (place.agent, Scope.AGENT),
        "project": (place.project, Scope.PROJECT),
        "conversation": (place.conversation, Scope.SESSION),
    }
    scopes = {name: scope for name, (owner, scope) in owners.items() if owner is not None}
    if len(scopes) > 1:
        choices = " or ".join(f"scope={str(scope)!r}" for scope in scopes.values())
        raise InvalidInput(
            f"a block has one owner, but {' and '.join(scopes)} were given: pass only one of them, "
            f"or choose the owner with {choices}"
        )
    return next(iter(scopes.values()), Scope.GLOBAL)


def _refuse_second(there: list[Block], label: str, whose: str) -> None:
    if any(block.label == label for block in there):
        raise AlreadyExists(f"{whose} has a block {label!r} already; edit it, or choose a label")


def _conflict(former: Block, how: Edit, expected: object) -> BlockConflict:
    try:
        yours = how(former.value)
    except InvalidInput as error:  # what was to be replaced is gone
        yours = f"({error})"
    return BlockConflict(
        f"the block {former.label!r} is at version {former.version}, you had read {expected}; "
        f"nothing was written.\nNow it says: {_shown(former.value)}\n"
        f"You wanted: {_shown(yours)}\nRead it again, merge, and write with the new version",
        yours=yours,
        theirs=former.value,
        version=former.version,
    )


def _shown(value: str) -> str:
    return value if len(value) <= SHOWN_CHARS else value[: SHOWN_CHARS - 1] + "…"


def _author(by: object, expected: object, reason: object) -> tuple[By, int | None, str]:
    """Check who changes a block, which version they read, and why."""
    version = None
    if expected is not None:
        version = inputs.count_of("expected_version", expected, most=2**53)
    why = inputs.plain_text_of("reason", reason, inputs.MAX_SUMMARY)
    return inputs.one_of("by", By, by), version, why


def _told(services: Services, changed_block: Block) -> Block:
    """Tell listeners that a prompt may have gained or lost a block."""
    services.listeners.tell(
        replace(change_of(changed_block, By.USER), changed_at=services.clock.now())
    )
    return changed_block


def _limit(value: object) -> int | None:
    return None if value is None else inputs.count_of("limit", value, most=inputs.MAX_CONTENT)
