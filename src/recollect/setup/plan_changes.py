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
    """
    A settings file as it is now: its text (None: no file) and its undo record.

    *files* says what setup writes into it, *parts* which of that is to be added or removed.
    """

    files: tuple[SettingsFile, ...]
    parts: tuple[str, ...]
    path: Path
    text: str | None
    record: UndoRecord | None = None
    missing_folders: tuple[str, ...] = ()  # to create for it, outermost first

    @property
    def selected_files(self) -> tuple[SettingsFile, ...]:
        """What is to be added or removed."""
        return tuple(file for file in self.files if file.holds in self.parts)


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
            after, created = settings.text or "", CreatedParts()
            for file in settings.selected_files:
                after, more = _add_entries(after, file, client, call)
                created |= more
            if after == settings.text:
                continue
            change = _recorded_change(settings, after, created)
        except (jsonc_parser.MalformedJson, toml_edit.MalformedToml) as error:
            raise _unreadable_error(settings.path, error) from error
        except AlreadyExists as error:
            raise AlreadyExists(f"{settings.path}: {error}") from error
        changes.append(change)
    return changes


def plan_removal(current: Sequence[CurrentSettings]) -> list[FileChange]:
    """Return the changes that remove everything of ours, or the selected parts of it."""
    changes = []
    for settings in current:
        if settings.text is None:
            continue
        try:
            change = _removal(settings, settings.text)
        except (jsonc_parser.MalformedJson, toml_edit.MalformedToml) as error:
            raise _unreadable_error(settings.path, error) from error
        if change.after != settings.text:
            changes.append(change)
    return changes


def parts_set_up(current: CurrentSettings) -> set[str]:
    """Return which of the parts of a file are completely there: server, hooks."""
    try:
        return {file.holds for file in current.files if _has_entries(current.text, file)}
    except (jsonc_parser.MalformedJson, toml_edit.MalformedToml) as error:
        raise _unreadable_error(current.path, error) from error


def _has_entries(text: str | None, file: SettingsFile) -> bool:
    if text is None:
        return False
    if file.format == "json":
        return json_settings.has_entries(text, file)
    table = toml_edit.read_table(text, (*file.servers_key, SERVER_NAME))
    return parse_server_entry(table) is not None


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


def _recorded_change(settings: CurrentSettings, after: str, created: CreatedParts) -> FileChange:
    """Return the change to *after*, with the record that undoes it and those before."""
    baseline, old_record = _baseline(settings)
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
    return FileChange(path=settings.path, before=settings.text, after=after, record=record)


def _baseline(settings: CurrentSettings) -> tuple[str | None, UndoRecord | None]:
    """Return the text after a removal, and the record if it still applies."""
    if settings.text is None:
        return None, None  # a record would be about a file that no longer exists
    without = _remove_everything(settings, settings.text)
    return without, settings.record if without != settings.text else None


def _removal(settings: CurrentSettings, text: str) -> FileChange:
    others = [file for file in settings.files if file not in settings.selected_files]
    if any(_has_entries(text, file) for file in others):
        after = _remove_entries(settings, text, settings.selected_files)
        return _recorded_change(settings, after, CreatedParts())
    everything = _remove_everything(settings, text)
    record = settings.record
    folders = record.created_folders if record and everything is None else ()
    change = FileChange(path=settings.path, before=text, after=everything, record=None)
    return replace(change, removable_folders=folders)


def _remove_everything(settings: CurrentSettings, text: str) -> str | None:
    """Return the text without our entries, None if there was no file before setup."""
    record = settings.record
    if record is not None and (restored := record.restore(text)) is not None:
        return restored if record.existed else None
    after = _remove_entries(settings, text, settings.files)
    if record is None or after == text:
        return after
    if settings.files[0].format == "toml":
        return after if record.existed or after.strip() else None
    if not json_settings.has_no_content(after):
        return after
    if not record.existed:
        return None
    blank_text = record.created.original_blank_text
    return after if blank_text is None else blank_text


def _remove_entries(settings: CurrentSettings, text: str, files: Sequence[SettingsFile]) -> str:
    created = settings.record.created if settings.record else None
    for file in files:
        if file.format == "toml":
            name = (*file.servers_key, SERVER_NAME)
            if parse_server_entry(toml_edit.read_table(text, name)) is not None:
                text = toml_edit.remove_table(text, name, comment=COMMENT)
        else:
            _require_object(text)
            text = json_settings.remove_entries(text, file, created)
    return text


def _require_object(text: str) -> None:
    if not jsonc_parser.is_blank(text) and jsonc_parser.scan(text).kind != "object":
        raise jsonc_parser.MalformedJson("it is not a JSON object")


def _unreadable_error(path: Path, error: Exception) -> InvalidInput:
    return InvalidInput(
        f"{path} was not changed: {error}. Correct the file, or add the entry by hand "
        "(--print shows it)"
    )
