"""Share an agent of a user with a project: its members then use the copy that the project gets."""

import secrets
import tempfile
from pathlib import Path

from recollect.app.access_rules import NamedRecord
from recollect.app.user_recollect import UserRecollect
from recollect.domain.agent import Agent
from recollect.errors import InvalidInput, NotFound
from recollect.service.agent_files.shareable import remove_private_parts
from recollect.wire.requests.agents import ImportAgentRequest


def share_agent(rec: UserRecollect, name: str, *, project: str) -> Agent:
    """
    Copy an agent with its blocks and passages to a project; its conversations stay private.

    So does what was drawn from them, and earlier values of blocks.

    The user must be a writer of the project. The agent itself stays with the user.
    """
    transport = rec.user_transport
    membership = transport.find_membership(project)
    if membership is None:
        raise NotFound(f"you are not a member of a project {project!r}")
    if transport.membership_with(NamedRecord.AGENT, name) is not None:
        raise InvalidInput(f"the agent {name!r} belongs to a project already")
    agent = rec.agents.get(name)
    with transport.using(membership, writes=True) as space, tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "agent.json"
        copy = rec.agents.clone(
            agent, f"{agent.name[:80]} {secrets.token_hex(4)}", conversations=False
        )
        try:
            rec.agents.export(copy, path)
        finally:
            rec.agents.delete(copy)
        remove_private_parts(path)
        request = ImportAgentRequest.of({"name": agent.name, "trust": True})
        imported = space.transport.upload(request, path)
    return imported.agent
