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
from recollect.hooks import event_names, state_files
from recollect.hooks.client_events import HookEvent, parse_event
from recollect.hooks.client_response import render_response
from recollect.hooks.pending_captures import LATER, NOT_NEEDED, NOW, when_to_capture
from recollect.hooks.relevance_gate import is_searchable, relevant_hits
from recollect.hooks.target_store import find_target_store, parse_server_url
from support import active_memory
from tables import each_row

ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)
FIELDS = (
    *("session_id", "conversation_id", "cwd", "workspace_roots", "prompt", "transcript_path"),
    *("tool_name", "tool_input", "error"),
)


@each_row(
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
        ("PreToolUse", "pre-tool"),
        ("pre-tool", "pre-tool"),
        ("postToolUse", "post-tool"),
        ("PostToolUseFailure", "post-tool"),
        ("BeforeAgent", "prompt"),
        ("AfterTool", "post-tool"),
        ("AfterAgent", "stop"),
        ("PreCompress", "pre-compact"),
        ("Stop", "stop"),
        ("sessionEnd", "session-end"),
        ("SubagentStop", ""),
        ("PostCompact", ""),
        ("", ""),
    ],
)
def test_events_are_known_by_every_clients_name(written: str, kind: str) -> None:
    assert event_names.event_kind(written) == kind


@pytest.mark.fuzz
@given(st.dictionaries(st.sampled_from(FIELDS), ANYTHING))
def test_any_json_is_an_event_of_sound_fields(told: dict[str, Any]) -> None:
    event = parse_event(told, client="any", kind="prompt")

    assert event.client in event_names.CLIENTS
    assert isinstance(event.arguments, dict)
    assert all(isinstance(item, str) for item in event if item is not event.arguments)
    assert not event.cwd or event.cwd.startswith("/")
    assert len(event.session) <= 200


def test_cursor_is_recognised_by_its_payload_even_with_the_plugin_of_another_client() -> None:
    payload = {"cursor_version": "3", "workspace_roots": ["/srv/site"], "conversation_id": "c"}

    event = parse_event(payload, client="claude-code", kind="prompt")

    assert (event.client, event.cwd, event.session) == ("cursor", "/srv/site", "c")


@each_row("client", event_names.CLIENTS)
@each_row("kind", [*event_names.RECALL_EVENTS, *event_names.CAPTURE_EVENTS])
def test_an_empty_text_has_no_output(client: str, kind: str) -> None:
    assert render_response(HookEvent(client, kind), "") == b""


@each_row("kind", event_names.CAPTURE_EVENTS)
def test_capture_events_have_no_output(kind: str) -> None:
    assert render_response(HookEvent("claude-code", kind), "text") == b""


def test_responses_have_the_format_of_each_client() -> None:
    def shown(client: str, kind: str) -> Any:
        return json.loads(render_response(HookEvent(client, kind), "Tée"))

    for client in ("claude-code", "codex"):
        payload = {"hookEventName": "SessionStart", "additionalContext": "Tée"}
        assert shown(client, "session-start") == {"hookSpecificOutput": payload}
        payload = {"hookEventName": "UserPromptSubmit", "additionalContext": "Tée"}
        assert shown(client, "prompt") == {"hookSpecificOutput": payload}
        payload = {"hookEventName": "PreToolUse", "additionalContext": "Tée"}
        assert shown(client, "pre-tool") == {"hookSpecificOutput": payload}  # and no decision
    for kind, event in (("prompt", "BeforeAgent"), ("post-tool", "AfterTool")):
        payload = {"hookEventName": event, "additionalContext": "Tée"}
        assert shown("gemini-cli", kind) == {"hookSpecificOutput": payload}
    assert shown("cursor", "post-tool") == {"additional_context": "Tée"}
    assert shown("cursor", "session-start") == {"additional_context": "Tée"}
    assert shown("cursor", "prompt") == {"continue": True, "additional_context": "Tée"}


@each_row(
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
def test_a_transcript_is_captured_at_the_end_or_after_enough_growth(
    kind: str, size: int, captured: int, wanted: str
) -> None:
    assert when_to_capture(kind, size=size, captured=captured) == wanted


def test_captures_at_every_turn_read_three_times_the_transcript_at_most() -> None:
    captured = read = 0
    for size in range(1_000, 5_000_000, 1_000):
        if when_to_capture("stop", size=size, captured=captured) == NOW:
            captured, read = size, read + size

    assert read <= 3 * 5_000_000


@each_row("prompt", ["y", "yes please", "ok go ahead", "/clear", "#note", "1"])
def test_short_confirmations_are_not_searchable(prompt: str) -> None:
    assert not is_searchable(prompt)


@each_row(
    "prompt",
    ["which database do we use?", "fix the parser", "wie heißt der Server?", "请修复解析器的错误"],
)
def test_a_question_is_searchable(prompt: str) -> None:
    assert is_searchable(prompt)


def hit(name: str, kind: MemoryType, relevance: float) -> Hit:
    memory = active_memory(name, kind, name)
    parts = Parts(semantic=relevance, relevance=relevance)
    return Hit(memory=memory, score=relevance, parts=parts, explanation="")


@each_row(
    ("relevance", "besides", "told"),
    [
        (0.5, [], ["fact"]),  # what was said there may have been put right since
        (0.5, ["fact"], []),  # told already: the record would only speak against it
        (0.7, [], ["session", "fact"]),  # it is the session that was asked for
    ],
)
def test_an_episode_is_injected_only_if_no_fact_is_more_relevant(
    relevance: float, besides: list[str], told: list[str]
) -> None:
    session = hit("session", MemoryType.EPISODE, relevance)
    fact = hit("fact", MemoryType.PROJECT, 0.6)
    hits = sorted([session, fact], key=lambda one: -one.score)

    assert [
        one.memory.id for one in relevant_hits(hits, "which one?", injected_ids=besides)
    ] == told
    assert relevant_hits([session], "which one?", injected_ids=[]) == [session]


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
def test_a_hook_uses_the_same_store_as_every_command(
    environ: dict[str, str], config: str, tmp_path: Path
) -> None:
    path = tmp_path / "config.toml"
    if config:
        path.write_text(config)
    environ = {**environ, "RECOLLECT_CONFIG": str(path)}

    found, settings = find_target_store(environ), load_settings(environ)

    assert found.db == str(settings.db_path.absolute())
    assert found.token == settings.token
    assert found.server_url in ("", settings.server_url)


def test_hooks_and_servers_use_the_same_state_folder() -> None:
    for environ in ({}, {"XDG_STATE_HOME": "/srv/state"}, {"XDG_STATE_HOME": "~/here"}):
        assert state_files.state_folder(environ) == str(server_files.state_folder(environ))


@each_row(
    ("url", "address"),
    [
        ("http://127.0.0.1:8283", ("127.0.0.1", 8283, False)),
        ("http://[::1]:8283/", ("::1", 8283, False)),
        ("http://localhost", ("localhost", 80, False)),
        ("https://memory.example/x", ("memory.example", 443, True)),
        ("http://[::1]", ("::1", 80, False)),
    ],
)
def test_server_urls_are_parsed(url: str, address: tuple[str, int, bool]) -> None:
    assert parse_server_url(url) == address


@each_row("url", ["", "ftp://x", "http://", "http://u:p@x:1", "http://x:port"])
def test_invalid_server_urls_are_rejected(url: str) -> None:
    with pytest.raises((ValueError, InvalidInput)):
        parse_server_url(url)
