"""
Bring the rows of older exports into the form of this version.

Projects had a unique name and no identity. A project that has the name of its repository got it
from there; the name of any other was given by a person. Memories had their provenance in
`metadata`, and changes had no kind.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from recollect.domain.change import ChangeKind
from recollect.domain.older_records import (
    kind_of_older_change,
    provenance_in_metadata,
    reason_without_kind,
    upgraded_effects,
)
from recollect.domain.project import identity_of_repo, is_named_after
from recollect.errors import ImportRefused
from recollect.store.row_conversion import to_json

MAX_BUFFERED_ROWS = 100_000  # projects and repos, which are buffered until all of them are known

Row = Mapping[str, Any]


def upgrade_rows(rows: Iterable[Row]) -> Iterator[Row]:
    """Yield *rows* in the same order, in the form of this version."""
    buffered: list[Row] = []
    for row in map(_upgrade_row, rows):
        is_old_project = row.get("table") == "projects" and "identity" not in row
        if is_old_project or (buffered and row.get("table") == "repos"):
            buffered.append(row)
            if len(buffered) > MAX_BUFFERED_ROWS:
                raise ImportRefused(
                    f"the import has more than {MAX_BUFFERED_ROWS:,} projects; is it an export?"
                )
            continue
        yield from _with_identities(buffered)
        buffered.clear()
        yield row
    yield from _with_identities(buffered)


def _upgrade_row(row: Row) -> Row:
    """Return a row of memories or of their changes with the columns of this version."""
    if row.get("table") == "memories" and "flags" not in row:
        metadata = _object(row.get("metadata"))
        if metadata is None:
            return row  # refused when it is checked
        values, rest = provenance_in_metadata(metadata)
        lists = {name: to_json(values.pop(name)) for name in ("flags", "dates")}
        return {**row, **values, **lists, "metadata": to_json(rest)}
    if row.get("table") == "memory_changes" and "kind" not in row:
        effects = _object(row.get("effects", "{}"))
        if effects is None:
            return row
        kind = kind_of_older_change(row.get("before"), str(row.get("after")), str(row.get("by")))
        reason = row.get("reason", "")
        if kind is ChangeKind.HELD and isinstance(reason, str):
            reason = reason_without_kind(reason)
        effects = upgraded_effects(effects)
        return {**row, "kind": kind.value, "reason": reason, "effects": to_json(effects)}
    return row


def _object(text: object) -> dict[str, Any] | None:
    """Return the JSON object in *text*, or None if it is something else."""
    try:
        value = json.loads(text) if isinstance(text, str) else None
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def _with_identities(rows: list[Row]) -> Iterator[Row]:
    identities: dict[str, str] = {}
    names = {str(row.get("id")): str(row.get("name")) for row in rows if row["table"] == "projects"}
    for row in rows:
        if row["table"] == "repos" and (name := names.get(str(row.get("project_id")))):
            remote, root = str(row.get("remote") or ""), str(row.get("root") or "")
            if is_named_after(name, remote, root):
                identities.setdefault(str(row["project_id"]), identity_of_repo(remote, root))
    for row in rows:
        if row["table"] == "projects":
            yield {**row, "identity": identities.get(str(row.get("id")), row.get("name"))}
        else:
            yield {"remote_is_exact": 0, **row}  # ports and case did not count
