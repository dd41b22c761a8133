"""
Projects and repos, and how they are identified.

By git remote first (the same on every machine and in every clone), then by root path, else by
name. This file parses what a caller passed into one of the three; `.git` is read in
service/disk/git_checkout.py.
"""

import re
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import urlsplit

from recollect.errors import InvalidInput

MAX_NAME = 200

# user@host:path, or host:path if the host cannot be a drive letter.
_SCP_LIKE = re.compile(r"^(?:[\w.+-]+@([\w.-]+)|([\w.-]{2,})):(?!//)(.+)$")
_HOST_AND_PATH = re.compile(r"^([\w-]+(?:\.[\w-]+)+)/(.+)$")


@dataclass(frozen=True, kw_only=True)
class Project:
    """A body of work with a unique name."""

    id: str
    name: str
    created_at: datetime


@dataclass(frozen=True, kw_only=True)
class Repo:
    """A repository of a project: its normalised remote and its last known path."""

    id: str
    project_id: str
    name: str
    remote: str = ""
    root: str = ""
    created_at: datetime


@dataclass(frozen=True)
class ByName:
    """A name."""

    name: str


@dataclass(frozen=True)
class ByPath:
    """A path on this machine."""

    path: str


@dataclass(frozen=True)
class ByRemote:
    """A git remote, normalised as host/owner/name."""

    remote: str


Reference = ByName | ByPath | ByRemote


def parse_reference(written: str) -> Reference:
    """Parse a reference to a project or repo: a remote, a path, or else a name."""
    text = written.strip()
    if not text:
        raise InvalidInput("the name of a project or repo is empty; leave it out or name one")
    if len(text) > 4096 or any(ord(ch) < 32 for ch in text):
        raise InvalidInput("the name of a project or repo is too long or has control characters")
    if "://" in text or (text.startswith("git@") and ":" in text):
        remote = normalise_remote(text)
        if not remote:
            raise InvalidInput(f"{text!r} is not the URL of a git remote; write the whole URL")
        return ByRemote(remote)
    if text.startswith(("/", "~", "./", "../", ".\\", "..\\")) or text in (".", ".."):
        return ByPath(text)
    if re.match(r"^[A-Za-z]:[\\/]", text):
        return ByPath(text)
    if len(text) > MAX_NAME:
        raise InvalidInput(f"the name {text[:40]!r}… is over {MAX_NAME} characters")
    return ByName(text)


def normalise_remote(url: str) -> str:
    """
    Return host/path of a git remote: no scheme, user, port, password or `.git`.

    `git@github.com:Acme/Site.git`, `https://token@github.com/acme/site` and
    `ssh://git@github.com:22/acme/site/` all give `github.com/acme/site`.
    """
    text = url.strip()
    if "://" in text:
        try:
            parts = urlsplit(text)
        except ValueError as error:
            raise InvalidInput(f"{text!r} is not the URL of a git remote: {error}") from error
        host, path = parts.hostname or "", parts.path
    elif match := _SCP_LIKE.match(text):
        host, path = match.group(1) or match.group(2), match.group(3)
    elif match := _HOST_AND_PATH.match(text):
        host, path = match.group(1), match.group(2)
    else:
        return ""  # a path, which is only valid on this machine
    path = path.lower().strip("/").removesuffix(".git").strip("/")
    return "/".join(part for part in (host.lower(), path) if part)


def remote_names(remote: str) -> list[str]:
    """Return names for the project of *remote*, shortest first: `site`, `acme/site`, …"""
    parts = [part for part in remote.split("/") if part]
    return ["/".join(parts[-n:]) for n in range(1, len(parts) + 1)]
