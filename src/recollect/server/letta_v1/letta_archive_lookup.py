"""
Archives: collections of passages that several agents can share.

A passage belongs to an agent here. So an archive is an agent without a conversation that only
holds passages; its metadata says so, and the routes of agents do not show it. The archive that
every agent has by itself is the agent.
"""

from recollect.app.local_recollect import LocalRecollect
from recollect.domain.agent import Agent
from recollect.domain.agent_transfer import LETTA, SHARED_ARCHIVES
from recollect.errors import NotFound
from recollect.server.letta_v1.letta_agent_metadata import ARCHIVE, with_letta_metadata


def find_archive(rec: LocalRecollect, archive_id: str) -> Agent:
    """Return what holds the passages of an archive: it may be an agent itself."""
    try:
        return rec.agents.get(archive_id)
    except NotFound:
        raise NotFound(
            f"there is no archive {archive_id!r}; GET /v1/archives/ lists them"
        ) from None


def all_archives(rec: LocalRecollect) -> list[Agent]:
    """Return every archive that is not an agent's own, oldest first."""
    archives = (agent for agent in rec.agents.list() if ARCHIVE in agent.metadata)
    return sorted(archives, key=lambda archive: (archive.created_at, archive.id))


def attached_ids(agent: Agent) -> list[str]:
    """Return the ids of the archives that are attached to an agent."""
    letta_metadata = agent.metadata.get(LETTA)
    ids = letta_metadata.get(SHARED_ARCHIVES) if isinstance(letta_metadata, dict) else None
    return [archive_id for archive_id in ids if isinstance(archive_id, str)] if ids else []


def set_attached(rec: LocalRecollect, agent: Agent, archive_ids: list[str]) -> None:
    """Set which archives an agent can search besides its own."""
    letta_metadata = with_letta_metadata(agent, agent.metadata, {}, model=agent.model)[LETTA]
    letta_metadata[SHARED_ARCHIVES] = archive_ids
    rec.agents.update(agent, metadata={**agent.metadata, LETTA: letta_metadata})
