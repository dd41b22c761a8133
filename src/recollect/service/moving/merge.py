"""
Merge one agent into another: three ways where they have an origin in common, never by guessing.

For each block there are three values: ours, theirs, and the base, the last value both are known to
have had (at the branching, or at a former merge). What only they changed is taken, what only we
changed stays, what both changed is a conflict: nothing is written for it until the caller says what
to take. Blocks are decided first, as values; then written, in one transaction with the passages.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from recollect.domain.agent import Agent
from recollect.domain.agent_transfer import BRANCHED_FROM, MERGED, BlockMergeConflict, Merge
from recollect.domain.block import (
    Block,
    BlockChange,
    By,
    check_limit,
    edit_block,
    replace_all,
)
from recollect.domain.memory import Status
from recollect.domain.scope import Owner, Scope
from recollect.errors import InvalidInput
from recollect.service import inputs
from recollect.service.agents import known_agent
from recollect.service.block_writing import add_block, change_of, keep_version
from recollect.service.moving.copies import (
    born_anew,
    branched_from,
    link_to_originals,
    seen,
    with_memories,
)
from recollect.service.moving.parts import AgentParts, gather
from recollect.service.moving.placing import place_archive
from recollect.service.services import Services
from recollect.store.protocol import Tables
from recollect.text.fingerprint import fingerprint
from recollect.text.redact import redact


@dataclass(frozen=True)
class _Take:
    """A block of ours gets a value; where we have none, a copy of theirs."""

    ours: Block | None
    theirs: Block
    value: str
    is_new_value: bool


@dataclass(frozen=True)
class _Note:
    """Nothing is done about a block, for a reason worth telling."""

    text: str


@dataclass(frozen=True)
class _Both:
    """Two agents, and the blocks of each by label."""

    into: Agent
    other: Agent
    ours: Mapping[str, Block]
    theirs: Mapping[str, Block]


def merge(
    services: Services, into: object, other: object, *, take: object = None, dry_run: bool = False
) -> Merge:
    """Bring what another agent learnt into this one; or only say what that would do."""
    chosen = _chosen(take)
    told: list[BlockChange] = []

    def work(tables: Tables) -> Merge:
        both = _both(tables, into, other)
        decided = {label: _decide(tables, both, label) for label in _labels(both)}
        _apply_choices(both, decided, chosen)
        passages, notes = _lacking(tables, both, services.clock.now())
        agent = both.into
        if not dry_run:
            agent, changes = _write(tables, services, both, decided, passages)
            told.extend(changes)
        notes += [one.text for one in decided.values() if isinstance(one, _Note)]
        said = len(tables.conversations.latest(both.other.id, limit=1_000_000))
        if said:
            notes.append(f"the {said} conversations of agent {both.other.name!r} stay with it")
        return Merge(
            agent=agent,
            merged=tuple(
                label
                for label, one in decided.items()
                if isinstance(one, _Take) and one.is_new_value
            ),
            conflicts=tuple(one for one in decided.values() if isinstance(one, BlockMergeConflict)),
            passages_added=len(passages.memories),
            notes=tuple(notes),
        )

    if dry_run:
        with services.store.read() as tables:
            return work(tables)
    result = services.store.write(work)
    for change in told:
        services.listeners.tell(change)
    return result


_Decision = _Take | _Note | BlockMergeConflict | None


def _chosen(take: object) -> dict[str, str]:
    if take is None:
        return {}
    if not isinstance(take, Mapping):
        raise InvalidInput("take must be an object of labels and 'ours', 'theirs' or a text")
    return {
        inputs.text_of("label", label, most=inputs.MAX_NAME): redact(
            inputs.text_of(f"take[{label!r}]", value, most=inputs.MAX_CONTENT)
        ).text
        for label, value in take.items()
    }


def _both(tables: Tables, into: object, other: object) -> _Both:
    one, two = known_agent(tables, into), known_agent(tables, other)
    if one.id == two.id:
        raise InvalidInput(f"agent {one.name!r} cannot be merged into itself; name two agents")
    return _Both(
        one,
        two,
        {block.label: block for block in tables.blocks.attached_to(one.id)},
        {block.label: block for block in tables.blocks.attached_to(two.id)},
    )


def _labels(both: _Both) -> list[str]:
    return [*both.ours, *(label for label in both.theirs if label not in both.ours)]


def _decide(tables: Tables, both: _Both, label: str) -> _Decision:
    ours, theirs = both.ours.get(label), both.theirs.get(label)
    base = _base(tables, both, label)
    if theirs is None:
        if base is None:
            return None
        return _Note(f"agent {both.other.name!r} no longer has a block {label!r}; it stays here")
    if ours is None:
        return _decide_new(both, theirs, base)
    if ours.id == theirs.id or ours.value == theirs.value:
        return None
    if ours.read_only or theirs.read_only:
        return _Note(f"block {label!r} differs and is read-only; it stays as it is here")
    if base == theirs.value and base is not None:
        return None
    if base == ours.value and base is not None and ours.scope is Scope.AGENT:
        return _Take(ours, theirs, theirs.value, is_new_value=True)
    return BlockMergeConflict(label=label, base=base, ours=ours.value, theirs=theirs.value)


def _decide_new(both: _Both, theirs: Block, base: str | None) -> _Decision:
    """Decide about a block only they have: made there, deleted here, or never in common."""
    if theirs.scope is not Scope.AGENT:
        return _Note(f"the shared block {theirs.label!r} is not attached here; attach it if wanted")
    remembered = list(_memories_of(both))
    if remembered and not any(theirs.label in labels for labels in remembered):
        return _Take(None, theirs, theirs.value, is_new_value=True)
    if base is not None and base == theirs.value:
        return _Note(f"block {theirs.label!r} was deleted here and stays so")
    return BlockMergeConflict(label=theirs.label, base=base, ours=None, theirs=theirs.value)


def _memories_of(both: _Both) -> Iterator[Mapping[str, Any]]:
    """Yield what the two remember of blocks they had in common, by label."""
    for one, two in ((both.into, both.other), (both.other, both.into)):
        merged = _record(_record(one.metadata.get(MERGED)).get(two.id))
        if merged:
            yield merged
        origin = _record(one.metadata.get(BRANCHED_FROM))
        if origin.get("agent_id") == two.id:
            yield _record(origin.get("blocks"))
    ours, theirs = (_record(one.metadata.get(BRANCHED_FROM)) for one in (both.into, both.other))
    if ours.get("agent_id") and ours.get("agent_id") == theirs.get("agent_id"):
        yield _earlier(_record(ours.get("blocks")), _record(theirs.get("blocks")))


def _earlier(ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what two branches of one agent both began with: the older version of each block."""
    common: dict[str, Any] = {}
    for label in ours.keys() & theirs.keys():
        one, two = _record(ours[label]), _record(theirs[label])
        mine, its = one.get("version"), two.get("version")
        is_one_block = one.get("block_id") == two.get("block_id")
        if is_one_block and isinstance(mine, int) and isinstance(its, int):
            common[label] = one if mine <= its else two
    return common


def _base(tables: Tables, both: _Both, label: str) -> str | None:
    """Return the last value both are known to have had, if one is."""
    found: list[tuple[str, str]] = []
    for remembered in _memories_of(both):
        entry = _record(remembered.get(label))
        block_id, version = entry.get("block_id"), entry.get("version")
        if not isinstance(block_id, str) or not isinstance(version, int):
            continue
        kept = tables.blocks.version(block_id, version)
        if kept is not None:
            found.append((str(entry.get("at", "")), kept.value))
    return max(found, key=lambda one: one[0])[1] if found else _first_value(tables, both, label)


def _first_value(tables: Tables, both: _Both, label: str) -> str | None:
    """Return what a branch's block began with: the base, though its origin deleted its own."""
    for branch, trunk, block in (
        (both.other, both.into, both.theirs.get(label)),
        (both.into, both.other, both.ours.get(label)),
    ):
        origin = _record(branch.metadata.get(BRANCHED_FROM))
        if block is None or origin.get("agent_id") != trunk.id:
            continue
        first = tables.blocks.version(block.id, 1)
        if first is not None and first.reason == branched_from(str(origin.get("name"))):
            return first.value
    return None


def _record(value: Any) -> Mapping[str, Any]:
    """Return *value* if it is an object: metadata is the user's, and may be anything."""
    return value if isinstance(value, Mapping) else {}


def _apply_choices(both: _Both, decided: dict[str, _Decision], chosen: Mapping[str, str]) -> None:
    """Put what the caller chose in place of conflicts."""
    conflicts = {
        label: one for label, one in decided.items() if isinstance(one, BlockMergeConflict)
    }
    unknown = sorted(chosen.keys() - conflicts.keys())
    if unknown:
        raise InvalidInput(
            f"there is no conflict about {', '.join(unknown)}; conflicts are about "
            f"{', '.join(conflicts) or 'nothing'}"
        )
    for label, choice in chosen.items():
        decided[label] = _taken(both, conflicts[label], choice)


def _taken(both: _Both, conflict: BlockMergeConflict, choice: str) -> _Take:
    ours, theirs = both.ours.get(conflict.label), both.theirs[conflict.label]
    value = {"ours": conflict.ours, "theirs": conflict.theirs}.get(choice, choice)
    if value is None or value == conflict.ours:
        return _Take(ours, theirs, conflict.ours or "", is_new_value=False)
    if ours is not None and ours.scope is not Scope.AGENT:
        raise InvalidInput(
            f"the block {conflict.label!r} is shared here and would change for everybody; edit it "
            "with set_block if that is meant, or detach it first"
        )
    return _Take(ours, theirs, value, is_new_value=True)


def _write(
    tables: Tables,
    services: Services,
    both: _Both,
    decided: Mapping[str, _Decision],
    passages: AgentParts,
) -> tuple[Agent, list[BlockChange]]:
    now = services.clock.now()
    reason = f"merged from {both.other.name}"
    changes: list[BlockChange] = []
    common: dict[str, Any] = {}
    for label, one in decided.items():
        if isinstance(one, _Take):
            common[label] = seen(one.theirs.id, one.theirs.version, now)
            if one.is_new_value:
                changes.append(_write_block(tables, services, both.into, one, reason))
    placed = place_archive(tables, services.clock, both.into, passages, came=reason)
    link_to_originals(tables, services, passages.memories, placed)
    if not common:
        return both.into, changes
    merged = dict(_record(both.into.metadata.get(MERGED)))
    merged[both.other.id] = {**_record(merged.get(both.other.id)), **common}
    kept = replace(both.into, metadata={**both.into.metadata, MERGED: merged}, updated_at=now)
    tables.agents.set(kept)
    return kept, changes


def _write_block(
    tables: Tables, services: Services, agent: Agent, wanted: _Take, reason: str
) -> BlockChange:
    now = services.clock.now()
    if wanted.ours is None:
        kept = replace(
            wanted.theirs,
            id=services.clock.new_id(),
            value=wanted.value,
            scope=Scope.AGENT,
            owner_id=agent.id,
            version=1,
            created_at=now,
            updated_at=now,
        )
        check_limit(kept.value, kept.limit)
        add_block(tables, kept, by=By.USER, reason=reason)
        tables.blocks.attach(agent.id, kept)
    else:
        kept = edit_block(wanted.ours, replace_all(wanted.value), by=By.USER, at=now)
        keep_version(tables, kept, by=By.USER, reason=reason)
    return change_of(kept, By.USER)


def _lacking(tables: Tables, both: _Both, now: datetime) -> tuple[AgentParts, list[str]]:
    """Return the passages of the other archive whose words ours has not, and what was skipped."""
    owner = Owner(Scope.AGENT, both.into.id)
    parts = gather(tables, both.other, conversations=False)
    lacking, notes = [], []
    met: set[str] = set()
    for kept in parts.memories:
        memory = kept.memory
        words = fingerprint(memory.content)
        if memory.status is not Status.ACTIVE or words in met:
            continue
        met.add(words)
        if tables.memories.with_fingerprint(words, owner):
            continue
        if memory.key and tables.memories.with_key(memory.key, owner) is not None:
            notes.append(f"the fact {memory.key!r} has another value here, which stays")
            continue
        lacking.append(born_anew(kept, f"merged from {both.other.name}", now))
    return with_memories(parts, lacking), notes
