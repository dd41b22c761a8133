"""
Summarize messages that are evicted from the window, by extraction and within a token budget.

Every message yields lines under headings (summary_lines.py, tool_activity.py). The lines of the
previous summary are read back and weighed like new ones, so that nothing is worth less for having
been summarized before. Resolved items are dropped (outdated_lines.py), and of statements that were
superseded the later one tells both (superseded_lines.py); then the most informative lines are
selected until the budget is used (line_selection.py). Pure and deterministic; two passes over the
messages, memory bounded by the budget.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from recollect.context.speaker_label import speaker_label
from recollect.context.summary import summary_lines
from recollect.context.summary.line_selection import LinePool, select_lines
from recollect.context.summary.outdated_lines import without_resolved
from recollect.context.summary.summary_lines import Heading, SummaryLine
from recollect.context.summary.summary_parser import lines_of_summary
from recollect.context.summary.superseded_lines import merge_superseded
from recollect.context.summary.tool_activity import ToolActivity
from recollect.context.summary.word_rarity import WordRarity
from recollect.context.token_budget import TokenCounter
from recollect.domain.conversation import Message, Role
from recollect.text.decision_details import rationale_in
from recollect.text.sentence_classifier import is_prompt_injection, normalize_sentence

MIN_POOL, TOKENS_PER_LINE = 50, 4  # how many lines are held for choosing
MAX_SHARE_BEFORE = 0.85  # of the budget, for lines of the summary so far
FIRST_REQUEST_WEIGHT, LAST_REQUEST_WEIGHT = 3.0, 1.6
MIN_REQUEST_WEIGHT = 0.7  # a request below this is small talk and keeps its weight
MAX_UPCOMING = 200  # messages of the window that are looked at for what they supersede


def summarize(
    messages: Sequence[Message],
    *,
    previous: str = "",
    budget_tokens: int,
    count: TokenCounter,
    upcoming: Sequence[Message] = (),
) -> str:
    """
    Return what *messages* and the summary *previous* say, in at most *budget_tokens*.

    *upcoming* are the messages that stay in the window; what they supersede is marked.
    """
    conversation = [message for message in messages if _is_said(message)]
    rarity = WordRarity((*(message.content for message in conversation), *previous.splitlines()))
    pool = LinePool(rarity, max_lines=max(MIN_POOL, budget_tokens // TOKENS_PER_LINE))
    for line in _with_first_and_last(_with_reasons(_all_lines(messages))):
        pool.add(line)
    if pool.is_empty:
        for line in _message_openings(messages):
            pool.add(line)
    speakers = frozenset(message.role for message in conversation)
    before, new = without_resolved(lines_of_summary(previous), pool.lines(), speakers=speakers)
    share = _share_before(messages) if new else 1.0
    lines = merge_superseded([*before, *new], upcoming=_upcoming_lines(upcoming))
    before = [line for line in lines if not line.order]
    new = [line for line in lines if line.order]
    selected = select_lines(
        before, new, rarity=rarity, budget_tokens=budget_tokens, count=count, share_before=share
    )
    while selected and count(_render_summary(selected)) > budget_tokens:
        selected.pop()  # the joined text may cost more than its lines
    return _render_summary(selected)


def _is_said(message: Message) -> bool:
    return message.role in (Role.USER, Role.ASSISTANT) and bool(message.content.strip())


def _share_before(messages: Sequence[Message]) -> float:
    """Return the budget share of the previous summary: the share of the messages it covers."""
    # Counted from the last message, because a decision may be evicted much later than others.
    total = messages[-1].position + 1
    return min(max(total - len(messages), 0) / max(total, 1), MAX_SHARE_BEFORE)


def _all_lines(messages: Sequence[Message]) -> Iterator[SummaryLine]:
    """Yield the lines of the messages in order, then those about tools."""
    activity = ToolActivity()
    last = max((index for index, message in enumerate(messages) if _is_said(message)), default=-1)
    for index, message in enumerate(messages):
        activity.add_message(message)
        yield from summary_lines.lines_of_message(message, last=index == last)
    yield from activity.lines()


def _upcoming_lines(messages: Sequence[Message]) -> list[SummaryLine]:
    """Return the lines of the last messages that stay in the window."""
    return [
        line
        for message in messages[-MAX_UPCOMING:]
        for line in summary_lines.lines_of_message(message)
    ]


def _message_openings(messages: Sequence[Message]) -> Iterator[SummaryLine]:
    """Yield the beginning of each message, for a summary that has no other line."""
    for message in messages:
        sentences = summary_lines.spoken_sentences(message.content)
        first = next(filter(summary_lines.has_substance, sentences), "")
        if first and not is_prompt_injection(normalize_sentence(first)):
            text = f"{speaker_label(message)}: {summary_lines.shorten(first)}"
            yield SummaryLine(Heading.FOUND, text, message.position, 0.5)


def _with_reasons(lines: Iterable[SummaryLine]) -> Iterator[SummaryLine]:
    """Yield the lines; append the reason to a decision if the next sentence gives it."""
    decision: SummaryLine | None = None
    for line in lines:
        if decision is not None:
            is_same_message = line.position == decision.position
            reason = rationale_in(line.text, alone=True) if is_same_message else ""
            text = f"{decision.text} (because {reason})" if reason else decision.text
            yield replace(decision, text=text)
            decision = None
            if reason:
                continue
        if line.decision:
            decision = line
        else:
            yield line
    if decision is not None:
        yield decision


def _with_first_and_last(lines: Iterable[SummaryLine]) -> Iterator[SummaryLine]:
    """Yield the lines with a higher weight for the first and the last request."""
    pending: SummaryLine | None = None
    first = True
    for line in lines:
        if line.section is not Heading.ASKED or line.weight < MIN_REQUEST_WEIGHT:
            yield line
            continue
        if pending is not None:
            yield replace(pending, weight=FIRST_REQUEST_WEIGHT) if first else pending
            first = False
        pending = line
    if pending is not None:
        last_weight = max(LAST_REQUEST_WEIGHT, pending.weight)
        yield replace(pending, weight=FIRST_REQUEST_WEIGHT if first else last_weight)


def _render_summary(selected: Sequence[SummaryLine]) -> str:
    rows: dict[str, None] = {}  # without duplicates
    for section in Heading:
        lines = [line for line in selected if line.section is section]
        lines.sort(key=lambda line: (line.position, line.order))
        if lines:
            rows[f"{section}:"] = None
            rows |= dict.fromkeys(line.rendered for line in lines)
    return "\n".join(rows)
