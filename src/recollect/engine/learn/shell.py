"""
Commands of a shell: which only look, which are tries at the same thing, and which stand in a text.

This file runs nothing and knows no conversation.
"""

import re
from collections.abc import Iterator

from recollect.text.patterns import Pattern

MOST_CHARS = 400  # a longer command is a script, and of its moment

_LOOKING_PROGRAMS = """
ls ll cat head tail pwd which whereis echo find grep rg ag fd tree wc stat file less more env
printenv whoami hostname date type man cd sleep du df ps uname jq sort uniq awk diff true history
"""
_LOOKING = frozenset(_LOOKING_PROGRAMS.split())
_GIT_LOOKING = ("status", "log", "diff", "show", "blame", "branch", "remote", "rev-parse")
_WITH_SUBCOMMANDS = """
git npm pnpm yarn bun docker cargo go kubectl pip pip3 uv poetry make gh brew apt apt-get systemctl
terraform helm aws gcloud az rails bundle mix dotnet mvn gradle npx deno just recollect
"""
_MANY_IN_ONE = frozenset(_WITH_SUBCOMMANDS.split())
_PIECES = Pattern(r"&&|\|\||;|\||\n")
_BEFORE_PROGRAM = Pattern(
    r"^(?:(?:sudo|time|env|nohup|exec|command)\s+|[A-Z_][A-Z0-9_]*=\S*\s+|\(\s*)+"
)
_MODULE = Pattern(r"(?:\S*/)?python[\d.]*\s+-m\s+(\S+)")
_ASKS = Pattern(r"(?:^|\s)(?:--version|--help)(?:\s|$)")
_WRITES = Pattern(r">(?!&|\s*/dev/null)|<<|\btee\b")
_OPENS = Pattern(
    r"[ \t]*(?P<fence>`{3,}|~{3,})[ \t]*"
    r"(?:sh|bash|zsh|fish|shell|shell-session|console|terminal|powershell)[ \t]*$"
)


def is_looking(command: str) -> bool:
    """Tell whether *command* only looks, and so is no step of anything."""
    if _WRITES.search(command):
        return False
    pieces = [piece for piece in _PIECES.sub("\0", command).split("\0") if piece.strip()]
    return all(_looks(piece) for piece in pieces)


def is_attempt_at(one: str, other: str) -> bool:
    """Tell whether two commands try to do the same thing."""
    first, second = _head(one), _head(other)
    if first and first == second:
        return True
    mine, others = _arguments(one), _arguments(other)
    if not mine or not others:
        return False
    return len(mine & others) * 2 >= min(len(mine), len(others))


def words_of(command: str) -> frozenset[str]:
    """Return the words of *command*, as somebody would name them."""
    return frozenset(re.findall(r"[a-z0-9][\w.-]*", command.lower()))


def program_of(command: str) -> str:
    """Return the program that *command* runs, '' where it is not told."""
    return _head(command).partition(" ")[0]


def commands_in(text: str) -> list[str]:
    """Return the commands in the shell blocks of a text."""
    found = []
    for block in _blocks(text[:50_000]):
        lines = "\n".join(block).replace("\\\n", " ").split("\n")
        prompted = any(line.startswith("$ ") for line in lines)
        for line in lines:
            if prompted and not line.startswith("$ "):
                continue  # what the command printed
            command = " ".join(line.removeprefix("$ ").split())
            if command and not command.startswith("#") and len(command) <= MOST_CHARS:
                found.append(command)
    return found


def _blocks(text: str) -> Iterator[list[str]]:
    """Yield the lines of each shell block that is closed."""
    fence, block = "", list[str]()
    for line in text.splitlines():
        if fence and line.strip() == fence:
            yield block
            fence = ""
        elif fence:
            block.append(line)
        elif opened := _OPENS.match(line):
            fence, block = opened["fence"], []


def _looks(piece: str) -> bool:
    words = _BEFORE_PROGRAM.sub("", piece.strip()).split()
    if not words:
        return True
    program = words[0].rpartition("/")[2]
    if program == "git":
        return len(words) > 1 and words[1] in _GIT_LOOKING
    if program == "sed":
        return "-i" not in words
    return program in _LOOKING or _ASKS.search(piece) is not None


def _main_piece(command: str) -> str:
    """Return the piece of a command that does the work: the first that is no way to a folder."""
    pieces = [piece.strip() for piece in _PIECES.sub("\0", command).split("\0")]
    pieces = [_BEFORE_PROGRAM.sub("", piece) for piece in pieces if piece]
    return next((piece for piece in pieces if not piece.startswith("cd ")), "")


def _head(command: str) -> str:
    piece = _main_piece(command)
    if module := _MODULE.match(piece):
        return module[1]
    words = [word for word in piece.split() if not word.startswith("-")]
    if not words:
        return ""
    program = words[0].rpartition("/")[2]
    return " ".join([program, *words[1:2]]) if program in _MANY_IN_ONE else program


def _arguments(command: str) -> frozenset[str]:
    words = _main_piece(command).split()[1:]
    return frozenset(word for word in words if not word.startswith("-") and len(word) > 2)
