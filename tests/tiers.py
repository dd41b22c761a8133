"""
The tiers of the tests: a marker each, set for a whole file with `pytestmark`.

A test without a tier is a unit or contract test: it runs by default, starts no process and listens
on no port. `watch` holds it to that: Python reports every process and every listening socket to an
audit hook, and the hook refuses them while such a test runs.
"""

import re
import sys
from pathlib import Path
from typing import Any

from _pytest.mark.expression import Expression

TIERS = frozenset({"door", "kill", "fuzz", "vendor", "postgres"})
_REFUSED = frozenset({"subprocess.Popen", "os.fork", "os.forkpty", "os.posix_spawn", "socket.bind"})
_MARK = re.compile(
    r"^(pytestmark = .*)?.*?pytest\.mark\.(door|kill|fuzz|vendor|postgres)\b", re.MULTILINE
)
_USES_STORE = re.compile(r"^def \w+\([^)]*\b(store|open_store|other_store|keep): ", re.MULTILINE)
_running: list[str] = []  # the test without a tier that runs now, if one does


def can_hold(path: Path, expression: str) -> bool:
    """Return whether the test file *path* can hold a test that the marker *expression* selects."""
    text = path.read_text(encoding="utf-8")
    marks = _MARK.findall(text)
    whole = {tier for head, tier in marks if head}
    if not expression or any(not head for head, _ in marks):
        return True  # everything is chosen, or some tests have a mark of their own
    chosen = Expression.compile(expression)
    if chosen.evaluate(lambda name, /, **_: name in whole):
        return True
    # A fixture runs such a test in PostgreSQL too.
    runs_in_both = path.parent.name == "acceptance" or _USES_STORE.search(text) is not None
    return runs_in_both and chosen.evaluate(
        lambda name, /, **_: name in whole or name == "postgres"
    )


def chooses_untiered(expression: str) -> bool:
    """Return whether the marker *expression* selects tests without a tier."""
    return not expression or Expression.compile(expression).evaluate(lambda name, /, **_: False)


def watch() -> None:
    """Refuse processes and listening sockets to tests without a tier, from now on."""
    sys.addaudithook(_refuse)


def running(test: str) -> None:
    """Say which test without a tier runs; '' if none does."""
    _running[:] = [test] if test else []


def _refuse(event: str, arguments: tuple[Any, ...]) -> None:
    if event in _REFUSED and _running:
        if event == "socket.bind" and not isinstance(arguments[1], tuple):
            return  # a file, not a port
        raise RuntimeError(
            f"{_running[0]} starts a process or a server ({event}) and has no tier. Give its file "
            "`pytestmark = pytest.mark.door` (or kill, fuzz, vendor, postgres; see pyproject.toml)"
        )
