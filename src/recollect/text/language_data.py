"""
The data of each language, and which language a text is in.

`languages/*.toml` holds one file for each language: stop words, abbreviations, word endings, cue
words and date words. A file is read once, when it is first needed; English texts read only their
own. To add a language, add a file and its code to `LANGUAGES`, and to `SPACED` or `_SCRIPTS`.
"""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import field
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from recollect.lazy_dataclass import dataclass
from recollect.text.lazy_pattern import LazyPattern

ENGLISH = "en"
LANGUAGES = ("en", "de", "fr", "es", "pt", "it", "nl", "zh", "ja", "ko")
SPACED = ("de", "fr", "es", "pt", "it", "nl")  # with spaces between words; told apart by stop words
MAX_CHARS = 600  # read to recognise the language
MIN_STOP_WORDS = 2  # of another language than English
ENGLISH_SHARE = 0.25  # of English stop words: nothing else is looked at
SURELY_ENGLISH_SHARE = 0.4  # the same, where a short text is looked at more closely
SCRIPT_SHARE = 0.3  # of the letters, to be a text in that script

_WORD = re.compile(r"[^\W\d_]+")
# Kana before Han: Japanese uses both.
_SCRIPTS = (
    ("ja", LazyPattern("[\u3040-\u30ff]")),
    ("ko", LazyPattern("[\uac00-\ud7af]")),
    ("zh", LazyPattern("[\u3400-\u4dbf\u4e00-\u9fff]")),
)
_UNSPACED = LazyPattern("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]")


@dataclass(frozen=True)
class Language:
    """What is known of one language."""

    code: str
    stop_words: frozenset[str]
    abbreviations: frozenset[str] = frozenset()  # a full stop after one does not end a sentence
    endings: tuple[str, ...] = ()  # of words, longest first
    cues: Mapping[str, LazyPattern] = field(default_factory=dict)
    dates: Mapping[str, Any] = field(default_factory=dict)

    @property
    def is_spaced(self) -> bool:
        """Return whether words are separated by spaces, without particles attached."""
        return self.code == ENGLISH or self.code in SPACED

    def has_cue(self, name: str, text: str) -> bool:
        """Return whether *text* contains a cue of that *name*: "change", "rule", "question"."""
        return self.find_cue(name, text) is not None

    def find_cue(self, name: str, text: str) -> re.Match[str] | None:
        """Return the first cue of that *name* in *text*: "speaker", "family", "change"."""
        pattern = self.cues.get(name)
        return pattern.search(text) if pattern is not None else None


@cache
def load_language(code: str) -> Language:
    """Return the data of a language, read from its file once."""
    path = Path(__file__).with_name("languages") / f"{code}.toml"
    data = tomllib.loads(path.read_text(encoding="utf-8"))
    is_spaced = code == ENGLISH or code in SPACED
    edges = (r"(?<!\w)", r"(?!\w)") if is_spaced else ("", "")
    cues = {
        name: LazyPattern(f"{edges[0]}(?:{pattern}){edges[1]}", flags=re.IGNORECASE)
        for name, pattern in data.get("cues", {}).items()
    }
    return Language(
        code=code,
        stop_words=frozenset(data["stop_words"].split()),
        abbreviations=frozenset(data.get("abbreviations", "").split()),
        endings=tuple(sorted(data.get("endings", "").split(), key=len, reverse=True)),
        cues=cues,
        dates=data.get("dates", {}),
    )


def detect_language(text: str) -> Language:
    """Return the language of *text*; English if nothing says that it is another one."""
    return load_language(_language_of(text[:MAX_CHARS]))


@lru_cache(maxsize=1_024)
def _language_of(sample: str) -> str:
    words = frozenset(_WORD.findall(sample.lower()))
    if not sample.isascii():
        letters = sum(map(str.isalpha, sample))
        if len(_UNSPACED.findall(sample)) >= SCRIPT_SHARE * max(letters, 1):
            for code, script in _SCRIPTS:
                if script.search(sample):
                    return code
    english = load_language(ENGLISH)
    in_english = len(words & english.stop_words)
    if not words or in_english >= ENGLISH_SHARE * len(words):
        return ENGLISH
    best, most = ENGLISH, max(in_english, MIN_STOP_WORDS - 1)
    for code in SPACED:
        count = len(words & load_language(code).stop_words)
        if count > most:
            best, most = code, count
    return best


def likely_languages(text: str) -> list[str]:
    """
    Return the languages that *text* may be in; the caller decides between them by other words.

    It is English alone if nothing says otherwise. One more stop word than English has is enough
    here, and languages with nearly as many count too: "Prefiro respostas curtas" has no stop word
    that only Portuguese has.
    """
    code = _language_of(text[:MAX_CHARS])
    if code not in (ENGLISH, *SPACED):
        return [code]
    words = frozenset(_WORD.findall(text[:MAX_CHARS].lower()))
    in_english = len(words & load_language(ENGLISH).stop_words)
    if not words or in_english >= SURELY_ENGLISH_SHARE * len(words):
        return [ENGLISH]
    counts = {code: len(words & load_language(code).stop_words) for code in SPACED}
    least = max(in_english + 1, max(counts.values()) - 1)
    return [code for code, count in counts.items() if count >= least] or [ENGLISH]
