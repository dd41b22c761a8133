"""
BERT's WordPiece tokenizer: clean a text, split it into words, and words into pieces with ids.

It gives the ids that the package `tokenizers` gives for the same files, without that package and
its ten others (docs/adr/0029). It reads a vocabulary of one piece per line, or a `tokenizer.json`
whose parts are BERT's; `read_tokenizer_json` returns None for others.
"""

import json
import re
from collections.abc import Iterator, Mapping
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any
from unicodedata import normalize

from recollect.lazy_dataclass import dataclass
from recollect.models.wordpiece_characters import (
    CHINESE,
    MARKS,
    PUNCTUATION,
    REMOVED,
    WHITESPACE,
)

MAX_CACHED_WORDS = 16_384
MAX_CACHED_CHARS = 64  # of a word: long ones are rarely seen twice

_WORD = re.compile(f"[^{WHITESPACE}]+")
_ASCII_REMOVED = re.compile("[\x00-\x1f\x7f]+")
_ASCII_PIECE = re.compile(r"[!-/:-@\[-`{-~]|[0-9A-Za-z]+")


class _Patterns:
    """What only a text outside of ASCII needs, compiled on first use."""

    @cached_property
    def removed(self) -> re.Pattern[str]:
        return re.compile(f"[{REMOVED}]+")

    @cached_property
    def chinese(self) -> re.Pattern[str]:
        return re.compile(f"[{CHINESE}]")

    @cached_property
    def marks(self) -> re.Pattern[str]:
        return re.compile(f"[{MARKS}]+")

    @cached_property
    def piece(self) -> re.Pattern[str]:
        punctuation = rf"!-/:-@\[-`{{-~{PUNCTUATION}"
        return re.compile(f"[{punctuation}]|[^ {punctuation}]+")


_patterns = _Patterns()


@dataclass(frozen=True, kw_only=True)
class WordPieceRules:
    """How one tokenizer differs from another of its kind."""

    vocabulary: Mapping[str, int]
    unknown: str = "[UNK]"
    continuation: str = "##"
    max_word_chars: int = 100
    lowercase: bool = True
    strip_accents: bool = True
    before: tuple[int, ...] = ()  # ids around each text
    after: tuple[int, ...] = ()
    special_tokens: Mapping[str, int] | None = None  # texts that are tokens wherever they stand


class WordPieceTokenizer:
    """Turns a text into at most *max_tokens* ids. Safe to share between threads."""

    def __init__(self, rules: WordPieceRules, max_tokens: int) -> None:
        self._rules = rules
        self._limit = max(0, max_tokens - len(rules.before) - len(rules.after))
        self._unknown = rules.vocabulary[rules.unknown]
        self._cached_ids = lru_cache(MAX_CACHED_WORDS)(self._split)
        names = sorted(rules.special_tokens or (), key=len, reverse=True)
        self._special = re.compile(f"({'|'.join(map(re.escape, names))})") if names else None

    def encode(self, text: str) -> list[int]:
        """Return the ids of the beginning of *text*."""
        ids: list[int] = []
        for some in self._ids(text):
            ids += some
            if len(ids) >= self._limit:
                break
        return [*self._rules.before, *ids[: self._limit], *self._rules.after]

    def _ids(self, text: str) -> Iterator[tuple[int, ...]]:
        """Yield the ids of one word after the other, so that a long text is not read to its end."""
        if self._special is None:
            yield from self._word_ids(text)
            return
        special_tokens = self._rules.special_tokens or {}
        for at, part in enumerate(self._special.split(text)):
            if at % 2:
                yield (special_tokens[part],)
            else:
                yield from self._word_ids(part)

    def _word_ids(self, text: str) -> Iterator[tuple[int, ...]]:
        for match in _WORD.finditer(text):
            word = match[0]
            yield self._cached_ids(word) if len(word) <= MAX_CACHED_CHARS else self._split(word)

    def _split(self, word: str) -> tuple[int, ...]:
        """Return the token ids of the text between two blanks."""
        if word.isascii():
            clean = _ASCII_REMOVED.sub("", word)
            pieces = _ASCII_PIECE.findall(clean.lower() if self._rules.lowercase else clean)
        else:
            pieces = _patterns.piece.findall(self._clean(word))
        ids: list[int] = []
        for piece in pieces:
            ids += self._piece_ids(piece)
            if len(ids) >= self._limit:
                break
        return tuple(ids)

    def _clean(self, word: str) -> str:
        word = _patterns.chinese.sub(r" \g<0> ", _patterns.removed.sub("", word))
        if self._rules.strip_accents:
            word = _patterns.marks.sub("", normalize("NFD", word))
        # Letter by letter: Python's lower() makes a sigma at the end of a word another letter.
        return word.replace("Σ", "σ").lower() if self._rules.lowercase else word

    def _piece_ids(self, word: str) -> list[int]:
        """Return the ids of the longest pieces of *word* from the left, or the unknown one."""
        rules, ids, start = self._rules, [], 0
        if len(word) > rules.max_word_chars:
            return [self._unknown]
        while start < len(word):
            prefix = rules.continuation if start else ""
            for end in range(len(word), start, -1):
                piece_id = rules.vocabulary.get(prefix + word[start:end])
                if piece_id is not None:
                    break
            else:
                return [self._unknown]
            ids.append(piece_id)
            start = end
        return ids


def read_vocabulary(path: Path) -> WordPieceRules:
    """Return the rules of BERT's uncased tokenizer for a vocabulary of one piece per line."""
    pieces = path.read_text(encoding="utf-8").splitlines()
    ids = dict(zip(pieces, range(len(pieces)), strict=True))
    return WordPieceRules(vocabulary=ids, before=(ids["[CLS]"],), after=(ids["[SEP]"],))


def read_tokenizer_json(path: Path) -> WordPieceRules | None:
    """Return the rules of a `tokenizer.json`, or None if it is not WordPiece as BERT has it."""
    content = json.loads(path.read_text(encoding="utf-8"))
    model, normalizer = content["model"], content["normalizer"] or {}
    around = _special_ids(content["post_processor"])
    if (
        model.get("type") != "WordPiece"
        or normalizer.get("type") != "BertNormalizer"
        or not normalizer["clean_text"]
        or not normalizer["handle_chinese_chars"]
        or (content["pre_tokenizer"] or {}).get("type") != "BertPreTokenizer"
        or around is None
        or not all(_is_plain(token) for token in content["added_tokens"])
    ):
        return None
    lowercase, accents = normalizer["lowercase"], normalizer["strip_accents"]
    return WordPieceRules(
        vocabulary=model["vocab"],
        unknown=model["unk_token"],
        continuation=model["continuing_subword_prefix"],
        max_word_chars=model["max_input_chars_per_word"],
        lowercase=lowercase,
        strip_accents=lowercase if accents is None else accents,
        before=around[0],
        after=around[1],
        special_tokens={token["content"]: token["id"] for token in content["added_tokens"]},
    )


def _is_plain(token: Mapping[str, Any]) -> bool:
    """Return whether an added token stands for its text, wherever that is."""
    return not any(token[name] for name in ("single_word", "lstrip", "rstrip", "normalized"))


def _special_ids(processor: Mapping[str, Any] | None) -> tuple[tuple[int, ...], ...] | None:
    """Return the ids before and after a text, None if the processor does something else."""
    if processor is None:
        return (), ()
    if processor["type"] == "BertProcessing":
        return (processor["cls"][1],), (processor["sep"][1],)
    if processor["type"] != "TemplateProcessing":
        return None
    ids: tuple[list[int], list[int]] = ([], [])
    texts = 0
    for step in processor["single"]:
        if "Sequence" in step:
            texts += 1
        else:
            ids[bool(texts)].extend(processor["special_tokens"][step["SpecialToken"]["id"]]["ids"])
    return (tuple(ids[0]), tuple(ids[1])) if texts == 1 else None
