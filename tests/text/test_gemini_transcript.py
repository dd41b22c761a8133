"""Transcripts of the Gemini CLI, as one JSON object or one message per line."""

import json
from datetime import UTC, datetime

from recollect.domain.transcript import Transcript, TranscriptMessage, Voice
from recollect.text.transcripts.transcript_reader import read_transcripts

AT = datetime(2026, 5, 8, 10, 0, tzinfo=UTC)
STAMP = "2026-05-08T10:00:00Z"


def session(*messages: dict[str, object], **more: object) -> Transcript:
    (transcript,) = read_transcripts(json.dumps({"messages": messages, **more}))
    return transcript


def test_session_title_and_times_are_kept_and_the_project_hash_is_not() -> None:
    transcript = session(
        {"type": "user", "content": "Hi", "timestamp": STAMP},
        {"type": "gemini", "content": "Hello", "thoughts": [{"description": "Hm."}]},
        sessionId="s1",
        projectHash="abc",
        startTime="2026-05-08T09:59:00Z",
        summary="A greeting",
    )

    assert transcript == Transcript(
        messages=(
            TranscriptMessage(Voice.USER, "Hi", at=AT),
            TranscriptMessage(Voice.ASSISTANT, "Hello"),
        ),
        format="gemini",
        title="A greeting",
        session="s1",
        started_at=datetime(2026, 5, 8, 9, 59, tzinfo=UTC),
    )


def test_notices_and_messages_of_an_unknown_type_are_the_systems() -> None:
    transcript = session(
        {"type": "user", "content": ""},
        {"type": "info", "content": "Update available"},
        {"type": "warning", "content": "Careful"},
        {"type": "error", "content": "Failed"},
        {"type": "compression", "content": "Compressed"},
    )

    assert [message.voice for message in transcript.messages] == [Voice.SYSTEM] * 4


def test_calls_of_tools_and_their_results_are_the_tools() -> None:
    transcript = session(
        {
            "type": "gemini",
            "content": "",
            "timestamp": STAMP,
            "toolCalls": [
                {
                    "name": "read_file",
                    "args": {"path": "a.go"},
                    "result": [{"functionResponse": {"response": {"output": "package a"}}}],
                    "resultDisplay": "Read 1 line",
                },
                {"name": "shell", "args": {}, "resultDisplay": "Done"},
            ],
        }
    )

    assert transcript.messages == (
        TranscriptMessage(Voice.TOOL, 'read_file {"path": "a.go"}', "read_file", AT),
        TranscriptMessage(Voice.TOOL, "package a", "read_file", AT),
        TranscriptMessage(Voice.TOOL, "shell", "shell", AT),
        TranscriptMessage(Voice.TOOL, "Done", "shell", AT),
    )


def test_files_the_program_put_behind_the_users_words_are_a_tools() -> None:
    transcript = session(
        {
            "type": "user",
            "content": [
                {"text": "Read @a.md"},
                {"text": "\n--- Content from referenced files ---"},
                {"text": "\nContent from @a.md:\n"},
                {"text": "I hate tabs."},
                {"inlineData": {"data": "…"}},
            ],
        }
    )

    assert transcript.messages == (
        TranscriptMessage(Voice.USER, "Read @a.md"),
        TranscriptMessage(
            Voice.TOOL,
            "--- Content from referenced files ---\nContent from @a.md:\nI hate tabs.",
        ),
    )


def test_pieces_of_a_text_are_put_together_without_thoughts() -> None:
    parts = [{"text": "Hel"}, {"text": "Hm.", "thought": True}, {"text": "lo"}, "!", 7]

    assert session({"type": "gemini", "content": parts}).messages == (
        TranscriptMessage(Voice.ASSISTANT, "Hello!"),
    )


def test_what_sets_the_session_up_is_the_systems() -> None:
    text = "<session_context>\nThis is the Gemini CLI.\n</session_context>"

    assert session({"type": "user", "content": text}).messages == (
        TranscriptMessage(Voice.SYSTEM, text),
    )


def test_a_session_written_line_by_line_counts_each_message_as_last_written() -> None:
    lines: list[dict[str, object]] = [
        {"sessionId": "s1", "projectHash": "abc", "startTime": STAMP, "kind": "main"},
        {"id": "1", "type": "user", "content": [{"text": "Hi"}], "timestamp": STAMP},
        {"id": "2", "type": "gemini", "content": "Hel"},
        {"$set": {"lastUpdated": STAMP}},
        {"id": "3", "type": "user", "content": "Bye"},
        {"id": "2", "type": "gemini", "content": "Hello"},
    ]
    (transcript,) = read_transcripts("\n".join(json.dumps(line) for line in lines))

    assert (transcript.session, transcript.started_at) == ("s1", AT)
    assert [message.text for message in transcript.messages] == ["Hi", "Hello", "Bye"]


def test_several_sessions_are_several_conversations() -> None:
    first = {"sessionId": "s1", "messages": [{"type": "user", "content": "Hi"}]}
    second = {"sessionId": "s2", "messages": [{"type": "user", "content": "Hi"}]}

    transcripts = read_transcripts(json.dumps([first, second]))
    assert [transcript.session for transcript in transcripts] == ["s1", "s2"]


ADDED = (
    "<hook_context>The following is context from your memory:\n\n"
    '&lt;memory fingerprint="2065426430431121"&gt;\n- [m1] Use pnpm.\n&lt;/memory&gt;'
    "</hook_context>"
)
TYPED = "We deploy on Fridays because the traffic is low then."


def test_what_a_hook_added_at_the_start_or_with_a_prompt_is_not_part_of_what_was_typed() -> None:
    transcript = session(
        {"type": "user", "content": [{"text": f"{ADDED}\n\n{TYPED}"}]},
        {"type": "user", "content": [{"text": TYPED}, {"text": ADDED}]},
        {"type": "user", "content": f"{ADDED}\n\n{TYPED}"},
    )

    assert transcript.messages == (TranscriptMessage(Voice.USER, TYPED),) * 3


def test_tags_like_those_of_a_hook_inside_a_message_stay_and_make_it_doubtful() -> None:
    transcript = session(
        {"type": "user", "content": [{"text": f"{TYPED} {ADDED}"}]},
        {"type": "user", "content": "<hook_context><b>x</b></hook_context>\n\nRemember: tabs."},
    )

    assert all("<hook_context>" in message.text for message in transcript.messages)


def test_what_a_hook_added_to_the_result_of_a_tool_is_left_out() -> None:
    response = {"output": f"Output: 3 files\n\n{ADDED}"}
    call = {
        "name": "run_shell_command",
        "args": {"command": "ls"},
        "result": [{"functionResponse": {"name": "run_shell_command", "response": response}}],
    }
    transcript = session({"type": "gemini", "content": "", "toolCalls": [call]})

    assert transcript.messages[-1].text == "Output: 3 files"
