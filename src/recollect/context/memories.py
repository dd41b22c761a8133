"""
Choose memories for a bundle, and write each as a line.

Pure: hits in, lines out. Sections are filled in the order of the hits; a memory that does not fit
is left out and named with the reason, and smaller ones after it still get in. What would say the
same as a line before it is left out too. No section may take more than its part, so that none
starves the others.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from recollect.domain.context import Citation, Dropped, SectionName
from recollect.domain.memory import Memory, MemoryType, Status
from recollect.domain.retrieval import Hit
from recollect.text.fence import unfenced

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
}
# No section may take more than this share of the room there is, so that none starves the others.
MOST_SHARE: dict[SectionName, float] = {
    SectionName.PROFILE: 0.35,
    SectionName.DECISIONS: 0.6,
    SectionName.FACTS: 0.6,
    SectionName.HINTS: 0.25,
    SectionName.EPISODES: 0.4,
}
MAX_LINE_CHARS = 1_200

Count = Callable[[str], int]


@dataclass(frozen=True)
class ChosenMemories:
    """The memories that got in, by section, and those that did not."""

    by_section: dict[SectionName, list[Hit]]
    spent: dict[SectionName, int]
    dropped: tuple[Dropped, ...]

    @property
    def tokens(self) -> int:
        """What the lines and headings cost together."""
        return sum(self.spent.values())

    def without_last(self) -> "ChosenMemories":
        """Return the same without the last memory of the last section."""
        name = [one for one in SectionName if self.by_section.get(one)][-1]
        *kept, gone = self.by_section[name]
        sections = {**self.by_section, name: kept}
        left_out = Dropped(item_id=gone.memory.id, reason="budget: the whole did not fit")
        return ChosenMemories(
            {one: hits for one, hits in sections.items() if hits},
            {one: self.spent[one] for one, hits in sections.items() if hits},
            (*self.dropped, left_out),
        )


def choose_memories(
    hits: Sequence[Hit], *, budget: int, whole: int, count: Count
) -> ChosenMemories:
    """Return which of *hits*, best first, get in: sections have their share of the *whole*."""
    left = budget
    spent: dict[SectionName, int] = {}
    chosen: dict[SectionName, list[Hit]] = {}
    dropped: list[Dropped] = []
    told: set[str] = set()
    for hit in hits:
        name = SECTION_OF[hit.memory.type]
        line = _line(hit, "m99")
        cost = count(f"{line}\n")
        if name not in chosen:
            cost += count(f"\n## {HEADINGS[name]}\n")
        share = int(MOST_SHARE[name] * whole)
        if line in told:
            reason = "twin: the same line is there already"
            dropped.append(Dropped(item_id=hit.memory.id, reason=reason))
        elif cost > left:
            reason = f"budget: {cost} tokens did not fit"
            dropped.append(Dropped(item_id=hit.memory.id, reason=reason))
        elif spent.get(name, 0) + cost > share:
            reason = f"section {name}: over {share} tokens"
            dropped.append(Dropped(item_id=hit.memory.id, reason=reason))
        else:
            left -= cost
            spent[name] = spent.get(name, 0) + cost
            chosen.setdefault(name, []).append(hit)
            told.add(line)
    return ChosenMemories(chosen, spent, tuple(dropped))


def written(chosen: ChosenMemories) -> tuple[dict[SectionName, list[str]], list[Citation]]:
    """Return the lines of each section, marked, and what each mark cites."""
    lines: dict[SectionName, list[str]] = {}
    citations: list[Citation] = []
    for name in SectionName:
        for hit in chosen.by_section.get(name, ()):
            mark = f"m{len(citations) + 1}"
            lines.setdefault(name, []).append(_line(hit, mark))
            quote = hit.evidence[0].quote if hit.evidence else ""
            citations.append(Citation(mark, hit.memory.id, quote, hit.memory.source_ref or ""))
    return lines, citations


def one_line(text: str, most: int) -> str:
    """Return *text* as one line of at most *most* characters that cannot close its fence."""
    # A line must not be able to close the fence it stands in.
    said = unfenced(" ".join(text.split()))
    return said if len(said) <= most else said[: most - 1] + "…"


def _line(hit: Hit, mark: str) -> str:
    memory = hit.memory
    said = memory.content if len(memory.content) <= MAX_LINE_CHARS else memory.summary
    if not said:
        said = memory.content[: MAX_LINE_CHARS - 1] + "…"
    name = memory.title or memory.key
    if name and name not in said:
        said = f"{name}: {said}"
    if memory.rationale and not _says(said, memory.rationale):
        said += f" (because: {memory.rationale})"
    notes = [f"{memory.observed_at:%Y-%m-%d}", *_coming(memory)]
    if hit.reached != "visible":
        notes.append("from another project")
    if hit.conflicts or memory.status is Status.CONTRADICTED:
        notes.append("CONFLICT: contradicted by another memory")
    return f"- [{mark}] {one_line(said, len(said) + 20)} ({'; '.join(notes)})"


def _says(text: str, reason: str) -> bool:
    """Say whether *text* gives the reason itself: one that was said in a breath is in both."""
    told, why = (" ".join(one.casefold().split()) for one in (text, reason))
    return why.rstrip(".!") in told


def _coming(memory: Memory) -> list[str]:
    """Return the dates a hint named in words, as they were meant when it was said."""
    dates = memory.metadata.get("dates", ())
    return [f"{one['text']} = {one['from']}" for one in dates]
