"""
The commands in a client's settings that run Recollect: build them, and recognise our own.

A command is ours if it runs `recollect mcp` or `recollect hook`, from any path. Options that the
user added to it (`--trust`, `--project`) are kept when the path changes.
"""

import re
import shlex
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from recollect.lazy_dataclass import dataclass

EntryShape = Literal["stdio", "plain", "joined"]

PROGRAM_NAMES = ("recollect", "letta-mem")
_OPTIONS_WITH_VALUE = ("--client", "--db", "--project", "--agent", "--profile")
_SHELL = re.compile(r"[;&|<>`$(){}*?\n]")
# The shell ignores quoted and escaped characters, except `$` and backticks in double quotes.
_QUOTED = re.compile(r"""'[^']*'|\\.|"(?P<double>(?:\\.|[^"\\])*)\"""")
_PLAIN = re.compile(r"[\w@%+=:,./~-]+")


@dataclass(frozen=True, kw_only=True)
class Invocation:
    """How to start Recollect on this machine, and with which store."""

    program: tuple[str, ...]
    db: str | None = None
    is_windows: bool = False

    def server_command(
        self, previous: Sequence[str] | None = None, *, agent: str = ""
    ) -> list[str]:
        """
        Return the command of the MCP server, with the options of the *previous* one.

        The first time it gets the *agent*, so that it has blocks of its own.
        """
        tail = ["--agent", agent] if agent else []
        if previous is not None:
            tail = _arguments_after(previous, "mcp") or []
        return [*self.program, "mcp", *self._options(tail)]

    def hook_command(self, event: str, client: str, previous: str | None = None) -> str:
        """Return the command line of a hook, with the options of the *previous* one."""
        if previous is not None and is_customised(previous):
            return previous
        tail = (parse_hook_command(previous) or [])[1:] if previous is not None else []
        options = self._options(_without_option(tail, "--client"))
        words = [*self.program, "hook", event, "--client", client, *options]
        if previous is not None and shlex.split(previous) == words:
            return previous
        if not self.is_windows:
            return shlex.join(words)
        # Every Windows shell accepts double quotes and forward slashes.
        words = [word.replace("\\", "/") for word in words]
        return " ".join(word if _PLAIN.fullmatch(word) else f'"{word}"' for word in words)

    def _options(self, tail: list[str]) -> list[str]:
        return tail if self.db is None else [*_without_option(tail, "--db"), "--db", self.db]


def server_entry(words: Sequence[str], shape: EntryShape) -> dict[str, Any]:
    """Return the settings entry of an MCP server, in the *shape* of the client."""
    if shape == "joined":
        return {"type": "local", "command": list(words)}
    entry: dict[str, Any] = {"command": words[0], "args": list(words[1:])}
    return {"type": "stdio", **entry} if shape == "stdio" else entry


def parse_server_entry(entry: object) -> list[str] | None:
    """Return the command of an MCP server's entry, None if it does not run Recollect."""
    if not isinstance(entry, Mapping):
        return None
    command, args = entry.get("command"), entry.get("args", [])
    words: list[Any] = [command, *args] if _is_string_list(args) else []
    if isinstance(command, list):
        words = list(command)
    is_ours = _is_string_list(words) and _arguments_after(words, "mcp") is not None
    return words if is_ours else None


def parse_hook_command(line: object) -> list[str] | None:
    """Return the event and options of a hook's command line, None if it is not ours."""
    if not isinstance(line, str):
        return None
    try:
        words = shlex.split(line)
    except ValueError:
        return None
    return _arguments_after(words, "hook") or None


def is_customised(line: str) -> bool:
    """Return whether the user made a hook's line more than one command; then it is not changed."""
    return bool(_SHELL.search(_QUOTED.sub(_active_characters, line)))


def _active_characters(quoted: re.Match[str]) -> str:
    return "".join(char for char in quoted["double"] or "" if char in "$`")


def _arguments_after(words: Sequence[str], verb: str) -> list[str] | None:
    """Return the arguments after `recollect VERB`, None if the words run something else."""
    name = re.split(r"[/\\]", words[0])[-1].lower().removesuffix(".exe") if words else ""
    rest = list(words[1:]) if name in PROGRAM_NAMES else []
    module = 2 if list(words[1:2]) == ["-P"] else 1
    if list(words[module : module + 2]) == ["-m", "recollect"]:
        rest = list(words[module + 2 :])
    return rest[1:] if rest[:1] == [verb] else None


def _without_option(words: Sequence[str], option: str) -> list[str]:
    remaining: list[str] = []
    skip = False
    for word in words:
        if skip:
            skip = False
        elif word == option:
            skip = option in _OPTIONS_WITH_VALUE
        elif not word.startswith(f"{option}="):
            remaining.append(word)
    return remaining


def _is_string_list(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)
