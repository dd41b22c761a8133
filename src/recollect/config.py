"""
Settings: one frozen value, read once at the door from arguments, environment and a file.

Order, first found wins: an argument, `RECOLLECT_*`, the memory server's `MEMORY_*` names, the
configuration file, the default. Nothing below the composition root reads the environment.
"""

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path

from recollect.errors import InvalidInput

EMBEDDING_BACKENDS = ("local", "folder", "ollama", "openai", "none")

# setting: the environment variables that set it, first found wins
_VARIABLES: dict[str, tuple[str, ...]] = {
    "db": ("RECOLLECT_DB", "MEMORY_SERVER_DB_PATH"),
    "embedding_backend": ("RECOLLECT_EMBEDDING_BACKEND", "MEMORY_EMBEDDING_BACKEND"),
    "embedding_model": ("RECOLLECT_EMBEDDING_MODEL", "MEMORY_EMBEDDING_MODEL"),
    "ollama_url": ("OLLAMA_BASE_URL",),
    "openai_url": ("RECOLLECT_OPENAI_BASE_URL", "OPENAI_BASE_URL"),
    "openai_key": ("RECOLLECT_OPENAI_API_KEY", "OPENAI_API_KEY"),
}


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What a user may set. Unset text is empty, never None."""

    db: str = "~/.local-memory/memory.db"
    embedding_backend: str = "local"
    embedding_model: str = ""
    ollama_url: str = "http://localhost:11434"
    openai_url: str = "https://api.openai.com/v1"
    openai_key: str = ""
    cross_project: bool = True

    def __post_init__(self) -> None:
        if self.embedding_backend not in EMBEDDING_BACKENDS:
            raise InvalidInput(
                f"unknown embedding backend {self.embedding_backend!r}; "
                f"use one of {', '.join(EMBEDDING_BACKENDS)}"
            )

    @property
    def db_path(self) -> Path:
        """The database file, with `~` resolved."""
        return at_home(self.db)


def at_home(written: str) -> Path:
    """Return *written* as a path, with `~` resolved."""
    try:
        return Path(written).expanduser()
    except RuntimeError as error:
        raise InvalidInput(f"the home folder in {written!r} is not known: {error}") from error


def config_path(environ: Mapping[str, str]) -> Path:
    """Return where the configuration file is looked for."""
    if named := environ.get("RECOLLECT_CONFIG"):
        return at_home(named)
    home = environ.get("XDG_CONFIG_HOME") or "~/.config"
    return at_home(home) / "recollect" / "config.toml"


def load_settings(environ: Mapping[str, str] | None = None, **given: str | bool | None) -> Settings:
    """Return the settings from arguments, environment and configuration file, in that order."""
    environ = os.environ if environ is None else environ
    values: dict[str, str | bool] = dict(_from_file(config_path(environ)))
    for name, variables in _VARIABLES.items():
        found = next((environ[v] for v in variables if environ.get(v)), None)
        if found is not None:
            values[name] = found
    values.update({name: value for name, value in given.items() if value is not None})
    return Settings(**values)  # type: ignore[arg-type]  # checked field by field in _from_file


def _from_file(path: Path) -> dict[str, str | bool]:
    try:
        read = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InvalidInput(f"cannot read the configuration file {path}: {error}") from error
    known = {field.name: type(field.default) for field in fields(Settings)}
    for name, value in read.items():
        if name not in known:
            raise InvalidInput(
                f"unknown setting {name!r} in {path}; known are {', '.join(sorted(known))}"
            )
        if not isinstance(value, known[name]):
            raise InvalidInput(f"setting {name!r} in {path} must be a {known[name].__name__}")
    return read
