"""
The hand-written set: 340 short messages, half of which contain something worth remembering.

Each is captured as the only message of a session, in its own store, so that nothing is merged. The
test split is held out: its scores are shown, its texts never.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.extraction.extraction_store import candidates, new_memory
from benchmarks.extraction.proportion import Proportion
from recollect.domain.memory import Memory

FILE = Path(__file__).resolve().parent / "sentences.jsonl"
SHOWN_SPLIT = "dev"
# A role that is no role is the name of another person.
ROLES: Mapping[str, str] = {"other": "Marta", "tool": "tool", "user": "user"}


@dataclass(frozen=True, kw_only=True)
class LabelledText:
    """One message, and what should come of it: '' is nothing."""

    id: str
    split: str
    voice: str
    text: str
    type: str
    kind: str
    why: str

    @property
    def has_fact(self) -> bool:
        """Say whether there is something in it."""
        return bool(self.type)


@dataclass(frozen=True)
class ExtractionResult:
    """A text, and the candidates that came of it."""

    text: LabelledText
    candidates: tuple[Memory, ...]

    @property
    def type_is_right(self) -> bool:
        """Say whether one of the candidates has the type it should have."""
        return any(candidate.type == self.text.type for candidate in self.candidates)


@dataclass(frozen=True, kw_only=True)
class HandwrittenScores:
    """What one split came to."""

    texts: int
    recall: Proportion  # texts that hold something and yield: recall
    precision: Proportion  # those among all texts that yield: precision
    right_type: Proportion  # of those found, those with the right type
    false_positives: Proportion  # of the texts that hold nothing, those that yield
    junk: Proportion  # candidates from texts that hold nothing, among all candidates
    by_kind: Mapping[str, tuple[Proportion, Proportion]]  # found, and of those found the right type
    by_trap: Mapping[str, Proportion]  # of the texts that hold nothing, those that yield


def read_texts(split: str) -> list[LabelledText]:
    """Return the texts of a split; 'all' is every split."""
    rows = [json.loads(line) for line in FILE.read_text(encoding="utf-8").splitlines()]
    return [_text(row) for row in rows if split in (row["split"], "all")]


def extract_candidates(text: LabelledText) -> ExtractionResult:
    """Capture one text as a session and return what came of it."""
    role = ROLES.get(text.voice, text.voice)
    with new_memory() as memory:
        memory.capture_session([{"role": role, "content": text.text}])
        memory.drain()
        return ExtractionResult(text, tuple(candidates(memory)))


def score(reads: Sequence[ExtractionResult]) -> HandwrittenScores:
    """Return the scores of one split."""
    good = [result for result in reads if result.text.has_fact]
    bad = [result for result in reads if not result.text.has_fact]
    true_positives = [result for result in good if result.candidates]
    false = [result for result in bad if result.candidates]
    kinds = Counter(result.text.kind for result in good)
    traps = Counter(_trap(result) for result in bad)
    return HandwrittenScores(
        texts=len(reads),
        recall=Proportion(len(true_positives), len(good)),
        precision=Proportion(len(true_positives), len(true_positives) + len(false)),
        right_type=_proportion(true_positives, lambda result: result.type_is_right),
        false_positives=Proportion(len(false), len(bad)),
        junk=Proportion(
            sum(len(result.candidates) for result in false),
            sum(len(result.candidates) for result in reads),
        ),
        by_kind={kind: _of_kind(good, kind) for kind in sorted(kinds)},
        by_trap={
            trap: _proportion(
                (result for result in bad if _trap(result) == trap),
                lambda result: bool(result.candidates),
            )
            for trap in sorted(traps)
        },
    )


def faults(reads: Iterable[ExtractionResult]) -> list[str]:
    """Return a line for each text of the open split that was missed, taken or typed wrongly."""
    return [
        f"{_fault(result)}: {result.text.id} ({result.text.kind or _trap(result)}) "
        + result.text.text
        + "".join(f"\n    {_describe_candidate(candidate)}" for candidate in result.candidates)
        for result in reads
        if result.text.split == SHOWN_SPLIT and _fault(result)
    ]


def _describe_candidate(candidate: Memory) -> str:
    return f"→ {candidate.provenance.rule}, {candidate.type}: {candidate.content}"


def _fault(result: ExtractionResult) -> str:
    if not result.text.has_fact:
        return "junk" if result.candidates else ""
    if not result.candidates:
        return "missed"
    return "" if result.type_is_right else f"not {result.text.type}"


def _of_kind(good: Sequence[ExtractionResult], kind: str) -> tuple[Proportion, Proportion]:
    of_kind = [result for result in good if result.text.kind == kind]
    true_positives = [result for result in of_kind if result.candidates]
    return Proportion(len(true_positives), len(of_kind)), _proportion(
        true_positives, lambda result: result.type_is_right
    )


def _proportion(
    reads: Iterable[ExtractionResult], holds: Callable[[ExtractionResult], bool]
) -> Proportion:
    each = [holds(result) for result in reads]
    return Proportion(sum(each), len(each))


def _trap(result: ExtractionResult) -> str:
    """Return what kind of nothing a text is: the words before the colon of its reason."""
    return result.text.why.partition(":")[0]


def _text(row: Mapping[str, object]) -> LabelledText:
    expected = row["expect"]
    label: Mapping[str, str] = expected if isinstance(expected, dict) else {}
    return LabelledText(
        id=str(row["id"]),
        split=str(row["split"]),
        voice=str(row["voice"]),
        text=str(row["text"]),
        type=label.get("type", ""),
        kind=label.get("kind", ""),
        why=str(row["why"]),
    )
