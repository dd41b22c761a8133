"""The two sides of a transcript."""

from recollect.text.transcript_sides import split_sides
from tables import each_row


@each_row(
    ("text", "user_side", "assistant_side"),
    [
        ("user: I have a cat\nassistant: How nice", "I have a cat", "How nice"),
        ("User: a\nmore\nAssistant: b\nAI: c\nUser: d", "a\nmore\n\nd", "b\n\nc"),
        ("**User:** a\n**Assistant:** b", "a", "b"),
        ("Notes first\nHuman: a\nBot: b", "Notes first\n\na", "b"),
        ("Caroline: hello\nMelanie: hi", "Caroline: hello\nMelanie: hi", ""),
        ("user: alone", "user: alone", ""),
        ("the assistant: an essay", "the assistant: an essay", ""),
        ("", "", ""),
    ],
)
def test_a_transcript_has_two_sides_and_any_other_text_has_one(
    text: str, user_side: str, assistant_side: str
) -> None:
    assert split_sides(text) == (user_side, assistant_side)
