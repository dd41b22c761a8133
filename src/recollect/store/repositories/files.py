"""Files that were read, and the windows that agents have open."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime

from recollect.domain.scope import ItemKind, Owner, Scope
from recollect.store.database_connection import record_shape
from recollect.store.repositories.repository import IndexedRepository, field_values
from recollect.store.values import OpenFileWindow, StoredFile

_file = record_shape(StoredFile, "id project_id path content sha256")
_WINDOW = "file_id project_id path root first_line last_line last_accessed_at"
_window = record_shape(OpenFileWindow, _WINDOW)


class FileRepository(IndexedRepository):
    """Files that were read, and which agent has which open."""

    _statements = "files"

    def at_path(self, path: str, project_id: str | None) -> StoredFile | None:
        """Return the stored file at *path*, or None."""
        return self._first(_file, "file_at_path", path=path, project_id=project_id)

    def get_many(self, file_ids: Sequence[str]) -> list[StoredFile]:
        """Return the files with those ids, in that order; unknown ids are left out."""
        return self._all(_file, "files", ids=list(file_ids))

    def save(self, file: StoredFile, at: datetime) -> StoredFile:
        """Store and index a file as it was just read; return it with its permanent id."""
        old = self.at_path(file.path, file.project_id)
        if old is not None and old.sha256 == file.sha256:
            return old
        owner = Owner(Scope.PROJECT, file.project_id) if file.project_id else None
        if old is None:
            self._run("add_file", **field_values(file), at=at)
            if owner is not None:
                self._index.add(ItemKind.FILE, owner, file.id, _file_text(file))
            return file
        self._index.remove(old.id, _file_text(old))
        updated = replace(file, id=old.id)
        self._run("set_file", **field_values(updated), at=at)
        if owner is not None:
            self._index.add(ItemKind.FILE, owner, updated.id, _file_text(updated))
        return updated

    def delete(self, file: StoredFile) -> None:
        """Delete a file and its index entry."""
        self._index.remove(file.id, _file_text(file))
        self._run("delete_file", id=file.id)

    def paths_of(self, project_id: str) -> list[tuple[str, str]]:
        """Return id and path of every stored file of a project."""
        return self._rows("paths_of", project_id=project_id)

    def drop_unopened(self) -> None:
        """Delete the files of no project that no agent has open."""
        self._run("drop_unopened")

    def open(self, agent_id: str, window: OpenFileWindow) -> None:
        """Store that an agent has a window of a file open."""
        at = window.last_accessed_at
        self._run("open", **field_values(window), agent_id=agent_id, at=at)

    def close(self, agent_id: str, file_id: str) -> None:
        """Store that an agent closed a file."""
        self._run("close", agent_id=agent_id, file_id=file_id)

    def touch(self, agent_id: str, file_ids: Iterable[str], at: datetime) -> None:
        """Set when some open files were last used."""
        for file_id in file_ids:
            self._run("touch", agent_id=agent_id, file_id=file_id, at=at)

    def open_windows(self, agent_id: str) -> list[OpenFileWindow]:
        """Return the windows an agent has open, least recently used first."""
        return self._all(_window, "open_windows", agent_id=agent_id)


def indexed_text(path: str, content: str) -> str:
    """Return the text of a file that is indexed: folder name, file name and content."""
    # Only the last two parts: the folder of the project says nothing about the file.
    name = "/".join(path.replace("\\", "/").split("/")[-2:])
    return f"{name}\n{content}"


def _file_text(file: StoredFile) -> str:
    return indexed_text(file.path, file.content)
