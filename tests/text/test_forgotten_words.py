"""Which parts of a text go with a forgotten statement, and what is left of the text."""

import json
from typing import Literal
from unicodedata import normalize

from recollect.text.forgotten_words import ForgottenWords, is_uncommon, phrases_of, uncommon_words
from tables import each_row

STATEMENT = "The code name is Zebrafish."


@each_row(
    ("text", "left"),
    [
        ("The code name is Zebrafish.", "[forgotten]"),
        (
            "Hi. the CODE   name is “zebrafish”! Go on now, please.",
            "Hi. [forgotten]”! Go on now, please.",
        ),
        ("I noted that the code-name is Zebrafish for you.", "I noted that [forgotten] for you."),
        (
            "The code name is Falcon, not a fish at all.",
            "The code name is Falcon, not a fish at all.",
        ),
        ("the codename is zebrafishes", "the codename is zebrafishes"),
        ("ok", "ok"),
        ("", ""),
    ],
)
def test_a_phrase_is_removed_where_it_stands(text: str, left: str) -> None:
    words = ForgottenWords(phrases_of([STATEMENT]))

    assert words.removed_from(text) == left


@each_row(
    ("text", "left"),
    [
        (
            "Is ZEBRAFISH ready? Ask Ana about the release.",
            "[forgotten] Ask Ana about the release.",
        ),
        ("We wait. Zebrafish-2 is another name of it all.", "We wait. [forgotten]"),
        (
            "prezebrafish and zebrafishy words stay here",
            "prezebrafish and zebrafishy words stay here",
        ),
        (
            "line one is long enough\n- zebrafish\nline three",
            "line one is long enough\n- [forgotten]\nline three",
        ),
    ],
)
def test_the_sentence_of_a_distinctive_word_is_removed(text: str, left: str) -> None:
    assert ForgottenWords(words=frozenset({"zebrafish"})).removed_from(text) == left


def test_of_an_endless_sentence_only_the_word_is_removed() -> None:
    text = "and so on " * 100 + "zebrafish " + "and on " * 100

    left = ForgottenWords(words=frozenset({"zebrafish"})).removed_from(text)

    assert left == text.replace("zebrafish", "[forgotten]")


def test_strings_in_json_are_searched_decoded_and_json_in_strings_too() -> None:
    words = ForgottenWords(phrases_of([STATEMENT]))
    inner = json.dumps({"note": "The code\nname is Z\u0065brafish.", "n": 1})
    text = json.dumps([{"function": {"arguments": inner}}, "other", 3, None])

    left = json.loads(words.removed_from_json(text))

    assert json.loads(left[0]["function"]["arguments"]) == {"note": "[forgotten]", "n": 1}
    assert left[1:] == ["other", 3, None]


def test_long_statements_are_found_sentence_by_sentence() -> None:
    words = ForgottenWords(phrases_of(["We ship on Mondays at nine. Never tell Globex about it!"]))

    assert words.occur_in("remember: never tell globex about it")
    assert not words.occur_in("tell Globex about Mondays")


def test_in_a_script_without_spaces_the_phrase_is_found_inside_a_run() -> None:
    words = ForgottenWords(phrases_of(["项目代号是 凤凰计划"]))

    assert words.occur_in("我们说过项目代号是凤凰计划，对吧") or words.occur_in(
        "项目代号是 凤凰计划"
    )


@each_row("form", ["NFC", "NFD"])
def test_words_are_found_with_composed_and_with_separate_accents(
    form: Literal["NFC", "NFD"],
) -> None:
    statement = normalize(form, "Our partner is Zürnwéxel.")
    words = ForgottenWords(phrases_of([statement]), frozenset(uncommon_words([statement])))

    for other in ("NFC", "NFD"):
        said = normalize(other, "Yes, our partner is Zürnwéxel. Call Zürnwéxel today.")
        assert "exel" not in words.removed_from(said)


@each_row("word", ["Zebrafish", "quetzalcoatl", "AC-7741", "anna@acme.com", "Globex"])
def test_names_and_identifiers_are_uncommon(word: str) -> None:
    assert is_uncommon(word)


@each_row("word", ["the", "deploy", "database", "Friday", "because", "abc", "2026"])
def test_ordinary_words_are_not(word: str) -> None:
    assert not is_uncommon(word)


def test_uncommon_words_are_listed_once_in_lower_case() -> None:
    assert uncommon_words(["Ask Zebrafish.", "zebrafish again"]) == ["zebrafish"]
