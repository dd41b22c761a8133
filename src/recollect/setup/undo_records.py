"""
Records that undo the changes to settings files.

If a file is exactly as setup wrote it, the stored edits restore the original byte for byte. If it
was changed since, our entries are searched in it and removed, and the record says which containers
and files were created for them. A record contains no unchanged text of the file.
"""

import json
from collections.abc import Mapping
from typing import Any

from recollect.lazy_dataclass import dataclass
from recollect.setup.jsonc_edit import CreatedParts
from recollect.setup.text_diff import Edit, apply_edits, digest


@dataclass(frozen=True, kw_only=True)
class UndoRecord:
    """How to undo the change of one file."""

    existed: bool
    written_digest: str  # of the text that setup wrote
    original_digest: str  # of the text original setup
    undo_edits: tuple[Edit, ...]
    created: CreatedParts
    created_folders: tuple[str, ...] = ()  # created for the file, outermost first

    def restore(self, text: str) -> str | None:
        """Return the original text, None if the file was changed after setup."""
        if digest(text) != self.written_digest:
            return None
        original = apply_edits(text, self.undo_edits)
        return original if digest(original) == self.original_digest else None


def records_to_json(records: Mapping[str, UndoRecord]) -> str:
    """Return *records*, by the path of their file, in the stored format."""
    files = {
        path: {
            "existed": record.existed,
            "left_as": record.written_digest,
            "was": record.original_digest,
            "back": [list(edit) for edit in record.undo_edits],
            "containers": sorted([list(path) for path in record.created.containers], key=str),
            "insides": [
                [list(path), inside] for path, inside in record.created.original_insides.items()
            ],
            "blank": record.created.original_blank_text,
            "folders": list(record.created_folders),
        }
        for path, record in sorted(records.items())
    }
    return json.dumps({"version": 1, "files": files}, indent=1, ensure_ascii=False) + "\n"


def records_from_json(text: str) -> dict[str, UndoRecord]:
    """Return the records in *text*. Invalid ones are skipped: removal works without them."""
    try:
        files = json.loads(text)["files"].items()
    except (ValueError, KeyError, TypeError, AttributeError):
        return {}
    records = {}
    for path, fields in files:
        try:
            records[str(path)] = _parse_record(fields)
        except (KeyError, TypeError, ValueError, AttributeError):
            continue
    return records


def _parse_record(fields: Mapping[str, Any]) -> UndoRecord:
    return UndoRecord(
        existed=bool(fields["existed"]),
        written_digest=str(fields["left_as"]),
        original_digest=str(fields["was"]),
        undo_edits=tuple(
            (int(start), int(end), str(written)) for start, end, written in fields["back"]
        ),
        created=CreatedParts(
            frozenset(tuple(path) for path in fields["containers"]),
            {tuple(path): str(inside) for path, inside in fields["insides"]},
            None if fields["blank"] is None else str(fields["blank"]),
        ),
        created_folders=tuple(str(folder) for folder in fields["folders"]),
    )
