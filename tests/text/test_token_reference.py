"""
Every count against an independent implementation.

The texts are those of `token_corpus.py`. The expected counts were taken with tiktoken 0.14
(`tiktoken.Encoding` with the tables and patterns of o200k_base and cl100k_base, nothing of
bpe-openai's code). The npm package gpt-tokenizer agrees on all but the 40 texts that hold both
U+0085 and U+FEFF, which JavaScript's idea of a blank takes the other way round.
"""

import json
import zlib
from pathlib import Path

from recollect.text.token_counter import counter_for
from tables import each_row
from token_corpus import corpus

EXPECTED = json.loads((Path(__file__).parent / "token_counts.json").read_text("utf-8"))
TEXTS = corpus()


def test_the_texts_are_those_that_were_counted() -> None:
    joined = "\0".join(text for _, text in TEXTS)

    assert zlib.crc32(joined.encode()) == EXPECTED["crc32"]
    assert len(TEXTS) == 920


@each_row("encoding", ["o200k_base", "cl100k_base"])
def test_every_count_is_the_reference_count(encoding: str) -> None:
    counter = counter_for(encoding)
    counted = [counter.count(text) for _, text in TEXTS]

    expected = EXPECTED[encoding]
    wrong = [
        (kind, text[:80], got, want)
        for (kind, text), got, want in zip(TEXTS, counted, expected, strict=True)
        if got != want
    ]
    assert counter.exact
    assert wrong == []


@each_row("encoding", ["o200k_base", "cl100k_base"])
def test_a_truncated_text_is_the_longest_prefix_that_fits(encoding: str) -> None:
    counter = counter_for(encoding)
    short = [text for _, text in TEXTS if len(text) <= 200][::7]
    for text in short:
        sizes = [counter.count(text[:end]) for end in range(len(text) + 1)]
        for limit in {1, 2, 3, sizes[-1] // 2, sizes[-1] - 1, sizes[-1]}:
            longest = max((end for end, size in enumerate(sizes) if size <= limit), default=0)

            assert counter.truncate(text, limit) == text[:longest], (text, limit)
