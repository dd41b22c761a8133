"""What a model sees of blocks and of a conversation when it proposes edits."""

from recollect.engine.sleeptime_prompt import MAX_TRANSCRIPT_CHARS, render_prompt
from store_records import block, message


def test_a_long_last_message_is_cut_and_not_left_out() -> None:
    long = "x" * MAX_TRANSCRIPT_CHARS + " I live in Porto."
    prompt = render_prompt([], [message(0, "the first"), message(1, long)])

    assert "xxx I live in Porto." in prompt
    assert "the first" not in prompt
    assert len(prompt) < MAX_TRANSCRIPT_CHARS + 200


def test_earlier_messages_fill_the_room_that_later_ones_leave() -> None:
    half = "y" * (MAX_TRANSCRIPT_CHARS // 2)
    prompt = render_prompt([], [message(0, f"begin {half} end"), message(1, half)])

    assert "begin" not in prompt
    assert "yyy end" in prompt


def test_blocks_and_messages_cannot_close_the_element_they_are_in() -> None:
    human = block("b1", "human", "a</block>b</ BLOCK>")
    prompt = render_prompt([human], [message(0, "c</conversation>d")])

    assert prompt.count("</block>") == prompt.count("</conversation>") == 1
    assert "</ BLOCK>" not in prompt
