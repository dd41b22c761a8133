"""
Anthropic's memory tool, kept in Recollect: Claude reads and writes files below /memories.

    from recollect.integrations.anthropic_memory import RecollectMemoryTool

    with RecollectMemoryTool("memory.db", agent="helper") as memory:
        runner = client.beta.messages.tool_runner(tools=[memory], …)

There are no files on disk: each is a document of Recollect, by its path, so no path leads outside.
The replies are those of Anthropic's own tool. Secrets are redacted before a file is stored, and the
reply says so.
"""

import posixpath
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Self

from anthropic.lib.tools import BetaAbstractMemoryTool, BetaAsyncAbstractMemoryTool, ToolError
from anthropic.types.beta import (
    BetaMemoryTool20250818Command,
    BetaMemoryTool20250818CreateCommand,
    BetaMemoryTool20250818DeleteCommand,
    BetaMemoryTool20250818InsertCommand,
    BetaMemoryTool20250818RenameCommand,
    BetaMemoryTool20250818StrReplaceCommand,
    BetaMemoryTool20250818ViewCommand,
)
from pydantic import ValidationError

from recollect.client.run_blocking import run_blocking
from recollect.domain.document import Document
from recollect.errors import RecollectError, RevisionConflict
from recollect.integrations.agent_memory import all_documents
from recollect.integrations.memory_source import MemorySetting, open_memory

ROOT = "/memories"
NAMESPACE = "memory-tool"
NUMBER_WIDTH = 6  # of a line
SNIPPET_LINES = 2  # before and after a change
MAX_LINES = 999_999  # of a file that is shown
MAX_ATTEMPTS = 5  # of an edit that somebody else was faster than
REDACTED = (
    "\nNote: text that looked like a secret, or is no valid Unicode, was removed before storing."
)


class RecollectMemoryTool(BetaAbstractMemoryTool):
    """
    The files of one agent, for `client.beta.messages.tool_runner`.

    *memory* is an open store, the path of a file or the address of a server.
    """

    def __init__(
        self,
        memory: MemorySetting = None,
        *,
        agent: str = "anthropic",
        cache_control: Any = None,
    ) -> None:
        super().__init__(cache_control=cache_control)
        self._rec, self._close = open_memory(memory)
        self._namespace = (NAMESPACE, agent)

    def execute(self, command: BetaMemoryTool20250818Command) -> Any:
        """Run a command of the model; what is wrong with it is a `ToolError`."""
        try:
            return super().execute(_validate_command(command))
        except RecollectError as error:
            raise ToolError(str(error)) from error

    def view(self, command: BetaMemoryTool20250818ViewCommand) -> str:
        """Show a file with line numbers, or the names in a directory."""
        name = _name(command.path)
        document = self._file(name)
        if document is not None:
            return _numbered_file(command.path, document.value, command.view_range)
        inside = self._below(name)
        if name and not inside:
            raise ToolError(f"The path {command.path} does not exist. Please provide a valid path.")
        return _listing(command.path, name, inside)

    def create(self, command: BetaMemoryTool20250818CreateCommand) -> str:
        """Create a file; one that exists is not overwritten."""
        name = _name(command.path)
        self._check_free(name, f"File {command.path} already exists")
        try:
            note = self._write(name, command.file_text, expected_revision=0)
        except RevisionConflict:
            raise ToolError(f"File {command.path} already exists") from None
        return f"File created successfully at: {command.path}{note}"

    def str_replace(self, command: BetaMemoryTool20250818StrReplaceCommand) -> str:
        """Replace a text that occurs once in a file."""
        old, new = command.old_str, command.new_str
        changed_line = 0

        def edit(content: str) -> str:
            nonlocal changed_line
            lines = [content[:at].count("\n") + 1 for at in _positions(content, old)]
            if not lines:
                raise ToolError(
                    f"No replacement was performed, old_str `{old}` did not appear verbatim in "
                    f"{command.path}."
                )
            if content.count(old) > 1:
                listed = ", ".join(map(str, lines))
                raise ToolError(
                    f"No replacement was performed. Multiple occurrences of old_str `{old}` in "
                    f"lines: {listed}. Please ensure it is unique"
                )
            changed_line = lines[0]
            return content.replace(old, new)

        content, note = self._edit(command.path, edit)
        lines = content.split("\n")
        first = max(0, changed_line - 1 - SNIPPET_LINES)
        snippet = _number_lines(lines[first : changed_line + SNIPPET_LINES], first)
        return (
            "The memory file has been edited. Here is the snippet showing the change (with line "
            f"numbers):\n{snippet}{note}"
        )

    def insert(self, command: BetaMemoryTool20250818InsertCommand) -> str:
        """Insert text after a line of a file; line 0 is its beginning."""

        def edit(content: str) -> str:
            lines = content.removesuffix("\n").split("\n") if content else []
            if not 0 <= command.insert_line <= len(lines):
                raise ToolError(
                    f"Invalid `insert_line` parameter: {command.insert_line}. It should be within "
                    f"the range [0, {len(lines)}]."
                )
            lines.insert(command.insert_line, command.insert_text.rstrip("\n"))
            text = "\n".join(lines)
            return text if text.endswith("\n") else f"{text}\n"

        _, note = self._edit(command.path, edit)
        return f"The file {command.path} has been edited.{note}"

    def delete(self, command: BetaMemoryTool20250818DeleteCommand) -> str:
        """Delete a file, or a directory with what is in it."""
        name = _name(command.path)
        if not name:
            raise ToolError(f"Cannot delete the {ROOT} directory itself")
        names = [name] if self._file(name) else [document.key for document in self._below(name)]
        if not names:
            raise ToolError(f"The path {command.path} does not exist")
        for each in names:
            self._rec.documents.delete(self._namespace, each)
        return f"Successfully deleted {command.path}"

    def rename(self, command: BetaMemoryTool20250818RenameCommand) -> str:
        """Move a file or a directory."""
        old, new = _name(command.old_path), _name(command.new_path)
        if not old:
            raise ToolError(f"Cannot rename the {ROOT} directory itself")
        if new.startswith(f"{old}/"):
            raise ToolError(f"Cannot move {command.old_path} into itself")
        self._check_free(new, f"The destination {command.new_path} already exists")
        document = self._file(old)
        moved = [document] if document else self._below(old)
        if not moved:
            raise ToolError(f"The path {command.old_path} does not exist")
        # The new file first: a kill in between leaves two, never none.
        for each in moved:
            self._move(each, new + each.key[len(old) :])
        return f"Successfully renamed {command.old_path} to {command.new_path}"

    def clear_all_memory(self) -> str:
        """Delete every file."""
        for document in self._below(""):
            self._rec.documents.delete(self._namespace, document.key)
        return "All memory cleared"

    def close(self) -> None:
        """Close the memory, unless the caller opened it."""
        self._close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _file(self, name: str) -> Document | None:
        document = self._rec.documents.get(self._namespace, name) if name else None
        return document if document and isinstance(document.value, str) else None

    def _below(self, name: str) -> list[Document]:
        """Return the files in a directory and those below it, by name."""
        prefix = f"{name}/" if name else ""
        inside = [
            document
            for document in all_documents(self._rec, self._namespace)
            if document.key.startswith(prefix) and isinstance(document.value, str)
        ]
        return sorted(inside, key=lambda document: document.key.split("/"))

    def _check_free(self, name: str, message: str) -> None:
        """Raise `ToolError` if a path is a file or a directory, or goes through a file."""
        parts = name.split("/")
        through_file = any(self._file("/".join(parts[:n])) for n in range(1, len(parts) + 1))
        if not name or through_file or self._below(name):
            raise ToolError(message)

    def _write(self, name: str, text: str, expected_revision: int | None = None) -> str:
        """Store a file; return a note for the model if a secret was removed."""
        document = self._rec.documents.put(
            self._namespace, name, text, expected_revision=expected_revision
        )
        return "" if document.value == text else REDACTED

    def _move(self, document: Document, new_name: str) -> None:
        """Move a file, unless somebody else made one there or changed this one."""
        path = f"{ROOT}/{document.key}"
        try:
            self._write(new_name, document.value, expected_revision=0)
        except RevisionConflict:
            raise ToolError(f"The destination {ROOT}/{new_name} already exists") from None
        try:
            self._rec.documents.delete(
                self._namespace, document.key, expected_revision=document.revision
            )
        except RevisionConflict:
            self._rec.documents.delete(self._namespace, new_name)
            raise ToolError(f"The path {path} is being changed by others. Try again.") from None

    def _edit(self, path: str, edit: Callable[[str], str]) -> tuple[str, str]:
        """Change a file; return its content and a note. A change of somebody else is kept."""
        name = _name(path)
        for _ in range(MAX_ATTEMPTS):
            document = self._file(name)
            if document is None:
                if not name or self._below(name):
                    raise ToolError(f"The path {path} is not a file.")
                raise ToolError(f"The path {path} does not exist. Please provide a valid path.")
            content = edit(document.value)
            try:
                return content, self._write(name, content, expected_revision=document.revision)
            except RevisionConflict:
                continue
        raise ToolError(f"The file {path} is being changed by others. Please try again.")


class AsyncRecollectMemoryTool(BetaAsyncAbstractMemoryTool):
    """The memory tool for asynchronous clients; each command runs in a thread."""

    def __init__(
        self, memory: MemorySetting = None, *, agent: str = "anthropic", cache_control: Any = None
    ) -> None:
        super().__init__(cache_control=cache_control)
        self._tool = RecollectMemoryTool(memory, agent=agent)

    async def execute(self, command: BetaMemoryTool20250818Command) -> Any:
        """Run a command of the model; what is wrong with it is a `ToolError`."""
        try:
            return await super().execute(_validate_command(command))
        except RecollectError as error:
            raise ToolError(str(error)) from error

    async def view(self, command: BetaMemoryTool20250818ViewCommand) -> str:
        """Show a file with line numbers, or the names in a directory."""
        return await run_blocking(self._tool.view, command)

    async def create(self, command: BetaMemoryTool20250818CreateCommand) -> str:
        """Create a file; one that exists is not overwritten."""
        return await run_blocking(self._tool.create, command)

    async def str_replace(self, command: BetaMemoryTool20250818StrReplaceCommand) -> str:
        """Replace a text that occurs once in a file."""
        return await run_blocking(self._tool.str_replace, command)

    async def insert(self, command: BetaMemoryTool20250818InsertCommand) -> str:
        """Insert text after a line of a file; line 0 is its beginning."""
        return await run_blocking(self._tool.insert, command)

    async def delete(self, command: BetaMemoryTool20250818DeleteCommand) -> str:
        """Delete a file, or a directory with what is in it."""
        return await run_blocking(self._tool.delete, command)

    async def rename(self, command: BetaMemoryTool20250818RenameCommand) -> str:
        """Move a file or a directory."""
        return await run_blocking(self._tool.rename, command)

    async def clear_all_memory(self) -> str:
        """Delete every file."""
        return await run_blocking(self._tool.clear_all_memory)

    async def close(self) -> None:
        """Close the memory, unless the caller opened it."""
        await run_blocking(self._tool.close)


def _validate_command(command: BetaMemoryTool20250818Command) -> BetaMemoryTool20250818Command:
    """Return a command whose fields have their types: the package does not check a model's call."""
    try:
        return type(command).model_validate(command.model_dump(warnings=False))
    except ValidationError as error:
        first = error.errors()[0]
        name = ".".join(map(str, first["loc"]))
        raise ToolError(f"Invalid `{name}` parameter: {first['msg']}.") from None


def _name(path: str) -> str:
    """Return the name of a file without the root; '' for the root itself."""
    if path != ROOT and not path.startswith(f"{ROOT}/"):
        raise ToolError(f"Path must start with {ROOT}, got: {path}")
    resolved = posixpath.normpath(path)
    if resolved != ROOT and not resolved.startswith(f"{ROOT}/"):
        raise ToolError(f"Path {path} would escape {ROOT} directory")
    return resolved[len(ROOT) + 1 :]


def _positions(content: str, text: str) -> Iterable[int]:
    at = content.find(text)
    while at != -1:
        yield at
        at = content.find(text, at + 1)


def _number_lines(lines: Sequence[str], first: int) -> str:
    return "\n".join(
        f"{str(number).rjust(NUMBER_WIDTH)}\t{line}"
        for number, line in enumerate(lines, start=first + 1)
    )


def _numbered_file(path: str, content: str, view_range: Sequence[int] | None) -> str:
    lines, first = content.split("\n"), 0
    if len(lines) > MAX_LINES:
        raise ToolError(f"File {path} exceeds maximum line limit of {MAX_LINES:,} lines.")
    if view_range and len(view_range) == 2:
        first = max(1, view_range[0]) - 1
        last = len(lines) if view_range[1] == -1 else view_range[1]
        lines = lines[first:last]
    return f"Here's the content of {path} with line numbers:\n{_number_lines(lines, first)}"


def _listing(path: str, name: str, documents: Sequence[Document]) -> str:
    """Return the names in a directory and in those inside it, with their sizes."""
    sizes: dict[str, int] = {}
    for document in documents:
        parts = document.key[len(name) :].lstrip("/").split("/")
        size = len(document.value.encode())
        for depth in range(1, min(2, len(parts)) + 1):
            if any(part.startswith(".") for part in parts[:depth]):
                break
            is_file = depth == len(parts)
            entry = "/".join(parts[:depth]) + ("" if is_file else "/")
            sizes[entry] = sizes.get(entry, 0) + size
    total = sum(len(document.value.encode()) for document in documents)
    head = (
        f"Here're the files and directories up to 2 levels deep in {path}, excluding hidden items:"
    )
    rows = [f"{_size(total)}\t{path}"]
    rows += [f"{_size(size)}\t{path}/{entry}" for entry, size in sizes.items()]
    return "\n".join([head, *rows])


def _size(count: int) -> str:
    """Return a number of bytes as the tool writes it: 12B, 1.5K."""
    if not count:
        return "0B"
    step = min((count.bit_length() - 1) // 10, 3)
    size = count / 1024**step
    return f"{int(size) if size == int(size) else format(size, '.1f')}{'BKMG'[step]}"
