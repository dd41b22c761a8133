"""Requests for files an agent has open, and search in files."""

from recollect.domain.file import FileHit, FileWindow, GrepPage
from recollect.wire.fields import Flag, Id, Json, Paths, Place, Text, WholeNumber
from recollect.wire.request import VerbRequest

MOST_OPEN = 5  # files an agent has open at most, unless it says otherwise


class OpenFilesRequest(VerbRequest[list[FileWindow]], route="POST /agents/{agent}/files"):
    """Open files for an agent, each a path or `{path, offset, length}` in lines."""

    agent: Id
    requests: Json
    project: Place | None = None
    roots: Paths = ()
    most_open: WholeNumber = MOST_OPEN
    close_others: Flag = False


class ListOpenFilesRequest(VerbRequest[list[FileWindow]], route="GET /agents/{agent}/files"):
    """Return what an agent has open, as it stands on disk now."""

    agent: Id
    roots: Paths = ()


class CloseFilesRequest(VerbRequest[list[str]], route="POST /agents/{agent}/files/close"):
    """Close some files of an agent, or all; return which."""

    agent: Id
    paths: Paths | None = None


class GrepFilesRequest(VerbRequest[GrepPage], route="POST /files/grep"):
    """Search files by a regular expression, a page at a time, within safe limits."""

    pattern: Text
    agent: Id | None = None
    project: Place | None = None
    roots: Paths = ()
    paths: Paths | None = None
    include: Text | None = None
    context_lines: WholeNumber = 0
    offset: WholeNumber = 0


class IndexFilesRequest(VerbRequest[int], route="POST /files/index"):
    """Keep the text of files for search by meaning; return how many were read."""

    project: Place | None = None
    roots: Paths = ()
    include: Text | None = None


class ForgetFilesRequest(VerbRequest[int], route="POST /files/forget"):
    """Remove what is kept of a project's files, of all or of some; return how many."""

    paths: Paths | None = None
    project: Place


class SearchFilesRequest(VerbRequest[list[FileHit]], route="POST /files/search"):
    """Return the files read before that answer *query*, by words and meaning."""

    query: Text
    project: Place | None = None
    limit: WholeNumber = 5
