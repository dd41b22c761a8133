"""Transcripts of Cursor are understood: who typed what, and what the program added."""

import json

from recollect.domain.transcript import Voice
from recollect.text.transcripts.transcript_reader import parse_transcripts


def line(role: str, *content: object) -> str:
    return json.dumps({"role": role, "message": {"content": list(content)}})


def text(content: str) -> dict[str, str]:
    return {"type": "text", "text": content}


def test_what_the_user_typed_is_the_users_and_the_rest_is_the_systems() -> None:
    written = "\n".join(
        [
            line(
                "user",
                text("<open_files>\na.py\n</open_files>\n<user_query>\nFix it.\n</user_query>"),
            ),
            line(
                "assistant", text("Done."), {"type": "tool_use", "name": "Read", "input": {"p": 1}}
            ),
            '{"type": "turn_ended", "status": "completed"}',
            line("user", text("<system_reminder>\nBe kind.\n</system_reminder>")),
            line("user", text("Thanks.")),
            '{"role": "user", "mess',
        ]
    )

    parsed = parse_transcripts(written)

    (transcript,) = parsed.transcripts
    assert transcript.format == "cursor"
    assert parsed.skipped == 1
    assert [(message.voice, message.text) for message in transcript.messages] == [
        (Voice.SYSTEM, "<open_files>\na.py\n</open_files>"),
        (Voice.USER, "Fix it."),
        (Voice.ASSISTANT, "Done."),
        (Voice.TOOL, 'Read {"p": 1}'),
        (Voice.SYSTEM, "<system_reminder>\nBe kind.\n</system_reminder>"),
        (Voice.USER, "Thanks."),
    ]


def test_lines_of_claude_code_are_not_taken_for_cursors() -> None:
    line_of_claude_code = {
        "type": "user",
        "sessionId": "s",
        "message": {"role": "user", "content": "Hi."},
    }

    assert parse_transcripts(json.dumps(line_of_claude_code)).transcripts[0].format == "claude-code"
