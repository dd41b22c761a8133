"""Files that were read, and the windows that agents have open, in SQLite."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

import apsw

from recollect.clock import from_micros, to_micros
from recollect.domain.scope import ItemKind, Owner, Scope
from recollect.store.sqlite import query_loader
from recollect.store.sqlite.row_conversion import Row, fetch_all, to_json
from recollect.store.sqlite.word_index import SqliteWordIndex
from recollect.store.values import OpenFileWindow, StoredFile

_SQL = query_loader.load("files")


class SqliteFileTable:
    """See `recollect.store.protocol.FileTable`."""

    def __init__(self, db: apsw.Connection, word_index: SqliteWordIndex) -> None:
        self._db = db
        self._word_index = word_index

    def at_path(self, path: str, project_id: str | None) -> StoredFile | None:
        values = {"path": path, "project_id": project_id}
        row = self._db.execute(_SQL["file_at_path"], values).fetchone()
        return StoredFile(*row) if row else None

    def get_many(self, file_ids: Sequence[str]) -> list[StoredFile]:
        rows = self._db.execute(_SQL["files"], {"ids": to_json(list(file_ids))})
        return [StoredFile(*row) for row in rows]

    def save(self, file: StoredFile, at: datetime) -> StoredFile:
        former = self.at_path(file.path, file.project_id)
        if former is not None and former.sha256 == file.sha256:
            return former
        owner = Owner(Scope.PROJECT, file.project_id) if file.project_id else None
        values = {"content": file.content, "sha256": file.sha256, "at": to_micros(at)}
        if former is None:
            identity = {"id": file.id, "project_id": file.project_id, "path": file.path}
            self._db.execute(_SQL["add_file"], values | identity)
            if owner is not None:
                self._word_index.add(ItemKind.FILE, owner, file.id, _file_text(file))
            return file
        self._word_index.remove(former.id, _file_text(former))
        self._db.execute(_SQL["set_file"], values | {"id": former.id})
        updated = StoredFile(former.id, file.project_id, file.path, file.content, file.sha256)
        if owner is not None:
            self._word_index.add(ItemKind.FILE, owner, updated.id, _file_text(updated))
        return updated

    def delete(self, file: StoredFile) -> None:
        self._word_index.remove(file.id, _file_text(file))
        self._db.execute(_SQL["delete_file"], {"id": file.id})

    def paths_of(self, project_id: str) -> list[tuple[str, str]]:
        return fetch_all(self._db.execute(_SQL["paths_of"], {"project_id": project_id}))

    def drop_unopened(self) -> None:
        self._db.execute(_SQL["drop_unopened"])

    def file_ids_of(self, item_ids: Iterable[int]) -> dict[int, str]:
        return dict(
            fetch_all(self._db.execute(_SQL["file_ids_of"], {"item_ids": to_json(list(item_ids))}))
        )

    def open(self, agent_id: str, window: OpenFileWindow) -> None:
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
        self._db.execute(_SQL["close"], {"agent_id": agent_id, "file_id": file_id})

    def touch(self, agent_id: str, file_ids: Iterable[str], at: datetime) -> None:
        for file_id in file_ids:
            values: dict[str, Any] = {"agent_id": agent_id, "file_id": file_id, "at": to_micros(at)}
            self._db.execute(_SQL["touch"], values)

    def open_windows(self, agent_id: str) -> list[OpenFileWindow]:
        rows = self._db.execute(_SQL["open_windows"], {"agent_id": agent_id})
        return [_window(row) for row in rows]


def indexed_text(path: str, content: str) -> str:
    """Return the text of a file that is indexed: folder name, file name and content."""
    # Only the last two parts: the folder of the project says nothing about the file.
    name = "/".join(path.replace("\\", "/").split("/")[-2:])
    return f"{name}\n{content}"


def _file_text(file: StoredFile) -> str:
    return indexed_text(file.path, file.content)


def _window(row: Row) -> OpenFileWindow:
    file_id, project_id, path, root, first_line, last_line, at = row
    return OpenFileWindow(
        file_id=file_id,
        project_id=project_id,
        path=path,
        root=root,
        first_line=first_line,
        last_line=last_line,
        last_accessed_at=from_micros(at),
    )
