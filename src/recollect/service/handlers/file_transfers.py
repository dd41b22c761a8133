"""Handlers of the requests that write or read a file: exports and imports."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from recollect.domain.agent_transfer import AgentExport, AgentImport
from recollect.domain.maintenance import Imported
from recollect.service import transfer
from recollect.service.moving import portability
from recollect.service.services import Services
from recollect.wire.request import VerbRequest
from recollect.wire.requests.agents import ExportAgentRequest, ImportAgentRequest
from recollect.wire.requests.recollect import ExportRequest, ImportRequest

FileHandler = Callable[[Services, Any, Path], Any]


def export(services: Services, request: ExportRequest, path: Path) -> int:
    return transfer.export(services, path)


def import_(services: Services, request: ImportRequest, path: Path) -> Imported:
    return transfer.import_(services, path)


def export_agent(services: Services, request: ExportAgentRequest, path: Path) -> AgentExport:
    return portability.export_agent(services, request.agent, path, format=request.format)


def import_agent(services: Services, request: ImportAgentRequest, path: Path) -> AgentImport:
    return portability.import_agent(services, path, name=request.name)


FILE_HANDLERS: Mapping[type[VerbRequest[Any]], FileHandler] = {
    ExportRequest: export,
    ImportRequest: import_,
    ExportAgentRequest: export_agent,
    ImportAgentRequest: import_agent,
}
