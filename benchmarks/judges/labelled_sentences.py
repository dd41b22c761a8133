"""Labelled messages, cut into sentences with the features that the judge sees."""

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from recollect.engine.judges.sentence_features import (
    SentenceContext,
    SentenceFeatures,
    person_features,
    sentence_features,
)
from recollect.text.extraction_rules import matching_rule
from recollect.text.sentence_classifier import lead_in_length, normalize_sentence
from recollect.text.sentence_splitter import sentence_spans

FILES = ("software", "life", "work", "europe", "asia")
LIFE, WORK = "life", "work"  # of the folder: messages outside of any work, and at work
PEOPLE = Path(__file__).with_name("people")
HANDWRITTEN = Path(__file__).parents[1] / "extraction" / "sentences.jsonl"
PERSON = "person"  # first word of the domain of an invented person
MIN_OVERLAP = 0.5  # of a sentence or of a marked span

Row = dict[str, Any]


@dataclass(frozen=True)
class LabelledSentence:
    """A sentence, its features, and the marked span that it contains, if any."""

    text: str
    features: SentenceFeatures
    span: Row | None
    language: str
    domain: str
    file: str = ""

    @property
    def persons(self) -> tuple[float, ...]:
        """The features that say who it is about."""
        return person_features(self.text)

    @property
    def is_durable(self) -> bool:
        return self.span is not None

    @property
    def is_of_people(self) -> bool:
        return self.domain.startswith(PERSON)

    @property
    def group(self) -> str:
        """Sentences of one group are never split between training and test."""
        return f"{self.language} {self.domain}"


def data_version(folder: Path, names: Sequence[str]) -> str:
    """Return a hash of the data files, which the weights name."""
    digest = hashlib.sha256()
    for name in names:
        digest.update((folder / f"{name}.jsonl").read_bytes())
    return digest.hexdigest()[:16]


def read_rows(folder: Path, name: str) -> list[Row]:
    lines = (folder / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def labelled_sentences(folder: Path) -> list[LabelledSentence]:
    rows = ((row, name) for name in FILES for row in read_rows(folder, name))
    return [sentence for row, name in rows for sentence in sentences_of(row, name)]


def handwritten_sentences() -> list[LabelledSentence]:
    """Return this repository's own sentences, the development split only: short, one by one."""
    rows = [json.loads(line) for line in HANDWRITTEN.read_text(encoding="utf-8").splitlines()]
    return [
        LabelledSentence(
            row["text"],
            features_of(row["text"], SentenceContext()),
            row["expect"],
            "en",
            f"handwritten {row['id']}",
        )
        for row in rows
        if row["split"] == "dev" and row["voice"] == "user"
    ]


def people_sentences() -> list[LabelledSentence]:
    """Return the sentences of this repository's invented people; each person is a domain."""
    return [
        sentence
        for path in people_files()
        for line in path.read_text(encoding="utf-8").splitlines()
        for sentence in _sentences_of_person(path.stem, json.loads(line))
    ]


def people_files() -> list[Path]:
    """Return the files of messages, one for each person."""
    return [path for path in sorted(PEOPLE.glob("*.jsonl")) if not path.stem.endswith(".questions")]


def _sentences_of_person(name: str, row: Row) -> Iterator[LabelledSentence]:
    file = LIFE if row["project"] is None else WORK
    return sentences_of({**row, "language": "en", "domain": f"{PERSON} {name}", "before": ""}, file)


def sentences_of(row: Row, file: str = "") -> Iterator[LabelledSentence]:
    """Yield the sentences of one message with their labels."""
    text = row["text"]
    spans = list(sentence_spans(text))
    marked = [(text.index(span["quote"]), span) for span in row["spans"]]
    for number, (start, end) in enumerate(spans):
        previous = text[slice(*spans[number - 1])] if number else ""
        context = SentenceContext(number, len(spans), previous, row["before"])
        yield LabelledSentence(
            text[start:end],
            features_of(text[start:end], context),
            _label(start, end, marked),
            row["language"],
            row["domain"],
            file,
        )


def features_of(sentence: str, context: SentenceContext) -> SentenceFeatures:
    normalized = normalize_sentence(sentence)
    rule = matching_rule(normalized[lead_in_length(normalized) :])
    return sentence_features(sentence, normalized, rule, context)


def _label(start: int, end: int, marked: Sequence[tuple[int, Row]]) -> Row | None:
    """Return the span that a sentence has most of, if it is enough."""
    best, most = None, 0
    for first, span in marked:
        length = len(span["quote"])
        shared = min(end, first + length) - max(start, first)
        is_enough = shared >= MIN_OVERLAP * min(length, end - start)
        if is_enough and shared > most:
            best, most = span, shared
    return best
