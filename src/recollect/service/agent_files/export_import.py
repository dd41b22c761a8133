"""
Export an agent to a file and import agents from one, in our own format or Letta's.

The format of an import is detected from its content. The file is validated before anything is
written; then the agents are written in bounded steps, so that other writers pass between them. If
the store refuses a value, what was written is deleted again. After a kill the same import replaces
the incomplete agent.

A file is a new agent that a person installs by a command of its own, like a program: its prompt,
blocks, archive and conversations arrive as they are, redacted, and are told to that agent only. A
file that is not trusted claims no git remote for its projects, and its size is bounded. No file
brings approvals of tools along: only a person of this store gives them.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from recollect.domain.agent import Agent
from recollect.domain.agent_transfer import (
    APPROVAL_S,
    APPROVED,
    EDITS_SHARED,
    RUNTIME,
    AgentExport,
    AgentFormat,
    AgentImport,
)
from recollect.domain.unfinished_work import UnfinishedWork, WorkKind
from recollect.errors import EvidenceMissing, ImportRefused, InvalidInput, TooLarge
from recollect.service import validate
from recollect.service.agent_files import letta_reader, letta_writer, native_format
from recollect.service.agent_files.insert import (
    AgentInsertion,
    InsertedAgent,
    refuse_taken_name,
)
from recollect.service.agent_files.json_file import (
    MAX_BYTES,
    TRUSTED_FILE,
    UNTRUSTED_FILE,
    JsonBounds,
    read_json,
)
from recollect.service.agent_files.model import AgentParts, gather, links_outside
from recollect.service.agents import require_agent
from recollect.service.delete_agent import delete_agent
from recollect.service.services import Services
from recollect.service.transfer import write_file
from recollect.store.bounded_steps import StepBudget, run_in_steps
from recollect.store.protocol import Tables
from recollect.wire.fields import parse_member
from recollect.wire.requests.agents import (
    DeleteAgentRequest,
    ExportAgentRequest,
    ImportAgentRequest,
)

# Of the metadata of an agent: they lower the guard, so no file brings them.
GUARD_SETTINGS = (APPROVED, APPROVAL_S, EDITS_SHARED)
ROWS_OF_A_PIECE = 3  # about how many rows a message or a memory is


def export_agent(services: Services, request: ExportAgentRequest, path: Path) -> AgentExport:
    """Write one agent to *path*, complete or not at all."""
    format = parse_member("format", AgentFormat, request.format)
    if services.store.file is not None and services.store.file.is_encrypted and not request.plain:
        raise InvalidInput(
            "the store is encrypted, and the file of an agent is not. Pass --plain (plain=True) to "
            "write it anyway, or export the whole store, which is encrypted"
        )
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
    write_file(services, path, lambda file: file.write(data), plain=True)
    counts = _counts(parts)
    return AgentExport(agent=agent, path=str(path), format=format, counts=counts, notes=notes)


def import_agent(services: Services, request: ImportAgentRequest, path: Path) -> AgentImport:
    """Create the agents of a file, all or none; a new name is for a file that holds one."""
    name = None if request.name is None else validate.new_name_of("agent", request.name)
    agents, notes = _read_agents(services, path, TRUSTED_FILE if request.trust else UNTRUSTED_FILE)
    if name is not None:
        if len(agents) > 1:
            raise InvalidInput(
                f"{path} holds {len(agents)} agents, and name=… is for one. Import it without "
                "name=…, and rename them afterwards"
            )
        agents = [replace(agents[0], agent=replace(agents[0].agent, name=name))]
    notes += tuple(note for parts in agents for note in _dropped_settings(parts.agent))
    agents = [replace(parts, agent=_without_guard_settings(parts.agent)) for parts in agents]
    names = [parts.agent.name for parts in agents]
    if len(set(names)) < len(names):
        raise ImportRefused(f"{path} holds two agents of one name; nothing was changed")
    _delete_incomplete(services, names)
    with services.store.read() as tables:
        for new_name in names:
            refuse_taken_name(tables, new_name)
        if not request.trust:
            agents = [_without_new_remotes(tables, parts) for parts in agents]
    try:
        inserted = _insert_in_steps(services, agents, path)
    except (InvalidInput, EvidenceMissing) as error:
        _delete_incomplete(services, names)
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


def _insert_in_steps(
    services: Services, agents: Sequence[AgentParts], path: Path
) -> list[InsertedAgent]:
    insertions: list[AgentInsertion] = []
    works: list[UnfinishedWork] = []

    def pieces(tables: Tables) -> Iterator[int]:
        for parts in agents:
            insertion = AgentInsertion(tables, services.clock)
            insertions.append(insertion)
            yield from insertion.add_agent(parts, "imported with the agent")

    left: Iterator[int] | None = None

    def step(tables: Tables, budget: StepBudget) -> bool:
        nonlocal left
        left = pieces(tables) if left is None else left
        for insertion in insertions[-1:]:
            insertion.use_tables(tables)
        for chars in left:
            if len(works) < len(insertions):
                works.append(_unfinished(insertions[-1].agent, path, services))
                tables.unfinished_work.add(works[-1])
            budget.spend(rows=ROWS_OF_A_PIECE, chars=chars)
            if budget.is_exhausted:
                return True
        for work in works:
            tables.unfinished_work.remove(work.kind, work.subject)
        return False

    run_in_steps(services.store, step)
    return [insertion.result() for insertion in insertions]


def _unfinished(agent: Agent, path: Path, services: Services) -> UnfinishedWork:
    started_at = services.clock.now()
    return UnfinishedWork(
        kind=WorkKind.IMPORT, subject=agent.id, detail=str(path), started_at=started_at
    )


def _delete_incomplete(services: Services, names: Sequence[str]) -> None:
    """Delete the agents of these names whose import was interrupted or refused."""
    with services.store.read() as tables:
        unfinished = {work.subject for work in tables.unfinished_work.all(WorkKind.IMPORT)}
        agents = [tables.agents.by_name(name) for name in names]
    for agent in agents:
        if agent is not None and agent.id in unfinished:
            delete_agent(services, DeleteAgentRequest(agent=agent.id))
            services.store.write(partial(_remove_unfinished, agent.id))


def _remove_unfinished(agent_id: str, tables: Tables) -> None:
    tables.unfinished_work.remove(WorkKind.IMPORT, agent_id)


def _dropped_settings(agent: Agent) -> Iterator[str]:
    own = agent.metadata.get(RUNTIME)
    for name in GUARD_SETTINGS:
        if isinstance(own, Mapping) and name in own:
            yield (
                f"agent {agent.name!r}: {name} of the file was not taken over; only you decide "
                "what an agent may do here without asking"
            )


def _without_guard_settings(agent: Agent) -> Agent:
    """Return *agent* without settings that would lower the guard of this store."""
    own = agent.metadata.get(RUNTIME)
    if not isinstance(own, Mapping):
        return agent
    runtime = {name: value for name, value in own.items() if name not in GUARD_SETTINGS}
    return replace(agent, metadata={**agent.metadata, RUNTIME: runtime})


def _without_new_remotes(tables: Tables, parts: AgentParts) -> AgentParts:
    """Return *parts* without git remotes that this store does not know: a file cannot claim one."""
    repos = tuple(
        repo if tables.projects.repo_by_remote(repo.remote) else replace(repo, remote="")
        for repo in parts.repos
    )
    return replace(parts, repos=repos)


def _read_agents(
    services: Services, path: Path, bounds: JsonBounds
) -> tuple[list[AgentParts], tuple[str, ...]]:
    file = services.store.file
    value = read_json(path, bounds, None if file is None else file.read_encrypted)
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
