"""Any text becomes storable, and changes no more than it must."""

from hypothesis import given
from hypothesis import strategies as st

from recollect.text.clean_text import clean
from tables import each_row

# st.text() leaves surrogates out; half of these characters are ones that cannot be stored.
any_text = st.text(st.characters() | st.sampled_from("\x00\ud800\udbff\udc00\udfff"))


@each_row(
    ("text", "cleaned"),
    [
        ("a\x00b", "a\ufffdb"),
        ("\x00\x00", "\ufffd\ufffd"),
        ("broken \ud83d emoji", "broken \ufffd emoji"),
        ("\udcff", "\ufffd"),
        ("\ud83d\ude80", "\ufffd\ufffd"),  # a pair in two halves is still two lone ones
    ],
)
def test_what_cannot_be_stored_becomes_the_replacement_character(text: str, cleaned: str) -> None:
    assert clean(text) == cleaned


@each_row(
    "text",
    [
        "",
        "plain",
        "tab\tline\r\nend\x1b[0m\x7f\x01",
        "e\u0301 stays two characters",
        "\ufeff\u200b\u2028\u202e\ufffd\uffff",
        "🚀 é ß 日本 \U0010ffff",
    ],
)
def test_what_can_be_stored_stays_as_it_is(text: str) -> None:
    assert clean(text) == text


@given(any_text)
def test_a_cleaned_text_is_utf8_without_nul_and_as_long_as_before(text: str) -> None:
    cleaned = clean(text)

    assert b"\x00" not in cleaned.encode()
    assert len(cleaned) == len(text)


@given(any_text)
def test_only_the_unstorable_characters_change(text: str) -> None:
    changed = [old for old, new in zip(text, clean(text), strict=True) if old != new]

    assert all(ch == "\x00" or "\ud800" <= ch <= "\udfff" for ch in changed)
