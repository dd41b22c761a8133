"""Exact hashes, checked against published values, and the fingerprint that ignores form."""

import hashlib

from hypothesis import assume, given
from hypothesis import strategies as st

from recollect.text.fingerprint import fingerprint, sha256_hex, short_hash
from tables import each_row


@each_row(
    ("text", "digest"),
    [
        ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
    ],
)
def test_sha256_is_the_published_one(text: str, digest: str) -> None:
    assert sha256_hex(text) == digest


def test_sha256_is_taken_over_utf8() -> None:
    assert sha256_hex("é") == hashlib.sha256(b"\xc3\xa9").hexdigest()


def test_a_short_hash_has_16_bytes_and_never_changes() -> None:
    assert short_hash("abc").hex() == "cf4ab791c62b8d2b2109c90275287816"


@given(st.text(), st.text())
def test_a_short_hash_tells_texts_apart(first: str, second: str) -> None:
    assume(first != second)

    assert short_hash(first) != short_hash(second)


@each_row(
    ("first", "second"),
    [
        ("We use Postgres.", "we use postgres"),
        ("We use Postgres", "  We   use\n\tPostgres!  "),
        ("We use Postgres", "We use “Postgres”"),
        ("snake_case_name", "snake case name"),
        ("Straße", "STRASSE"),
        ("caf\u00e9", "cafe\u0301"),
        ("ﬁle ① Ｆｕｌｌ", "file 1 full"),
        ("ΣΊΣΥΦΟΣ", "σίσυφος"),
    ],
)
def test_texts_that_differ_in_case_spacing_and_marks_share_a_fingerprint(
    first: str, second: str
) -> None:
    assert fingerprint(first) == fingerprint(second)


@each_row(
    ("first", "second"),
    [
        ("We use Postgres", "We use MySQL"),
        ("port 5432", "port 5433"),
        ("use Postgres", "do not use Postgres"),
        ("ab c", "a bc"),
        ("cafe", "café"),
        ("日本", "本日"),
        ("a then b", "b then a"),
    ],
)
def test_texts_that_say_different_things_do_not_share_a_fingerprint(
    first: str, second: str
) -> None:
    assert fingerprint(first) != fingerprint(second)


@given(st.lists(st.text("abcXYZ019é", min_size=1), min_size=1))
def test_a_fingerprint_depends_on_the_words_alone(words: list[str]) -> None:
    plain, loud = " ".join(words), "… " + " -- ".join(words).upper() + "!\n"

    assert fingerprint(plain) == fingerprint(loud)
    assert len(fingerprint(plain)) == 32
