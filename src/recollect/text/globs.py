"""
Choose files by a glob, as agents write them: `*.py`, `src/**/*.ts`, `*.{js,ts}`.

Without a slash the file's name is meant, in any folder; with one, its whole path below the root.
`*` and `?` stay within one name, `**` is any number of folders. Case counts. Nothing
here backtracks without bound, whatever the glob.
"""

import re
from collections.abc import Callable
from fnmatch import fnmatchcase

from recollect.errors import InvalidInput

MAX_GLOB = 500
MAX_ALTERNATIVES = 64
MAX_STARS = 8  # in one name: fnmatch tries them against each other

_BRACES = re.compile(r"\{([^{}]*)\}")


def chooser(glob: str | None) -> Callable[[str], bool]:
    """Return a question: is a path below the root, written with slashes, meant by *glob*?"""
    if glob is None:
        return lambda path: True
    if not glob.strip() or len(glob) > MAX_GLOB:
        raise InvalidInput(f"include must have 1 to {MAX_GLOB} characters; write it as *.py")
    shapes = [_shape(one) for one in _alternatives(glob)]
    return lambda path: any(
        _meant(tuple(path.split("/")) if deep else (path.rpartition("/")[2],), parts)
        for deep, parts in shapes
    )


def _shape(glob: str) -> tuple[bool, tuple[str, ...]]:
    parts = [part for part in glob.split("/") if part not in ("", ".")]
    if glob.endswith("/"):
        parts.append("**")  # a folder: everything in it
    if any(re.sub(r"\*+", "*", part).count("*") > MAX_STARS for part in parts):
        raise InvalidInput(f"include has a name with over {MAX_STARS} stars; write it shorter")
    return "/" in glob, tuple(part if part == "**" else re.sub(r"\*+", "*", part) for part in parts)


def _meant(path: tuple[str, ...], shape: tuple[str, ...]) -> bool:
    """Return whether *path* has *shape*: a table of what each prefix of both can reach."""
    reached = {0}  # how many names of the path the shape so far can take
    for part in shape:
        if part == "**":
            reached = set(range(min(reached), len(path) + 1)) if reached else reached
        else:
            reached = {at + 1 for at in reached if at < len(path) and fnmatchcase(path[at], part)}
    return len(path) in reached


def _alternatives(glob: str) -> list[str]:
    """Return *glob* once for each choice in its braces; each choice in turn with its own."""
    waiting, done = [glob], list[str]()
    while waiting:
        one = waiting.pop()
        if braces := _BRACES.search(one):
            before, after = one[: braces.start()], one[braces.end() :]
            waiting += [f"{before}{choice}{after}" for choice in braces[1].split(",")]
        else:
            done.append(one)
        if len(waiting) + len(done) > MAX_ALTERNATIVES:
            raise InvalidInput(
                f"include has over {MAX_ALTERNATIVES} alternatives in braces; write fewer"
            )
    return done
