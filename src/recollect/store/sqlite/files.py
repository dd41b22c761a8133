"""Files that were read once, and which agent has a window of which open, in SQLite."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

import apsw

from recollect.clock import from_micros, to_micros
from recollect.domain.scope import ItemKind, Owner, Scope
from recollect.store.sqlite import queries
from recollect.store.sqlite.rows import Row, rows, to_json
from recollect.store.sqlite.words import SqliteWords
from recollect.store.values import KeptFile, OpenWindow

_SQL = queries.load("files")


class SqliteFiles:
    """See `recollect.store.protocol.Files`."""

    def __init__(self, db: apsw.Connection, words: SqliteWords) -> None:
        self._db = db
        self._words = words

    def at(self, path: str, project_id: str | None) -> KeptFile | None:
        """Return the file at *path*, if it was read before."""
        values = {"path": path, "project_id": project_id}
        row = self._db.execute(_SQL["file_at"], values).fetchone()
        return KeptFile(*row) if row else None

    def get_many(self, file_ids: Sequence[str]) -> list[KeptFile]:
        """Return the files with those ids, in that order; unknown ones are left out."""
        found = self._db.execute(_SQL["files"], {"ids": to_json(list(file_ids))})
        return [KeptFile(*row) for row in found]

    def put(self, file: KeptFile, at: datetime) -> KeptFile:
        """Keep a file as it was just read, findable by words; return it with its lasting id."""
        former = self.at(file.path, file.project_id)
        if former is not None and former.sha256 == file.sha256:
            return former
        owner = Owner(Scope.PROJECT, file.project_id) if file.project_id else None
        values = {"content": file.content, "sha256": file.sha256, "at": to_micros(at)}
        if former is None:
            more = {"id": file.id, "project_id": file.project_id, "path": file.path}
            self._db.execute(_SQL["add_file"], values | more)
            if owner is not None:
                self._words.add(ItemKind.FILE, owner, file.id, _indexed(file))
            return file
        self._words.remove(former.id, _indexed(former))
        self._db.execute(_SQL["set_file"], values | {"id": former.id})
        kept = KeptFile(former.id, file.project_id, file.path, file.content, file.sha256)
        if owner is not None:
            self._words.add(ItemKind.FILE, owner, kept.id, _indexed(kept))
        return kept

    def delete(self, file: KeptFile) -> None:
        """Remove a file that is gone."""
        self._words.remove(file.id, _indexed(file))
        self._db.execute(_SQL["delete_file"], {"id": file.id})

    def paths_of(self, project_id: str) -> list[tuple[str, str]]:
        """Return the id and path of every file that was read for a project."""
        return rows(self._db.execute(_SQL["paths_of"], {"project_id": project_id}))

    def drop_unopened(self) -> None:
        """Forget files of no project that nobody has open any more."""
        self._db.execute(_SQL["drop_unopened"])

    def ids_of(self, seqs: Iterable[int]) -> dict[int, str]:
        """Return which of some items are files, and their ids."""
        return dict(rows(self._db.execute(_SQL["ids_of"], {"seqs": to_json(list(seqs))})))

    def open(self, agent_id: str, window: OpenWindow) -> None:
        """Note that an agent has a window of a file open."""
        values = {
            "agent_id": agent_id,
            "file_id": window.file_id,
            "root": window.root,
            "first_line": window.first_line,
            "last_line": window.last_line,
            "at": to_micros(window.last_accessed_at),
        }
        self._db.execute(_SQL["open"], values)

    def close(self, agent_id: str, file_id: str) -> None:
        """Note that an agent closed a file."""
        self._db.execute(_SQL["close"], {"agent_id": agent_id, "file_id": file_id})

    def touch(self, agent_id: str, file_ids: Iterable[str], at: datetime) -> None:
        """Note that some open files were of use."""
        for file_id in file_ids:
            values: dict[str, Any] = {"agent_id": agent_id, "file_id": file_id, "at": to_micros(at)}
            self._db.execute(_SQL["touch"], values)

    def opened(self, agent_id: str) -> list[OpenWindow]:
        """Return what an agent has open, least recently used first."""
        found = self._db.execute(_SQL["opened"], {"agent_id": agent_id})
        return [_window(row) for row in found]


def indexed_text(path: str, content: str) -> str:
    """Return the words under which a file can be found: its name, its folder's, what it says."""
    # Where the project lies on a machine says nothing about the file.
    named = "/".join(path.replace("\\", "/").split("/")[-2:])
    return f"{named}\n{content}"


def _indexed(file: KeptFile) -> str:
    return indexed_text(file.path, file.content)


def _window(row: Row) -> OpenWindow:
    file_id, project_id, path, root, first_line, last_line, at = row
    return OpenWindow(
        file_id=file_id,
        project_id=project_id,
        path=path,
        root=root,
        first_line=first_line,
        last_line=last_line,
        last_accessed_at=from_micros(at),
    )
