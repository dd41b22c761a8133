"""
The hand-written set: 340 short messages, half of which hold something worth remembering.

Each is captured as the only message of a session, in a store of its own, so that nothing is merged
with anything else. The test split is held out: its figures are shown, its texts never.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.extraction.door import candidates, new_memory
from benchmarks.extraction.shares import Share
from recollect.domain.memory import Memory

FILE = Path(__file__).resolve().parent / "sentences.jsonl"
SHOWN_SPLIT = "dev"
# A role that is no role is the name of another person.
ROLES: Mapping[str, str] = {"other": "Marta", "tool": "tool", "user": "user"}


@dataclass(frozen=True, kw_only=True)
class Text:
    """One message, and what should come of it: '' is nothing."""

    id: str
    split: str
    voice: str
    text: str
    type: str
    kind: str
    why: str

    @property
    def holds(self) -> bool:
        """Say whether there is something in it."""
        return bool(self.type)


@dataclass(frozen=True)
class Read:
    """A text, and the candidates that came of it."""

    text: Text
    candidates: tuple[Memory, ...]

    @property
    def type_is_right(self) -> bool:
        """Say whether one of the candidates has the type it should have."""
        return any(one.type == self.text.type for one in self.candidates)


@dataclass(frozen=True, kw_only=True)
class Scores:
    """What one split came to."""

    texts: int
    found: Share  # texts that hold something and yield: recall
    right: Share  # those among all texts that yield: precision
    typed: Share  # of those found, those with the right type
    yielding_nothings: Share  # of the texts that hold nothing, those that yield
    junk: Share  # candidates from texts that hold nothing, among all candidates
    by_kind: Mapping[str, tuple[Share, Share]]  # found, and of those found the right type
    by_trap: Mapping[str, Share]  # of the texts that hold nothing, those that yield


def read_texts(split: str) -> list[Text]:
    """Return the texts of a split; 'all' is every split."""
    rows = [json.loads(line) for line in FILE.read_text(encoding="utf-8").splitlines()]
    return [_text(row) for row in rows if split in (row["split"], "all")]


def read(text: Text) -> Read:
    """Capture one text as a session and return what came of it."""
    role = ROLES.get(text.voice, text.voice)
    with new_memory() as memory:
        memory.capture_session([{"role": role, "content": text.text}])
        memory.drain()
        return Read(text, tuple(candidates(memory)))


def score(reads: Sequence[Read]) -> Scores:
    """Return the scores of one split."""
    good = [one for one in reads if one.text.holds]
    bad = [one for one in reads if not one.text.holds]
    found = [one for one in good if one.candidates]
    false = [one for one in bad if one.candidates]
    kinds = Counter(one.text.kind for one in good)
    traps = Counter(_trap(one) for one in bad)
    return Scores(
        texts=len(reads),
        found=Share(len(found), len(good)),
        right=Share(len(found), len(found) + len(false)),
        typed=_share(found, lambda one: one.type_is_right),
        yielding_nothings=Share(len(false), len(bad)),
        junk=Share(
            sum(len(one.candidates) for one in false), sum(len(one.candidates) for one in reads)
        ),
        by_kind={kind: _of_kind(good, kind) for kind in sorted(kinds)},
        by_trap={
            trap: _share(
                (one for one in bad if _trap(one) == trap), lambda one: bool(one.candidates)
            )
            for trap in sorted(traps)
        },
    )


def faults(reads: Iterable[Read]) -> list[str]:
    """Return a line for each text of the open split that was missed, taken or typed wrongly."""
    return [
        f"{_fault(one)}: {one.text.id} ({one.text.kind or _trap(one)}) {one.text.text}"
        + "".join(f"\n    {_told(candidate)}" for candidate in one.candidates)
        for one in reads
        if one.text.split == SHOWN_SPLIT and _fault(one)
    ]


def _told(candidate: Memory) -> str:
    return f"→ {candidate.metadata.get('rule', '')}, {candidate.type}: {candidate.content}"


def _fault(one: Read) -> str:
    if not one.text.holds:
        return "junk" if one.candidates else ""
    if not one.candidates:
        return "missed"
    return "" if one.type_is_right else f"not {one.text.type}"


def _of_kind(good: Sequence[Read], kind: str) -> tuple[Share, Share]:
    of_kind = [one for one in good if one.text.kind == kind]
    found = [one for one in of_kind if one.candidates]
    return Share(len(found), len(of_kind)), _share(found, lambda one: one.type_is_right)


def _share(reads: Iterable[Read], holds: Callable[[Read], bool]) -> Share:
    each = [holds(one) for one in reads]
    return Share(sum(each), len(each))


def _trap(one: Read) -> str:
    """Return what kind of nothing a text is: the words before the colon of its reason."""
    return one.text.why.partition(":")[0]


def _text(row: Mapping[str, object]) -> Text:
    expected = row["expect"]
    told: Mapping[str, str] = expected if isinstance(expected, dict) else {}
    return Text(
        id=str(row["id"]),
        split=str(row["split"]),
        voice=str(row["voice"]),
        text=str(row["text"]),
        type=told.get("type", ""),
        kind=told.get("kind", ""),
        why=str(row["why"]),
    )
