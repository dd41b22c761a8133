"""
Add the identities of projects to rows of exports that were written before they had one.

Projects had a unique name and no identity. A project that has the name of its repository got it
from there; the name of any other was given by a person.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from recollect.domain.project import identity_of_repo, is_named_after
from recollect.errors import ImportRefused

MAX_BUFFERED_ROWS = 100_000  # projects and repos, which are buffered until all of them are known

Row = Mapping[str, Any]


def upgrade_rows(rows: Iterable[Row]) -> Iterator[Row]:
    """Yield *rows* in the same order, with identities for the projects that have none."""
    buffered: list[Row] = []
    for row in rows:
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
