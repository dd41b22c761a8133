"""
Which store is meant, and which server serves it, told without loading anything.

The rules are those of config.py, of which only the store, the server's address and the token
matter here; a test holds the two together. A server of this machine is known by its pid file, which
names the store. A server whose address was set is believed, unless a store was named as well: then
the request says which, and a server of another store refuses it.
"""

import json
import os

DEFAULT_DB = "~/.local-memory/memory.db"
_VARIABLES = {
    "db": ("RECOLLECT_DB", "MEMORY_SERVER_DB_PATH"),
    "server_url": ("RECOLLECT_SERVER_URL", "MEMORY_SERVER_URL"),
    "token": ("RECOLLECT_TOKEN",),
}


class Whose:
    """The store a hook works for: its file, and where somebody said its server is."""

    __slots__ = ("db", "db_named", "server_url", "token")

    def __init__(self, *, db: str, db_named: bool, server_url: str, token: str) -> None:
        self.db = db
        self.db_named = db_named
        self.server_url = server_url
        self.token = token

    @property
    def elsewhere(self) -> bool:
        """Whether only a server was named: then no file of this machine stands in for it."""
        return bool(self.server_url) and not self.db_named


def whose(environ: "dict[str, str]", db: str = "") -> Whose:
    """Return the store that is meant: as an argument, the environment or the file says."""
    found = _from_file(environ)
    for name, variables in _VARIABLES.items():
        value = next((environ[one] for one in variables if environ.get(one)), "")
        if value:
            found[name] = value
    if db:
        found["db"] = db
    path = os.path.expanduser(found.get("db", DEFAULT_DB))
    return Whose(
        db=os.path.abspath(path),
        db_named="db" in found,
        server_url=found.get("server_url", ""),
        token=found.get("token", ""),
    )


def served_at(state: str, db: str) -> "tuple[str, int] | None":
    """Return host and port of the server of *db* on this machine, None where there is none."""
    try:
        names = [name for name in os.listdir(state) if name.startswith("server-")]
    except OSError:
        return None
    wanted = os.path.realpath(db)
    for name in sorted(names):
        if name.endswith(".pid"):
            found = _running(os.path.join(state, name), wanted)
            if found is not None:
                return found
    return None


def address_in(url: str) -> "tuple[str, int, bool]":
    """Return host, port and whether it is encrypted; raises ValueError where it is no address."""
    scheme, _, rest = url.partition("://")
    place = rest.partition("/")[0]
    host, colon, port = place.rpartition(":")
    if not colon or port.endswith("]"):
        host, port = place, "443" if scheme == "https" else "80"
    if scheme not in ("http", "https") or not host or "@" in host:
        raise ValueError("the server's address is none")
    return host.strip("[]"), int(port), scheme == "https"


def _running(path: str, db: str) -> "tuple[str, int] | None":
    try:
        with open(path, "rb") as file:
            read = json.loads(file.read(10_000))
        pid, host, port, serves = read["pid"], read["host"], read["port"], read["db"]
    except (OSError, ValueError, TypeError, KeyError):
        return None
    sound = type(pid) is int and type(port) is int and isinstance(host, str)
    if not sound or not isinstance(serves, str) or os.path.realpath(serves) != db:
        return None
    bare = host.strip("[]")
    reached = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(bare, bare)
    return (reached, port) if _is_there(pid) else None


def _is_there(pid: int) -> bool:
    """Say whether that process lives: another program may have its port since."""
    if os.name != "posix" or pid <= 1:
        return pid > 1
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return False  # somebody else's process: not the server that wrote our file
    return True


def _from_file(environ: "dict[str, str]") -> "dict[str, str]":
    named = environ.get("RECOLLECT_CONFIG")
    folder = environ.get("XDG_CONFIG_HOME") or "~/.config"
    path = os.path.expanduser(named or os.path.join(folder, "recollect", "config.toml"))
    if not os.path.isfile(path):
        return {}
    # Most people have no such file, and reading one takes longer than all else here.
    import tomllib

    with open(path, "rb") as file:
        read = tomllib.load(file)
    return {name: read[name] for name in _VARIABLES if isinstance(read.get(name), str)}
