"""Sessions of Codex: every message once, and the program's own words apart from the user's."""

import json
from datetime import UTC, datetime

import pytest

from recollect.domain.transcript import Said, Transcript, Voice
from recollect.text.transcripts.transcript_reader import read_transcripts

AT = datetime(2026, 5, 8, 10, 0, tzinfo=UTC)
STAMP = "2026-05-08T10:00:00Z"


def item(role: str, *texts: str) -> dict[str, object]:
    parts = [{"type": "input_text", "text": text} for text in texts]
    return {"type": "response_item", "payload": {"type": "message", "role": role, "content": parts}}


def event(kind: str, message: object) -> dict[str, object]:
    return {"type": "event_msg", "payload": {"type": kind, "message": message}}


def tool(**payload: object) -> dict[str, object]:
    return {"type": "response_item", "payload": payload}


def session(*lines: dict[str, object]) -> Transcript:
    (transcript,) = read_transcripts("\n".join(json.dumps(one) for one in lines))
    return transcript


def said(*lines: dict[str, object]) -> list[tuple[str, str]]:
    return [(one.voice.value, one.text) for one in session(*lines).said]


def test_place_session_and_times_come_from_the_header() -> None:
    header = {"id": "s1", "cwd": "/app", "timestamp": "2026-05-08T09:59:00Z"}
    transcript = session(
        {"type": "session_meta", "timestamp": STAMP, "payload": header},
        {"type": "session_meta", "payload": {"id": "parent", "cwd": "/old"}},
        item("user", "Hi") | {"timestamp": STAMP},
        item("assistant", "Hello") | {"timestamp": None},
    )

    assert transcript == Transcript(
        said=(Said(Voice.USER, "Hi", at=AT), Said(Voice.ASSISTANT, "Hello")),
        format="codex",
        session="s1",
        place="/app",
        started_at=datetime(2026, 5, 8, 9, 59, tzinfo=UTC),
    )


def test_without_a_header_the_turns_tell_the_place_and_the_first_message_the_start() -> None:
    transcript = session(
        {"type": "turn_context", "payload": {"cwd": "/app"}},
        item("user", "Hi") | {"timestamp": STAMP},
    )

    assert (transcript.place, transcript.session, transcript.started_at) == ("/app", "", AT)


def test_a_message_told_as_item_and_as_event_counts_once() -> None:
    assert said(
        event("user_message", "yes"),
        item("user", "yes"),
        item("assistant", "Done. "),
        event("agent_message", "Done."),
        item("user", "yes"),
        event("user_message", "yes\n"),
    ) == [("user", "yes"), ("assistant", "Done. "), ("user", "yes")]


def test_an_event_that_no_item_repeats_counts() -> None:
    assert said(
        event("user_message", "yes"),
        event("agent_message", "Done."),
        event("user_message", "yes"),
        item("user", "yes"),
    ) == [("assistant", "Done."), ("user", "yes"), ("user", "yes")]


def test_a_message_of_several_parts_is_known_again_in_one_piece() -> None:
    assert said(
        item("user", "<image name=[Image #1]>", "</image>", "What is", "this?"),
        event("user_message", "What is\nthis?"),
    ) == [("user", "What is"), ("user", "this?")]


def test_thinking_counts_and_other_events_are_left_out() -> None:
    assert said(
        item("user", "Hi"),
        event("agent_reasoning", "Hm."),
        {"type": "event_msg", "payload": {"type": "token_count", "message": "7"}},
        tool(type="reasoning", summary=[{"type": "summary_text", "text": "Hm."}]),
        event("user_message", None),
    ) == [("user", "Hi")]


@pytest.mark.parametrize(
    "text",
    [
        "<environment_context>\n  <cwd>/app</cwd>\n</environment_context>",
        "<user_instructions>\n\nUse tabs.\n\n</user_instructions>",
        "# AGENTS.md instructions for /app\n\n<INSTRUCTIONS>\nUse tabs.\n</INSTRUCTIONS>",
        "\n<turn_aborted>\nThe user interrupted.\n</turn_aborted>",
    ],
)
def test_what_the_program_sends_in_the_users_name_is_the_systems(text: str) -> None:
    assert said(item("user", text)) == [("system", text)]
    assert said(item("user", "Hi"), event("user_message", text)) == [
        ("user", "Hi"),
        ("system", text),
    ]


def test_the_state_of_the_editor_is_parted_from_the_request() -> None:
    editor = "# Context from my IDE setup:\n\n## Open tabs:\n- a.py"
    text = f"{editor}\n\n## My request for Codex:\nUse tabs."

    assert said(item("user", text), event("user_message", text)) == [
        ("system", editor),
        ("user", "Use tabs."),
    ]


def test_developers_and_compactions_are_the_systems_and_unknown_roles_are_others() -> None:
    transcript = session(
        item("developer", "Be brief."),
        {"type": "compacted", "payload": {"message": "The user likes tabs."}},
        item("critic", "No."),
    )

    assert transcript.said == (
        Said(Voice.SYSTEM, "Be brief."),
        Said(Voice.SYSTEM, "The user likes tabs."),
        Said(Voice.OTHER, "No.", "critic"),
    )


def test_calls_of_tools_and_their_output_are_the_tools() -> None:
    wrapped = json.dumps({"output": "a.py\n", "metadata": {"exit_code": 0}})
    transcript = session(
        tool(type="function_call", name="exec", arguments='{"workdir":"/","cmd":"ls"}'),
        tool(type="function_call_output", output=wrapped),
        tool(type="custom_tool_call", name="apply_patch", input="*** Begin Patch"),
        tool(type="custom_tool_call_output", output=[{"type": "input_text", "text": "Done"}]),
        tool(type="local_shell_call", action={"command": ["ls"]}),
        tool(type="function_call", name="list", arguments="{}"),
        tool(type="function_call", name="odd", arguments=7),
        tool(type="function_call_output", output={"content": "fine", "success": True}),
        tool(type="function_call_output", output=""),
    )

    assert transcript.said == (
        Said(Voice.TOOL, 'exec {"cmd": "ls", "workdir": "/"}', "exec"),
        Said(Voice.TOOL, "a.py\n"),
        Said(Voice.TOOL, "apply_patch *** Begin Patch", "apply_patch"),
        Said(Voice.TOOL, "Done"),
        Said(Voice.TOOL, 'local_shell {"command": ["ls"]}', "local_shell"),
        Said(Voice.TOOL, "list", "list"),
        Said(Voice.TOOL, "odd", "odd"),
        Said(Voice.TOOL, "fine"),
    )
