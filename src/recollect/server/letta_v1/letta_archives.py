"""Routes of archives, of their passages, and of the agents that share them."""

from typing import Any

from pydantic import Field
from starlette.responses import Response

from recollect.domain.agent import Agent
from recollect.errors import AlreadyExists, InvalidInput
from recollect.server.letta_v1.letta_agent_lookup import find_agent, numbered_names, require_agent
from recollect.server.letta_v1.letta_agent_metadata import ARCHIVE, shown_name
from recollect.server.letta_v1.letta_archive_lookup import (
    all_archives,
    attached_ids,
    find_archive,
    set_attached,
)
from recollect.server.letta_v1.letta_call import LettaBody, LettaCall, LettaRoute
from recollect.server.letta_v1.letta_ids import letta_id, our_id
from recollect.server.letta_v1.letta_paging import PageQuery, page_of
from recollect.server.letta_v1.letta_passages import (
    NewPassage,
    insert_passage,
    passage_json,
    remove_passage,
)

NAME_PREFIX = "archive: "  # of the agent that holds the passages
NO_CONTENT = 204


class NewArchive(LettaBody):
    """A new archive."""

    name: str = Field(min_length=1)
    description: str | None = None


class ArchivePatch(LettaBody):
    """What can be changed of an archive."""

    name: str | None = None
    description: str | None = None


class ArchiveQuery(PageQuery):
    """Which archives are listed."""

    name: str | None = None
    agent_id: str | None = None


class NewPassages(LettaBody):
    """Several new passages."""

    passages: list[NewPassage]


def create_archive(call: LettaCall) -> Any:
    """Create an archive that no agent shares yet."""
    new = call.body_as(NewArchive)
    for name in numbered_names(f"{NAME_PREFIX}{new.name}"):
        try:
            return _archive_json(
                call.rec.agents.create(
                    name,
                    description=new.description or "",
                    metadata={ARCHIVE: {"name": new.name}},
                    default_blocks=False,
                )
            )
        except AlreadyExists:
            continue
    raise AssertionError("the names do not end")


def list_archives(call: LettaCall) -> Any:
    """Return archives; of an agent, its own and those that it shares."""
    query = call.query_as(ArchiveQuery)
    archives = all_archives(call.rec)
    if query.agent_id is not None:
        agent = find_agent(call.rec, our_id("agent", query.agent_id))
        attached = attached_ids(agent)
        archives = [agent, *(archive for archive in archives if archive.id in attached)]
    archives = [archive for archive in archives if query.name in (None, _name(archive))]
    page = page_of(archives, query, lambda archive: letta_id("archive", archive.id))
    return [_archive_json(archive) for archive in page]


def retrieve_archive(call: LettaCall) -> Any:
    """Return one archive."""
    return _archive_json(_archive(call))


def update_archive(call: LettaCall) -> Any:
    """Change the name or the description of an archive."""
    archive, change = _require_standalone(call), call.body_as(ArchivePatch)
    name = change.name or _name(archive)
    description = archive.description if change.description is None else change.description
    metadata = {**archive.metadata, ARCHIVE: {"name": name}}
    return _archive_json(
        call.rec.agents.update(archive, description=description, metadata=metadata)
    )


def delete_archive(call: LettaCall) -> Any:
    """Delete an archive and its passages."""
    call.rec.agents.delete(_require_standalone(call))
    return Response(status_code=NO_CONTENT)


def create_passage(call: LettaCall) -> Any:
    """Store a passage in an archive."""
    return passage_json(insert_passage(call.rec, _archive(call), call.body_as(NewPassage)))


def create_passages(call: LettaCall) -> Any:
    """Store several passages in an archive."""
    archive, new = _archive(call), call.body_as(NewPassages)
    return [passage_json(insert_passage(call.rec, archive, passage)) for passage in new.passages]


def delete_passage(call: LettaCall) -> Any:
    """Delete a passage of an archive."""
    remove_passage(call.rec, _archive(call), call.path_id("passage_id", "passage"))
    return Response(status_code=NO_CONTENT)


def attach_archive(call: LettaCall) -> Any:
    """Let an agent search an archive."""
    agent, archive = require_agent(call), _archive(call)
    attached = attached_ids(agent)
    if archive.id not in (agent.id, *attached):
        set_attached(call.rec, agent, [*attached, archive.id])


def detach_archive(call: LettaCall) -> Any:
    """Stop an agent from searching an archive; the archive stays."""
    agent, archive = require_agent(call), _archive(call)
    attached = attached_ids(agent)
    set_attached(call.rec, agent, [other for other in attached if other != archive.id])


def _archive(call: LettaCall) -> Agent:
    return find_archive(call.rec, call.path_id("archive_id", "archive"))


def _require_standalone(call: LettaCall) -> Agent:
    archive = _archive(call)
    if ARCHIVE not in archive.metadata:
        raise InvalidInput(
            f"the archive of agent {archive.name!r} is its own; change or delete the agent instead"
        )
    return archive


def _name(archive: Agent) -> str:
    own = archive.metadata.get(ARCHIVE)
    return own["name"] if isinstance(own, dict) else f"{shown_name(archive)}'s archive"


def _archive_json(archive: Agent) -> dict[str, Any]:
    return {
        "id": letta_id("archive", archive.id),
        "name": _name(archive),
        "description": archive.description,
        "metadata": {},
        "embedding_config": None,
        "vector_db_provider": "native",
        "created_at": archive.created_at.isoformat(),
        "updated_at": archive.updated_at.isoformat(),
    }


_ONE = "/archives/{archive_id}"
_OF_AGENT = "/agents/{agent_id}/archives"
ROUTES = (
    LettaRoute("POST", "/archives", create_archive),
    LettaRoute("GET", "/archives", list_archives),
    LettaRoute("GET", _ONE, retrieve_archive),
    LettaRoute("PATCH", _ONE, update_archive),
    LettaRoute("DELETE", _ONE, delete_archive),
    LettaRoute("POST", f"{_ONE}/passages", create_passage),
    LettaRoute("POST", f"{_ONE}/passages/batch", create_passages),
    LettaRoute("DELETE", f"{_ONE}/passages/{{passage_id}}", delete_passage),
    LettaRoute("PATCH", f"{_OF_AGENT}/attach/{{archive_id}}", attach_archive),
    LettaRoute("PATCH", f"{_OF_AGENT}/detach/{{archive_id}}", detach_archive),
)
