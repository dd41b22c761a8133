"""
How Recollect is called from somebody's settings: the words of a command, and whether they are ours.

A line is ours when it runs `recollect mcp` or `recollect hook`, by whatever path. Options that a
user added to it (`--trust`, `--project`) stay when the path changes. This file knows no files.
"""

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

Shape = Literal["stdio", "plain", "joined"]

NAMES = ("recollect", "letta-mem")
_VALUED = ("--client", "--db", "--project", "--agent", "--profile")  # options that take a value
_SHELL = re.compile(r"[;&|<>`$(){}*?\n]")
# What is quoted or escaped does nothing; only `$` and backticks still do, in double quotes.
_QUOTED = re.compile(r"""'[^']*'|\\.|"(?P<double>(?:\\.|[^"\\])*)\"""")
_PLAIN = re.compile(r"[\w@%+=:,./~-]+")


@dataclass(frozen=True, kw_only=True)
class Invocation:
    """How to start Recollect on this machine, and on which store."""

    program: tuple[str, ...]
    db: str | None = None
    windows: bool = False

    def server(self, former: Sequence[str] | None = None) -> list[str]:
        """Return the words that start the MCP server, with the options *former* ones had."""
        tail = [] if former is None else (_after(former, "mcp") or [])
        return [*self.program, "mcp", *self._options(tail)]

    def hook(self, event: str, client: str, former: str | None = None) -> str:
        """Return the line that runs a hook, with the options the *former* line had."""
        if former is not None and does_more(former):
            return former
        tail = (hook_words(former) or [])[1:] if former is not None else []
        kept = _without_option(tail, "--client")
        words = [*self.program, "hook", event, "--client", client, *self._options(kept)]
        if former is not None and shlex.split(former) == words:
            return former
        if not self.windows:
            return shlex.join(words)
        # Every shell there takes double quotes and forward slashes.
        return " ".join(word if _PLAIN.fullmatch(word) else f'"{word}"' for word in _forward(words))

    def _options(self, tail: list[str]) -> list[str]:
        return tail if self.db is None else [*_without_option(tail, "--db"), "--db", self.db]


def server_entry(words: Sequence[str], shape: Shape) -> dict[str, Any]:
    """Return the entry of an MCP server as a client of that *shape* wants it."""
    if shape == "joined":
        return {"type": "local", "command": list(words)}
    entry: dict[str, Any] = {"command": words[0], "args": list(words[1:])}
    return {"type": "stdio", **entry} if shape == "stdio" else entry


def server_words(entry: object) -> list[str] | None:
    """Return the words of an MCP server's entry, None where it starts something else than ours."""
    if not isinstance(entry, Mapping):
        return None
    command, args = entry.get("command"), entry.get("args", [])
    words = command if isinstance(command, list) else [command, *args] if _texts(args) else []
    return list(words) if _texts(words) and _after(words, "mcp") is not None else None


def hook_words(line: object) -> list[str] | None:
    """Return the event and options of a hook's line, None where it is not ours."""
    if not isinstance(line, str):
        return None
    try:
        words = shlex.split(line)
    except ValueError:
        return None
    rest = _after(words, "hook")
    return rest if rest else None


def does_more(line: str) -> bool:
    """Return whether somebody made more of a hook's line than one command; then it is theirs."""
    return bool(_SHELL.search(_QUOTED.sub(_still_read, line)))


def _still_read(quoted: re.Match[str]) -> str:
    return "".join(char for char in quoted["double"] or "" if char in "$`")


def _after(words: Sequence[str], verb: str) -> list[str] | None:
    """Return what follows `recollect VERB`, None where the words run something else."""
    name = re.split(r"[/\\]", words[0])[-1].lower().removesuffix(".exe") if words else ""
    rest = list(words[1:]) if name in NAMES else []
    module = 2 if list(words[1:2]) == ["-P"] else 1
    if list(words[module : module + 2]) == ["-m", "recollect"]:
        rest = list(words[module + 2 :])
    return rest[1:] if rest[:1] == [verb] else None


def _without_option(words: Sequence[str], option: str) -> list[str]:
    kept: list[str] = []
    skip = False
    for word in words:
        if skip:
            skip = False
        elif word == option:
            skip = option in _VALUED
        elif not word.startswith(f"{option}="):
            kept.append(word)
    return kept


def _forward(words: Sequence[str]) -> list[str]:
    return [word.replace("\\", "/") for word in words]


def _texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) for one in value)
