"""Requests for files an agent has open, and search in files."""

from collections.abc import Iterable, Mapping
from os import PathLike
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator

from recollect.domain.file import FileHit, FilesReceipt, FileWindow, GrepPage
from recollect.errors import InvalidInput
from recollect.wire import fields
from recollect.wire.request import VerbRequest

MOST_OPEN = 5  # files an agent has open at most, unless it says otherwise


class FileRange(BaseModel):
    """The lines of a file to open."""

    path: fields.PathText
    offset: fields.Offset = 0
    length: Annotated[int, fields.whole_number(1, 10**9)] | None = None


def _file_ranges(value: object) -> tuple[FileRange, ...]:
    if isinstance(value, str | bytes | Mapping) or not isinstance(value, Iterable):
        raise InvalidInput("requests must be a list of files")
    return tuple(_file_range(item) for item in value)


def _file_range(value: Any) -> FileRange:
    if isinstance(value, str | PathLike):
        return FileRange.model_validate({"path": value})
    if isinstance(value, FileRange):
        return value
    names = FileRange.model_fields.keys()
    if not isinstance(value, Mapping) or not {"path"} <= value.keys() <= names:
        raise InvalidInput("each file must be a path, or a dict of path, offset and length")
    return FileRange.model_validate(dict(value))


class OpenFilesRequest(VerbRequest[list[FileWindow]], route="POST /agents/{agent}/files"):
    """Open files for an agent, each a path or `{path, offset, length}` in lines."""

    agent: fields.Id
    requests: Annotated[Any, BeforeValidator(_file_ranges)]
    project: fields.Place | None = None
    roots: fields.Paths = ()
    most_open: Annotated[int, fields.whole_number(1, 100)] = MOST_OPEN
    close_others: fields.Flag = False


class ListOpenFilesRequest(VerbRequest[list[FileWindow]], route="GET /agents/{agent}/files"):
    """Return the files an agent has open, with their current content."""

    agent: fields.Id
    roots: fields.Paths = ()


class CloseFilesRequest(VerbRequest[list[str]], route="POST /agents/{agent}/files/close"):
    """Close some files of an agent, or all; return which."""

    agent: fields.Id
    paths: fields.Paths | None = None


class GrepFilesRequest(VerbRequest[GrepPage], route="POST /files/grep"):
    """Search files by a regular expression, a page at a time, within safe limits."""

    pattern: Annotated[str, fields.text(1_000)]
    agent: fields.Id | None = None
    project: fields.Place | None = None
    roots: fields.Paths = ()
    paths: fields.Paths | None = None
    include: fields.Text | None = None
    context_lines: fields.WholeNumber = 0
    offset: fields.WholeNumber = 0


class IndexFilesRequest(VerbRequest[int], route="POST /files/index"):
    """Index the text of files for semantic search; return how many were read."""

    project: fields.Place | None = None
    roots: fields.Paths = ()
    include: fields.Text | None = None


class ForgetFilesRequest(VerbRequest[FilesReceipt], route="POST /files/forget"):
    """Remove files of a project, or all of them, from the index; return a receipt."""

    paths: fields.Paths | None = None
    project: fields.Place


class SearchFilesRequest(VerbRequest[list[FileHit]], route="POST /files/search"):
    """Return the indexed files that answer *query*, best first."""

    query: fields.Text
    project: fields.Place | None = None
    limit: fields.Limit = 5
