"""
Select memories for a bundle, and render each as a line.

Pure. Sections are filled in the order of the hits. A memory that does not fit is dropped with a
reason, and smaller ones after it can still be included. Duplicate lines are dropped too.
"""

from collections.abc import Mapping, Sequence
from dataclasses import field
from datetime import date
from types import MappingProxyType

from recollect.context.speaker_label import PERHAPS_PASTED
from recollect.context.token_budget import TokenCounter
from recollect.domain.context_bundle import Citation, DroppedItem, SectionName
from recollect.domain.memory import Memory, MemoryType, Status
from recollect.domain.retrieval import RELATED, Hit
from recollect.domain.source import SourceKind
from recollect.domain.transcript import Voice
from recollect.lazy_dataclass import dataclass
from recollect.text.fence import escape_fence_tags

SECTION_OF: dict[MemoryType, SectionName] = {
    MemoryType.PROFILE: SectionName.PROFILE,
    MemoryType.PROJECT: SectionName.FACTS,
    MemoryType.ARTIFACT: SectionName.FACTS,
    MemoryType.DECISION: SectionName.DECISIONS,
    MemoryType.TASK_HINT: SectionName.HINTS,
    MemoryType.EPISODE: SectionName.EPISODES,
}
HEADINGS: dict[SectionName, str] = {
    SectionName.PROFILE: "About the user",
    SectionName.DECISIONS: "Decisions",
    SectionName.FACTS: "Project facts",
    SectionName.HINTS: "Hints",
    SectionName.EPISODES: "Earlier sessions",
    SectionName.MESSAGES: "Said before",
}
# The largest share of the available tokens that one section may use.
MAX_SHARE: dict[SectionName, float] = {
    SectionName.PROFILE: 0.35,
    SectionName.DECISIONS: 0.6,
    SectionName.FACTS: 0.6,
    SectionName.HINTS: 0.25,
    SectionName.EPISODES: 0.4,
    SectionName.MESSAGES: 0.4,
}
MAX_LINE_CHARS = 1_200
MAX_AUTHOR_CHARS = 100
CONTRADICTED = "CONFLICT: contradicted by another memory"
CONTRADICTED_LATER = "CONFLICT: a newer memory contradicts it"
CONTRADICTS_OLDER = "CONFLICT: contradicts an older memory"


@dataclass(frozen=True)
class SelectedMemories:
    """The memories included, by section, and the ones dropped."""

    by_section: dict[SectionName, list[Hit]]
    spent: dict[SectionName, int]
    dropped: tuple[DroppedItem, ...]
    repeated_on: Mapping[str, tuple[date, ...]] = field(default_factory=dict)  # by memory id
    conflict_notes: Mapping[str, str] = field(default_factory=dict)  # by memory id

    @property
    def tokens(self) -> int:
        """The total cost of the lines and headings."""
        return sum(self.spent.values())

    def without_last(self) -> "SelectedMemories":
        """Return the same without the last memory of the last section."""
        name = [section for section in SectionName if self.by_section.get(section)][-1]
        *remaining, removed = self.by_section[name]
        sections = {**self.by_section, name: remaining}
        dropped = DroppedItem(item_id=removed.memory.id, reason="budget: the whole did not fit")
        return SelectedMemories(
            {section: hits for section, hits in sections.items() if hits},
            {section: self.spent[section] for section, hits in sections.items() if hits},
            (*self.dropped, dropped),
            self.repeated_on,
            self.conflict_notes,
        )


def select_memories(
    hits: Sequence[Hit],
    *,
    budget: int,
    total: int,
    count: TokenCounter,
    repeated_on: Mapping[str, tuple[date, ...]] = MappingProxyType({}),
    already_injected: Sequence[Hit] = (),
) -> SelectedMemories:
    """
    Return which of *hits*, best first, fit; each section may use its share of *total*.

    *repeated_on* are the other days on which a fact was said, by the id of its memory. The reader
    knows those *already_injected*, so a conflict with one of them is described too.
    """
    remaining = budget
    spent: dict[SectionName, int] = {}
    selected: dict[SectionName, list[Hit]] = {}
    dropped: list[DroppedItem] = []
    lines_seen: set[str] = set()
    notes = _conflict_notes([*hits, *already_injected])
    for hit in hits:
        name = _section_of(hit.memory)
        line = _render_memory(hit, "m99", repeated_on.get(hit.memory.id, ()), notes)
        cost = count(f"{line}\n")
        if name not in selected:
            cost += count(f"\n## {HEADINGS[name]}\n")
        share = int(MAX_SHARE[name] * total)
        if line in lines_seen:
            reason = "duplicate: the same line is already included"
        elif cost > remaining:
            reason = f"budget: {cost} tokens did not fit"
        elif spent.get(name, 0) + cost > share:
            reason = f"section {name}: over {share} tokens"
        else:
            remaining -= cost
            spent[name] = spent.get(name, 0) + cost
            selected.setdefault(name, []).append(hit)
            lines_seen.add(line)
            continue
        dropped.append(DroppedItem(item_id=hit.memory.id, reason=reason))
    return SelectedMemories(selected, spent, tuple(dropped), repeated_on, notes)


def render_memories(
    selected: SelectedMemories,
) -> tuple[dict[SectionName, list[str]], list[Citation]]:
    """Return the numbered lines of each section, and the citation of each number."""
    lines: dict[SectionName, list[str]] = {}
    citations: list[Citation] = []
    hits = [hit for name in SectionName for hit in selected.by_section.get(name, ())]
    marks = {hit.memory.id: f"m{number}" for number, hit in enumerate(hits, start=1)}
    for name in SectionName:
        for hit in selected.by_section.get(name, ()):
            mark = marks[hit.memory.id]
            repeated_on = selected.repeated_on.get(hit.memory.id, ())
            line = _render_memory(hit, mark, repeated_on, selected.conflict_notes, marks)
            lines.setdefault(name, []).append(line)
            quote = hit.evidence[0].quote if hit.evidence else ""
            citations.append(Citation(mark, hit.memory.id, quote, hit.memory.source_ref or ""))
    return lines, citations


def one_line(text: str, max_chars: int) -> str:
    """Return *text* as one line of at most *max_chars* characters that cannot close its fence."""
    line = escape_fence_tags(" ".join(text.split()))
    return line if len(line) <= max_chars else line[: max_chars - 1] + "…"


def _section_of(memory: Memory) -> SectionName:
    return SectionName.MESSAGES if is_perhaps_pasted_memory(memory) else SECTION_OF[memory.type]


def is_perhaps_pasted_memory(memory: Memory) -> bool:
    """Return whether nobody reviewed *memory* and the user may not have typed it."""
    if memory.is_reviewed:
        return False
    return memory.provenance.voice is Voice.PASTED or memory.source_kind is SourceKind.IMPORT


def _conflict_notes(hits: Sequence[Hit]) -> Mapping[str, str]:
    """Return what to say of each of *hits* that another memory contradicts, by memory id."""
    memories = {hit.memory.id: hit.memory for hit in hits}
    notes = {}
    for hit in hits:
        memory = hit.memory
        if not hit.conflicts and memory.status is not Status.CONTRADICTED:
            continue
        others = [memories[other_id] for other_id in hit.conflicts if other_id in memories]
        if any(other.observed_at > memory.observed_at for other in others):
            notes[memory.id] = CONTRADICTED_LATER
        elif others and len(others) == len(hit.conflicts):
            notes[memory.id] = CONTRADICTS_OLDER
        else:
            notes[memory.id] = CONTRADICTED
    return notes


def _render_memory(
    hit: Hit,
    mark: str,
    repeated_on: Sequence[date],
    conflict_notes: Mapping[str, str],
    marks: Mapping[str, str] = MappingProxyType({}),
) -> str:
    """Return the line of a memory; *marks* are those of all memories in the bundle, by id."""
    memory = hit.memory
    text = memory.content if len(memory.content) <= MAX_LINE_CHARS else memory.summary
    if not text:
        text = memory.content[: MAX_LINE_CHARS - 1] + "…"
    if is_perhaps_pasted_memory(memory):
        text = f"{PERHAPS_PASTED}: {text}"
    name = memory.title or memory.key
    if name and name not in text:
        text = f"{name}: {text}"
    if memory.rationale and not _contains_reason(text, memory.rationale):
        text += f" (because: {memory.rationale})"
    dates = (mentioned.label for mentioned in memory.provenance.dates)
    days = sorted({day.isoformat() for day in (memory.observed_at.date(), *repeated_on)})
    when = ", ".join(days)
    notes = [when if memory.is_reviewed else f"{memory.said_label} {when}, not reviewed", *dates]
    if note := memory.provenance.author_note:
        notes.append(one_line(note, MAX_AUTHOR_CHARS))
    if hit.reached not in ("visible", RELATED):
        notes.append("from another project")
    if newer := hit.contradicted_by:
        notes.append(f"CONFLICT: {newer.text_for(marks.get(newer.id, newer.id))}")
    elif note := conflict_notes.get(memory.id, ""):
        notes.append(note)
    return f"- [{mark}] {one_line(text, len(text) + 20)} ({'; '.join(notes)})"


def _contains_reason(text: str, reason: str) -> bool:
    """Return whether *text* already contains *reason*, ignoring case and spacing."""
    content, rationale = (" ".join(value.casefold().split()) for value in (text, reason))
    return rationale.rstrip(".!") in content
