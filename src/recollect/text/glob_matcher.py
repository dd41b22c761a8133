"""
Match file paths against a glob, as agents write them: `*.py`, `src/**/*.ts`, `*.{js,ts}`.

A glob without a slash matches the file's name in any folder; one with a slash matches the whole
path below the root. `*` and `?` stay within one name, `**` is any number of folders. Matching is
case-sensitive, and its backtracking is bounded for every glob.
"""

import re
from collections.abc import Callable
from fnmatch import fnmatchcase

from recollect.errors import InvalidInput

MAX_GLOB = 500
MAX_ALTERNATIVES = 64
MAX_STARS = 8  # in one name: fnmatch tries them against each other

_BRACES = re.compile(r"\{([^{}]*)\}")


def glob_matcher(glob: str | None) -> Callable[[str], bool]:
    """Return a function that tests whether a path below the root, with slashes, matches *glob*."""
    if glob is None:
        return lambda path: True
    if not glob.strip() or len(glob) > MAX_GLOB:
        raise InvalidInput(f"include must have 1 to {MAX_GLOB} characters; write it as *.py")
    patterns = [_parse_pattern(alternative) for alternative in _alternatives(glob)]
    return lambda path: any(
        _matches(tuple(path.split("/")) if is_path else (path.rpartition("/")[2],), parts)
        for is_path, parts in patterns
    )


def _parse_pattern(glob: str) -> tuple[bool, tuple[str, ...]]:
    parts = [part for part in glob.split("/") if part not in ("", ".")]
    if glob.endswith("/"):
        parts.append("**")  # a folder: everything in it
    if any(re.sub(r"\*+", "*", part).count("*") > MAX_STARS for part in parts):
        raise InvalidInput(f"include has a name with over {MAX_STARS} stars; write it shorter")
    return "/" in glob, tuple(part if part == "**" else re.sub(r"\*+", "*", part) for part in parts)


def _matches(path: tuple[str, ...], pattern: tuple[str, ...]) -> bool:
    """Return whether *path* matches *pattern*, by dynamic programming over both."""
    reached = {0}  # how many names of the path the pattern so far can match
    for part in pattern:
        if part == "**":
            reached = set(range(min(reached), len(path) + 1)) if reached else reached
        else:
            reached = {at + 1 for at in reached if at < len(path) and fnmatchcase(path[at], part)}
    return len(path) in reached


def _alternatives(glob: str) -> list[str]:
    """Return *glob* with its braces expanded, nested braces included."""
    pending, done = [glob], list[str]()
    while pending:
        pattern = pending.pop()
        if braces := _BRACES.search(pattern):
            before, after = pattern[: braces.start()], pattern[braces.end() :]
            pending += [f"{before}{choice}{after}" for choice in braces[1].split(",")]
        else:
            done.append(pattern)
        if len(pending) + len(done) > MAX_ALTERNATIVES:
            problem = f"include has over {MAX_ALTERNATIVES} alternatives in braces; write fewer"
            raise InvalidInput(problem)
    return done
