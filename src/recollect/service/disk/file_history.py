"""
What git knows of a file: its last commits.

Git is run, because following a file through renames is its own work. A checkout may be anybody's,
and its configuration could name programs to run; every such setting that `git log` obeys is
switched off. The history is optional: if anything goes wrong, it is empty.
"""

import os
import subprocess
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

from recollect.domain.file import Commit
from recollect.errors import InvalidInput, NotFound
from recollect.service.disk.allowed_roots import allowed_path
from recollect.service.disk.git_checkout import find_checkout
from recollect.text.redact import redact
from recollect.wire.fields import parse_count

MAX_COMMITS = 100
TIME_LIMIT_S = 2.0

_SAFE = (
    "core.fsmonitor=false",
    f"core.hooksPath={os.devnull}",
    "protocol.allow=never",  # a partial clone would fetch, with core.sshCommand
    "safe.bareRepository=explicit",  # files that look like a repository are none
    "core.quotePath=false",
)
# Hash, time, author's name, subject. The last two are cut by git, so that its answer stays small.
_FORMAT = "%H%x00%aI%x00%<(100,trunc)%an%x00%<(200,trunc)%s"
_FIELDS = 4


def file_history(path: Path, *, roots: Sequence[Path], limit: int = 5) -> tuple[Commit, ...]:
    """
    Return the last commits that changed *path*, newest first, through renames.

    Returns nothing if there is no git, no repository, or no answer in time. Only a path outside of
    *roots* is an error.
    """
    limit = parse_count("limit", limit, maximum=MAX_COMMITS)
    try:
        real = allowed_path(path, roots)
    except NotFound:
        return ()
    try:
        checkout = find_checkout(real).root
        if not (checkout / ".git").exists():
            return ()
        answer = _git_log(checkout, real.relative_to(checkout), limit)
        return tuple(_commits(answer))
    except (InvalidInput, OSError, ValueError, subprocess.SubprocessError):
        return ()


def _git_log(checkout: Path, relative: Path, limit: int) -> str:
    settings = [word for setting in _SAFE for word in ("-c", setting)]
    done = subprocess.run(
        [
            "git",
            "--no-pager",
            "--literal-pathspecs",
            *settings,
            "log",
            "--follow",
            "--no-ext-diff",
            "--no-textconv",
            "--no-show-signature",  # would run gpg.program
            "--no-color",
            "--encoding=UTF-8",
            "-z",
            f"--max-count={limit}",
            f"--format={_FORMAT}",
            "--",
            str(relative),
        ],
        cwd=checkout,
        env=_environment(checkout),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=TIME_LIMIT_S,
        check=True,
    )
    return done.stdout.decode("utf-8", errors="replace")


def _environment(checkout: Path) -> dict[str, str]:
    # Variables of the caller's git (GIT_DIR in a hook) name another repository.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return environment | {
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_CEILING_DIRECTORIES": str(checkout.parent),
        "LC_ALL": "C.UTF-8",
    }


def _commits(answer: str) -> Iterator[Commit]:
    fields = answer.split("\0")
    for at in range(0, len(fields) - _FIELDS + 1, _FIELDS):
        commit, authored, author, subject = (field.strip() for field in fields[at : at + _FIELDS])
        yield Commit(
            hash=commit,
            authored_at=datetime.fromisoformat(authored).astimezone(UTC),
            author=author,
            subject=redact(subject).text,
        )
