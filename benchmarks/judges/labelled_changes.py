"""
Later statements with the earlier ones that a search for neighbours would offer, and which change.

Two kinds of data: the people in `people/`, invented for this project, whose statements are in time
order, and labelled pairs from a folder, which are taken as one person for each language and domain.
"""

import json
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zlib import crc32

from benchmarks.judges.labelled_sentences import people_files, read_rows, sentences_of
from benchmarks.judges.logistic_training import Array
from recollect.engine.judges.durability import MIN_DURABLE, durability
from recollect.engine.judges.neighbourhood_features import EarlierStatement
from recollect.models.local_embedder import LocalEmbedder
from recollect.text.statement_parser import content_words

PAIRS = "pairs"
NEIGHBOURS = 12  # of each index, as consolidation reads them
FEW = 2  # neighbours at most in a thinned neighbourhood
CHANGES = ("update", "correction", "contradiction")

Row = dict[str, Any]


@dataclass(frozen=True)
class ToldStatement:
    """What somebody said, where, and the numbers of the statements that it changes."""

    text: str
    place: str | None  # None: it holds everywhere
    changes: frozenset[int]


@dataclass(frozen=True)
class LaterStatement:
    """A statement, its neighbours, and which of them it changes."""

    text: str
    earlier: tuple[EarlierStatement, ...]
    is_changed: tuple[bool, ...]  # for each of *earlier*
    group: str  # statements of one group are never split between training and test


def statements_of_person(path: Path) -> list[ToldStatement]:
    """
    Return what one person of `people/` said, in order: the sentences that would be learnt.

    They are marked, or the judge of durability takes them for worth remembering.
    """
    statements: list[ToldStatement] = []
    numbers: dict[str, int] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        for sentence in sentences_of({"language": "", "domain": "", "before": "", **row}):
            span = sentence.span
            if span is None and durability(sentence.features) < MIN_DURABLE:
                continue
            changes: frozenset[int] = frozenset()
            if span is not None:
                target = span.get("of") or span.get("replaces")
                if span.get("relation") in CHANGES and target in numbers:
                    changes = frozenset({numbers[target]})
                numbers[span["id"]] = len(statements)
            is_general = span is not None and span["scope"] == "global"
            place = None if is_general else row["project"] or ""
            statements.append(ToldStatement(sentence.text, place, changes))
    return statements


def people() -> Iterator[tuple[str, list[ToldStatement]]]:
    """Yield the name and the statements of each person."""
    for path in people_files():
        yield path.stem, statements_of_person(path)


def paired_people(folder: Path) -> Iterator[tuple[str, list[ToldStatement]]]:
    """Yield the labelled pairs of each language and domain as the statements of one person."""
    groups: dict[str, list[Row]] = {}
    for row in read_rows(folder, PAIRS):
        groups.setdefault(f"{row['language']} {row['domain']}", []).append(row)
    for group, rows in groups.items():
        statements = [ToldStatement(row["old"], None, frozenset()) for row in rows]
        statements += [
            ToldStatement(
                row["new"], None, frozenset({number} if row["relation"] in CHANGES else ())
            )
            for number, row in enumerate(rows)
        ]
        yield group, statements


def later_statements(
    group: str, statements: Sequence[ToldStatement], embedder: LocalEmbedder | None
) -> list[LaterStatement]:
    """Return each statement with its neighbours among those before it; without *embedder*, too."""
    words = [content_words(statement.text) for statement in statements]
    vectors = embedder.embed([statement.text for statement in statements]) if embedder else None
    result = []
    for number, statement in enumerate(statements):
        visible = [
            other
            for other in range(number)
            if None in (statement.place, statements[other].place)
            or statement.place == statements[other].place
        ]
        similarities = None if vectors is None else vectors @ vectors[number]
        nearest = _nearest(words, number, visible, similarities)
        if not nearest:
            continue
        changed = statement.changes | _changed_before(statements, statement.changes)
        earlier = tuple(
            EarlierStatement(
                statements[other].text,
                None if similarities is None else float(similarities[other]),
                statements[other].place == statement.place,
            )
            for other in nearest
            if other in statement.changes or other not in changed
        )
        labels = tuple(
            other in statement.changes
            for other in nearest
            if other in statement.changes or other not in changed
        )
        result.append(LaterStatement(statement.text, earlier, labels, group))
    return result


def thinned(statement: LaterStatement) -> LaterStatement:
    """Return *statement* with one or two of its neighbours, as a store of few memories has them."""
    order = sorted(
        range(len(statement.earlier)),
        key=lambda number: crc32(f"{statement.text}\n{statement.earlier[number].text}".encode()),
    )
    chosen = sorted(order[: 1 + crc32(statement.text.encode()) % FEW])
    return LaterStatement(
        statement.text,
        tuple(statement.earlier[number] for number in chosen),
        tuple(statement.is_changed[number] for number in chosen),
        statement.group,
    )


def _changed_before(statements: Sequence[ToldStatement], changed: frozenset[int]) -> frozenset[int]:
    """Return what *changed* had changed itself: it is out of date, and not compared."""
    before: set[int] = set()
    pending = list(changed)
    while pending:
        for number in statements[pending.pop()].changes - before:
            before.add(number)
            pending.append(number)
    return frozenset(before)


def _nearest(
    words: Sequence[frozenset[str]],
    number: int,
    visible: Sequence[int],
    similarities: Array | None,
) -> list[int]:
    """Return the numbers of the statements that are nearest in words or in meaning."""
    frequencies = Counter(word for other in visible for word in words[other])
    weights = {
        other: sum(
            math.log(1 + len(visible) / frequencies[word]) for word in words[other] & words[number]
        )
        for other in visible
    }
    by_words = sorted((o for o in visible if weights[o]), key=lambda o: (-weights[o], o))
    nearest = by_words[:NEIGHBOURS]
    if similarities is not None:
        by_meaning = sorted(visible, key=lambda other: (-similarities[other], other))
        nearest = list(dict.fromkeys(nearest + by_meaning[:NEIGHBOURS]))
    return nearest
