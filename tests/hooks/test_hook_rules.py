"""What hooks decide, by itself: names, events, answers, when to capture, what is worth telling."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.cli import server_files
from recollect.config import load_settings
from recollect.domain.memory import MemoryType
from recollect.domain.retrieval import Hit, Parts
from recollect.errors import InvalidInput
from recollect.hooks import names, state
from recollect.hooks.answers import answer_to
from recollect.hooks.events import HookEvent, event_of
from recollect.hooks.whose import address_in, whose
from recollect.hooks.wishes import LATER, NOT_NEEDED, NOW, when
from recollect.hooks.worth import asks_something, strong
from support import active

ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)
FIELDS = ("session_id", "conversation_id", "cwd", "workspace_roots", "prompt", "transcript_path")


@pytest.mark.parametrize(
    ("written", "kind"),
    [
        ("session-start", "session-start"),
        ("SessionStart", "session-start"),
        ("sessionStart", "session-start"),
        ("SESSION_START", "session-start"),
        ("prompt", "prompt"),
        ("UserPromptSubmit", "prompt"),
        ("beforeSubmitPrompt", "prompt"),
        ("preCompact", "pre-compact"),
        ("pre-compact", "pre-compact"),
        ("Stop", "stop"),
        ("sessionEnd", "session-end"),
        ("SubagentStop", ""),
        ("PostCompact", ""),
        ("", ""),
    ],
)
def test_events_are_known_by_every_clients_name(written: str, kind: str) -> None:
    assert names.kind_of(written) == kind


@given(st.dictionaries(st.sampled_from(FIELDS), ANYTHING))
def test_any_json_is_an_event_of_sound_fields(told: dict[str, Any]) -> None:
    event = event_of(told, client="any", kind="prompt")

    assert event.client in names.CLIENTS
    assert all(isinstance(one, str) for one in event)
    assert not event.cwd or event.cwd.startswith("/")
    assert len(event.session) <= 200


def test_cursor_is_known_by_what_it_says_even_where_its_plugin_is_another_clients() -> None:
    told = {"cursor_version": "3", "workspace_roots": ["/srv/site"], "conversation_id": "c"}

    event = event_of(told, client="claude-code", kind="prompt")

    assert (event.client, event.cwd, event.session) == ("cursor", "/srv/site", "c")


@pytest.mark.parametrize("client", names.CLIENTS)
@pytest.mark.parametrize("kind", [*names.ASKING, *names.TELLING])
def test_nothing_to_say_is_no_output(client: str, kind: str) -> None:
    assert answer_to(HookEvent(client, kind), "") == b""


@pytest.mark.parametrize("kind", names.TELLING)
def test_what_is_only_told_is_never_answered(kind: str) -> None:
    assert answer_to(HookEvent("claude-code", kind), "text") == b""


def test_answers_are_the_clients_own() -> None:
    def shown(client: str, kind: str) -> Any:
        return json.loads(answer_to(HookEvent(client, kind), "Tée"))

    for client in ("claude-code", "codex"):
        told = {"hookEventName": "SessionStart", "additionalContext": "Tée"}
        assert shown(client, "session-start") == {"hookSpecificOutput": told}
        told = {"hookEventName": "UserPromptSubmit", "additionalContext": "Tée"}
        assert shown(client, "prompt") == {"hookSpecificOutput": told}
    assert shown("cursor", "session-start") == {"additional_context": "Tée"}
    assert shown("cursor", "prompt") == {"continue": True, "additional_context": "Tée"}


@pytest.mark.parametrize(
    ("kind", "size", "captured", "wanted"),
    [
        ("session-end", 100, 0, NOW),
        ("session-end", 100, 100, NOT_NEEDED),
        ("session-end", 101, 100, NOW),
        ("pre-compact", 101, 100, NOW),
        ("stop", 15_000, 0, LATER),
        ("stop", 16_000, 0, NOW),
        ("stop", 79_000, 16_000, LATER),
        ("stop", 80_000, 16_000, NOW),
        ("stop", 1_400_000, 1_000_000, LATER),
        ("stop", 1_500_000, 1_000_000, NOW),
        ("stop", 50, 100, NOT_NEEDED),
    ],
)
def test_a_transcript_is_wanted_at_the_end_or_grown_by_enough(
    kind: str, size: int, captured: int, wanted: str
) -> None:
    assert when(kind, size=size, captured=captured) == wanted


def test_captures_at_every_turn_read_three_times_the_transcript_at_most() -> None:
    captured = read = 0
    for size in range(1_000, 5_000_000, 1_000):
        if when("stop", size=size, captured=captured) == NOW:
            captured, read = size, read + size

    assert read <= 3 * 5_000_000


@pytest.mark.parametrize("prompt", ["y", "yes please", "ok go ahead", "/clear", "#note", "1"])
def test_small_talk_asks_nothing(prompt: str) -> None:
    assert not asks_something(prompt)


@pytest.mark.parametrize(
    "prompt",
    ["which database do we use?", "fix the parser", "wie heißt der Server?", "请修复解析器的错误"],
)
def test_a_question_asks_something(prompt: str) -> None:
    assert asks_something(prompt)


def hit(name: str, kind: MemoryType, relevance: float) -> Hit:
    memory = active(name, kind, name)
    parts = Parts(semantic=relevance, relevance=relevance)
    return Hit(memory=memory, score=relevance, parts=parts, explanation="")


@pytest.mark.parametrize(
    ("relevance", "besides", "told"),
    [
        (0.5, [], ["fact"]),  # what was said there may have been put right since
        (0.5, ["fact"], []),  # told already: the record would only speak against it
        (0.7, [], ["session", "fact"]),  # it is the session that was asked for
    ],
)
def test_the_record_of_a_session_is_told_where_no_fact_answers_better(
    relevance: float, besides: list[str], told: list[str]
) -> None:
    session = hit("session", MemoryType.EPISODE, relevance)
    fact = hit("fact", MemoryType.PROJECT, 0.6)
    hits = sorted([session, fact], key=lambda one: -one.score)

    assert [one.memory.id for one in strong(hits, "which one?", besides=besides)] == told
    assert strong([session], "which one?", besides=[]) == [session]


@pytest.mark.parametrize(
    "environ",
    [
        {},
        {"RECOLLECT_DB": "/srv/a.db"},
        {"MEMORY_SERVER_DB_PATH": "/srv/b.db"},
        {"RECOLLECT_DB": "/srv/a.db", "MEMORY_SERVER_DB_PATH": "/srv/b.db"},
        {"RECOLLECT_DB": "~/c.db", "RECOLLECT_TOKEN": "t"},
        {"RECOLLECT_SERVER_URL": "http://127.0.0.1:9", "MEMORY_SERVER_URL": "http://x:1"},
        {"MEMORY_SERVER_URL": "https://memory.example"},
    ],
)
@pytest.mark.parametrize("config", ["", 'db = "/srv/f.db"\ntoken = "u"\nserver_url = "http://y:2"'])
def test_a_hook_means_the_store_that_every_command_means(
    environ: dict[str, str], config: str, tmp_path: Path
) -> None:
    path = tmp_path / "config.toml"
    if config:
        path.write_text(config)
    environ = {**environ, "RECOLLECT_CONFIG": str(path)}

    found, settings = whose(environ), load_settings(environ)

    assert found.db == str(settings.db_path.absolute())
    assert found.token == settings.token
    assert found.server_url in ("", settings.server_url)


def test_state_lies_where_the_servers_keep_theirs() -> None:
    for environ in ({}, {"XDG_STATE_HOME": "/srv/state"}, {"XDG_STATE_HOME": "~/here"}):
        assert state.state_folder(environ) == str(server_files.state_folder(environ))


@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("http://127.0.0.1:8283", ("127.0.0.1", 8283, False)),
        ("http://[::1]:8283/", ("::1", 8283, False)),
        ("http://localhost", ("localhost", 80, False)),
        ("https://memory.example/x", ("memory.example", 443, True)),
        ("http://[::1]", ("::1", 80, False)),
    ],
)
def test_addresses_are_read(url: str, address: tuple[str, int, bool]) -> None:
    assert address_in(url) == address


@pytest.mark.parametrize("url", ["", "ftp://x", "http://", "http://u:p@x:1", "http://x:port"])
def test_what_is_no_address_is_refused(url: str) -> None:
    with pytest.raises((ValueError, InvalidInput)):
        address_in(url)
