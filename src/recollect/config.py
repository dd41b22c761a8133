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
CHAT_BACKENDS = ("none", "openai", "ollama", "anthropic")

# setting: the environment variables that set it, first found wins
_VARIABLES: dict[str, tuple[str, ...]] = {
    "db": ("RECOLLECT_DB", "MEMORY_SERVER_DB_PATH"),
    "embedding_backend": ("RECOLLECT_EMBEDDING_BACKEND", "MEMORY_EMBEDDING_BACKEND"),
    "embedding_model": ("RECOLLECT_EMBEDDING_MODEL", "MEMORY_EMBEDDING_MODEL"),
    "ollama_url": ("OLLAMA_BASE_URL",),
    "openai_url": ("RECOLLECT_OPENAI_BASE_URL", "OPENAI_BASE_URL"),
    "openai_key": ("RECOLLECT_OPENAI_API_KEY", "OPENAI_API_KEY"),
    "anthropic_url": ("RECOLLECT_ANTHROPIC_BASE_URL", "ANTHROPIC_BASE_URL"),
    "anthropic_key": ("RECOLLECT_ANTHROPIC_API_KEY", "ANTHROPIC_API_KEY"),
    "chat_backend": ("RECOLLECT_CHAT_BACKEND",),
    "chat_model": ("RECOLLECT_CHAT_MODEL",),
    "chat_calls_per_day": ("RECOLLECT_CHAT_CALLS_PER_DAY",),
    "chat_tokens_per_day": ("RECOLLECT_CHAT_TOKENS_PER_DAY",),
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
    anthropic_url: str = "https://api.anthropic.com"
    anthropic_key: str = ""
    chat_backend: str = "none"  # a key alone switches nothing on
    chat_model: str = ""
    chat_calls_per_day: int = 200
    chat_tokens_per_day: int = 500_000
    cross_project: bool = True

    def __post_init__(self) -> None:
        _check_backend("embedding", self.embedding_backend, EMBEDDING_BACKENDS)
        _check_backend("chat", self.chat_backend, CHAT_BACKENDS)
        for name in ("chat_calls_per_day", "chat_tokens_per_day"):
            if getattr(self, name) < 0:
                raise InvalidInput(f"{name} must be 0 or more, not {getattr(self, name)}")

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


def load_settings(
    environ: Mapping[str, str] | None = None, **given: str | bool | int | None
) -> Settings:
    """Return the settings from arguments, environment and configuration file, in that order."""
    environ = os.environ if environ is None else environ
    values: dict[str, str | bool | int] = dict(_from_file(config_path(environ)))
    for name, variables in _VARIABLES.items():
        variable = next((v for v in variables if environ.get(v)), None)
        if variable is not None:
            values[name] = _from_variable(name, variable, environ[variable])
    values.update({name: value for name, value in given.items() if value is not None})
    return Settings(**values)  # type: ignore[arg-type]  # checked field by field in _from_file


def _check_backend(what: str, backend: str, known: tuple[str, ...]) -> None:
    if backend not in known:
        raise InvalidInput(f"unknown {what} backend {backend!r}; use one of {', '.join(known)}")


def _known() -> dict[str, type]:
    return {field.name: type(field.default) for field in fields(Settings)}


def _from_variable(name: str, variable: str, written: str) -> str | int:
    if _known()[name] is not int:
        return written
    try:
        return int(written)
    except ValueError as error:
        raise InvalidInput(f"{variable} must be a whole number, not {written[:40]!r}") from error


def _from_file(path: Path) -> dict[str, str | bool | int]:
    try:
        read = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InvalidInput(f"cannot read the configuration file {path}: {error}") from error
    known = _known()
    for name, value in read.items():
        if name not in known:
            raise InvalidInput(
                f"unknown setting {name!r} in {path}; known are {', '.join(sorted(known))}"
            )
        if type(value) is not known[name]:  # not isinstance: true is no number
            raise InvalidInput(f"setting {name!r} in {path} must be a {known[name].__name__}")
    return read
