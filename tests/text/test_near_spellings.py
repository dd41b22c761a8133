"""Which words are spelled almost alike."""

from recollect.text.near_spellings import can_be_misspelled, near_names, near_spellings
from tables import each_row


@each_row(
    ("word", "other", "is_near"),
    [
        ("kubernets", "kubernetes", True),
        ("kuebrnetes", "kubernetes", True),  # two letters changed places
        ("anastasia", "anastassya", True),  # two edits in a long word
        ("frankf", "frankfurt", True),  # its beginning
        ("server", "sever", True),  # one edit: a word that occurs is never compared
        ("jonass", "jonas", True),
        ("server", "serves", True),
        ("deploy", "employ", False),
        ("deploy", "deep", False),
        ("invoice", "invest", False),
        ("anastasia", "analyses", False),
    ],
)
def test_words_are_near_by_one_edit_two_if_long_or_as_a_beginning(
    word: str, other: str, *, is_near: bool
) -> None:
    assert near_spellings(word, [other]) == ([other] if is_near else [])


@each_row("word", ["cost", "route", "r2d2c3po", "2026-01", ""])
def test_short_words_and_numbers_are_not_compared(word: str) -> None:
    assert not can_be_misspelled(word)


@each_row(
    ("name", "other", "is_near"),
    [
        ("jorje", "jorge", True),
        ("sara", "sarah", True),
        ("jhon", "john", True),  # two letters changed places
        ("mathew", "matthew", True),
        ("erik", "eric", True),
        ("siob", "siobhan", True),
        ("sio", "siobhan", True),
        ("marta", "maria", False),
        ("mara", "maria", False),
        ("anna", "anne", False),
        ("lena", "lina", False),
        ("tom", "tim", False),
    ],
)
def test_short_names_are_near_by_their_sound_or_as_a_beginning(
    name: str, other: str, *, is_near: bool
) -> None:
    assert near_names(name, [other]) == ([other] if is_near else [])
