"""
Projects and repos, and how they are identified.

A project has one identity, of one of three kinds that never mean each other:

remote  the git remote, the same on every machine and in every clone
path    the root folder, if it has no remote
name    a plain name that a person gave

So a clone of `evil/payments` is not the project that a person calls "payments", until a person
links the two. This file parses what a caller passed into one of the three; `.git` is read in
service/disk/git_checkout.py.
"""

import difflib
import re
import shlex
from collections import Counter
from collections.abc import Callable, Iterable
from datetime import datetime
from pathlib import PurePath
from urllib.parse import urlsplit

from recollect.errors import InvalidInput
from recollect.lazy_dataclass import dataclass

MAX_NAME = 200

# Hosts that ignore the case of owner and repository names. Elsewhere case counts.
CASE_INSENSITIVE_HOSTS = frozenset(
    {
        "github.com",
        "gitlab.com",
        "bitbucket.org",
        "codeberg.org",
        "gitea.com",
        "dev.azure.com",
    }
)
# Other addresses of the same repositories. The `alt` hosts offer SSH on port 443.
HOST_ALIASES = {
    "www.github.com": "github.com",
    "ssh.github.com": "github.com",
    "ssh.github.com:443": "github.com",
    "www.gitlab.com": "gitlab.com",
    "altssh.gitlab.com": "gitlab.com",
    "altssh.gitlab.com:443": "gitlab.com",
    "www.bitbucket.org": "bitbucket.org",
    "altssh.bitbucket.org": "bitbucket.org",
    "altssh.bitbucket.org:443": "bitbucket.org",
    "www.codeberg.org": "codeberg.org",
    "ssh.dev.azure.com": "dev.azure.com",
}
_DEFAULT_PORTS = {"ssh": 22, "git+ssh": 22, "ssh+git": 22, "https": 443, "http": 80, "git": 9418}

# user@host:path, or host:path if the host cannot be a drive letter. Not helper::address.
_SCP_LIKE = re.compile(r"^(?:[\w.+-]+@([\w.-]+)|([\w.-]{2,})):(?!//|:)(.+)$")
_HOST_AND_PATH = re.compile(r"^([\w-]+(?:\.[\w-]+)+(?::\d+)?)/(.+)$")
_HOST = re.compile(r"(?:[\w.-]+|\[[0-9a-f:.]+\])(?::\d+)?", re.ASCII)
# ssh.dev.azure.com has v3/organisation/project/repo for what HTTPS calls …/_git/repo.
_AZURE_SSH_PATH = re.compile(r"^v3/([^/]+/[^/]+)/([^/]+)$")


@dataclass(frozen=True, kw_only=True)
class Project:
    """
    A body of work.

    Its identity is unique and can be passed wherever a project is named. Its name is short, and
    other projects may have the same. `linked_to` is the id of the project that a person made it
    part of.
    """

    id: str
    name: str
    identity: str = ""  # '' in files written before projects had one: the name
    linked_to: str = ""
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
            raise InvalidInput(
                f"{text!r} is not the URL of a git remote; write the whole URL, or the path of "
                "a folder without file://"
            )
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
    Return host/path of a git remote: no scheme, user, password, default port or `.git`.

    `git@github.com:Acme/Site.git`, `https://token@github.com/acme/site` and
    `ssh://git@ssh.github.com:443/acme/site/` all give `github.com/acme/site`. A port that is not
    the default of its scheme counts, and so does the case of the path, except for hosts that are
    known to ignore it.
    """
    text = url.strip()
    if "://" in text:
        host, path = _split_url(text)
    elif match := _SCP_LIKE.match(text):
        host, path = (match.group(1) or match.group(2)).lower(), _escape_path(match.group(3))
    elif match := _HOST_AND_PATH.match(text):
        host, path = match.group(1).lower(), _escape_path(match.group(2))
    else:
        return ""  # a path, which is only valid on this machine
    path = re.sub(r"(?:/|\.git|\s)+$", "", path.lstrip("/"), flags=re.IGNORECASE)
    if not host or not path or not _HOST.fullmatch(host):
        return ""
    host = HOST_ALIASES.get(host, host)
    if host == "dev.azure.com":
        path = _AZURE_SSH_PATH.sub(r"\1/_git/\2", path)
    if host in CASE_INSENSITIVE_HOSTS:
        path = path.lower()
    return f"{host}/{path}"


def _split_url(url: str) -> tuple[str, str]:
    """Return the host of *url*, with its port unless that is the default, and the path."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError as error:
        raise InvalidInput(f"{url!r} is not the URL of a git remote: {error}") from error
    if parts.scheme == "file" or "\\" in parts.netloc:
        return "", ""  # a folder of this machine; a host that programs read in different ways
    if ":" in host:
        host = f"[{host}]"  # IPv6
    if port is not None and port != _DEFAULT_PORTS.get(parts.scheme):
        host = f"{host}:{port}"
    return host, parts.path


def _escape_path(path: str) -> str:
    """Return a path that is not from a URL so that it means the same in one."""
    path = re.sub(r"[\t\r\n]", "", path)  # which are left out of a URL
    return path.replace("?", "%3F").replace("#", "%23")


def lower_case_remote(remote: str) -> str:
    """Return *remote* as stores kept it before ports and case counted."""
    host, _, path = remote.lower().partition("/")
    return f"{re.sub(r':[0-9]+$', '', host)}/{path}"


def remote_url(remote: str) -> str:
    """Return a URL for a normalised remote, which gives the same remote again."""
    host = remote.partition("/")[0]
    port = host.rpartition(":")[2]
    return f"ssh://{remote}" if port.isdecimal() and port != "22" else f"https://{remote}"


def identity_of_repo(remote: str, root: str) -> str:
    """Return the identity of the project of a repo: its remote, else its root, else ''."""
    return remote_url(remote) if remote else root


def short_name(identity: str) -> str:
    """Return the last part of an identity: `site` of `https://github.com/acme/site`."""
    name = re.split(r"[/\\]", identity.rstrip("/\\"))[-1]
    return (name or identity)[:MAX_NAME]


def is_named_after(name: str, remote: str, root: str) -> bool:
    """Return whether *name* is one that a project got from its repo, not from a person."""
    if remote:
        parts = remote.lower().split("/")
        return name.lower() in {"/".join(parts[-n:]) for n in range(1, len(parts) + 1)}
    return bool(root) and name in (root, PurePath(root).name)


def project_labels(projects: Iterable[Project]) -> dict[str, str]:
    """Return the names to show for all projects, by their ids."""
    projects = list(projects)
    counts = Counter(project.name for project in projects)
    return {
        project.id: _label(project, is_unique=counts[project.name] == 1) for project in projects
    }


def project_label(project: Project, projects: Iterable[Project]) -> str:
    """Return the name to show for *project*; with host and owner if others have the same name."""
    is_unique = not any(other.name == project.name and other.id != project.id for other in projects)
    return _label(project, is_unique=is_unique)


def _label(project: Project, *, is_unique: bool) -> str:
    if is_unique or project.identity in ("", project.name):
        return project.name
    place = project.identity.partition("://")[2] or project.identity
    place = place.removesuffix(project.name).rstrip("/\\")
    return f"{project.name} ({place})"


def moved_folder_hint(path: str, projects: Iterable[Project], exists: Callable[[str], bool]) -> str:
    """
    Return what to do if the folder *path* may be a known one that was renamed or moved, or ''.

    A project folder that is gone may have been moved to *path* if it had the same name. One with
    the same parent may have been renamed to *path* if no project has that folder yet.
    """
    projects, folder = list(projects), PurePath(path)
    is_new = all(project.identity != path for project in projects)
    missing = [
        old_folder
        for project in projects
        if (old_folder := PurePath(project.identity)).is_absolute() and not project.linked_to
        if old_folder != folder
        if old_folder.name == folder.name or (is_new and old_folder.parent == folder.parent)
        if not exists(project.identity)
    ]
    if not missing:
        return ""
    return (
        f"The folder {missing[0]} is gone. If it was renamed or moved to {path}, make them one "
        f"project: {link_command(missing[0], path)}"
    )


def link_command(old_folder: PurePath | str, new_folder: str) -> str:
    """Return the command that links the project of a moved folder to the one of its new place."""
    return f"recollect project link {shlex.quote(str(old_folder))} {shlex.quote(new_folder)}"


def unknown_name_hint(reference: str, projects: Iterable[Project]) -> str:
    """Return what to do if no project was given the name *reference*, or ''."""
    projects, name = list(projects), reference.strip()
    try:
        if not isinstance(parse_reference(name), ByName):
            return ""
    except InvalidInput:
        return ""
    if any(name in (project.identity, project.id) for project in projects):
        return ""
    names = [project.name for project in projects]
    if name not in names:
        similar = difflib.get_close_matches(name, dict.fromkeys(names), n=1)
        return f"No project is called {name!r}; did you mean {similar[0]!r}?" if similar else ""
    return (
        f"No project was given the name {name!r}; a repository or a folder is called that. Use its "
        "URL or path (see: recollect project list), or make the name mean it: "
        f"recollect project link {shlex.quote(name)} URL"
    )
