"""What either of two devices forgot stays forgotten in the merged text."""

from recollect.text.redacted_merge import merge_blanked, merge_redacted
from tables import each_row


@each_row(
    ("preferred", "other", "merged"),
    [
        ("I like tea.", "I like tea.", "I like tea."),
        ("I like tea.", "I like coffee.", "I like tea."),
        ("I like tea.", "I like [forgotten].", "I like [forgotten]."),
        ("I like [forgotten].", "I like tea.", "I like [forgotten]."),
        ("[forgotten] and cake", "tea and [forgotten]", "[forgotten] and [forgotten]"),
        ("tea", "[forgotten]", "[forgotten]"),
    ],
)
def test_a_forgotten_word_does_not_come_back(preferred: str, other: str, merged: str) -> None:
    assert merge_redacted(preferred, other) == merged


def test_a_merged_json_text_is_still_json() -> None:
    merged = merge_redacted('{"a":"tea","b":1}', '{"a":"[forgotten]","b":1}', is_json=True)

    assert merged == '{"a":"[forgotten]","b":1}'


def test_the_blanks_of_both_sources_stay() -> None:
    assert merge_blanked("███ is here", "tea is ████", ("█",)) == "███ is ████"
    assert merge_blanked("tea is here", "███ is here", ("█",)) == "███ is here"
