"""Word-by-word English of texts in other languages, and the files that it comes from."""

from pathlib import Path

import pytest

from recollect.text import gloss
from recollect.text.gloss import english_gloss, is_glossed
from recollect.text.language_data import ENGLISH, LANGUAGES
from tables import each_row

FOLDER = Path(gloss.__file__).with_name("glossaries")
OTHERS = [code for code in LANGUAGES if code != ENGLISH]


@each_row(
    ("text", "words"),
    [
        ("Meine Schwester wohnt seit März in Hamburg.", "sister live since march hamburg"),
        ("Wir benutzen den Testserver.", "we use test server"),  # a compound
        ("¿Cuándo vence el contrato?", "when contract"),
        ("Mi hermano trabaja en Bilbao.", "my brother work bilbao"),
        ("Mon fils est allergique au lait.", "my son allerg milk"),
        ("Je n'ai plus de voiture.", "car"),
        ("Minha mãe mora em Olinda.", "my mother live olinda"),
        ("Mia figlia studia a Torino.", "my daughter study"),
        ("Mijn dochter woont in Utrecht.", "my daughter live utrecht"),
        ("我女儿九月上小学", "daughter september school"),
        ("妹は札幌で看護師をしています", "sister nurse"),
        ("제 딸은 학교에 다녀요", "daughter school"),
        ("¿Dónde vivo?", "where live"),  # one word says that it is Spanish
    ],
)
def test_a_text_in_another_language_becomes_its_words_in_english(text: str, words: str) -> None:
    english = english_gloss(text).lower()

    assert is_glossed(text)
    assert [word for word in words.split() if word not in english] == []


@each_row(
    "text",
    [
        "We deploy on Thursdays.",
        "Des Moines office",
        "slow car",
        "come home",
        "solo trip",
        "war game",
        "die cast metal parts",
        "las vegas trip",
        "de facto standard",
        "pnpm install",
        "x = y + 1",
        "",
    ],
)
def test_english_and_what_is_no_sentence_stays_as_it_is(text: str) -> None:
    assert english_gloss(text) == text
    assert not is_glossed(text)


@pytest.mark.parametrize("code", OTHERS)
def test_a_form_has_one_meaning(code: str) -> None:
    seen: set[str] = set()
    for line in (FOLDER / f"{code}.txt").read_text(encoding="utf-8").splitlines():
        english, forms = line.split("\t")

        assert english
        assert english.isascii()
        assert forms.split()
        assert seen.isdisjoint(forms.split()), line
        seen.update(forms.split())

    assert len(seen) > 1_500
