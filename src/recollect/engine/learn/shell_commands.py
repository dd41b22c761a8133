"""
Classify shell commands: inspections, attempts at the same task, and commands quoted in a text.

Pure text processing: nothing is run.
"""

import re
from collections.abc import Iterator

from recollect.text.lazy_pattern import LazyPattern

MAX_COMMAND_CHARS = 400  # a longer command is a one-off script

_INSPECTION_PROGRAM_NAMES = """
ls ll cat head tail pwd which whereis echo find grep rg ag fd tree wc stat file less more env
printenv whoami hostname date type man cd sleep du df ps uname jq sort uniq awk diff true history
"""
_INSPECTION_PROGRAMS = frozenset(_INSPECTION_PROGRAM_NAMES.split())
_GIT_INSPECTION = ("status", "log", "diff", "show", "blame", "branch", "remote", "rev-parse")
_SUBCOMMAND_PROGRAM_NAMES = """
git npm pnpm yarn bun docker cargo go kubectl pip pip3 uv poetry make gh brew apt apt-get systemctl
terraform helm aws gcloud az rails bundle mix dotnet mvn gradle npx deno just recollect
"""
_SUBCOMMAND_PROGRAMS = frozenset(_SUBCOMMAND_PROGRAM_NAMES.split())
_SEPARATOR = LazyPattern(r"&&|\|\||;|\||\n")
_BEFORE_PROGRAM = LazyPattern(
    r"^(?:(?:sudo|time|env|nohup|exec|command)\s+|[A-Z_][A-Z0-9_]*=\S*\s+|\(\s*)+"
)
_MODULE = LazyPattern(r"(?:\S*/)?python[\d.]*\s+-m\s+(\S+)")
# What runs another program, in an environment of the project.
RUNNERS = (
    "uv",
    "uvx",
    "poetry",
    "pipenv",
    "pdm",
    "hatch",
    "npx",
    "bunx",
    "npm",
    "pnpm",
    "yarn",
    "bundle",
)
_RUNNER = LazyPattern(
    r"^(?:(?:uv|poetry|pipenv|pdm|hatch)\s+run|uvx|npx|bunx|(?:pnpm|yarn)\s+(?:exec|dlx)|npm\s+exec|"
    r"bundle\s+exec)\s+(?:(?:--(?:extra|with|group|package|python|directory|env-file|index)|-[pmw])\s+"
    r"\S+\s+|-\S*\s+)*"
)
_HELP_OPTION = LazyPattern(r"(?:^|\s)(?:--version|--help)(?:\s|$)")
_OUTPUT_REDIRECT = LazyPattern(r">(?!&|\s*/dev/null)|<<|\btee\b")
_FENCE_START = LazyPattern(
    r"[ \t]*(?P<fence>`{3,}|~{3,})[ \t]*"
    r"(?:sh|bash|zsh|fish|shell|shell-session|console|terminal|powershell)[ \t]*$"
)


def is_inspection(command: str) -> bool:
    """Return whether *command* only reads, and so is not a step."""
    if _OUTPUT_REDIRECT.search(command):
        return False
    return all(_is_inspection_piece(piece) for piece in command_pieces(command))


def command_pieces(command: str) -> list[str]:
    """Return the parts of a command line that are joined by `&&`, `|`, `;` or a line break."""
    pieces = (piece.strip() for piece in _SEPARATOR.sub("\0", command).split("\0"))
    return [piece for piece in pieces if piece]


def is_same_task(left: str, right: str) -> bool:
    """Return whether two commands attempt the same task; a runner such as `uv run` is ignored."""
    left, right = without_runner(left), without_runner(right)
    first, second = _main_words(left), _main_words(right)
    if first and first == second:
        return True
    left_words, right_words = _arguments(left), _arguments(right)
    if not left_words or not right_words:
        return False
    return len(left_words & right_words) * 2 >= min(len(left_words), len(right_words))


def without_runner(command: str) -> str:
    """Return the main part of *command* without a program that only runs it, such as `uv run`."""
    piece = _main_piece(command)
    return _RUNNER.sub("", piece) or piece


def command_words(command: str) -> frozenset[str]:
    """Return the lower-case words of *command*."""
    return frozenset(re.findall(r"[a-z0-9][\w.-]*", command.lower()))


def program_name(command: str) -> str:
    """Return the program that *command* runs, or '' if there is none."""
    return _main_words(command).partition(" ")[0]


def repeats_failed_form(command: str, failed: str, worked: str) -> bool:
    """
    Return whether *command* is run like *failed*, without what made *worked* work.

    It runs the same program with the same words, apart from paths and options, and it has none of
    the words by which *worked* differs.
    """
    if not _main_words(command) or _main_words(command) != _main_words(failed):
        return False
    words, failed_words = _all_words(command), _all_words(failed)
    names = {word for word in failed_words if not word.startswith("-") and not _is_path(word)}
    return names <= words and not (_all_words(worked) - failed_words) & words


def runs_program_of(command: str, other: str) -> bool:
    """Return whether *other* runs the program of *command*, by itself or by another program."""
    program = program_name(command)
    return bool(program) and program in _all_words(other)


def has_words_of(command: str, other: str) -> bool:
    """Return whether *command* has all words of *other*."""
    return _all_words(other) <= _all_words(command)


def subcommand(command: str) -> str:
    """Return the first word after the program that is not an option, or ''."""
    words = [word for word in _main_piece(command).split()[1:] if not word.startswith("-")]
    return words[0] if words else ""


def shell_commands_in(text: str) -> list[str]:
    """Return the commands in the fenced shell blocks of a text."""
    commands = []
    for block in _blocks(text[:50_000]):
        lines = "\n".join(block).replace("\\\n", " ").split("\n")
        has_prompts = any(line.startswith("$ ") for line in lines)
        for line in lines:
            if has_prompts and not line.startswith("$ "):
                continue  # what the command printed
            command = " ".join(line.removeprefix("$ ").split())
            if command and not command.startswith("#") and len(command) <= MAX_COMMAND_CHARS:
                commands.append(command)
    return commands


def _blocks(text: str) -> Iterator[list[str]]:
    """Yield the lines of each closed shell block."""
    fence, block = "", list[str]()
    for line in text.splitlines():
        if fence and line.strip() == fence:
            yield block
            fence = ""
        elif fence:
            block.append(line)
        elif opening := _FENCE_START.match(line):
            fence, block = opening["fence"], []


def _is_inspection_piece(piece: str) -> bool:
    words = _BEFORE_PROGRAM.sub("", piece.strip()).split()
    if not words:
        return True
    program = words[0].rpartition("/")[2]
    if program == "git":
        return len(words) > 1 and words[1] in _GIT_INSPECTION
    if program == "sed":
        return "-i" not in words
    return program in _INSPECTION_PROGRAMS or _HELP_OPTION.search(piece) is not None


def _main_piece(command: str) -> str:
    """Return the first part of a command line that is not `cd`."""
    pieces = [_BEFORE_PROGRAM.sub("", piece) for piece in command_pieces(command)]
    return next((piece for piece in pieces if not piece.startswith("cd ")), "")


def _main_words(command: str) -> str:
    piece = _main_piece(command)
    if module := _MODULE.match(piece):
        return module[1]
    words = [word for word in piece.split() if not word.startswith("-")]
    if not words:
        return ""
    program = words[0].rpartition("/")[2]
    return " ".join([program, *words[1:2]]) if program in _SUBCOMMAND_PROGRAMS else program


def _all_words(command: str) -> frozenset[str]:
    words = _main_piece(command).split()
    return frozenset(
        word.rpartition("/")[2] if place == 0 else word for place, word in enumerate(words)
    )


def _is_path(word: str) -> bool:
    return "/" in word or "." in word


def _arguments(command: str) -> frozenset[str]:
    words = _main_piece(command).split()[1:]
    return frozenset(word for word in words if not word.startswith("-") and len(word) > 2)
