"""
Find and remove the words of a forgotten statement in other texts.

The words are its phrases (the statement, its quotes and their sentences), found in any case, with
any punctuation and in any form of accents, and its distinctive words (a name, an identifier). A
phrase is removed where it stands; of a distinctive word the whole sentence is removed, because the
rest of it is about the same thing. What says the same in other words is not found.
"""

import json
import re
from collections.abc import Iterable, Sequence
from functools import cached_property, lru_cache
from typing import Any
from unicodedata import normalize

from recollect.lazy_dataclass import dataclass
from recollect.text.bpe_tokenizer import BpeTable, load_table
from recollect.text.search_words import STOP_WORDS
from recollect.text.sentence_splitter import sentence_spans

MARKER = "[forgotten]"

MIN_PHRASE_CHARS = 8
MIN_SENTENCE_WORDS = 4  # a shorter sentence of a statement is not looked for by itself
MIN_WORD_CHARS = 4
MAX_SENTENCE_CHARS = 400  # of a longer one, only the word is removed
MIN_LEFT_CHARS = 6  # letters and digits; a text of which less is left is removed as a whole
COMMON_TOKENS = (
    130_000  # the first tokens of o200k_base are the most common words of many languages
)

_TOKEN = re.compile(r"\w+")
_WORD = re.compile(r"\w(?:[\w.+#/@:'’-]*\w)?")
Span = tuple[int, int]


@dataclass(frozen=True)
class ForgottenWords:
    """The phrases and the distinctive words (in lower case) of what is forgotten."""

    phrases: tuple[str, ...] = ()
    words: frozenset[str] = frozenset()

    def occur_in(self, text: str) -> bool:
        """Return whether any of them is in *text*."""
        return bool(self.spans(text))

    def spans(self, text: str) -> list[Span]:
        """Return the parts of *text* to remove, in order and without overlaps."""
        if not self.may_occur_in(text):
            return []
        spans = [match.span() for pattern in self._patterns for match in pattern.finditer(text)]
        if self._word_pattern is not None:
            matches = [match.span() for match in self._word_pattern.finditer(text)]
            spans += [_sentence_around(text, span) for span in matches]
        return _merge(spans)

    def removed_from(self, text: str, marker: str = MARKER) -> str:
        """Return *text* without them; the marker alone if little else is left."""
        parts, at = [], 0
        for start, end in self.spans(text):
            parts += [text[at:start], marker]
            at = end
        parts.append(text[at:])
        left = sum(map(str.isalnum, "".join(parts).replace(marker or "\0", "")))
        if at and left < MIN_LEFT_CHARS:
            return marker
        return "".join(parts)

    def removed_from_json(self, text: str) -> str:
        """Return a JSON text in which no string has them, strings that hold JSON included."""
        return json.dumps(self._removed_from_value(json.loads(text)), ensure_ascii=False)

    def _removed_from_value(self, value: Any) -> Any:
        if isinstance(value, str):
            return self._removed_from_string(value)
        if isinstance(value, list):
            return [self._removed_from_value(element) for element in value]
        if isinstance(value, dict):
            return {
                self._removed_from_string(key): self._removed_from_value(element)
                for key, element in value.items()
            }
        return value

    def _removed_from_string(self, text: str) -> str:
        if text[:1] in ("{", "["):
            try:
                decoded = json.loads(text)
            except (ValueError, RecursionError):
                decoded = None
            if isinstance(decoded, dict | list):
                cleaned = self._removed_from_value(decoded)
                return text if cleaned == decoded else json.dumps(cleaned, ensure_ascii=False)
        return self.removed_from(text)

    def may_occur_in(self, text: str) -> bool:
        """Return False if *text* surely has none of them: a quick test, also of JSON."""
        folded = text.lower()
        return any(anchor in folded for anchor in self._anchors)

    @cached_property
    def _anchors(self) -> tuple[str, ...]:
        """The longest word of each phrase: a quick test before the patterns."""
        phrases = _all_forms(self.phrases)
        longest = {max(_TOKEN.findall(phrase.lower()), key=len) for phrase in phrases}
        return (*longest, *_all_forms(self.words))

    @cached_property
    def _patterns(self) -> tuple[re.Pattern[str], ...]:
        return tuple(_phrase_pattern(phrase) for phrase in _all_forms(self.phrases))

    @cached_property
    def _word_pattern(self) -> re.Pattern[str] | None:
        if not self.words:
            return None
        longest_first = sorted(_all_forms(self.words), key=lambda word: (-len(word), word))
        return re.compile("|".join(map(_whole_word_pattern, longest_first)), re.IGNORECASE)


def phrases_of(texts: Iterable[str]) -> tuple[str, ...]:
    """Return the texts and their longer sentences, as far as they are long enough to be found."""
    phrases: dict[str, None] = {}
    for text in texts:
        sentences = [text[start:end] for start, end in sentence_spans(text)]
        long = [part for part in sentences if len(_TOKEN.findall(part)) >= MIN_SENTENCE_WORDS]
        for phrase in (text, *long):
            if len(phrase.strip()) >= MIN_PHRASE_CHARS and len(_TOKEN.findall(phrase)) > 1:
                phrases[phrase.strip()] = None
    return tuple(phrases)


def uncommon_words(texts: Iterable[str]) -> list[str]:
    """Return the names, identifiers and generally rare words of *texts*, in lower case."""
    words = {match.group() for text in texts for match in _WORD.finditer(text)}
    return sorted({word.lower() for word in words if is_uncommon(word)})


@lru_cache(maxsize=4096)
def is_uncommon(word: str) -> bool:
    """Return whether *word* is a name, an identifier, or rare in general."""
    lower = word.lower()
    if len(word) < MIN_WORD_CHARS or lower in STOP_WORDS or (lower.isdigit() and len(word) < 5):
        return False
    table = _token_table()
    if table is None:
        return len(word) > 8 or any(map(str.isdigit, word)) or any(map(str.isupper, word[1:]))
    for form in (lower, word.capitalize()):
        tokens = table.encode(f" {form}")
        if len(tokens) == 1 and tokens[0] < COMMON_TOKENS:
            return False
    parts = _TOKEN.findall(word)
    return len(parts) == 1 or any(is_uncommon(part) for part in parts) or _is_identifier(word)


def _is_identifier(word: str) -> bool:
    return "@" in word or any(map(str.isdigit, word))


@lru_cache(maxsize=1)
def _token_table() -> BpeTable | None:
    return load_table("o200k_base")


def _all_forms(texts: Iterable[str]) -> tuple[str, ...]:
    """Return *texts* with accents as they are, composed (NFC) and as separate characters (NFD)."""
    forms = (
        form for text in texts for form in (text, normalize("NFC", text), normalize("NFD", text))
    )
    return tuple(dict.fromkeys(forms))


def _phrase_pattern(phrase: str) -> re.Pattern[str]:
    tokens = _TOKEN.findall(phrase)
    inner = r"[\W_]{1,8}?".join(map(re.escape, tokens))
    return re.compile(_boundary(tokens[0][0], "<") + inner + _boundary(tokens[-1][-1], ""), _FLAGS)


_FLAGS = re.IGNORECASE


def _whole_word_pattern(word: str) -> str:
    return _boundary(word[0], "<") + re.escape(word) + _boundary(word[-1], "")


def _boundary(char: str, direction: str) -> str:
    """Return the pattern for the edge of a word; scripts without spaces have none."""
    return f"(?{direction}!\\w)" if char.isascii() and char.isalnum() else ""


def _sentence_around(text: str, span: Span) -> Span:
    line_start = text.rfind("\n", 0, span[0]) + 1
    line_end = text.find("\n", span[1])
    line_end = len(text) if line_end < 0 else line_end
    for start, end in sentence_spans(text, line_start, line_end):
        if start <= span[0] and span[1] <= end:
            return (start, end) if end - start <= MAX_SENTENCE_CHARS else span
    return span


def _merge(spans: Sequence[Span]) -> list[Span]:
    merged: list[Span] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged
