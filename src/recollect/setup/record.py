"""
What is remembered of a settings file that was changed: enough for the way back, and no more.

The edits back are used only while the file is exactly as it was left; then it becomes what it was,
byte for byte. Once somebody changed it, our entries are looked for in it instead, and the record
says which lists and files were made for them. It holds nothing of the file that was not changed.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from recollect.setup.jsonc_edit import Made
from recollect.setup.patches import Edit, apply_edits, digest, edits_between


@dataclass(frozen=True, kw_only=True)
class Record:
    """The way back of one file."""

    existed: bool
    left_as: str  # digest of the text as it was left
    was: str  # digest of the text it goes back to
    back: tuple[Edit, ...]
    made: Made
    folders: tuple[str, ...] = ()  # made for the file, outermost first

    def restored(self, text: str) -> str | None:
        """Return the text from before, None where the file is no longer as it was left."""
        if digest(text) != self.left_as:
            return None
        before = apply_edits(text, self.back)
        return before if digest(before) == self.was else None


def record_of(
    before: str | None, after: str, *, made: Made, existed: bool, folders: tuple[str, ...]
) -> Record:
    """Return the record of a file that was *before*, or was not there, and is left as *after*."""
    return Record(
        existed=existed,
        left_as=digest(after),
        was=digest(before or ""),
        back=tuple(edits_between(after, before or "")),
        made=made,
        folders=folders,
    )


def to_json(records: Mapping[str, Record]) -> str:
    """Return *records* as they are kept, by the path of their file."""
    kept = {
        path: {
            "existed": one.existed,
            "left_as": one.left_as,
            "was": one.was,
            "back": [list(edit) for edit in one.back],
            "containers": sorted([list(path) for path in one.made.containers], key=str),
            "insides": [[list(path), inside] for path, inside in one.made.insides.items()],
            "blank": one.made.blank,
            "folders": list(one.folders),
        }
        for path, one in sorted(records.items())
    }
    return json.dumps({"version": 1, "files": kept}, indent=1, ensure_ascii=False) + "\n"


def from_json(text: str) -> dict[str, Record]:
    """Return the records in *text*; what is not a record is left out: it is only a convenience."""
    try:
        files = json.loads(text)["files"].items()
    except (ValueError, KeyError, TypeError, AttributeError):
        return {}
    found = {}
    for path, kept in files:
        try:
            found[str(path)] = _record(kept)
        except (KeyError, TypeError, ValueError, AttributeError):
            continue
    return found


def _record(kept: Mapping[str, Any]) -> Record:
    return Record(
        existed=bool(kept["existed"]),
        left_as=str(kept["left_as"]),
        was=str(kept["was"]),
        back=tuple((int(start), int(end), str(written)) for start, end, written in kept["back"]),
        made=Made(
            frozenset(tuple(path) for path in kept["containers"]),
            {tuple(path): str(inside) for path, inside in kept["insides"]},
            None if kept["blank"] is None else str(kept["blank"]),
        ),
        folders=tuple(str(folder) for folder in kept["folders"]),
    )
