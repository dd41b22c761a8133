"""
Settings: one frozen value, read once from arguments, environment and the configuration file.

Precedence: an argument, a `RECOLLECT_*` variable, a `MEMORY_*` variable of the memory server, the
configuration file, the default. Only this module and the entry points read the environment.
"""

import os
from collections.abc import Mapping
from dataclasses import field, fields
from pathlib import Path
from typing import Any

from recollect.errors import InvalidInput
from recollect.lazy_dataclass import dataclass

EMBEDDING_BACKENDS = ("local", "folder", "ollama", "openai", "none")
AUDIT_CHOICES = ("team", "always", "never")
CHAT_BACKENDS = ("none", "openai", "ollama", "anthropic")
LOG_FORMATS = ("text", "json")

# setting: the environment variables that set it, by precedence
_VARIABLES: dict[str, tuple[str, ...]] = {
    "db": ("RECOLLECT_DB", "MEMORY_SERVER_DB_PATH"),
    "db_owner": ("RECOLLECT_DB_OWNER",),
    "db_connections": ("RECOLLECT_DB_CONNECTIONS",),
    "embedding_backend": ("RECOLLECT_EMBEDDING_BACKEND", "MEMORY_EMBEDDING_BACKEND"),
    "embedding_model": ("RECOLLECT_EMBEDDING_MODEL", "MEMORY_EMBEDDING_MODEL"),
    "models_folder": ("RECOLLECT_MODELS_FOLDER",),
    "ollama_url": ("OLLAMA_BASE_URL",),
    "openai_url": ("RECOLLECT_OPENAI_BASE_URL", "OPENAI_BASE_URL"),
    "openai_key": ("RECOLLECT_OPENAI_API_KEY", "OPENAI_API_KEY"),
    "anthropic_url": ("RECOLLECT_ANTHROPIC_BASE_URL", "ANTHROPIC_BASE_URL"),
    "anthropic_key": ("RECOLLECT_ANTHROPIC_API_KEY", "ANTHROPIC_API_KEY"),
    "chat_backend": ("RECOLLECT_CHAT_BACKEND",),
    "chat_model": ("RECOLLECT_CHAT_MODEL",),
    "chat_calls_per_day": ("RECOLLECT_CHAT_CALLS_PER_DAY",),
    "chat_tokens_per_day": ("RECOLLECT_CHAT_TOKENS_PER_DAY",),
    "model_prices": ("RECOLLECT_MODEL_PRICES",),
    "host": ("RECOLLECT_HOST", "MEMORY_SERVER_HOST"),
    "port": ("RECOLLECT_PORT", "MEMORY_SERVER_PORT"),
    "server_url": ("RECOLLECT_SERVER_URL", "MEMORY_SERVER_URL"),
    "token": ("RECOLLECT_TOKEN",),
    "allowed_hosts": ("RECOLLECT_ALLOWED_HOSTS",),
    "default_search_limit": ("RECOLLECT_DEFAULT_SEARCH_LIMIT", "MEMORY_DEFAULT_SEARCH_LIMIT"),
    "max_search_limit": ("RECOLLECT_MAX_SEARCH_LIMIT", "MEMORY_MAX_SEARCH_LIMIT"),
    "max_context_messages": ("RECOLLECT_MAX_CONTEXT_MESSAGES", "MEMORY_MAX_CONTEXT_MESSAGES"),
    "file_roots": ("RECOLLECT_FILE_ROOTS",),
    "max_body_mb": ("RECOLLECT_MAX_BODY_MB",),
    "requests_per_second": ("RECOLLECT_REQUESTS_PER_SECOND",),
    "user_requests_per_second": ("RECOLLECT_USER_REQUESTS_PER_SECOND",),
    "header_timeout_s": ("RECOLLECT_HEADER_TIMEOUT_S",),
    "body_timeout_s": ("RECOLLECT_BODY_TIMEOUT_S",),
    "max_connections": ("RECOLLECT_MAX_CONNECTIONS",),
    "shutdown_delay_s": ("RECOLLECT_SHUTDOWN_DELAY_S",),
    "log_format": ("RECOLLECT_LOG_FORMAT",),
    "metrics": ("RECOLLECT_METRICS",),
    "trace_endpoint": ("RECOLLECT_TRACE_ENDPOINT",),
    "keep_retrievals_days": ("RECOLLECT_KEEP_RETRIEVALS_DAYS",),
    "keep_retrievals_mb": ("RECOLLECT_KEEP_RETRIEVALS_MB",),
    "audit": ("RECOLLECT_AUDIT",),
    "audit_days": ("RECOLLECT_AUDIT_DAYS",),
    "backup_folder": ("RECOLLECT_BACKUP_FOLDER",),
    "backup_keep": ("RECOLLECT_BACKUP_KEEP",),
    "backup_every_hours": ("RECOLLECT_BACKUP_EVERY_HOURS",),
    "sync_every_s": ("RECOLLECT_SYNC_EVERY_S",),
    "key_file": ("RECOLLECT_KEY_FILE",),
    "keyring": ("RECOLLECT_KEYRING",),
    "passphrase": ("RECOLLECT_PASSPHRASE",),
    "single_user": ("RECOLLECT_SINGLE_USER",),
    "promote_explicit": ("RECOLLECT_PROMOTE_EXPLICIT",),
    "auto_compaction": ("RECOLLECT_AUTO_COMPACTION",),
}

_BOOLEANS = {"true": True, "1": True, "yes": True, "on": True} | {
    "false": False,
    "0": False,
    "no": False,
    "off": False,
}

# setting: minimum and maximum
_RANGES: dict[str, tuple[int, int | None]] = {
    "db_connections": (6, 10_000),
    "chat_calls_per_day": (0, None),
    "chat_tokens_per_day": (0, None),
    "port": (0, 65_535),
    "default_search_limit": (1, 1_000),
    "max_search_limit": (1, 1_000),
    "max_context_messages": (0, 1_000),
    "max_body_mb": (1, 4_096),
    "requests_per_second": (0, None),
    "user_requests_per_second": (0, None),
    "header_timeout_s": (1, 3_600),
    "body_timeout_s": (1, 3_600),
    "max_connections": (8, None),
    "shutdown_delay_s": (0, 300),
    "keep_retrievals_days": (0, 36_500),
    "keep_retrievals_mb": (0, None),
    "audit_days": (1, 36_500),
    "backup_every_hours": (0, 24 * 366),
    "sync_every_s": (0, 24 * 3_600),
}


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The settings of a user. A text setting that is not set is empty, never None."""

    db: str = "~/.local-memory/memory.db"
    db_owner: str = field(default="", repr=False)  # PostgreSQL: address with the tables' owner
    db_connections: int = 16  # PostgreSQL: of one process, to all stores of a team
    embedding_backend: str = "local"
    embedding_model: str = ""
    models_folder: str = "~/.local-memory/models"  # where `recollect models add` saves models
    ollama_url: str = "http://localhost:11434"
    openai_url: str = "https://api.openai.com/v1"
    openai_key: str = field(default="", repr=False)
    anthropic_url: str = "https://api.anthropic.com"
    anthropic_key: str = field(default="", repr=False)
    chat_backend: str = "none"  # an API key alone does not enable a backend
    chat_model: str = ""
    chat_calls_per_day: int = 200
    chat_tokens_per_day: int = 500_000
    model_prices: str = ""  # a JSON file with prices and windows of models, added to the known ones
    cross_project: bool = True
    host: str = "127.0.0.1"
    port: int = 8283  # 0: the operating system chooses a free port
    server_url: str = "http://127.0.0.1:8283"  # where a client looks for a server
    token: str = field(default="", repr=False)
    allowed_hosts: str = ""  # additional host names a request may use, separated by commas
    default_search_limit: int = 5  # at most max_search_limit
    max_search_limit: int = 20
    max_context_messages: int = 10
    file_roots: str = ""  # folders a server may read, separated as in PATH
    max_body_mb: int = 64
    requests_per_second: int = 500  # per client address; 0: no limit
    user_requests_per_second: int = 500  # per user of a team, from any address; 0: no limit
    header_timeout_s: int = 10  # for the headers of a request
    body_timeout_s: int = 30  # for each part of a body, and for a client that does not read
    max_connections: int = 1_000  # fewer if the operating system allows fewer open files
    shutdown_delay_s: int = 0  # a server that is told to stop serves so long, and is not ready
    log_format: str = "text"
    metrics: bool = False  # GET /metrics of the server
    trace_endpoint: str = ""  # a collector of OpenTelemetry; needs recollect[otel]
    keep_retrievals_days: int = 90  # how long a query stays in the log; 0: no limit
    keep_retrievals_mb: int = 64  # size of the log, about 100,000 searches; 0: no limit
    audit: str = "team"  # log who reads or changes what: in stores with users; always; never
    audit_days: int = 365  # how long the audit log keeps an entry
    backup_folder: str = ""  # where `recollect backup` and the server write backups
    backup_keep: str = "7d,4w,12m"  # newest backup of so many days, weeks and months
    backup_every_hours: int = 0  # a server with a backup_folder makes one so often; 0: never
    sync_every_s: int = 60  # a server syncs a store with a shared folder so often; 0: never
    key_file: str = "~/.config/recollect/store.key"  # keys of encrypted stores, mode 600
    keyring: bool = True  # look for keys in the OS keyring too; needs recollect[keyring]
    passphrase: str = field(default="", repr=False)  # of an encrypted store; better not in a file
    single_user: bool = False  # true: what agents are told about the person is one person's
    promote_explicit: bool = True  # what the user asks to remember becomes active at once
    auto_compaction: bool = True  # compact a conversation when a message fills its window
    # Not a user setting: whether an argument or the environment chose the embedder.
    embedder_is_explicit: bool | None = field(default=None, compare=False, repr=False)
    # Not a user setting either: where each setting comes from, if not from its default.
    origins: Mapping[str, str] = field(default_factory=dict, compare=False, repr=False)

    def __post_init__(self) -> None:
        _check_backend("embedding", self.embedding_backend, EMBEDDING_BACKENDS)
        _check_backend("chat", self.chat_backend, CHAT_BACKENDS)
        for name, (minimum, maximum) in _RANGES.items():
            _check_range(name, getattr(self, name), minimum, maximum)
        if self.log_format not in LOG_FORMATS:
            raise InvalidInput(f"log_format must be text or json, not {self.log_format[:80]!r}")
        if self.audit not in AUDIT_CHOICES:
            choices = ", ".join(AUDIT_CHOICES)
            raise InvalidInput(f"audit must be one of {choices}, not {self.audit[:40]!r}")
        if self.db_owner and not is_postgres_address(self.db_owner):
            raise InvalidInput("db_owner must be an address that begins with postgresql://")
        _check_host("host", self.host)
        for name in self.allowed_host_names:
            _check_host("allowed_hosts", name)
        _check_url("server_url", self.server_url, "http://127.0.0.1:8283")
        if self.trace_endpoint:
            _check_url("trace_endpoint", self.trace_endpoint, "http://localhost:4318/v1/traces")
        _check_token(self.token)

    @property
    def is_on_server(self) -> bool:
        """Whether the store is on a database server, not in a file."""
        return is_postgres_address(self.db)

    @property
    def db_path(self) -> Path:
        """The database file, with `~` resolved; raises if the store is on a database server."""
        if self.is_on_server:
            raise InvalidInput(
                f"this needs a store in a file, and {self.location} is on a database server; use "
                "the tools of PostgreSQL for it, or name a file with --db"
            )
        return expand_home(self.db)

    @property
    def location(self) -> str:
        """Where the store is, for people: an absolute path, or an address without its password."""
        return without_password(self.db) if self.is_on_server else str(self.db_path.absolute())

    @property
    def key_file_path(self) -> Path:
        """The file with the keys of encrypted stores, with `~` resolved."""
        return expand_home(self.key_file)

    @property
    def has_explicit_embedder(self) -> bool:
        """Whether an argument or the environment chose the embedder; it overrides the store's."""
        if self.embedder_is_explicit is None:
            return (self.embedding_backend, self.embedding_model) != ("local", "")
        return self.embedder_is_explicit

    @property
    def file_root_paths(self) -> tuple[Path, ...]:
        """The folders in `file_roots`, with `~` resolved."""
        return tuple(
            expand_home(part) for part in self.file_roots.split(os.pathsep) if part.strip()
        )

    @property
    def allowed_host_names(self) -> tuple[str, ...]:
        """The host names in `allowed_hosts`."""
        return tuple(name for part in self.allowed_hosts.split(",") if (name := part.strip()))


def expand_home(path: str) -> Path:
    """Return *path* with `~` resolved."""
    try:
        return Path(path).expanduser()
    except RuntimeError as error:
        raise InvalidInput(f"cannot resolve the home folder in {path!r}: {error}") from error


def is_postgres_address(db: str) -> bool:
    """Return whether the setting `db` is the address of a PostgreSQL server, not a file."""
    return db.startswith(("postgresql://", "postgres://"))


def without_password(address: str) -> str:
    """Return the address of a server without the passwords in it."""
    scheme, _, rest = address.partition("://")
    place, question, query = rest.partition("?")
    user, at, host = place.rpartition("@")
    parts = [part for part in query.split("&") if "password" not in part.partition("=")[0]]
    query = f"{question}{'&'.join(parts)}" if any(parts) else ""
    return f"{scheme}://{user.partition(':')[0]}{at}{host}{query}"


def config_path(environ: Mapping[str, str]) -> Path:
    """Return the path of the configuration file, which may not exist."""
    if path := environ.get("RECOLLECT_CONFIG"):
        return expand_home(path)
    home = environ.get("XDG_CONFIG_HOME") or "~/.config"
    return expand_home(home) / "recollect" / "config.toml"


def load_settings(
    environ: Mapping[str, str] | None = None, **arguments: str | bool | int | None
) -> Settings:
    """Return the settings from arguments, environment and configuration file, by precedence."""
    environ = os.environ if environ is None else environ
    values: dict[str, Any] = dict(_from_file(config_path(environ)))
    origins = dict.fromkeys(values, str(config_path(environ)))
    explicit: set[str] = {name for name, value in arguments.items() if value is not None}
    for name, variables in _VARIABLES.items():
        variable = next((v for v in variables if environ.get(v)), None)
        if variable is not None:
            values[name] = _from_variable(name, variable, environ[variable])
            origins[name] = variable
            explicit.add(name)
    values.update({name: value for name, value in arguments.items() if value is not None})
    origins |= {name: "argument" for name, value in arguments.items() if value is not None}
    values["origins"] = origins
    if home := environ.get("XDG_CONFIG_HOME"):
        values.setdefault("key_file", str(expand_home(home) / "recollect" / "store.key"))
    values["embedder_is_explicit"] = not explicit.isdisjoint(
        ("embedding_backend", "embedding_model")
    )
    return Settings(**values)


def _check_backend(kind: str, backend: str, backends: tuple[str, ...]) -> None:
    if backend not in backends:
        raise InvalidInput(f"unknown {kind} backend {backend!r}; use one of {', '.join(backends)}")


def _check_range(name: str, value: int, minimum: int, maximum: int | None) -> None:
    if value < minimum or (maximum is not None and value > maximum):
        allowed = f"{minimum} or more" if maximum is None else f"from {minimum} to {maximum}"
        raise InvalidInput(f"{name} must be {allowed}, not {value}")


def _check_host(setting: str, name: str) -> None:
    if not name or not name.isascii() or any(char in " \t/@?#\\,\"'" for char in name):
        raise InvalidInput(
            f"{setting} must be a host name or an address like 127.0.0.1 without scheme or path, "
            f"not {name[:80]!r}"
        )


def _check_url(setting: str, url: str, example: str) -> None:
    scheme, separator, rest = url.partition("://")
    if not separator or scheme not in ("http", "https") or not rest.strip("/"):
        raise InvalidInput(f"{setting} must be a URL like {example}, not {url[:80]!r}")


def _check_token(token: str) -> None:
    # The token is sent in a header. The error message must not contain it.
    if not all("!" <= char <= "~" for char in token):
        raise InvalidInput(
            "the token contains a character that is not allowed in a header; use letters, digits "
            "and punctuation, for example the output of: openssl rand -hex 24"
        )


def _setting_types() -> dict[str, type]:
    types = {field.name: type(field.default) for field in fields(Settings)}
    del types["embedder_is_explicit"], types["origins"]
    return types


def _from_variable(name: str, variable: str, value: str) -> str | bool | int:
    kind = _setting_types()[name]
    if kind is bool:
        if value.strip().lower() not in _BOOLEANS:
            raise InvalidInput(f"{variable} must be true or false, not {value[:40]!r}")
        return _BOOLEANS[value.strip().lower()]
    if kind is not int:
        return value
    try:
        return int(value)
    except ValueError as error:
        raise InvalidInput(f"{variable} must be a whole number, not {value[:40]!r}") from error


def _from_file(path: Path) -> dict[str, str | bool | int]:
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError) as error:
        raise _unreadable(path, error) from error
    # Most users have no such file.
    import tomllib

    try:
        values = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise _unreadable(path, error) from error
    types = _setting_types()
    for name, value in values.items():
        if name not in types:
            raise InvalidInput(
                f"unknown setting {name!r} in {path}; use one of {', '.join(sorted(types))}"
            )
        if type(value) is not types[name]:  # not isinstance: `true` is not a number
            raise InvalidInput(f"setting {name!r} in {path} must be a {types[name].__name__}")
    return values


def _unreadable(path: Path, error: Exception) -> InvalidInput:
    return InvalidInput(f"cannot read the configuration file {path}: {error}")
