"""Handlers of the requests that write or read a file."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from recollect.service import transfer
from recollect.service.agent_files import export_import
from recollect.service.services import Services
from recollect.wire.request import VerbRequest
from recollect.wire.requests.agents import ExportAgentRequest, ImportAgentRequest
from recollect.wire.requests.recollect import ExportRequest, ImportRequest

FileHandler = Callable[[Services, Any, Path], Any]

FILE_HANDLERS: Mapping[type[VerbRequest[Any]], FileHandler] = {
    ExportRequest: transfer.export,
    ImportRequest: transfer.import_,
    ExportAgentRequest: export_import.export_agent,
    ImportAgentRequest: export_import.import_agent,
}
