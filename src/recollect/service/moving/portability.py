"""
An agent to a file, and from one: our own format and Letta's, told apart by content.

An import is one transaction: all of it or none. What is read is checked before the transaction
begins; what the store still refuses is said as a refusal of the file.
"""

from collections import Counter
from dataclasses import replace
from pathlib import Path

from recollect.domain.agent_transfer import AgentExport, AgentFormat, AgentImport
from recollect.errors import EvidenceMissing, ImportRefused, InvalidInput, TooLarge
from recollect.service import inputs
from recollect.service.agents import known_agent
from recollect.service.moving import letta, letta_written, own_file
from recollect.service.moving.given_json import MAX_BYTES, read_json
from recollect.service.moving.parts import AgentParts, gather, links_outside
from recollect.service.moving.placing import Placed, place, refuse_taken
from recollect.service.services import Services
from recollect.service.transfer import write_file
from recollect.store.protocol import Tables


def export_agent(services: Services, agent: object, path: Path, *, format: object) -> AgentExport:
    """Write one agent to *path*, complete or not at all."""
    kind = inputs.one_of("format", AgentFormat, format)
    with services.store.read() as tables:
        who = known_agent(tables, agent)
        parts = gather(tables, who)
        stayed = {
            "open files (paths of this machine)": len(tables.files.open_windows(who.id)),
            "links to what is not the agent's own": links_outside(tables, parts),
        }
    if kind is AgentFormat.AF:
        data, notes = letta_written.written(parts)
    else:
        data, notes = own_file.written(parts), ()
    notes += tuple(f"{count} {what} stayed behind" for what, count in stayed.items() if count)
    if len(data) > MAX_BYTES:
        raise TooLarge(
            f"agent {who.name!r} has {len(data):,} bytes; a file of one agent holds {MAX_BYTES:,}. "
            "Export the whole store instead"
        )
    write_file(services, path, lambda file: file.write(data))
    return AgentExport(agent=who, path=str(path), format=kind, counts=_counts(parts), notes=notes)


def import_agent(services: Services, path: Path, *, name: object = None) -> AgentImport:
    """Make the agents of a file, all or none; *name* is for a file that holds one."""
    wanted = None if name is None else inputs.new_name_of("agent", name)
    found, notes = _read(services, path)
    if wanted is not None and len(found) > 1:
        raise InvalidInput(
            f"{path} holds {len(found)} agents; one name does not do for all. Import it without "
            "name=…, and rename them afterwards"
        )
    if wanted is not None:
        found = [replace(found[0], agent=replace(found[0].agent, name=wanted))]
    names = [parts.agent.name for parts in found]
    if len(set(names)) < len(names):
        raise ImportRefused(f"{path} holds two agents of one name; nothing was changed")

    def write(tables: Tables) -> list[Placed]:
        for one in names:
            refuse_taken(tables, one)
        return [place(tables, services.clock, one, came="imported with the agent") for one in found]

    try:
        placed = services.store.write(write)
    except (InvalidInput, EvidenceMissing) as error:
        raise ImportRefused(f"{path} cannot be stored: {error}; nothing was changed") from error
    counts: Counter[str] = Counter(agents=len(placed))
    for one in placed:
        counts.update(one.counts)
    return AgentImport(
        agent=placed[0].agent,
        others=tuple(one.agent for one in placed[1:]),
        counts={kind: count for kind, count in sorted(counts.items()) if count},
        conflicts=tuple(sentence for one in placed for sentence in one.conflicts),
        notes=notes,
    )


def _read(services: Services, path: Path) -> tuple[list[AgentParts], tuple[str, ...]]:
    value = read_json(path)
    if own_file.is_ours(value):
        return [own_file.parts_of(value, path.name)], ()
    if letta.is_af(value):
        return letta.parts_of(value, path.name, services.clock.now())
    raise ImportRefused(
        f"{path} holds no agent, neither as Recollect nor as Letta writes one; nothing was "
        "changed. A whole store is read by `recollect import`"
    )


def _counts(parts: AgentParts) -> dict[str, int]:
    said = parts.conversations
    found = {
        "blocks": len(parts.blocks) + sum(len(one.blocks) for one in said),
        "conversations": len(said),
        "messages": sum(len(one.messages) for one in said),
        "summaries": sum(len(one.summaries) for one in said),
        "pins": sum(len(one.pins) for one in said),
        "sources": len(parts.sources),
        "memories": len(parts.memories),
        "links": len(parts.links),
        "skills": len(parts.skills),
    }
    return {kind: count for kind, count in found.items() if count}
