"""
Export an agent to a file and import agents from one, in our own format or Letta's.

The format of an import is detected from its content. An import is one transaction: all of it or
none. The file is validated before the transaction begins; if the store still refuses a value, the
whole file is refused.
"""

from collections import Counter
from dataclasses import replace
from pathlib import Path

from recollect.domain.agent_transfer import AgentExport, AgentFormat, AgentImport
from recollect.errors import EvidenceMissing, ImportRefused, InvalidInput, TooLarge
from recollect.service import validate
from recollect.service.agent_files import letta_reader, letta_writer, native_format
from recollect.service.agent_files.insert import InsertedAgent, insert_agent, refuse_taken_name
from recollect.service.agent_files.json_file import MAX_BYTES, read_json
from recollect.service.agent_files.model import AgentParts, gather, links_outside
from recollect.service.agents import require_agent
from recollect.service.services import Services
from recollect.service.transfer import write_file
from recollect.store.protocol import Tables
from recollect.wire.fields import parse_member
from recollect.wire.requests.agents import ExportAgentRequest, ImportAgentRequest


def export_agent(services: Services, request: ExportAgentRequest, path: Path) -> AgentExport:
    """Write one agent to *path*, complete or not at all."""
    format = parse_member("format", AgentFormat, request.format)
    with services.store.read() as tables:
        agent = require_agent(tables, request.agent)
        parts = gather(tables, agent)
        not_written = {
            "open files (paths of this machine)": len(tables.files.open_windows(agent.id)),
            "links to what is not the agent's own": links_outside(tables, parts),
        }
    if format is AgentFormat.AF:
        data, notes = letta_writer.write_agent(parts)
    else:
        data, notes = native_format.write_agent(parts), ()
    notes += tuple(f"{count} {what} stayed behind" for what, count in not_written.items() if count)
    if len(data) > MAX_BYTES:
        raise TooLarge(
            f"agent {agent.name!r} has {len(data):,} bytes; a file of one agent holds "
            f"{MAX_BYTES:,}. Export the whole store instead"
        )
    write_file(services, path, lambda file: file.write(data))
    counts = _counts(parts)
    return AgentExport(agent=agent, path=str(path), format=format, counts=counts, notes=notes)


def import_agent(services: Services, request: ImportAgentRequest, path: Path) -> AgentImport:
    """Create the agents of a file, all or none; a new name is for a file that holds one."""
    name = None if request.name is None else validate.new_name_of("agent", request.name)
    agents, notes = _read_agents(services, path)
    if name is not None:
        if len(agents) > 1:
            raise InvalidInput(
                f"{path} holds {len(agents)} agents, and name=… is for one. Import it without "
                "name=…, and rename them afterwards"
            )
        agents = [replace(agents[0], agent=replace(agents[0].agent, name=name))]
    names = [parts.agent.name for parts in agents]
    if len(set(names)) < len(names):
        raise ImportRefused(f"{path} holds two agents of one name; nothing was changed")

    def write(tables: Tables) -> list[InsertedAgent]:
        for new_name in names:
            refuse_taken_name(tables, new_name)
        reason = "imported with the agent"
        return [insert_agent(tables, services.clock, parts, reason=reason) for parts in agents]

    try:
        inserted = services.store.write(write)
    except (InvalidInput, EvidenceMissing) as error:
        raise ImportRefused(f"{path} cannot be stored: {error}; nothing was changed") from error
    counts: Counter[str] = Counter(agents=len(inserted))
    for agent in inserted:
        counts.update(agent.counts)
    return AgentImport(
        agent=inserted[0].agent,
        others=tuple(agent.agent for agent in inserted[1:]),
        counts={kind: count for kind, count in sorted(counts.items()) if count},
        conflicts=tuple(conflict for agent in inserted for conflict in agent.conflicts),
        notes=notes,
    )


def _read_agents(services: Services, path: Path) -> tuple[list[AgentParts], tuple[str, ...]]:
    value = read_json(path)
    if native_format.is_native(value):
        return [native_format.read_agent(value, path.name)], ()
    if letta_reader.is_letta(value):
        return letta_reader.read_agents(value, path.name, services.clock.now())
    raise ImportRefused(
        f"{path} does not hold an agent, neither in Recollect's format nor in Letta's; nothing was "
        "changed. A whole store is read by `recollect import`"
    )


def _counts(parts: AgentParts) -> dict[str, int]:
    conversations = parts.conversations
    counts = {
        "blocks": len(parts.blocks) + sum(len(part.blocks) for part in conversations),
        "conversations": len(conversations),
        "messages": sum(len(part.messages) for part in conversations),
        "summaries": sum(len(part.summaries) for part in conversations),
        "pins": sum(len(part.pins) for part in conversations),
        "sources": len(parts.sources),
        "memories": len(parts.memories),
        "links": len(parts.links),
        "skills": len(parts.skills),
    }
    return {kind: count for kind, count in counts.items() if count}
