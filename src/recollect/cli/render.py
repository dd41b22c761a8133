"""
Print values: as JSON for programs, as readable text for people.

Content is somebody's text: control characters, which a terminal might obey, are made visible.
"""

import dataclasses
import json
import re
import sys
from collections.abc import Mapping, Sequence
from datetime import datetime
from enum import Enum
from typing import Any

import click
from rich.console import Console
from rich.markup import escape

from recollect.domain.context_bundle import Bundle
from recollect.domain.memory import Memory, MemoryType
from recollect.domain.retrieval import Hit

_C1 = re.compile(r"[\x7f-\x9f]")  # the rest json escapes itself
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def plain(value: Any) -> Any:
    """Return *value* as what JSON can say."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {
            field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)
        }
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Mapping):
        return {str(key): plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(inner) for inner in value]
    return value


def print_json(value: Any) -> None:
    """Print *value* as JSON."""
    text = json.dumps(plain(value), ensure_ascii=False, indent=2)
    click.echo(_C1.sub(lambda char: f"\\u{ord(char.group()):04x}", text))


def standard_input() -> str:
    """Return what was piped in, whatever its bytes are."""
    return sys.stdin.buffer.read().decode("utf-8", errors="replace")


def visible(text: str) -> str:
    """Return *text* with its control characters made visible."""
    return _CONTROL.sub("�", text)


def shown(text: str) -> str:
    """Return *text* safe for a terminal and for markup."""
    return escape(visible(text))


def say(text: str) -> None:
    """Print a line with markup."""
    Console(highlight=False, soft_wrap=True, emoji=False).print(text)


def print_hits(hits: list[Hit], *, hint: str = "") -> None:
    """Print search results, best first, each with its reasons."""
    if not hits:
        say("Nothing relevant was found." + (f" {hint}" if hint else ""))
        return
    for place, hit in enumerate(hits, start=1):
        say(f"[bold]{place}. {shown(_headline(hit.memory))}[/bold]  [cyan]{hit.score:.2f}[/cyan]")
        say(f"   [dim]{shown(hit.explanation)}[/dim]")
        say(f"   [dim]{hit.memory.type} · {hit.memory.status} · {hit.memory.id}[/dim]")
        for other in hit.conflicts:
            say(f"   [red]in conflict with {other}[/red]")


def print_memory(memory: Memory) -> None:
    """Print one memory whole."""
    if memory.title:
        say(f"[bold]{shown(memory.title)}[/bold]")
    say(shown(memory.labelled_content))
    if memory.rationale:
        say(f"[dim]because[/dim] {shown(memory.rationale)}")
    for other in memory.alternatives:
        say(f"[dim]rather than[/dim] {shown(other)}")
    tags = f" · tags {shown(', '.join(memory.tags))}" if memory.tags else ""
    say(
        f"[dim]{memory.type} · {memory.scope} · {memory.status} · observed "
        f"{memory.observed_at:%Y-%m-%d}{tags}\n{memory.id}[/dim]"
    )
    print_redactions(memory)


def print_redactions(memory: Memory) -> None:
    """Say what was taken out before storing."""
    if memory.redactions:
        kinds = ", ".join(sorted({piece.kind for piece in memory.redactions}))
        say(f"[yellow]Not stored, because it looks secret: {kinds}.[/yellow]")


def print_receipt(done: str, removed: Mapping[str, int], kept: Sequence[str]) -> None:
    """Say what went, from where, and what stayed."""
    counts = ", ".join(f"{count} {table}" for table, count in removed.items())
    say(f"{done}: {counts}.")
    for line in kept:
        say(f"[yellow]Kept: {shown(line)}[/yellow]")


def print_bundle(bundle: Bundle) -> None:
    """Print a bundle's text, and what it cost."""
    if not bundle.text:
        say("Nothing is remembered for this task yet.")
        return
    say(shown(bundle.text))
    left_out = f", {len(bundle.dropped)} left out" if bundle.dropped else ""
    if bundle.history:
        say(f"[dim]and the last {len(bundle.history)} messages of the conversation[/dim]")
    say(f"[dim]{bundle.tokens} of {bundle.budget_tokens} tokens{left_out}[/dim]")


def _headline(memory: Memory) -> str:
    said = memory.title or memory.labelled_content
    if memory.title and memory.type is MemoryType.EPISODE:
        said = f"{memory.title}: {memory.content}"  # the titles of sessions are all alike
    text = " ".join(said.split())
    return text if len(text) <= 160 else text[:159] + "…"
