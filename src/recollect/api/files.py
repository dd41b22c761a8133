"""Files an agent has open, and search in files."""

from collections.abc import Sequence

from recollect.api.arguments import AgentLike, FilePath, FileRequest, Place
from recollect.api.verb_group import VerbGroup
from recollect.domain.file import FileHit, FilesReceipt, FileWindow, GrepPage
from recollect.wire.requests import files as file_requests
from recollect.wire.requests.files import MOST_OPEN


class Files(VerbGroup):
    """
    Open, index and search files for agents.

    Only files below *roots*, or below the project's folder, are read.
    """

    def open(
        self,
        agent: AgentLike,
        requests: Sequence[FileRequest],
        *,
        project: Place = None,
        roots: Sequence[FilePath] = (),
        most_open: int = MOST_OPEN,
        close_others: bool = False,
    ) -> list[FileWindow]:
        """Open files for an agent, each a path or `{path, offset, length}` in lines.

        If more than *most_open* would be open, the least recently used are closed.
        """
        return self._send(file_requests.OpenFilesRequest, locals())

    def list_open(self, agent: AgentLike, *, roots: Sequence[FilePath] = ()) -> list[FileWindow]:
        """Return the files an agent has open, with their current content."""
        return self._send(file_requests.ListOpenFilesRequest, locals())

    def close(self, agent: AgentLike, paths: Sequence[FilePath] | None = None) -> list[str]:
        """Close some files of an agent, or all; return their paths."""
        return self._send(file_requests.CloseFilesRequest, locals())

    def grep(
        self,
        pattern: str,
        *,
        agent: AgentLike | None = None,
        project: Place = None,
        roots: Sequence[FilePath] = (),
        paths: Sequence[FilePath] | None = None,
        include: str | None = None,
        context_lines: int = 0,
        offset: int = 0,
    ) -> GrepPage:
        """Search files by a regular expression, one page at a time, within safety limits."""
        return self._send(file_requests.GrepFilesRequest, locals())

    def index(
        self, *, project: Place = None, roots: Sequence[FilePath] = (), include: str | None = None
    ) -> int:
        """Index the text of files for semantic search; return how many were read."""
        return self._send(file_requests.IndexFilesRequest, locals())

    def forget(self, paths: Sequence[FilePath] | None = None, *, project: Place) -> FilesReceipt:
        """
        Remove files of a project, or all of them, from the index; return a receipt.

        Logged queries that met them or have words that only they have are blanked. The files stay
        on disk.
        """
        return self._send(file_requests.ForgetFilesRequest, locals())

    def search(self, query: str, *, project: Place = None, limit: int = 5) -> list[FileHit]:
        """Return the indexed files that answer *query*, best first."""
        return self._send(file_requests.SearchFilesRequest, locals())
