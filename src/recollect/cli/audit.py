"""The command `audit`: who read or changed what on a team's server."""

import dataclasses
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from recollect.app.local_recollect import LocalRecollect
from recollect.app.local_team import MAX_ENTRIES
from recollect.cli.options import limit_option, with_store
from recollect.cli.output import Output, safe
from recollect.client.atomic_file import atomic_file
from recollect.domain.team import AuditEntry
from recollect.wire.fields import parse_moment


@click.command()
@click.option("--user", default="", help="Only of this user.")
@click.option("--since", help="Only since then (2026-05-08).")
@click.option("--verb", default="", help="Only this verb: search, ingest, forget, …")
@click.option(
    "--to",
    "path",
    type=click.Path(path_type=Path),
    help="Write every entry to a file, as JSON lines.",
)
@limit_option(50)
@with_store
def audit(
    rec: LocalRecollect, *, user: str, since: str | None, verb: str, path: Path | None, limit: int
) -> Output:
    """
    List who read or changed what in the stores of a team, the newest first.

    An entry has the user, the time, the verb, the ids of records and the client, never a text.
    """
    moment = None if since is None else parse_moment("since", since)
    most = MAX_ENTRIES if path is not None else limit
    entries = rec.engine.team.audit(user=user, since=moment, verb=verb, limit=most)
    if path is not None:
        _write_lines(path, entries)
        return Output({"written": len(entries)}, f"Wrote {len(entries)} entries to {safe(path)}.")

    def lines() -> Iterator[str]:
        for entry in entries:
            yield _line(entry)
        if not entries:
            yield "No entries match."
            if not rec.engine.team.directory.has_users():
                yield "A store without users is audited only if RECOLLECT_AUDIT=always."

    return Output(entries, lines())


def _line(entry: AuditEntry) -> str:
    what = "wrote" if entry.is_write else "read"
    place = f" in {safe(entry.space)}" if entry.space else ""
    outcome = "" if entry.outcome == "done" else f"  [red]{entry.outcome}[/red]"
    ids = f"  [dim]{safe(' '.join(entry.ids[:3]))}[/dim]" if entry.ids else ""
    client = f"  [dim]{safe(entry.client)}[/dim]" if entry.client else ""
    head = f"{entry.at:%Y-%m-%d %H:%M:%S}  [bold]{safe(entry.user or '-')}[/bold]"
    return f"{head} {what}{place}: {entry.verb}{outcome}{ids}{client}"


def _write_lines(path: Path, entries: list[AuditEntry]) -> None:
    with atomic_file(path) as file:
        for entry in entries:
            values: dict[str, Any] = dataclasses.asdict(entry)
            values["at"] = entry.at.isoformat()
            file.write((json.dumps(values, ensure_ascii=False) + "\n").encode())
