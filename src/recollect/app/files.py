"""Verbs about files: windows an agent has open, search in them."""

from collections.abc import Mapping, Sequence
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from recollect.app.agents import AgentLike
from recollect.app.given import Place, Verbs, path_of
from recollect.domain.file import FileHit, FileWindow, GrepPage
from recollect.errors import InvalidInput
from recollect.service import files
from recollect.service.files import MOST_OPEN, FilePlace
from recollect.service.places import Where

FileRequest = str | PathLike[str] | Mapping[str, Any]
Roots = Sequence[str | PathLike[str]]


class FileVerbs(Verbs):
    """Verbs about files. Only what lies in *roots*, or in the project's folder, is read."""

    def open_files(
        self,
        agent: AgentLike,
        requests: Sequence[FileRequest],
        *,
        project: Place = None,
        roots: Roots = (),
        most_open: int = MOST_OPEN,
        close_others: bool = False,
    ) -> list[FileWindow]:
        """
        Open files for an agent, each a path or `{path, offset, length}` in lines.

        When more than *most_open* would be open, the least recently used are closed.
        """
        wanted = [_request(one) for one in requests]
        return files.open_files(
            self._deps,
            _place(agent, project, roots),
            wanted,
            most_open=most_open,
            close_others=close_others,
        )

    def opened_files(self, agent: AgentLike, *, roots: Roots = ()) -> list[FileWindow]:
        """Return what an agent has open, as it stands on disk now."""
        return files.opened(self._deps, _place(agent, None, roots))

    def close_files(
        self, agent: AgentLike, paths: Sequence[str | PathLike[str]] | None = None
    ) -> list[str]:
        """Close some files of an agent, or all; return which."""
        wanted = None if paths is None else [fspath(path) for path in paths]
        return files.close_files(self._deps, _place(agent, None, ()), wanted)

    def grep_files(
        self,
        pattern: str,
        *,
        agent: AgentLike | None = None,
        project: Place = None,
        roots: Roots = (),
        paths: Sequence[str | PathLike[str]] | None = None,
        include: str | None = None,
        context_lines: int = 0,
        offset: int = 0,
    ) -> GrepPage:
        """Search files by a regular expression, a page at a time, within safe limits."""
        return files.grep(
            self._deps,
            _place(agent, project, roots),
            pattern,
            paths=None if paths is None else [fspath(path) for path in paths],
            include=include,
            context_lines=context_lines,
            offset=offset,
        )

    def index_files(
        self, *, project: Place = None, roots: Roots = (), include: str | None = None
    ) -> int:
        """Keep the text of files for search by meaning; return how many were read."""
        return files.index(self._deps, _place(None, project, roots), include=include)

    def forget_files(
        self, paths: Sequence[str | PathLike[str]] | None = None, *, project: Place
    ) -> int:
        """Remove what is kept of a project's files, of all or of some; return how many."""
        wanted = None if paths is None else [fspath(path) for path in paths]
        return files.forget(self._deps, _place(None, project, ()), wanted)

    def search_files(self, query: str, *, project: Place = None, limit: int = 5) -> list[FileHit]:
        """Return the files read before that answer *query*, by words and meaning."""
        return files.search(self._deps, _place(None, project, ()), query, limit=limit)


def _request(one: FileRequest) -> Mapping[str, Any] | str:
    if isinstance(one, Mapping):
        return one
    if not isinstance(one, str | PathLike):
        raise InvalidInput("each file must be a path, or a dict of path, offset and length")
    return fspath(one)


def _place(agent: AgentLike | None, project: Place, roots: Roots) -> FilePlace:
    return FilePlace(
        agent=agent,
        where=Where.of(path_of(project), None, None, None),
        roots=tuple(Path(root) for root in roots),
    )
