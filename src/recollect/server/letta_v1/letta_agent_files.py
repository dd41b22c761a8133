"""Routes of agent files: an agent as Letta's `.af`, and agents from such a file."""

import json
from contextlib import closing
from dataclasses import replace
from typing import Any

from starlette.responses import Response

from recollect.app.local_recollect import LocalRecollect
from recollect.domain.agent_transfer import AgentImport
from recollect.errors import AlreadyExists, InvalidInput, RecollectError
from recollect.server.letta_v1.letta_agent_lookup import numbered_names, require_agent
from recollect.server.letta_v1.letta_agent_metadata import with_letta_metadata
from recollect.server.letta_v1.letta_call import LettaCall, LettaQuery, LettaRoute
from recollect.server.letta_v1.letta_ids import letta_id
from recollect.server.transfer_files import TransferFolder, UploadedFile
from recollect.wire.file_transfer import UPLOADED_FILE

COPY_SUFFIX = "_copy"


class ExportQuery(LettaQuery):
    """What is exported."""

    scrub_messages: bool = False


class ImportForm(LettaQuery):
    """How a file is imported; Letta's newer names come first."""

    name: str | None = None
    override_name: str | None = None
    model: str | None = None
    override_model_handle: str | None = None
    append_copy_suffix: bool = False
    strip_messages: bool = False


def export_agent(call: LettaCall) -> Any:
    """Return the agent file of an agent."""
    agent, query = require_agent(call), call.query_as(ExportQuery)
    with closing(TransferFolder(call.rec)) as folder:
        path = folder.path / "agent.af"
        # That of an encrypted store is refused: these files are readable.
        call.rec.agents.export(agent, path, format="af")
        content = path.read_bytes()
    if not query.scrub_messages:
        return Response(content, media_type="application/json")
    return _without_messages(json.loads(content))


def import_agents(call: LettaCall) -> Any:
    """Create the agents of an uploaded file."""
    if "file" not in call.files:
        raise InvalidInput("there is no file: send it as the part `file` of a form")
    texts = {name: [value.decode("utf-8", "replace")] for name, value in call.files.items()}
    fields = {name: text for name, text in texts.items() if name != "file"}
    form = replace(call, query=fields).query_as(ImportForm)
    content = call.files["file"]
    if form.strip_messages:
        content = json.dumps(_without_messages(_parse_json(content))).encode()
    letta_name = form.name or form.override_name
    if form.append_copy_suffix:
        letta_name = f"{letta_name or _name_in(content)}{COPY_SUFFIX}"
    imported = _import(call.rec, content, letta_name)
    agents = (imported.agent, *imported.others)
    model = form.model or form.override_model_handle
    if model:
        for agent in agents:
            call.rec.agents.update(agent, model=model)
    return {"agent_ids": [letta_id("agent", agent.id) for agent in agents]}


def _import(rec: LocalRecollect, content: bytes, letta_name: str | None) -> AgentImport:
    """Import a file. If there is an agent of its name, ours has a number; Letta's stays."""
    with closing(TransferFolder(rec)) as folder:
        path = folder.path / "agent.af"
        with UploadedFile(path, rec) as file:
            file.write(content)
        try:
            try:
                return rec.agents.import_(path, letta_name)
            except AlreadyExists:
                letta_name = letta_name or _name_in(content)
            used_names = {agent.name for agent in rec.agents.list()}
            name = next(name for name in numbered_names(letta_name) if name not in used_names)
            imported = rec.agents.import_(path, name)
        except RecollectError as error:
            error.args = (str(error).replace(str(path), UPLOADED_FILE),)
            raise
    agent = imported.agent
    metadata = with_letta_metadata(
        agent, agent.metadata, {}, model=agent.model, names=(name, letta_name)
    )
    return replace(imported, agent=rec.agents.update(agent, metadata=metadata))


def _name_in(content: bytes) -> str:
    file = _parse_json(content)
    agents = file.get("agents") if isinstance(file, dict) else None
    agent = agents[0] if isinstance(agents, list) and agents else file
    name = agent.get("name") if isinstance(agent, dict) else None
    return name if isinstance(name, str) and name else "agent"


def _parse_json(content: bytes) -> Any:
    try:
        value = json.loads(content)
        return json.loads(value) if isinstance(value, str) else value
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"the file is not JSON: {error}") from None


def _without_messages(file: Any) -> Any:
    agents = file.get("agents") if isinstance(file, dict) else None
    for agent in agents if isinstance(agents, list) else ():
        if isinstance(agent, dict):
            agent |= {"messages": [], "in_context_message_ids": []}
    return file


ROUTES = (
    LettaRoute("GET", "/agents/{agent_id}/export", export_agent),
    LettaRoute("POST", "/agents/import", import_agents),
)
