"""
The English meanings of the words of other languages, for glosses (gloss.py).

`glossaries/*.txt` has a file for each language, with a line for each English word: the word, a tab,
and the forms that mean it. A form that ends in `*` stands for every word that begins with it, in
Korean every form does, and `_` joins the words of one form. A file is read when the first text in
its language comes.
"""

from collections.abc import Sequence
from functools import cache
from pathlib import Path

from recollect.lazy_dataclass import dataclass

MAX_FORM_WORDS = 3
MIN_STEM = 3  # characters of a stem; Korean stems have one or two
MIN_PART = 4  # characters of a part of a compound

_COMPOUNDING = frozenset({"de", "nl"})
_KOREAN = "ko"


@dataclass(frozen=True)
class Glossary:
    """The English words of the forms of one language."""

    words: dict[str, str]
    stems: dict[str, str]  # by which a word begins
    longest: int  # characters of the longest form
    min_stem: int = MIN_STEM
    has_compounds: bool = False

    def meaning_of(self, word: str) -> str:
        """Return the English of a word in lower case, or ''."""
        return self._meaning_of_form(word) or self._meaning_of_parts(word)

    def meaning_of_words(self, words: Sequence[str]) -> str:
        """Return the English of a form of several words in lower case, or ''."""
        form = "_".join(words)
        if form in self.words or self.min_stem > 1:
            return self.words.get(form, "")
        # Of Korean the last word may have an ending.
        shortest = len(form) - len(words[-1]) + 1
        lengths = range(len(form) - 1, shortest - 1, -1)
        return next((self.words[form[:n]] for n in lengths if form[:n] in self.words), "")

    def _meaning_of_form(self, word: str) -> str:
        if word in self.words:
            return self.words[word]
        for length in range(min(len(word), self.longest), self.min_stem - 1, -1):
            if (meaning := self.stems.get(word[:length])) is not None:
                # A stem of one syllable begins many words: only a particle may follow.
                return meaning if length > 1 or len(word) <= 2 else ""
        return ""

    def _meaning_of_parts(self, word: str) -> str:
        """Return the English of the two parts of a compound, or ''."""
        if not self.has_compounds:
            return ""
        for cut in range(len(word) - MIN_PART, MIN_PART - 1, -1):
            first = self.words.get(word[:cut]) or self.words.get(word[:cut].removesuffix("s"))
            second = self._meaning_of_form(word[cut:])
            if first and second:
                return f"{first} {second}"
        return ""


@cache
def load_glossary(code: str) -> Glossary:
    """Return the glossary of a language, read from its file once."""
    path = Path(__file__).with_name("glossaries") / f"{code}.txt"
    words: dict[str, str] = {}
    stems: dict[str, str] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        english, forms = line.split("\t")
        for form in forms.split():
            if form.endswith("*"):
                stems[form[:-1]] = english
            else:
                words[form] = english
    longest = max(map(len, (*words, *stems)), default=0)
    if code == _KOREAN:  # particles are attached to a word
        return Glossary(words, words | stems, longest, min_stem=1)
    return Glossary(words, stems, longest, has_compounds=code in _COMPOUNDING)
