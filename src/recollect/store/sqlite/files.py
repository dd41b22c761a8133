"""Files that were read, and the windows that agents have open, in SQLite."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime

from recollect.domain.scope import ItemKind, Owner, Scope
from recollect.store.sqlite import query_loader
from recollect.store.sqlite.row_conversion import Row
from recollect.store.sqlite.table import SqliteIndexedTable, field_values, row_parser
from recollect.store.values import OpenFileWindow, StoredFile

_WINDOW = "file_id project_id path root first_line last_line last_accessed_at"
_window = row_parser(OpenFileWindow, _WINDOW)


class SqliteFileTable(SqliteIndexedTable):
    """See `recollect.store.protocol.FileTable`."""

    _sql = query_loader.load("files")

    def at_path(self, path: str, project_id: str | None) -> StoredFile | None:
        return self._first(_file, "file_at_path", path=path, project_id=project_id)

    def get_many(self, file_ids: Sequence[str]) -> list[StoredFile]:
        return self._all(_file, "files", ids=list(file_ids))

    def save(self, file: StoredFile, at: datetime) -> StoredFile:
        former = self.at_path(file.path, file.project_id)
        if former is not None and former.sha256 == file.sha256:
            return former
        owner = Owner(Scope.PROJECT, file.project_id) if file.project_id else None
        if former is None:
            self._run("add_file", **field_values(file), at=at)
            if owner is not None:
                self._word_index.add(ItemKind.FILE, owner, file.id, _file_text(file))
            return file
        self._word_index.remove(former.id, _file_text(former))
        updated = replace(file, id=former.id)
        self._run("set_file", **field_values(updated), at=at)
        if owner is not None:
            self._word_index.add(ItemKind.FILE, owner, updated.id, _file_text(updated))
        return updated

    def delete(self, file: StoredFile) -> None:
        self._word_index.remove(file.id, _file_text(file))
        self._run("delete_file", id=file.id)

    def paths_of(self, project_id: str) -> list[tuple[str, str]]:
        return self._rows("paths_of", project_id=project_id)

    def drop_unopened(self) -> None:
        self._run("drop_unopened")

    def file_ids_of(self, item_ids: Iterable[int]) -> dict[int, str]:
        return dict(self._rows("file_ids_of", item_ids=list(item_ids)))

    def open(self, agent_id: str, window: OpenFileWindow) -> None:
        at = window.last_accessed_at
        self._run("open", **field_values(window), agent_id=agent_id, at=at)

    def close(self, agent_id: str, file_id: str) -> None:
        self._run("close", agent_id=agent_id, file_id=file_id)

    def touch(self, agent_id: str, file_ids: Iterable[str], at: datetime) -> None:
        for file_id in file_ids:
            self._run("touch", agent_id=agent_id, file_id=file_id, at=at)

    def open_windows(self, agent_id: str) -> list[OpenFileWindow]:
        return self._all(_window, "open_windows", agent_id=agent_id)


def indexed_text(path: str, content: str) -> str:
    """Return the text of a file that is indexed: folder name, file name and content."""
    # Only the last two parts: the folder of the project says nothing about the file.
    name = "/".join(path.replace("\\", "/").split("/")[-2:])
    return f"{name}\n{content}"


def _file_text(file: StoredFile) -> str:
    return indexed_text(file.path, file.content)


def _file(row: Row) -> StoredFile:
    return StoredFile(*row)
