"""Our WordPiece tokenizer gives the ids of the package `tokenizers`, whatever the text is."""

import json
import sys
import unicodedata
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.errors import EmbedderUnavailable
from recollect.models.model_manifest import Manifest
from recollect.models.packaged_models import default_manifest
from recollect.models.tokenizer import load_tokenizer
from recollect.models.wordpiece_tokenizer import WordPieceTokenizer
from reference_tokenizer import reference_tokenizer
from token_corpus import corpus

OURS = load_tokenizer(default_manifest())
REFERENCE = reference_tokenizer()
# Texts on which tokenizers of this kind differ.
UNASSIGNED = ("Cn", "Co")  # the reference may know a later version of Unicode
IN_A_TEXT = 40  # so that the texts stay within the length of the model
EDGES = (
    "",
    "ΣΑΣ ΟΔΟΣ İstanbul ǅungla ﬁne ẞ",
    "a\x0bb\x0cc\x1cd\x85e\u2028f\u200bg\xadh\ufeffi\ufffdj\x00k",
    "e\u0301\u0323 \u1ac0x x\u1ac0y \u0344 \u093c\u0915",
    "中文字㐀𠀀𪜀\U0002b81f\U0002b820豈丽 かな한국어",
    "x" * 100 + " " + "y" * 101 + " " + "中" * 300,
    "don't —dash… «quote» ¿qué? $5€6+7=13 a_b-c/d\\e `f`",
    "\U0001f680\U0001f1e9\U0001f1ea 👩‍💻 ❤️ \U000e0041 \ue000 \U0010fffd",
    "[CLS] [SEP][MASK] [UNK] [PAD]x",
)


def texts() -> Iterator[str]:
    """Yield texts of several languages and kinds, and the sources of this folder."""
    yield from EDGES
    yield from (text for _, text in corpus())
    for path in Path(__file__).parent.glob("*.py"):
        yield path.read_text(encoding="utf-8")


def every_character(step: int, *, is_assigned: bool = False) -> Iterator[str]:
    """Yield texts with each *step*th character: alone, in a word, after a word."""
    for char in map(chr, range(0, sys.maxunicode + 1, step)):
        category = unicodedata.category(char)
        if category != "Cs" and not (is_assigned and category in UNASSIGNED):
            yield f"{char} a{char}b x{char}"


def unassigned_characters() -> Iterator[str]:
    """Yield texts with some dozens of the 967,302 characters that this Python does not know."""
    chars = [char for char in map(chr, range(sys.maxunicode + 1)) if is_unassigned(char)]
    for start in range(0, len(chars), IN_A_TEXT):
        yield " ".join(f"a{char}b" for char in chars[start : start + IN_A_TEXT])


def is_unassigned(char: str) -> bool:
    return unicodedata.category(char) in UNASSIGNED


def different(ours: object, reference: object, samples: Iterator[str]) -> list[str]:
    """Return the texts to which the two give different ids."""
    assert hasattr(ours, "encode")
    assert hasattr(reference, "encode")
    return [text for text in samples if ours.encode(text) != reference.encode(text).ids]


def test_texts_have_the_ids_of_the_reference() -> None:
    assert different(OURS, REFERENCE, texts()) == []


def test_a_sample_of_all_characters_has_the_ids_of_the_reference() -> None:
    assert different(OURS, REFERENCE, every_character(step=211)) == []


def characters_at_limits() -> Iterator[str]:
    """Yield texts with the first and the last of those that Unicode treats alike; all of Europe."""
    last, last_treated = "", None
    for char in map(chr, range(sys.maxunicode + 1)):
        treated = (
            unicodedata.category(char),
            unicodedata.combining(char),
            unicodedata.decomposition(char)[:1],
            len(unicodedata.normalize("NFD", char)),
            char.lower() == char,
            len(char.lower()),
            unicodedata.name(char, "").partition(" ")[0],
        )
        if treated != last_treated or char < "\u3000":
            yield from (
                f"{one} a{one}b x{one}"
                for one in last + char
                if unicodedata.category(one) not in ("Cs", *UNASSIGNED)
            )
        last, last_treated = char, treated


@pytest.mark.fuzz
def test_every_character_has_the_ids_of_the_reference(exhaustive: bool) -> None:
    if not exhaustive:
        assert different(OURS, REFERENCE, characters_at_limits()) == []
        assert different(OURS, REFERENCE, every_character(step=7, is_assigned=True)) == []
        return
    assert different(OURS, REFERENCE, every_character(step=1, is_assigned=True)) == []
    assert different(OURS, REFERENCE, unassigned_characters()) == []


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_any_text_has_the_ids_of_the_reference(text: str) -> None:
    assert OURS.encode(text) == REFERENCE.encode(text).ids


def test_a_lone_surrogate_is_left_out() -> None:
    assert OURS.encode("a\ud800b") == OURS.encode("ab")


@pytest.mark.fuzz
@pytest.mark.parametrize("lowercase", [True, False])
@pytest.mark.parametrize("max_tokens", [8, 256])
def test_a_tokenizer_file_of_bert_is_read_without_the_package(
    tmp_path: Path, lowercase: bool, max_tokens: int
) -> None:
    reference = reference_tokenizer(lowercase=lowercase, max_tokens=max_tokens)
    reference.add_special_tokens(["[CLS]", "[SEP]", "[MASK]", "[UNK]", "[PAD]"])
    manifest = file_manifest(tmp_path, reference.to_str(), max_tokens)

    ours = load_tokenizer(manifest)

    assert isinstance(ours, WordPieceTokenizer)
    assert different(ours, reference, texts()) == []


def test_a_tokenizer_of_another_kind_is_run_by_the_package(tmp_path: Path) -> None:
    reference = reference_tokenizer()
    content = json.loads(reference.to_str())
    content["pre_tokenizer"] = {"type": "Whitespace"}
    manifest = file_manifest(tmp_path, json.dumps(content))

    tokenizer = load_tokenizer(manifest)

    assert not isinstance(tokenizer, WordPieceTokenizer)
    assert tokenizer.encode("Hello there") == OURS.encode("Hello there")


def test_without_the_package_the_error_names_the_extra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = json.loads(reference_tokenizer().to_str())
    content["normalizer"] = None
    manifest = file_manifest(tmp_path, json.dumps(content))
    monkeypatch.setitem(sys.modules, "tokenizers", None)

    with pytest.raises(EmbedderUnavailable, match=r"pip install '\.\[tokenizers\]'"):
        load_tokenizer(manifest)


def file_manifest(folder: Path, content: str, max_tokens: int = 256) -> Manifest:
    """Return the default model's manifest with a `tokenizer.json` of *content*."""
    path = folder / "tokenizer.json"
    path.write_text(content, encoding="utf-8")
    return replace(default_manifest(), tokenizer=str(path), max_tokens=max_tokens)
