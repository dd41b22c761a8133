"""
Merge one agent into another: a three-way merge of blocks, and the passages that are missing here.

For each block there are three values: ours, theirs, and the base, the last value both are known to
have had (when one branched from the other, or at a merge). What only they changed is taken, what
only we changed stays, what both changed is a conflict: nothing is written for it until the
caller says what to take. Blocks are decided first, as values, then written in one transaction with
the passages.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from recollect.domain import limits
from recollect.domain.agent import Agent
from recollect.domain.agent_transfer import BRANCHED_FROM, MERGED, AgentMerge, BlockMergeConflict
from recollect.domain.block import (
    Block,
    BlockAuthor,
    BlockChange,
    check_limit,
    edit_block,
    replace_all,
)
from recollect.domain.memory import Status
from recollect.domain.scope import Owner, Scope
from recollect.errors import InvalidInput
from recollect.lazy_dataclass import dataclass
from recollect.service import validate
from recollect.service.agent_files.clone import (
    common_version,
    link_to_originals,
    memory_without_history,
    with_memories,
)
from recollect.service.agent_files.insert import insert_archive
from recollect.service.agent_files.model import AgentParts, gather
from recollect.service.agents import require_agent
from recollect.service.block_writing import add_block, change_of, save_version
from recollect.service.services import Services
from recollect.store.protocol import Tables
from recollect.text.fingerprint import fingerprint
from recollect.wire.fields import parse_text
from recollect.wire.requests.agents import MergeAgentsRequest


@dataclass(frozen=True)
class _TakeTheirs:
    """A block of ours gets a value; if we have none, a copy of theirs."""

    ours: Block | None
    theirs: Block
    value: str
    is_new_value: bool


@dataclass(frozen=True)
class _Note:
    """Nothing is done about a block, and the result says why."""

    text: str


@dataclass(frozen=True)
class _AgentPair:
    """Two agents, and the blocks of each by label."""

    into: Agent
    other: Agent
    ours: Mapping[str, Block]
    theirs: Mapping[str, Block]

    def labels(self) -> list[str]:
        """Return the labels of both, ours first."""
        return [*self.ours, *(label for label in self.theirs if label not in self.ours)]


_Decision = _TakeTheirs | _Note | BlockMergeConflict | None


def merge_agents(services: Services, request: MergeAgentsRequest) -> AgentMerge:
    """Merge the blocks and passages of an agent into another; or only return what would change."""
    choices = _choices(request.take)
    block_changes: list[BlockChange] = []

    def merge(tables: Tables) -> AgentMerge:
        pair = _agent_pair(tables, request)
        decisions = {label: _decide(tables, pair, label) for label in pair.labels()}
        _apply_choices(pair, decisions, choices)
        passages, notes = _missing_passages(tables, pair, services.clock.now())
        agent = pair.into
        if not request.dry_run:
            agent, changes = _write(tables, services, pair, decisions, passages)
            block_changes.extend(changes)
        notes += [item.text for item in decisions.values() if isinstance(item, _Note)]
        conversations = len(tables.conversations.latest(pair.other.id, limit=1_000_000))
        if conversations:
            notes.append(
                f"the {conversations} conversations of agent {pair.other.name!r} stay with it"
            )
        return AgentMerge(
            agent=agent,
            merged=tuple(
                label
                for label, decision in decisions.items()
                if isinstance(decision, _TakeTheirs) and decision.is_new_value
            ),
            conflicts=tuple(
                item for item in decisions.values() if isinstance(item, BlockMergeConflict)
            ),
            passages_added=len(passages.memories),
            notes=tuple(notes),
        )

    if request.dry_run:
        with services.store.read() as tables:
            return merge(tables)
    result = services.store.write(merge)
    for change in block_changes:
        services.listeners.notify(change)
    return result


def _choices(take: Any) -> dict[str, str]:
    if take is None:
        return {}
    if not isinstance(take, Mapping):
        raise InvalidInput("take must be an object of labels and 'ours', 'theirs' or a text")
    return {
        parse_text("label", label, max_chars=limits.MAX_NAME): validate.plain_text_of(
            f"take[{label!r}]", choice
        )
        for label, choice in take.items()
    }


def _agent_pair(tables: Tables, request: MergeAgentsRequest) -> _AgentPair:
    into, other = require_agent(tables, request.into), require_agent(tables, request.other)
    if into.id == other.id:
        raise InvalidInput(f"agent {into.name!r} cannot be merged into itself; name two agents")
    return _AgentPair(
        into,
        other,
        {block.label: block for block in tables.blocks.attached_to(into.id)},
        {block.label: block for block in tables.blocks.attached_to(other.id)},
    )


def _decide(tables: Tables, pair: _AgentPair, label: str) -> _Decision:
    ours, theirs = pair.ours.get(label), pair.theirs.get(label)
    base = _base(tables, pair, label)
    if theirs is None:
        if base is None:
            return None
        return _Note(f"agent {pair.other.name!r} no longer has a block {label!r}; it stays here")
    if ours is None:
        return _decide_new(pair, theirs, base)
    if ours.id == theirs.id or ours.value == theirs.value:
        return None
    if ours.read_only or theirs.read_only:
        return _Note(f"block {label!r} differs and is read-only; it stays as it is here")
    if base == theirs.value and base is not None:
        return None
    if base == ours.value and base is not None and ours.scope is Scope.AGENT:
        return _TakeTheirs(ours, theirs, theirs.value, is_new_value=True)
    return BlockMergeConflict(label=label, base=base, ours=ours.value, theirs=theirs.value)


def _decide_new(pair: _AgentPair, theirs: Block, base: str | None) -> _Decision:
    """Decide about a block only they have: made there, deleted here, or never in common."""
    if theirs.scope is not Scope.AGENT:
        return _Note(
            f"the shared block {theirs.label!r} is not attached here; attach it to have it"
        )
    common = list(_common_versions(pair))
    if common and not any(theirs.label in versions for versions in common):
        return _TakeTheirs(None, theirs, theirs.value, is_new_value=True)
    if base is not None and base == theirs.value:
        return _Note(f"block {theirs.label!r} was deleted here and stays so")
    return BlockMergeConflict(label=theirs.label, base=base, ours=None, theirs=theirs.value)


def _common_versions(pair: _AgentPair) -> Iterator[Mapping[str, Any]]:
    """Yield the block versions that the agents' metadata records as common, by label."""
    for agent, other in ((pair.into, pair.other), (pair.other, pair.into)):
        merged = _record(_record(agent.metadata.get(MERGED)).get(other.id))
        if merged:
            yield merged
        origin = _record(agent.metadata.get(BRANCHED_FROM))
        if origin.get("agent_id") == other.id:
            yield _record(origin.get("blocks"))
    ours, theirs = (_record(agent.metadata.get(BRANCHED_FROM)) for agent in (pair.into, pair.other))
    if ours.get("agent_id") and ours.get("agent_id") == theirs.get("agent_id"):
        yield _common_versions_of_branches(
            _record(ours.get("blocks")), _record(theirs.get("blocks"))
        )


def _common_versions_of_branches(
    ours: Mapping[str, Any], theirs: Mapping[str, Any]
) -> Mapping[str, Any]:
    """Return what two branches of one agent both began with: the older version of each block."""
    common: dict[str, Any] = {}
    for label in ours.keys() & theirs.keys():
        our_entry, their_entry = _record(ours[label]), _record(theirs[label])
        our_version, their_version = our_entry.get("version"), their_entry.get("version")
        is_same_block = our_entry.get("block_id") == their_entry.get("block_id")
        if is_same_block and isinstance(our_version, int) and isinstance(their_version, int):
            common[label] = our_entry if our_version <= their_version else their_entry
    return common


def _base(tables: Tables, pair: _AgentPair, label: str) -> str | None:
    """Return the last value both are known to have had, if one is."""
    values: list[tuple[str, str]] = []
    for versions in _common_versions(pair):
        entry = _record(versions.get(label))
        block_id, version = entry.get("block_id"), entry.get("version")
        if not isinstance(block_id, str) or not isinstance(version, int):
            continue
        stored = tables.blocks.version(block_id, version)
        if stored is not None:
            values.append((str(entry.get("at", "")), stored.value))
    if not values:
        return _first_value(tables, pair, label)
    return max(values, key=lambda dated: dated[0])[1]


def _first_value(tables: Tables, pair: _AgentPair, label: str) -> str | None:
    """Return the first value of a branch's block: the base, even if its origin deleted its own."""
    for branch, trunk, block in (
        (pair.other, pair.into, pair.theirs.get(label)),
        (pair.into, pair.other, pair.ours.get(label)),
    ):
        origin = _record(branch.metadata.get(BRANCHED_FROM))
        if block is None or origin.get("agent_id") != trunk.id:
            continue
        first = tables.blocks.version(block.id, 1)
        # A block that was made later under the same label has a later first version.
        if first is not None and first.changed_at == branch.created_at:
            return first.value
    return None


def _record(value: Any) -> Mapping[str, Any]:
    """Return *value* if it is an object: metadata is the user's, and may be anything."""
    return value if isinstance(value, Mapping) else {}


def _apply_choices(
    pair: _AgentPair, decisions: dict[str, _Decision], choices: Mapping[str, str]
) -> None:
    """Put what the caller chose in place of conflicts."""
    conflicts = {
        label: item for label, item in decisions.items() if isinstance(item, BlockMergeConflict)
    }
    unknown = sorted(choices.keys() - conflicts.keys())
    if unknown:
        raise InvalidInput(
            f"there is no conflict about {', '.join(unknown)}; conflicts are about "
            f"{', '.join(conflicts) or 'nothing'}"
        )
    for label, choice in choices.items():
        decisions[label] = _resolve(pair, conflicts[label], choice)


def _resolve(pair: _AgentPair, conflict: BlockMergeConflict, choice: str) -> _TakeTheirs:
    ours, theirs = pair.ours.get(conflict.label), pair.theirs[conflict.label]
    # "Theirs" and " theirs" name a side too; taken as text, the block would hold that word.
    sides = {"ours": conflict.ours, "theirs": conflict.theirs}
    value = sides.get(choice.strip().lower(), choice)
    if value is None or value == conflict.ours:
        return _TakeTheirs(ours, theirs, conflict.ours or "", is_new_value=False)
    if ours is not None and ours.scope is not Scope.AGENT:
        raise InvalidInput(
            f"the block {conflict.label!r} is shared here and would change for everybody; edit it "
            "with set_block if that is meant, or detach it first"
        )
    return _TakeTheirs(ours, theirs, value, is_new_value=True)


def _write(
    tables: Tables,
    services: Services,
    pair: _AgentPair,
    decisions: Mapping[str, _Decision],
    passages: AgentParts,
) -> tuple[Agent, list[BlockChange]]:
    now = services.clock.now()
    reason = f"merged from {pair.other.name}"
    changes: list[BlockChange] = []
    common: dict[str, Any] = {}
    for label, decision in decisions.items():
        if isinstance(decision, _TakeTheirs):
            theirs = decision.theirs
            common[label] = common_version(theirs.id, theirs.version, now)
            if decision.is_new_value:
                changes.append(_write_block(tables, services, pair.into, decision, reason))
    inserted = insert_archive(tables, services.clock, pair.into, passages, reason=reason)
    link_to_originals(tables, services, passages.memories, inserted)
    if not common:
        return pair.into, changes
    merged = dict(_record(pair.into.metadata.get(MERGED)))
    merged[pair.other.id] = {**_record(merged.get(pair.other.id)), **common}
    agent = replace(pair.into, metadata={**pair.into.metadata, MERGED: merged}, updated_at=now)
    tables.agents.set(agent)
    return agent, changes


def _write_block(
    tables: Tables, services: Services, agent: Agent, decision: _TakeTheirs, reason: str
) -> BlockChange:
    now = services.clock.now()
    if decision.ours is None:
        block = replace(
            decision.theirs,
            id=services.clock.new_id(),
            value=decision.value,
            scope=Scope.AGENT,
            owner_id=agent.id,
            version=1,
            created_at=now,
            updated_at=now,
        )
        check_limit(block.value, block.limit)
        add_block(tables, block, by=BlockAuthor.USER, reason=reason)
        tables.blocks.attach(agent.id, block)
    else:
        block = edit_block(
            decision.ours,
            replace_all(decision.value),
            by=BlockAuthor.USER,
            at=now,
            unconfirmed_author=(
                decision.ours.unconfirmed_author or decision.theirs.unconfirmed_author
            ),
        )
        save_version(tables, block, by=BlockAuthor.USER, reason=reason)
    return change_of(block, BlockAuthor.USER)


def _missing_passages(
    tables: Tables, pair: _AgentPair, now: datetime
) -> tuple[AgentParts, list[str]]:
    """Return the passages of the other archive that ours lacks, and notes on skipped facts."""
    owner = Owner(Scope.AGENT, pair.into.id)
    parts = gather(tables, pair.other, conversations=False)
    missing, notes = [], []
    fingerprints: set[str] = set()
    for part in parts.memories:
        memory = part.memory
        words = fingerprint(memory.content)
        if memory.status is not Status.ACTIVE or words in fingerprints:
            continue
        fingerprints.add(words)
        if any(tables.memories.with_fingerprints([(words, owner)])):
            continue
        if memory.key and tables.memories.with_key(memory.key, owner) is not None:
            notes.append(f"the fact {memory.key!r} has another value here, which stays")
            continue
        missing.append(memory_without_history(part, f"merged from {pair.other.name}", now))
    return with_memories(parts, missing), notes
