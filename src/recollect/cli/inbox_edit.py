"""
Edit a candidate in the terminal: ask for its wording, type, scope, tags and date, one line each.

An empty line keeps what is there, the end of the input (Ctrl-D) goes back. The edited candidate is
a new, active memory with the quotes of the original; `undo` restores the original.
"""

from collections.abc import Sequence
from typing import Any

import click

from recollect.api.recollect import Recollect
from recollect.cli.output import print_text
from recollect.domain.memory import Memory, MemoryType
from recollect.domain.scope import Scope

_DATE = "%Y-%m-%d"


def ask_for_edit(rec: Recollect, memory: Memory) -> dict[str, Any]:
    """Return the arguments of `rec.memories.edit` that the reviewer typed; none if all stays."""
    print_text("[dim]Press Enter to keep what is in brackets; Ctrl-D to go back.[/dim]")
    changes: dict[str, Any] = {}
    _add_change(changes, "content", _ask("Wording", memory.content), memory.content)
    types = [kind.value for kind in MemoryType if kind is not MemoryType.EPISODE]
    kind = _ask("Type", memory.type.value, types)
    _add_change(changes, "type", kind, memory.type.value)
    changes.update(_ask_for_scope(rec, memory))
    tags = ", ".join(memory.tags)
    typed = _ask("Tags, separated by commas; - for none", tags)
    if typed != tags:
        changes["tags"] = [tag.strip() for tag in typed.split(",") if tag.strip(" -")]
    day = f"{memory.observed_at:{_DATE}}"
    date = click.prompt("Date", default=day, type=click.DateTime([_DATE]), show_default=True)
    _add_change(changes, "observed_at", f"{date:{_DATE}}", day)
    return changes


def _ask_for_scope(rec: Recollect, memory: Memory) -> dict[str, Any]:
    scopes = dict.fromkeys((memory.scope.value, Scope.GLOBAL.value, Scope.PROJECT.value))
    scope = _ask("Scope", memory.scope.value, list(scopes))
    if scope == memory.scope.value:
        return {}
    if scope == Scope.GLOBAL:
        return {"scope": scope}
    projects = {project.id: project.identity or project.name for project in rec.projects.list()}
    return {"scope": scope, "project": _ask("Project", projects.get(memory.project_id or "", ""))}


def _ask(label: str, default: str, choices: Sequence[str] = ()) -> str:
    kind = click.Choice(choices) if choices else None
    answer = click.prompt(label, default=default, type=kind, show_default=bool(default))
    return str(answer).strip()


def _add_change(changes: dict[str, Any], name: str, typed: str, before: str) -> None:
    if typed != before:
        changes[name] = typed
