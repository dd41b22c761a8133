"""
Sum up messages that leave the window, in their own words and within a budget.

Three steps: every message yields lines under headings (summary_lines.py, summary_tools.py); lines
of the summary so far join them, without what was settled since (summary_settle.py); then the lines
that tell most for their length are taken until the budget is spent (summary_choice.py). Pure and
deterministic; two passes over the messages, memory bounded by the budget.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from recollect.context.summary.choice import Count, Pool, choose
from recollect.context.summary.lines import (
    Line,
    Section,
    lines_of,
    says_something,
    sentences_of,
    shortened,
)
from recollect.context.summary.salience import Rarity
from recollect.context.summary.settle import settled
from recollect.context.summary.tools import ToolTrail
from recollect.domain.conversation import Message, Role
from recollect.text.details import rationale_in
from recollect.text.wording import commands_a_reader, plain

LEAST_POOL, TOKENS_A_LINE = 50, 4  # how many lines are held for choosing
MOST_FROM_BEFORE = 0.7  # of the budget, for lines of the summary so far
FIRST_ASKED, LAST_ASKED = 3.0, 1.6  # what the first and the last request are worth,
LEAST_ASKED = 0.7  # if they are no more small talk than this
# What a line of the summary so far is worth again: it was chosen once.
WORTH: dict[Section, float] = {
    Section.ASKED: 1.4,
    Section.DECIDED: 2.2,
    Section.TOLD: 1.5,
    Section.FOUND: 0.8,
    Section.DONE: 1.1,
    Section.OPEN: 1.0,
}

_NAMES = {section.value.lower(): section for section in Section}
_HEADING = re.compile(rf"^#* ?\**({'|'.join(Section)})\**:?\**\s*$", re.IGNORECASE)
_MARKED = re.compile(r"^(?:[-*•] )?(?P<text>.*?) ?(?:\[(?P<mark>\d+(?:[–, ]+\d+)*)\])?$")


def summarize(
    messages: Sequence[Message], *, previous: str = "", budget_tokens: int, count: Count
) -> str:
    """Return what *messages* and the summary *previous* come to, in at most *budget_tokens*."""
    talk = [one for one in messages if _talks(one)]
    rarity = Rarity((*(one.content for one in talk), *previous.splitlines()))
    pool = Pool(rarity, most=max(LEAST_POOL, budget_tokens // TOKENS_A_LINE))
    for line in _with_first_and_last(_with_reasons(_read(messages))):
        pool.add(line)
    if pool.empty:
        for line in _anything(messages):
            pool.add(line)
    spoke = frozenset(one.role for one in talk)
    before, new = settled(lines_in(previous), pool.lines(), spoke=spoke)
    chosen = choose(
        before,
        new,
        rarity=rarity,
        budget_tokens=budget_tokens,
        count=count,
        share_before=_share_before(messages) if new else 1.0,
    )
    while chosen and count(_written(chosen)) > budget_tokens:
        chosen.pop()  # the whole may cost more than its lines
    return _written(chosen)


def lines_in(summary: str) -> list[Line]:
    """Return the lines of a summary, ours or anybody's: what has no heading was found."""
    section = Section.FOUND
    found = []
    for row in summary.splitlines():
        row = " ".join(row.split())
        if heading := _HEADING.match(row):
            section = _NAMES[heading[1].lower()]
            continue
        match = _MARKED.match(row)
        text, mark = (match["text"], match["mark"] or "") if match else (row, "")
        for piece in [text] if mark else sentences_of(text):
            if says_something(piece):
                position = int(re.split(r"\D", mark)[0]) if mark else -1
                said = piece if mark else shortened(piece)  # what has a mark was shortened once
                found.append(Line(section, said, position, WORTH[section], reference=mark))
    return found


def _talks(message: Message) -> bool:
    return message.role in (Role.USER, Role.ASSISTANT) and bool(message.content.strip())


def _share_before(messages: Sequence[Message]) -> float:
    """Return how much of the budget the summary so far deserves: what it covers of all messages."""
    said = messages[-1].position + 1  # not from the first: a decision may leave long after its time
    return min(max(said - len(messages), 0) / max(said, 1), MOST_FROM_BEFORE)


def _read(messages: Sequence[Message]) -> Iterator[Line]:
    """Yield the lines of the messages in order, then those about tools."""
    trail = ToolTrail()
    last = max((place for place, one in enumerate(messages) if _talks(one)), default=-1)
    for place, message in enumerate(messages):
        trail.read(message)
        yield from lines_of(message, last=place == last)
    yield from trail.lines()


def _anything(messages: Sequence[Message]) -> Iterator[Line]:
    """Yield how each message begins, whoever it is from, where nobody said anything else."""
    for message in messages:
        first = next(filter(says_something, sentences_of(message.content)), "")
        if first and not commands_a_reader(plain(first)):
            yield Line(Section.FOUND, f"{message.role}: {shortened(first)}", message.position, 0.5)


def _with_reasons(lines: Iterable[Line]) -> Iterator[Line]:
    """Yield the lines, a decision together with the next sentence where that says why."""
    decision: Line | None = None
    for line in lines:
        if decision is not None:
            why = rationale_in(line.text, alone=True) if line.position == decision.position else ""
            yield replace(decision, text=f"{decision.text} (because {why})") if why else decision
            decision = None
            if why:
                continue
        if line.section is Section.DECIDED:
            decision = line
        else:
            yield line
    if decision is not None:
        yield decision


def _with_first_and_last(lines: Iterable[Line]) -> Iterator[Line]:
    """Yield the lines; what was asked first and last counts for more."""
    held: Line | None = None
    first = True
    for line in lines:
        if line.section is not Section.ASKED or line.weight < LEAST_ASKED:
            yield line
            continue
        if held is not None:
            yield replace(held, weight=FIRST_ASKED) if first else held
            first = False
        held = line
    if held is not None:
        yield replace(held, weight=FIRST_ASKED if first else max(LAST_ASKED, held.weight))


def _written(chosen: Sequence[Line]) -> str:
    rows: dict[str, None] = {}  # a line that came twice is written once
    for section in Section:
        of = sorted((line for line in chosen if line.section is section), key=_place)
        if of:
            rows[f"{section}:"] = None
            rows.update(
                {f"- {one.text}" + (f" {one.mark}" if one.mark else ""): None for one in of}
            )
    return "\n".join(rows)


def _place(line: Line) -> tuple[int, int]:
    return line.position, line.order
