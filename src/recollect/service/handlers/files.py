"""Handlers of the requests for files an agent has open, and search in files."""

from collections.abc import Sequence
from pathlib import Path

from recollect.domain.file import FileHit, FileWindow, GrepPage
from recollect.service import files
from recollect.service.files import FilePlace
from recollect.service.handlers.table import Handlers
from recollect.service.place_lookup import RequestPlace
from recollect.service.services import Services
from recollect.wire.requests.files import (
    CloseFilesRequest,
    ForgetFilesRequest,
    GrepFilesRequest,
    IndexFilesRequest,
    ListOpenFilesRequest,
    OpenFilesRequest,
    SearchFilesRequest,
)


def open_files(services: Services, request: OpenFilesRequest) -> list[FileWindow]:
    return files.open_files(
        services,
        _place(request.agent, request.project, request.roots),
        request.requests,
        most_open=request.most_open,
        close_others=request.close_others,
    )


def list_open_files(services: Services, request: ListOpenFilesRequest) -> list[FileWindow]:
    return files.opened(services, _place(request.agent, None, request.roots))


def close_files(services: Services, request: CloseFilesRequest) -> list[str]:
    return files.close_files(services, _place(request.agent, None, ()), request.paths)


def grep_files(services: Services, request: GrepFilesRequest) -> GrepPage:
    return files.grep(
        services,
        _place(request.agent, request.project, request.roots),
        request.pattern,
        paths=request.paths,
        include=request.include,
        context_lines=request.context_lines,
        offset=request.offset,
    )


def index_files(services: Services, request: IndexFilesRequest) -> int:
    return files.index(
        services, _place(None, request.project, request.roots), include=request.include
    )


def forget_files(services: Services, request: ForgetFilesRequest) -> int:
    return files.forget(services, _place(None, request.project, ()), request.paths)


def search_files(services: Services, request: SearchFilesRequest) -> list[FileHit]:
    return files.search(
        services, _place(None, request.project, ()), request.query, limit=request.limit
    )


def _place(agent: str | None, project: str | None, roots: Sequence[str]) -> FilePlace:
    return FilePlace(
        agent=agent,
        where=RequestPlace.of(project),
        roots=tuple(Path(root) for root in roots),
    )


HANDLERS: Handlers = {
    OpenFilesRequest: open_files,
    ListOpenFilesRequest: list_open_files,
    CloseFilesRequest: close_files,
    GrepFilesRequest: grep_files,
    IndexFilesRequest: index_files,
    ForgetFilesRequest: forget_files,
    SearchFilesRequest: search_files,
}
