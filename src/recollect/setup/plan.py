"""
Decide what setting up a client changes, and what taking it out again does. Pure: texts to texts.

Three ways back, in this order: the file is exactly as it was left, then the record restores it byte
for byte; the file was changed since, then our entries are taken out of it and the rest stays; there
is no record, then the same, and emptied lists go too.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from recollect.errors import AlreadyExists, InvalidInput
from recollect.setup import json_settings, jsonc, toml_block
from recollect.setup.clients import SERVER, Client, SettingsFile
from recollect.setup.invocation import Invocation, server_entry, server_words
from recollect.setup.jsonc_edit import Made
from recollect.setup.record import Record, record_of

COMMENT = "written by `recollect setup`; --remove takes it out"


@dataclass(frozen=True, kw_only=True)
class Found:
    """A settings file as it is: its text (None: there is none), what is remembered of it."""

    file: SettingsFile
    path: Path
    text: str | None
    record: Record | None = None
    missing_folders: tuple[str, ...] = ()  # that have to be made for it, outermost first


@dataclass(frozen=True, kw_only=True)
class Change:
    """What becomes of one file, and what is to be remembered of it (None: nothing)."""

    path: Path
    before: str | None
    after: str | None
    record: Record | None
    folders: tuple[str, ...] = ()  # that may go with it when they are empty, outermost first


def plan_setup(found: Sequence[Found], client: Client, call: Invocation) -> list[Change]:
    """Return what has to change for *client* to use Recollect; nothing where it does already."""
    changes = []
    for one in found:
        try:
            after, made = _with_ours(one.text or "", one.file, client, call)
            if after == one.text:
                continue
            baseline, known = _baseline(one)
        except (jsonc.Malformed, toml_block.Malformed) as error:
            raise _unreadable(one.path, error) from error
        except AlreadyExists as error:
            raise AlreadyExists(f"{one.path}: {error}") from error
        existed = one.text is not None if known is None else known.existed
        record = record_of(
            baseline if existed else None,
            after,
            made=made if known is None else known.made | made,
            existed=existed,
            folders=one.missing_folders if known is None else known.folders,
        )
        changes.append(Change(path=one.path, before=one.text, after=after, record=record))
    return changes


def plan_removal(found: Sequence[Found]) -> list[Change]:
    """Return what has to change for everything of ours to be gone."""
    changes = []
    for one in found:
        if one.text is None:
            continue
        try:
            after = _without_ours(one, one.text)
        except (jsonc.Malformed, toml_block.Malformed) as error:
            raise _unreadable(one.path, error) from error
        if after == one.text:
            continue
        folders = one.record.folders if one.record and after is None else ()
        changes.append(
            Change(path=one.path, before=one.text, after=after, record=None, folders=folders)
        )
    return changes


def is_set_up(found: Found) -> bool:
    """Return whether what a file should hold is in it."""
    try:
        if found.text is None:
            return False
        if found.file.form == "json":
            return json_settings.is_in(found.text, found.file)
        table = toml_block.read_table(found.text, (*found.file.below, SERVER))
        return server_words(table) is not None
    except (jsonc.Malformed, toml_block.Malformed) as error:
        raise _unreadable(found.path, error) from error


def snippet(file: SettingsFile, client: Client, call: Invocation) -> str:
    """Return what a file would hold if there were nothing else in it."""
    return _with_ours("", file, client, call)[0]


def _with_ours(text: str, file: SettingsFile, client: Client, call: Invocation) -> tuple[str, Made]:
    if file.form == "toml":
        return _with_table(text, file, call), Made()
    _must_be_object(text)
    if file.holds == "server":
        return json_settings.with_server(text, file, call)
    return json_settings.with_hooks(text, file, call, client=client.name)


def _with_table(text: str, file: SettingsFile, call: Invocation) -> str:
    name = (*file.below, SERVER)
    present = toml_block.read_table(text, name)
    if present is None:
        entry = server_entry(call.server(), file.shape)
        return toml_block.add_table(text, name, entry, comment=COMMENT)
    former = server_words(present)
    if former is None:
        raise AlreadyExists(
            f"[{'.'.join(name)}] is there already and starts something else than Recollect; "
            "rename or remove it, then run this again"
        )
    entry = server_entry(call.server(former), file.shape)
    if all(present.get(key) == value for key, value in entry.items()):
        return text
    return toml_block.set_values(text, name, entry)


def _baseline(one: Found) -> tuple[str | None, Record | None]:
    """Return what removal would leave of a file, and the record where it still counts."""
    if one.text is None:
        return None, None  # whatever was remembered was about another file
    without = _without_ours(one, one.text)
    return without, one.record if without != one.text else None


def _without_ours(one: Found, text: str) -> str | None:
    """Return the text from before, None where there was no file."""
    record = one.record
    if record is not None and (restored := record.restored(text)) is not None:
        return restored if record.existed else None
    if one.file.form == "toml":
        return _without_table(text, one)
    _must_be_object(text)
    after = json_settings.without_ours(text, one.file, record.made if record else None)
    if record is not None and after != text and json_settings.is_empty(after):
        if not record.existed:
            return None
        return after if record.made.blank is None else record.made.blank
    return after


def _without_table(text: str, one: Found) -> str | None:
    name = (*one.file.below, SERVER)
    if server_words(toml_block.read_table(text, name)) is None:
        return text
    after = toml_block.remove_table(text, name, comment=COMMENT)
    gone = one.record is not None and not one.record.existed and not after.strip()
    return None if gone else after


def _must_be_object(text: str) -> None:
    if not jsonc.is_blank(text) and jsonc.scan(text).kind != "object":
        raise jsonc.Malformed("it is no JSON object")


def _unreadable(path: Path, error: Exception) -> InvalidInput:
    return InvalidInput(
        f"{path} was left as it is: {error}. Correct the file, or write the entry into it by hand "
        "(--print shows it)"
    )
