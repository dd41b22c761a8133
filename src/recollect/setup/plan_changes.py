"""
Plan the file changes that set up a client or remove the setup. Nothing is written here.

Removal has three cases. If the file is exactly as setup wrote it, the undo record restores it byte
for byte. If it was changed since, our entries are removed and the rest is kept. If there is no
record, our entries and containers that become empty are removed.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from recollect.errors import AlreadyExists, InvalidInput
from recollect.lazy_dataclass import dataclass
from recollect.setup import json_settings, jsonc_parser, toml_edit
from recollect.setup.invocation import Invocation, parse_server_entry, server_entry
from recollect.setup.jsonc_edit import CreatedParts
from recollect.setup.supported_clients import SERVER_NAME, SettingsFile, SupportedClient
from recollect.setup.text_diff import digest, edits_between
from recollect.setup.undo_records import UndoRecord

COMMENT = "written by `recollect setup`; --remove takes it out"


@dataclass(frozen=True, kw_only=True)
class CurrentSettings:
    """A settings file as it is now: its text (None: no file) and its undo record."""

    file: SettingsFile
    path: Path
    text: str | None
    record: UndoRecord | None = None
    missing_folders: tuple[str, ...] = ()  # to create for it, outermost first


@dataclass(frozen=True, kw_only=True)
class FileChange:
    """The change of one file, and the undo record to store (None: remove the record)."""

    path: Path
    before: str | None
    after: str | None
    record: UndoRecord | None
    removable_folders: tuple[str, ...] = ()  # if they are empty afterwards, outermost first


def plan_setup(
    current: Sequence[CurrentSettings], client: SupportedClient, call: Invocation
) -> list[FileChange]:
    """Return the changes that make *client* use Recollect; [] if it already does."""
    changes = []
    for settings in current:
        try:
            after, created = _add_entries(settings.text or "", settings.file, client, call)
            if after == settings.text:
                continue
            baseline, old_record = _baseline(settings)
        except (jsonc_parser.MalformedJson, toml_edit.MalformedToml) as error:
            raise _unreadable_error(settings.path, error) from error
        except AlreadyExists as error:
            raise AlreadyExists(f"{settings.path}: {error}") from error
        existed = settings.text is not None if old_record is None else old_record.existed
        folders = settings.missing_folders
        if old_record is not None:
            created, folders = old_record.created | created, old_record.created_folders
        original = (baseline or "") if existed else ""
        record = UndoRecord(
            existed=existed,
            written_digest=digest(after),
            original_digest=digest(original),
            undo_edits=tuple(edits_between(after, original)),
            created=created,
            created_folders=folders,
        )
        change = FileChange(path=settings.path, before=settings.text, after=after, record=record)
        changes.append(change)
    return changes


def plan_removal(current: Sequence[CurrentSettings]) -> list[FileChange]:
    """Return the changes that remove everything of ours."""
    changes = []
    for settings in current:
        if settings.text is None:
            continue
        try:
            after = _remove_entries(settings, settings.text)
        except (jsonc_parser.MalformedJson, toml_edit.MalformedToml) as error:
            raise _unreadable_error(settings.path, error) from error
        if after == settings.text:
            continue
        folders = settings.record.created_folders if settings.record and after is None else ()
        change = FileChange(path=settings.path, before=settings.text, after=after, record=None)
        changes.append(replace(change, removable_folders=folders))
    return changes


def is_set_up(current: CurrentSettings) -> bool:
    """Return whether a file contains all our entries."""
    try:
        if current.text is None:
            return False
        if current.file.format == "json":
            return json_settings.has_entries(current.text, current.file)
        table = toml_edit.read_table(current.text, (*current.file.servers_key, SERVER_NAME))
        return parse_server_entry(table) is not None
    except (jsonc_parser.MalformedJson, toml_edit.MalformedToml) as error:
        raise _unreadable_error(current.path, error) from error


def snippet(file: SettingsFile, client: SupportedClient, call: Invocation) -> str:
    """Return the content of a file that has only our entries."""
    return _add_entries("", file, client, call)[0]


def _add_entries(
    text: str, file: SettingsFile, client: SupportedClient, call: Invocation
) -> tuple[str, CreatedParts]:
    if file.format == "toml":
        return _add_table(text, file, call, client=client.name), CreatedParts()
    _require_object(text)
    if file.holds == "server":
        return json_settings.add_server(text, file, call, client=client.name)
    return json_settings.add_hooks(text, file, call, client=client.name)


def _add_table(text: str, file: SettingsFile, call: Invocation, *, client: str) -> str:
    name = (*file.servers_key, SERVER_NAME)
    table = toml_edit.read_table(text, name)
    if table is None:
        entry = server_entry(call.server_command(agent=client), file.entry_shape)
        return toml_edit.add_table(text, name, entry, comment=COMMENT)
    previous = parse_server_entry(table)
    if previous is None:
        raise AlreadyExists(
            f"[{'.'.join(name)}] already exists and does not start Recollect; "
            "rename or remove it, then run this again"
        )
    entry = server_entry(call.server_command(previous), file.entry_shape)
    if all(table.get(key) == value for key, value in entry.items()):
        return text
    return toml_edit.set_values(text, name, entry)


def _baseline(settings: CurrentSettings) -> tuple[str | None, UndoRecord | None]:
    """Return the text after a removal, and the record if it still applies."""
    if settings.text is None:
        return None, None  # a record would be about a file that no longer exists
    without = _remove_entries(settings, settings.text)
    return without, settings.record if without != settings.text else None


def _remove_entries(settings: CurrentSettings, text: str) -> str | None:
    """Return the text without our entries, None if there was no file before setup."""
    record = settings.record
    if record is not None and (restored := record.restore(text)) is not None:
        return restored if record.existed else None
    if settings.file.format == "toml":
        return _remove_table(text, settings)
    _require_object(text)
    after = json_settings.remove_entries(text, settings.file, record.created if record else None)
    if record is not None and after != text and json_settings.has_no_content(after):
        if not record.existed:
            return None
        blank_text = record.created.original_blank_text
        return after if blank_text is None else blank_text
    return after


def _remove_table(text: str, settings: CurrentSettings) -> str | None:
    name = (*settings.file.servers_key, SERVER_NAME)
    if parse_server_entry(toml_edit.read_table(text, name)) is None:
        return text
    after = toml_edit.remove_table(text, name, comment=COMMENT)
    is_removed = settings.record is not None and not settings.record.existed and not after.strip()
    return None if is_removed else after


def _require_object(text: str) -> None:
    if not jsonc_parser.is_blank(text) and jsonc_parser.scan(text).kind != "object":
        raise jsonc_parser.MalformedJson("it is not a JSON object")


def _unreadable_error(path: Path, error: Exception) -> InvalidInput:
    return InvalidInput(
        f"{path} was not changed: {error}. Correct the file, or add the entry by hand "
        "(--print shows it)"
    )
