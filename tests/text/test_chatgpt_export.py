"""Exports of ChatGPT: the path that was shown in each conversation."""

import json
from datetime import UTC, datetime

from recollect.domain.transcript import Transcript, TranscriptMessage, Voice
from recollect.text.transcripts.transcript_reader import read_transcripts
from tables import each_row

AT = datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC)


def message(role: str, content: object, **more: object) -> dict[str, object]:
    return {"author": {"role": role}, "content": content, **more}


def text(*parts: object) -> dict[str, object]:
    return {"content_type": "text", "parts": list(parts)}


def node(content: str | None, parent: str | None, *children: str) -> dict[str, object]:
    record = message("user", text(content)) if content else None
    return {"message": record, "parent": parent, "children": list(children)}


def conversation(*messages: dict[str, object], **more: object) -> Transcript:
    mapping: dict[str, object] = {
        str(index): {"message": record, "parent": str(index - 1), "children": [str(index + 1)]}
        for index, record in enumerate(messages)
    }
    (transcript,) = read_transcripts(json.dumps({"mapping": mapping, **more}))
    return transcript


def words(mapping: dict[str, object], **more: object) -> list[str]:
    (transcript,) = read_transcripts(json.dumps([{"mapping": mapping, **more}]))
    return [message.text for message in transcript.messages]


def test_title_session_and_times_are_kept() -> None:
    transcript = conversation(
        message("user", text("Hi"), create_time=1_700_000_060),
        message("assistant", text("Hello"), create_time=None),
        title="A greeting",
        conversation_id="c1",
        create_time=1_700_000_000.0,
    )

    assert transcript == Transcript(
        messages=(
            TranscriptMessage(Voice.USER, "Hi", at=datetime(2023, 11, 14, 22, 14, 20, tzinfo=UTC)),
            TranscriptMessage(Voice.ASSISTANT, "Hello"),
        ),
        format="chatgpt",
        title="A greeting",
        session="c1",
        started_at=AT,
    )


def test_the_first_known_time_is_the_start_where_the_export_tells_none() -> None:
    transcript = conversation(
        message("system", text("")),
        message("user", text("Hi")),
        message("assistant", text("Hello"), create_time=1_700_000_000),
    )

    assert transcript.started_at == AT


TREE: dict[str, object] = {
    "root": node(None, None, "asked"),
    "asked": node("first try", "root", "a", "b"),
    "a": node("first answer", "asked"),
    "b": node("second answer", "asked", "c"),
    "c": node("thanks", "b"),
}


def test_the_path_leads_from_the_current_node_back_to_the_root() -> None:
    assert words(TREE, current_node="c") == ["first try", "second answer", "thanks"]
    assert words(TREE, current_node="a") == ["first try", "first answer"]


@each_row("current", [None, 7, "gone", ["c"]])
def test_without_a_current_node_the_path_follows_the_first_children(current: object) -> None:
    assert words(TREE, current_node=current) == ["first try", "first answer"]


def test_a_cycle_is_followed_once() -> None:
    circle: dict[str, object] = {"a": node("one", "b", "b"), "b": node("two", "a", "a")}

    assert words(circle, current_node="a") == ["two", "one"]
    assert words(circle) == ["one", "two"]


def test_children_and_parents_that_are_missing_end_the_path() -> None:
    assert words({"a": node("one", "gone", "gone", "b"), "b": node("two", "a")}) == ["one", "two"]
    assert words({"a": node("one", "gone")}, current_node="a") == ["one"]
    assert words({"a": node("one", None, "b"), "b": "not a node"}) == ["one"]


def test_only_the_texts_of_a_message_count() -> None:
    image = {"content_type": "image_asset_pointer", "asset_pointer": "file://x"}
    spoken = {"content_type": "audio_transcription", "text": "and I say"}
    transcript = conversation(
        message("user", {"content_type": "multimodal_text", "parts": ["Look", image, spoken]}),
        message("assistant", {"content_type": "thoughts", "thoughts": [{"content": "Hm."}]}),
        message("user", {"content_type": "user_editable_context", "user_profile": "I am Ana"}),
        message("assistant", text("One", "", None, 7, "Two")),
        message("assistant", text(" ")),
        message("assistant", None),
    )

    assert transcript.messages == (
        TranscriptMessage(Voice.USER, "Look\nand I say"),
        TranscriptMessage(Voice.ASSISTANT, "One\nTwo"),
    )


def test_code_that_is_run_and_its_output_are_the_tools() -> None:
    tool = {"role": "tool", "name": "python"}
    transcript = conversation(
        message("assistant", {"content_type": "code", "text": "1 + 1"}, recipient="python"),
        {"author": tool, "content": {"content_type": "execution_output", "text": "2"}},
        message("assistant", {"content_type": "code", "text": "x = 2"}, recipient="all"),
        {"author": tool, "content": text("A page")},
    )

    assert transcript.messages == (
        TranscriptMessage(Voice.TOOL, "1 + 1", "python"),
        TranscriptMessage(Voice.TOOL, "2", "python"),
        TranscriptMessage(Voice.ASSISTANT, "x = 2"),
        TranscriptMessage(Voice.TOOL, "A page", "python"),
    )


def test_hidden_messages_are_the_systems_and_unknown_authors_are_others() -> None:
    hidden = {"is_visually_hidden_from_conversation": True}
    transcript = conversation(
        message("user", text("The user's profile"), metadata=hidden),
        message("critic", text("No.")),
        {"author": None, "content": text("Who?")},
    )

    assert transcript.messages == (
        TranscriptMessage(Voice.SYSTEM, "The user's profile"),
        TranscriptMessage(Voice.OTHER, "No.", "critic"),
        TranscriptMessage(Voice.OTHER, "Who?"),
    )


def test_conversations_in_which_nothing_was_said_are_left_out() -> None:
    empty = {"title": "Empty", "mapping": {"a": node(None, None, "b")}}
    full = {"title": "Full", "mapping": {"a": node("Hi", None)}}

    transcripts = read_transcripts(json.dumps([empty, full, None, {"title": "No tree"}]))
    assert [transcript.title for transcript in transcripts] == ["Full"]
