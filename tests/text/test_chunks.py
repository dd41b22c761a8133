"""A long text is split at the best breaks, and nothing is lost."""

from hypothesis import given
from hypothesis import strategies as st

from recollect.text.chunks import CHUNK_CHARS, MAX_CHUNKS, split_into_chunks
from tables import each_row

prose = st.text("ab .,;?!\né", max_size=400)
sizes = st.integers(min_value=1, max_value=60)


@each_row("text", ["", " ", "\n\t \n"])
def test_a_blank_text_has_no_pieces(text: str) -> None:
    assert split_into_chunks(text) == []


def test_a_short_text_is_one_piece_without_the_space_around_it() -> None:
    assert split_into_chunks("  We use Postgres.\n") == ["We use Postgres."]


def test_a_text_of_exactly_the_size_is_one_piece() -> None:
    assert split_into_chunks("a" * CHUNK_CHARS) == ["a" * CHUNK_CHARS]


def test_a_text_without_any_break_is_cut_at_the_size() -> None:
    assert split_into_chunks("a" * (CHUNK_CHARS + 1)) == ["a" * CHUNK_CHARS, "a"]


@each_row(
    ("text", "pieces"),
    [
        # a line before a sentence, a sentence before a clause, a clause before a word
        ("one two. three\nfour. five, six", ["one two. three", "four. five, six"]),
        ("one two three. four, five six", ["one two three.", "four, five six"]),
        ("one two three? four, five six", ["one two three?", "four, five six"]),
        ("one two three; four, five six", ["one two three;", "four, five six"]),
        ("one two three, four five six", ["one two three,", "four five six"]),
        ("one two three four five six", ["one two three four", "five six"]),
    ],
)
def test_a_piece_ends_at_the_best_break_of_its_second_half(text: str, pieces: list[str]) -> None:
    assert split_into_chunks(text, size=20) == pieces


def test_a_break_in_the_first_half_is_not_used() -> None:
    assert split_into_chunks("a. " + "b" * 30, size=20) == ["a. " + "b" * 17, "b" * 13]


def test_a_very_long_text_is_split_into_at_most_the_allowed_number_of_chunks() -> None:
    pieces = split_into_chunks("word " * 100_000)

    assert len(pieces) == MAX_CHUNKS
    assert all(CHUNK_CHARS // 2 <= len(piece) <= CHUNK_CHARS for piece in pieces)


def test_blank_chunks_are_not_counted() -> None:
    assert split_into_chunks("a" + " " * 500 + "b", size=10, max_chunks=2) == ["a", "b"]


@given(prose, sizes)
def test_every_piece_is_within_the_size_and_not_blank(text: str, size: int) -> None:
    pieces = split_into_chunks(text, size=size, max_chunks=1_000)

    assert all(0 < len(piece) <= size and piece == piece.strip() for piece in pieces)


@given(prose, sizes)
def test_the_chunks_joined_are_the_text_except_for_spaces(text: str, size: int) -> None:
    pieces = split_into_chunks(text, size=size, max_chunks=1_000)

    assert "".join("".join(pieces).split()) == "".join(text.split())


@given(prose, sizes, st.integers(min_value=1, max_value=5))
def test_the_first_pieces_are_the_same_however_many_are_allowed(
    text: str, size: int, most: int
) -> None:
    assert (
        split_into_chunks(text, size=size, max_chunks=most)
        == split_into_chunks(text, size=size, max_chunks=1_000)[:most]
    )
