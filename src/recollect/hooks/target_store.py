"""
Find the store that a hook works for, and the server that serves it, without loading the package.

The rules are those of config.py, limited to the store, the server URL and the token; a test
compares the two. A local server is found by its pid file, which names its store. A configured
server URL is used as it is. If a store is configured too, the request names it, and a server of
another store refuses the request. A store on a database server is used through a Recollect server.
"""

import os

from recollect.hooks.quick_json import parse_json

DEFAULT_DB = "~/.local-memory/memory.db"
DEFAULT_URL = "http://127.0.0.1:8283"  # of the server of a store that is not in a file
_VARIABLES = {
    "db": ("RECOLLECT_DB", "MEMORY_SERVER_DB_PATH"),
    "server_url": ("RECOLLECT_SERVER_URL", "MEMORY_SERVER_URL"),
    "token": ("RECOLLECT_TOKEN",),
}


class TargetStore:
    """The store a hook works for: its file, and the configured URL of its server."""

    __slots__ = ("db", "db_is_explicit", "server_url", "token")

    def __init__(self, *, db: str, db_is_explicit: bool, server_url: str, token: str) -> None:
        self.db = db
        self.db_is_explicit = db_is_explicit
        self.server_url = server_url
        self.token = token

    @property
    def is_remote(self) -> bool:
        """Whether only a server URL is configured, so that no local file is used instead."""
        return bool(self.server_url) and not self.db_is_explicit


def find_target_store(environ: "dict[str, str]", db: str = "") -> TargetStore:
    """Return the configured store: argument first, then environment, then config file."""
    settings = _read_config_file(environ)
    for name, variables in _VARIABLES.items():
        if value := next((environ[key] for key in variables if environ.get(key)), ""):
            settings[name] = value
    if db:
        settings["db"] = db
    if settings.get("db", "").startswith(("postgresql://", "postgres://")):
        # Its address may hold a password, and hooks leave files behind: ask a server instead.
        settings["server_url"] = settings.get("server_url", "") or DEFAULT_URL
        del settings["db"]
    path = os.path.expanduser(settings.get("db", DEFAULT_DB))
    return TargetStore(
        db=os.path.abspath(path),
        db_is_explicit="db" in settings,
        server_url=settings.get("server_url", ""),
        token=settings.get("token", ""),
    )


def local_server_address(state: str, db: str) -> "tuple[str, int] | None":
    """Return host and port of the local server of *db*, None if none runs."""
    try:
        names = [name for name in os.listdir(state) if name.startswith("server-")]
    except OSError:
        return None
    real_db = os.path.realpath(db)
    paths = [os.path.join(state, name) for name in sorted(names) if name.endswith(".pid")]
    addresses = (_server_in_pid_file(path, real_db) for path in paths)
    return next((address for address in addresses if address is not None), None)


def parse_server_url(url: str) -> "tuple[str, int, bool]":
    """Return host, port and whether TLS is used; raise ValueError if *url* is not valid."""
    scheme, _, rest = url.partition("://")
    location = rest.partition("/")[0]
    host, colon, port = location.rpartition(":")
    if not colon or port.endswith("]"):
        host, port = location, "443" if scheme == "https" else "80"
    if scheme not in ("http", "https") or not host or "@" in host:
        raise ValueError("the server URL is not valid")
    return host.strip("[]"), int(port), scheme == "https"


def _server_in_pid_file(path: str, db: str) -> "tuple[str, int] | None":
    try:
        with open(path, "rb") as file:
            content: object = parse_json(file.read(10_000).decode())
        if not isinstance(content, dict):
            return None
        pid, host, port = content["pid"], content["host"], content["port"]
        served_db = content["db"]
    except (OSError, ValueError, TypeError, KeyError):
        return None
    is_valid = type(pid) is int and type(port) is int and isinstance(host, str)
    if not is_valid or not isinstance(served_db, str) or os.path.realpath(served_db) != db:
        return None
    bare_host = host.strip("[]")
    local_host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(bare_host, bare_host)
    return (local_host, port) if _is_running(pid) else None


def _is_running(pid: int) -> bool:
    """Return whether the process exists; if not, another program may use its port now."""
    if os.name != "posix" or pid <= 1:
        return pid > 1
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError, PermissionError):
        return False  # another user's process cannot be the server that wrote this file
    return True


def _read_config_file(environ: "dict[str, str]") -> "dict[str, str]":
    configured = environ.get("RECOLLECT_CONFIG")
    folder = environ.get("XDG_CONFIG_HOME") or "~/.config"
    path = os.path.expanduser(configured or os.path.join(folder, "recollect", "config.toml"))
    if not os.path.isfile(path):
        return {}
    # Loaded here because most users have no such file, and tomllib is slow to load.
    import tomllib

    with open(path, "rb") as file:
        content = tomllib.load(file)
    return {name: content[name] for name in _VARIABLES if isinstance(content.get(name), str)}
