"""
Train the judge of durability and measure it on domains and languages that it has not seen.

The data are labelled messages (see labelled_sentences.py). Groups of one language and domain are
split in halves by a hash: settings are chosen on one half, by cross-validation, and confirmed on
the other by a model that was trained on the first. The weights are trained on all of it, and on the
invented people of this repository, except those for decisions: what the people's writers call a
decision differs too much (log, 2026-11-19).
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import vstack

from benchmarks.judges.labelled_sentences import (
    FILES,
    LIFE,
    LabelledSentence,
    data_version,
    handwritten_sentences,
    labelled_sentences,
    people_sentences,
)
from benchmarks.judges.logistic_training import (
    FOLDS,
    Array,
    Head,
    calibration,
    head,
    matrix,
    train,
    write_heads,
)
from recollect.engine.judges.durability import (
    ABOUT_ASSISTANT,
    ABOUT_PERSON,
    DECISION,
    DURABLE,
    WEIGHTS,
)
from recollect.engine.judges.sentence_features import BUCKET_BITS

BUCKETS = 1 << BUCKET_BITS
STRENGTH = 10.0  # inverse of the regularisation
# Of a sentence of the invented people: they are English, and all of one kind (log, 2026-11-19).
PEOPLE_WEIGHT = 0.2
MIN_LANGUAGE = 50  # sentences of a language that is reported alone
ABOUT = "judge of durability: python -m benchmarks.judges FOLDER --train"


def group_number(sentence: LabelledSentence, of: int) -> int:
    return int(hashlib.sha256(sentence.group.encode()).hexdigest(), 16) % of


def feature_matrix(sentences: Sequence[LabelledSentence], *, persons: bool = False) -> Array:
    if persons:
        described = (s.features.without_context().dense + s.persons for s in sentences)
        dense = np.array(list(described))
    else:
        dense = np.array([sentence.features.dense for sentence in sentences])
    groups = [(sentence.features.words, sentence.features.chars) for sentence in sentences]
    return matrix(groups, dense, BUCKETS)


def recall_at_junk(labels: Array, scores: Array, junk: float) -> float:
    """Return the best recall whose share of false positives is at most *junk*."""
    order = np.argsort(-scores)
    right = np.cumsum(labels[order])
    share_of_junk = 1 - right / np.arange(1, len(labels) + 1)
    within = right[share_of_junk <= junk]
    return float(within.max() / labels.sum()) if len(within) else 0.0


def area(labels: Array, scores: Array) -> float:
    """Return the area under the curve: how often a durable sentence scores above another."""
    durable, other = scores[labels == 1], scores[labels == 0]
    if not len(durable) or not len(other):
        return float("nan")
    ranks = np.searchsorted(np.sort(other), durable)
    return float(ranks.mean() / len(other))


def report(name: str, labels: Array, scores: Array) -> str:
    recalls = [f"{recall_at_junk(labels, scores, junk):.0%}" for junk in (0.25, 0.3)]
    counts = [str(len(labels)), str(int(labels.sum()))]
    return f"| {' | '.join([name, *counts, f'{area(labels, scores):.3f}', *recalls])} |"


def measure_durability(folder: Path) -> None:
    """Print how well durable sentences are found in each half and in each language."""
    sentences, people = labelled_sentences(folder), people_sentences()
    languages = np.array([sentence.language for sentence in sentences])
    halves = np.array([group_number(sentence, 2) for sentence in sentences])
    examples = Examples.of(sentences)
    more = Examples.of([*handwritten_sentences(), *people])
    chosen, confirmed = examples.part(halves == 0), examples.part(halves == 1)
    print("| part | sentences | durable | area | found at 25 % junk | at 30 % |")
    print("|---|---|---|---|---|---|")
    print(report("chosen on, cross-validated", chosen.labels, held_out_scores(chosen, more)))
    model = train_on(chosen, more)
    print(report("confirmed on", confirmed.labels, model.decision_function(confirmed.features)))
    scores = held_out_scores(examples, more)
    print(report("all, cross-validated", examples.labels, scores))
    for language in sorted(set(languages.tolist())):
        mine = languages == language
        if mine.sum() < MIN_LANGUAGE:
            continue
        print(report(f"{language}, cross-validated", examples.labels[mine], scores[mine]))
        part = examples.part(mine)
        unseen = train_on(examples.part(~mine), more).decision_function(part.features)
        print(report(f"{language}, trained without it", part.labels, unseen))
    measure_people(people, sentences)


def measure_people(people: Sequence[LabelledSentence], others: Sequence[LabelledSentence]) -> None:
    """Print how well durable sentences of people are found, without and with other people."""
    examples = Examples.of(people)
    more = Examples.of([*others, *handwritten_sentences()])
    alone = train_on(more, None).decision_function(examples.features)
    print(report("people, trained without any of them", examples.labels, alone))
    scores = held_out_scores(examples, more)
    print(report("people, trained on the others too", examples.labels, scores))


def measure_subject(folder: Path) -> None:
    """Print how often the judge is right about what a durable sentence at work is about."""
    durable = [sentence for sentence in labelled_sentences(folder) if sentence.span]
    labels = np.array([scope_of(sentence) for sentence in durable])
    person, assistant = person_examples(durable), assistant_examples(durable)
    at_work = np.array([sentence.file != LIFE for sentence in durable])
    person_scores = np.full(len(durable), np.nan)
    person_scores[at_work] = held_out_scores(person, None)
    assistant_scores = held_out_scores(assistant, None)
    is_person = np.where(person_scores > 0, "global", "project")
    answers = np.where(assistant_scores > 0, "agent", is_person)
    print("| labelled file | durable | area of the person | right subject |")
    print("|---|---|---|---|")
    for file in FILES:
        mine = np.array([sentence.file == file for sentence in durable])
        if file != LIFE:
            about = area((labels[mine] == "global").astype(int), person_scores[mine])
            right = np.mean(answers[mine] == labels[mine])
            print(f"| {file} | {mine.sum()} | {about:.3f} | {right:.0%} |")
    print(f"area of the assistant: {area(assistant.labels, assistant_scores):.3f}")


def scope_of(sentence: LabelledSentence) -> str:
    return str(sentence.span["scope"]) if sentence.span else ""


def person_examples(durable: Sequence[LabelledSentence]) -> "Examples":
    """Return examples of statements at work: in private life the judge has nothing to decide."""
    at_work = [sentence for sentence in durable if sentence.file != LIFE]
    values = [scope_of(sentence) == "global" for sentence in at_work]
    return Examples.of(at_work, values, persons=True)


def assistant_examples(durable: Sequence[LabelledSentence]) -> "Examples":
    values = [scope_of(sentence) == "agent" for sentence in durable]
    return Examples.of(durable, values, persons=True)


def train_durability(folder: Path) -> None:
    """Train on all sentences and write the weights; calibrate on held-out folds."""
    labelled, people = labelled_sentences(folder), people_sentences()
    sentences = [*labelled, *people]
    about = {"made by": ABOUT, "data": data_version(folder, FILES)}
    durable = [sentence for sentence in sentences if sentence.span]
    of_folder = [sentence for sentence in labelled if sentence.span]
    decisions = [
        bool(sentence.span and sentence.span["kind"] == DECISION) for sentence in of_folder
    ]
    heads = [
        calibrated_head(DURABLE, Examples.of(sentences), Examples.of(handwritten_sentences())),
        calibrated_head(ABOUT_PERSON, person_examples(durable), None),
        calibrated_head(ABOUT_ASSISTANT, assistant_examples(durable), None),
        calibrated_head(DECISION, Examples.of(of_folder, decisions, persons=True), None),
    ]
    write_heads(WEIGHTS, heads, about)


def calibrated_head(name: str, examples: "Examples", more: "Examples | None") -> Head:
    scores = held_out_scores(examples, more)
    slope, offset = calibration(scores, examples.labels)
    model = train_on(examples, more)
    print(f"{name}: area {area(examples.labels, scores):.3f}")
    return head(name, model.coef_[0], model.intercept_[0], BUCKETS, slope, offset)


@dataclass(frozen=True)
class Examples:
    """Features, labels and folds of sentences."""

    features: Array
    labels: Array
    folds: Array
    weights: Array

    @classmethod
    def of(
        cls,
        sentences: Sequence[LabelledSentence],
        values: Sequence[bool] | None = None,
        *,
        persons: bool = False,
    ) -> "Examples":
        labels = [sentence.is_durable for sentence in sentences] if values is None else values
        folds = [group_number(sentence, 2 * FOLDS) // 2 for sentence in sentences]
        features = feature_matrix(sentences, persons=persons)
        weights = [PEOPLE_WEIGHT if sentence.is_of_people else 1.0 for sentence in sentences]
        return cls(features, np.array(labels, dtype=int), np.array(folds), np.array(weights))

    def part(self, mask: Array) -> "Examples":
        parts = (self.features, self.labels, self.folds, self.weights)
        return Examples(*(part[mask] for part in parts))


def train_on(examples: Examples, more: Examples | None) -> Any:
    if more is None:
        return train(examples.features, examples.labels, STRENGTH, examples.weights)
    features = vstack([examples.features, more.features]).tocsr()
    labels = np.concatenate([examples.labels, more.labels])
    weights = np.concatenate([examples.weights, more.weights])
    return train(features, labels, STRENGTH, weights)


def held_out_scores(examples: Examples, more: Examples | None) -> Array:
    """Return a score for each example from a model that has not seen its fold."""
    scores = np.zeros(len(examples.labels))
    for fold in range(FOLDS):
        mask = examples.folds == fold
        model = train_on(examples.part(~mask), more)
        scores[mask] = model.decision_function(examples.features[mask])
    return scores
