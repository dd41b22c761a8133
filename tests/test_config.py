"""Where a setting comes from, and what a broken one says."""

import re
from dataclasses import fields
from pathlib import Path

import pytest

from recollect.config import (
    CHAT_BACKENDS,
    EMBEDDING_BACKENDS,
    Settings,
    config_path,
    load_settings,
)
from recollect.errors import InvalidInput
from tables import each_row


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """The configuration file; a test writes it."""
    return tmp_path / "recollect.toml"


@pytest.fixture
def environ(file: Path) -> dict[str, str]:
    """An environment that names the configuration file and nothing else."""
    return {"RECOLLECT_CONFIG": str(file)}


def test_without_anything_set_the_defaults_hold(environ: dict[str, str]) -> None:
    assert load_settings(environ) == Settings()


def test_the_defaults_are_local_and_send_nothing_anywhere() -> None:
    assert Settings().embedding_backend == "local"
    assert Settings().db == "~/.local-memory/memory.db"
    assert Settings().chat_backend == "none"
    assert Settings().openai_key == Settings().anthropic_key == ""


# Each row adds one more place; the one added last is the one that counts.
@pytest.mark.parametrize(
    ("in_file", "variables", "argument", "found"),
    [
        (None, {}, None, "~/.local-memory/memory.db"),
        ("file.db", {}, None, "file.db"),
        ("file.db", {"MEMORY_SERVER_DB_PATH": "memory.db"}, None, "memory.db"),
        (
            "file.db",
            {"MEMORY_SERVER_DB_PATH": "memory.db", "RECOLLECT_DB": "recollect.db"},
            None,
            "recollect.db",
        ),
        (
            "file.db",
            {"MEMORY_SERVER_DB_PATH": "memory.db", "RECOLLECT_DB": "recollect.db"},
            "argument.db",
            "argument.db",
        ),
    ],
    ids=["default", "file", "memory server's name", "our name", "argument"],
)
def test_the_nearest_place_wins(
    file: Path,
    environ: dict[str, str],
    in_file: str | None,
    variables: dict[str, str],
    argument: str | None,
    found: str,
) -> None:
    if in_file is not None:
        file.write_text(f'db = "{in_file}"', encoding="utf-8")

    settings = load_settings(environ | variables, db=argument)

    assert settings.db == found


@pytest.mark.parametrize(
    ("variable", "setting", "value"),
    [
        ("RECOLLECT_DB", "db", "x.db"),
        ("MEMORY_SERVER_DB_PATH", "db", "x.db"),
        ("RECOLLECT_EMBEDDING_BACKEND", "embedding_backend", "ollama"),
        ("MEMORY_EMBEDDING_BACKEND", "embedding_backend", "none"),
        ("RECOLLECT_EMBEDDING_MODEL", "embedding_model", "m"),
        ("MEMORY_EMBEDDING_MODEL", "embedding_model", "m"),
        ("RECOLLECT_MODELS_FOLDER", "models_folder", "n"),
        ("OLLAMA_BASE_URL", "ollama_url", "http://gpu:11434"),
        ("RECOLLECT_OPENAI_BASE_URL", "openai_url", "http://x/v1"),
        ("OPENAI_BASE_URL", "openai_url", "http://x/v1"),
        ("RECOLLECT_OPENAI_API_KEY", "openai_key", "k"),
        ("OPENAI_API_KEY", "openai_key", "k"),
        ("RECOLLECT_ANTHROPIC_BASE_URL", "anthropic_url", "http://x"),
        ("ANTHROPIC_BASE_URL", "anthropic_url", "http://x"),
        ("RECOLLECT_ANTHROPIC_API_KEY", "anthropic_key", "k"),
        ("ANTHROPIC_API_KEY", "anthropic_key", "k"),
        ("RECOLLECT_CHAT_BACKEND", "chat_backend", "anthropic"),
        ("RECOLLECT_CHAT_MODEL", "chat_model", "m"),
        ("RECOLLECT_CHAT_CALLS_PER_DAY", "chat_calls_per_day", 7),
        ("RECOLLECT_CHAT_TOKENS_PER_DAY", "chat_tokens_per_day", 0),
        ("RECOLLECT_HOST", "host", "0.0.0.0"),
        ("MEMORY_SERVER_HOST", "host", "::1"),
        ("RECOLLECT_PORT", "port", 9000),
        ("MEMORY_SERVER_PORT", "port", 0),
        ("RECOLLECT_SERVER_URL", "server_url", "https://memory.lan"),
        ("MEMORY_SERVER_URL", "server_url", "http://127.0.0.1:9000"),
        ("RECOLLECT_TOKEN", "token", "t0ken"),
        ("RECOLLECT_ALLOWED_HOSTS", "allowed_hosts", "memory.lan, other.lan"),
        ("RECOLLECT_SINGLE_USER", "single_user", True),
        ("RECOLLECT_SINGLE_USER", "single_user", False),
        ("RECOLLECT_DEFAULT_SEARCH_LIMIT", "default_search_limit", 7),
        ("MEMORY_DEFAULT_SEARCH_LIMIT", "default_search_limit", 7),
        ("RECOLLECT_MAX_SEARCH_LIMIT", "max_search_limit", 50),
        ("MEMORY_MAX_SEARCH_LIMIT", "max_search_limit", 50),
        ("RECOLLECT_MAX_CONTEXT_MESSAGES", "max_context_messages", 0),
        ("MEMORY_MAX_CONTEXT_MESSAGES", "max_context_messages", 3),
        ("RECOLLECT_MAX_BODY_MB", "max_body_mb", 1),
        ("RECOLLECT_REQUESTS_PER_SECOND", "requests_per_second", 0),
        ("RECOLLECT_KEEP_RETRIEVALS_DAYS", "keep_retrievals_days", 9),
        ("RECOLLECT_KEEP_RETRIEVALS_MB", "keep_retrievals_mb", 9),
    ],
)
def test_a_variable_sets_its_setting_and_no_other(
    environ: dict[str, str], variable: str, setting: str, value: str | int
) -> None:
    settings = load_settings(environ | {variable: str(value)})

    assert settings == load_settings(environ, **{setting: value})
    assert getattr(settings, setting) == value


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ("RECOLLECT_EMBEDDING_MODEL", "MEMORY_EMBEDDING_MODEL"),
        ("RECOLLECT_OPENAI_API_KEY", "OPENAI_API_KEY"),
        ("RECOLLECT_OPENAI_BASE_URL", "OPENAI_BASE_URL"),
        ("RECOLLECT_ANTHROPIC_API_KEY", "ANTHROPIC_API_KEY"),
        ("RECOLLECT_ANTHROPIC_BASE_URL", "ANTHROPIC_BASE_URL"),
    ],
)
def test_our_variable_goes_before_the_one_others_share(
    environ: dict[str, str], ours: str, theirs: str
) -> None:
    both = load_settings(environ | {theirs: "theirs", ours: "ours"})

    assert both == load_settings(environ | {ours: "ours"})


def test_an_empty_variable_counts_as_not_set(environ: dict[str, str]) -> None:
    settings = load_settings(environ | {"RECOLLECT_DB": "", "MEMORY_SERVER_DB_PATH": "memory.db"})

    assert settings.db == "memory.db"


@pytest.mark.parametrize(
    ("in_file", "variables", "argument", "named"),
    [
        ("", {}, None, False),
        ('embedding_backend = "ollama"', {}, None, False),
        ("", {"RECOLLECT_EMBEDDING_BACKEND": "local"}, None, True),
        ("", {"MEMORY_EMBEDDING_MODEL": "m"}, None, True),
        ("", {}, "local", True),
    ],
    ids=["nobody", "file", "variable", "other variable", "argument"],
)
def test_an_embedder_is_named_by_the_caller_or_the_environment(
    file: Path,
    environ: dict[str, str],
    in_file: str,
    variables: dict[str, str],
    argument: str | None,
    named: bool,
) -> None:
    file.write_text(in_file, encoding="utf-8")

    settings = load_settings(environ | variables, embedding_backend=argument)

    assert settings.has_explicit_embedder is named
    assert Settings(embedding_backend="ollama").has_explicit_embedder
    assert not Settings().has_explicit_embedder


def test_where_the_embedder_was_named_is_no_setting_of_a_file(
    file: Path, environ: dict[str, str]
) -> None:
    file.write_text("embedder_is_explicit = true", encoding="utf-8")

    with pytest.raises(InvalidInput, match="unknown setting 'embedder_is_explicit'"):
        load_settings(environ)


def test_an_argument_of_false_is_an_argument(file: Path, environ: dict[str, str]) -> None:
    file.write_text("cross_project = true", encoding="utf-8")

    assert load_settings(environ, cross_project=False).cross_project is False


def test_the_file_may_set_every_setting(file: Path, environ: dict[str, str]) -> None:
    wanted = Settings(
        db="x.db",
        db_owner="postgresql://o/d",
        db_connections=15,
        audit="always",
        audit_days=30,
        embedding_backend="openai",
        embedding_model="m",
        models_folder="n",
        ollama_url="http://o",
        openai_url="http://p",
        openai_key="k",
        anthropic_url="http://a",
        anthropic_key="l",
        chat_backend="ollama",
        chat_model="c",
        chat_calls_per_day=7,
        chat_tokens_per_day=8,
        model_prices="r",
        cross_project=False,
        host="::1",
        port=9,
        server_url="http://s",
        token="t",
        allowed_hosts="h",
        default_search_limit=1,
        max_search_limit=2,
        max_context_messages=3,
        file_roots="f",
        max_body_mb=4,
        header_timeout_s=11,
        body_timeout_s=12,
        max_connections=13,
        requests_per_second=5,
        user_requests_per_second=16,
        shutdown_delay_s=14,
        log_format="json",
        metrics=True,
        trace_endpoint="http://t",
        keep_retrievals_days=6,
        keep_retrievals_mb=7,
        backup_folder="b",
        backup_keep="1d",
        backup_every_hours=24,
        sync_every_s=5,
        key_file="g",
        keyring=False,
        passphrase="q",
        single_user=True,
        promote_explicit=False,
        auto_compaction=False,
    )
    file.write_text(
        'db = "x.db"\ndb_owner = "postgresql://o/d"\ndb_connections = 15\n'
        'audit = "always"\naudit_days = 30\n'
        'embedding_backend = "openai"\nembedding_model = "m"\n'
        'models_folder = "n"\n'
        'ollama_url = "http://o"\nopenai_url = "http://p"\nopenai_key = "k"\n'
        'anthropic_url = "http://a"\nanthropic_key = "l"\nchat_backend = "ollama"\n'
        'chat_model = "c"\nchat_calls_per_day = 7\nchat_tokens_per_day = 8\nmodel_prices = "r"\n'
        'cross_project = false\nhost = "::1"\nport = 9\nserver_url = "http://s"\n'
        'token = "t"\nallowed_hosts = "h"\ndefault_search_limit = 1\nmax_search_limit = 2\n'
        "max_context_messages = 3\nfile_roots = 'f'\nmax_body_mb = 4\nrequests_per_second = 5\n"
        "user_requests_per_second = 16\n"
        "shutdown_delay_s = 14\nlog_format = 'json'\nmetrics = true\ntrace_endpoint = 'http://t'\n"
        "header_timeout_s = 11\nbody_timeout_s = 12\nmax_connections = 13\n"
        "keep_retrievals_days = 6\nkeep_retrievals_mb = 7\nsingle_user = true\n"
        "promote_explicit = false\n"
        "auto_compaction = false\nkey_file = 'g'\nbackup_folder = 'b'\n"
        "backup_keep = '1d'\nbackup_every_hours = 24\nkeyring = false\npassphrase = 'q'\n"
        "sync_every_s = 5\n",
        encoding="utf-8",
    )
    settings = [
        one for one in fields(Settings) if one.name not in ("embedder_is_explicit", "origins")
    ]
    assert all(getattr(wanted, one.name) != one.default for one in settings)

    assert load_settings(environ) == wanted


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"db = ", "cannot read"),
        (b"\xff\xfe", "cannot read"),
        (b'databse = "x.db"', "unknown setting 'databse'"),
        (b"db = 7", "setting 'db'.*must be a str"),
        (b'cross_project = "no"', "setting 'cross_project'.*must be a bool"),
        (b"cross_project = 1", "setting 'cross_project'.*must be a bool"),
        (b"chat_calls_per_day = true", "setting 'chat_calls_per_day'.*must be a int"),
        (b"chat_calls_per_day = 1.5", "setting 'chat_calls_per_day'.*must be a int"),
        (b'chat_calls_per_day = "7"', "setting 'chat_calls_per_day'.*must be a int"),
        (b'[db]\npath = "x"', "setting 'db'.*must be a str"),
    ],
    ids=[
        "syntax",
        "encoding",
        "unknown",
        "number",
        "text for bool",
        "number for bool",
        "bool for number",
        "fraction for number",
        "text for number",
        "table",
    ],
)
def test_a_bad_file_is_invalid_input_that_names_the_file(
    file: Path, environ: dict[str, str], content: bytes, complaint: str
) -> None:
    file.write_bytes(content)

    with pytest.raises(InvalidInput, match=complaint) as raised:
        load_settings(environ)

    assert str(file) in str(raised.value)


def test_a_folder_in_place_of_the_file_is_invalid_input_that_names_it(
    file: Path, environ: dict[str, str]
) -> None:
    file.mkdir()

    with pytest.raises(InvalidInput, match=re.escape(str(file))):
        load_settings(environ)


def test_an_unknown_setting_is_answered_with_the_known_ones(
    file: Path, environ: dict[str, str]
) -> None:
    file.write_text("databse = 1", encoding="utf-8")

    with pytest.raises(
        InvalidInput, match=r"one of .*db, db_connections, db_owner, default_search_limit"
    ):
        load_settings(environ)


@each_row("backend", ["", "Local", "chroma", " local"])
def test_an_unknown_backend_is_refused_with_the_known_ones(backend: str) -> None:
    with pytest.raises(InvalidInput, match=f"backend '{backend}'; use one of local, folder"):
        Settings(embedding_backend=backend)


@each_row("backend", ["", "OpenAI", "gemini", " none"])
def test_an_unknown_chat_backend_is_refused_with_the_known_ones(backend: str) -> None:
    known = "none, openai, ollama, anthropic"

    with pytest.raises(InvalidInput, match=f"chat backend '{backend}'; use one of {known}"):
        Settings(chat_backend=backend)


@each_row("backend", CHAT_BACKENDS)
def test_every_known_chat_backend_is_accepted(backend: str) -> None:
    assert Settings(chat_backend=backend).chat_backend == backend


@pytest.mark.parametrize(
    ("written", "value"), [("1", True), ("Yes", True), ("on", True), ("0", False), ("off", False)]
)
def test_a_switch_is_read_from_its_variable(
    environ: dict[str, str], written: str, value: bool
) -> None:
    assert load_settings(environ | {"RECOLLECT_SINGLE_USER": written}).single_user is value


def test_a_variable_that_is_not_a_switch_is_invalid_input_that_names_it(
    environ: dict[str, str],
) -> None:
    with pytest.raises(InvalidInput, match="RECOLLECT_SINGLE_USER must be true or false"):
        load_settings(environ | {"RECOLLECT_SINGLE_USER": "maybe"})


@pytest.mark.parametrize(
    "variable", ["RECOLLECT_CHAT_CALLS_PER_DAY", "RECOLLECT_CHAT_TOKENS_PER_DAY"]
)
@pytest.mark.parametrize("written", ["many", "1.5", "1e3", "true", " ", "9" * 5000])
def test_a_variable_that_is_no_whole_number_is_invalid_input_that_names_it(
    environ: dict[str, str], variable: str, written: str
) -> None:
    with pytest.raises(InvalidInput, match=f"{variable} must be a whole number, not '") as raised:
        load_settings(environ | {variable: written})

    assert len(str(raised.value)) < 200


@pytest.mark.parametrize("setting", ["chat_calls_per_day", "chat_tokens_per_day"])
def test_a_limit_below_zero_is_invalid_input(environ: dict[str, str], setting: str) -> None:
    with pytest.raises(InvalidInput, match=f"{setting} must be 0 or more, not -1"):
        load_settings(environ | {f"RECOLLECT_{setting.upper()}": "-1"})


@pytest.mark.parametrize(
    ("setting", "value", "allowed"),
    [
        ("port", -1, "from 0 to 65535"),
        ("port", 65_536, "from 0 to 65535"),
        ("default_search_limit", 0, "from 1 to 1000"),
        ("max_search_limit", 1_001, "from 1 to 1000"),
        ("max_context_messages", -1, "from 0 to 1000"),
        ("max_body_mb", 0, "from 1 to 4096"),
        ("requests_per_second", -1, "0 or more"),
        ("keep_retrievals_days", -1, "from 0 to 36500"),
        ("keep_retrievals_mb", -1, "0 or more"),
    ],
)
def test_a_number_out_of_range_is_refused_with_what_is_allowed(
    environ: dict[str, str], setting: str, value: int, allowed: str
) -> None:
    with pytest.raises(InvalidInput, match=f"{setting} must be {allowed}, not {value}"):
        load_settings(environ | {f"RECOLLECT_{setting.upper()}": str(value)})


@each_row(
    ("setting", "value"),
    [
        ("host", ""),
        ("host", "http://127.0.0.1"),
        ("host", "two hosts"),
        ("host", "ünïcode.example"),
        ("allowed_hosts", "memory.lan, http://other.lan"),
        ("allowed_hosts", "memory.lan/path"),
        ("server_url", ""),
        ("server_url", "127.0.0.1:8283"),
        ("server_url", "ftp://memory.lan"),
        ("server_url", "http://"),
    ],
)
def test_an_address_that_is_none_is_refused_by_the_settings_name(setting: str, value: str) -> None:
    with pytest.raises(InvalidInput, match=f"^{setting} must be"):
        Settings(**{setting: value})  # type: ignore[arg-type]


def test_allowed_hosts_are_split_at_commas() -> None:
    assert Settings().allowed_host_names == ()
    assert Settings(allowed_hosts=" a.lan ,, b.lan,").allowed_host_names == ("a.lan", "b.lan")


@each_row("token", ["two words", "tökens", "line\nbreak", "\x00"])
def test_a_token_no_header_can_carry_is_refused_and_not_shown(token: str) -> None:
    with pytest.raises(InvalidInput, match="token") as raised:
        Settings(token=token)

    assert token not in str(raised.value)


def test_no_secret_is_shown_when_settings_are() -> None:
    settings = Settings(token="s3cret", openai_key="s3cret", anthropic_key="s3cret")

    assert "s3cret" not in repr(settings)
    assert "s3cret" not in str(settings)


@each_row("backend", EMBEDDING_BACKENDS)
def test_every_known_backend_is_accepted(backend: str) -> None:
    assert Settings(embedding_backend=backend).embedding_backend == backend


@each_row(
    ("environ", "path"),
    [
        ({"RECOLLECT_CONFIG": "/etc/r.toml", "XDG_CONFIG_HOME": "/x"}, Path("/etc/r.toml")),
        ({"XDG_CONFIG_HOME": "/x"}, Path("/x/recollect/config.toml")),
        ({"XDG_CONFIG_HOME": ""}, Path.home() / ".config/recollect/config.toml"),
        ({}, Path.home() / ".config/recollect/config.toml"),
        ({"RECOLLECT_CONFIG": "~/r.toml"}, Path.home() / "r.toml"),
    ],
    ids=["named", "xdg", "empty xdg", "home", "tilde"],
)
def test_the_file_is_looked_for_where_it_is_named_or_else_in_the_usual_place(
    environ: dict[str, str], path: Path
) -> None:
    assert config_path(environ) == path


def test_a_tilde_in_the_database_path_is_the_home_folder() -> None:
    assert Settings(db="~/m.db").db_path == Path.home() / "m.db"


def test_a_home_that_does_not_exist_is_invalid_input() -> None:
    settings = Settings(db="~no-such-user-here/m.db")

    with pytest.raises(InvalidInput, match="no-such-user-here"):
        _ = settings.db_path


def test_settings_given_nothing_are_read_from_the_process(
    monkeypatch: pytest.MonkeyPatch, environ: dict[str, str]
) -> None:
    monkeypatch.setenv("RECOLLECT_CONFIG", environ["RECOLLECT_CONFIG"])
    monkeypatch.setenv("RECOLLECT_EMBEDDING_BACKEND", "none")

    assert load_settings().embedding_backend == "none"
