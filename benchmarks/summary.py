"""
Measure how much of what is asked later a summary keeps: `python -m benchmarks.summary`.

Summarises conversations at 1, 5 and 10 % of their tokens and counts how many key words of the
messages that answer questions are left. Baselines of the same size: the beginning, evenly sampled
sentences, and evenly sampled sentences of the user. No language model is used. Rules may be written
after reading the even conversations (`dev`); of the odd ones (`test`) only scores are shown.
"""

import argparse
import platform
import shlex
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from statistics import fmean

import recollect
from benchmarks.markdown_table import table
from benchmarks.quality import RESULTS
from benchmarks.tasks import Task, TaskItem, TasksMissing, default_folder, read_task
from recollect.context.summary.summarize import summarize
from recollect.context.summary.summary_lines import spoken_sentences
from recollect.context.summary.word_rarity import weighted_words
from recollect.domain.conversation import Message, Role
from recollect.text.token_counter import estimate_tokens

OUT = RESULTS / "summary.md"
TASKS = ("beam-100K", "locomo-turn", "lme-pool-turn")
SHARES = (0.01, 0.05, 0.10)
SPLITS = ("dev", "test")
MAX_WORD_SHARE = 0.05  # a key word stands in at most this share of a conversation's messages
MIN_LINE_SHARE = 1 / 3  # of the key words of a message in one line: the line tells of it
ROLLING_STEP = 20  # messages a step, where a summary is made of the one before it
DEFAULT_AT = datetime(2026, 1, 1, tzinfo=UTC)

Summarizer = Callable[[Sequence[Message], int], str]


@dataclass(frozen=True)
class LabelledConversation:
    """A conversation, and for each message that answers a question its key words."""

    messages: tuple[Message, ...]
    gold: tuple[frozenset[str], ...]
    split: str

    @property
    def tokens(self) -> int:
        return sum(message.tokens for message in self.messages)


@dataclass(frozen=True)
class SummaryScore:
    """One way at one size: key words kept, and messages told of by one line."""

    word_share: float
    message_share: float
    messages_a_second: float


def main(arguments: list[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    try:
        conversations = {
            name: list(_conversations(read_task(options.tasks, name))) for name in TASKS
        }
    except TasksMissing as missing:
        print(f"summary: {missing}", file=sys.stderr)
        return 2
    splits = SPLITS if options.split == "all" else (options.split,)
    report = "\n".join(
        _report(conversations, splits, sys.argv[1:] if arguments is None else arguments)
    )
    print(report)
    if options.write:
        OUT.write_text(report + "\n", encoding="utf-8")
    return 0


def _conversations(task: Task) -> Iterator[LabelledConversation]:
    gold = frozenset(item_id for query in task.queries for item_id in query.gold)
    by_talk: dict[str, list[TaskItem]] = {}
    for item in task.items:
        # The scope of LongMemEval is a pool of strangers' sessions: each is a conversation.
        by_talk.setdefault(item.session if task.name.startswith("lme") else item.scope, []).append(
            item
        )
    with_gold = [items for items in by_talk.values() if any(item.id in gold for item in items)]
    for number, items in enumerate(with_gold):
        yield _labelled_conversation(items, gold, SPLITS[number % 2])


def _labelled_conversation(
    items: Sequence[TaskItem], gold: frozenset[str], split: str
) -> LabelledConversation:
    messages = tuple(_message(place, item) for place, item in enumerate(items))
    words = [frozenset(weighted_words(_spoken_text(message))) for message in messages]
    uses = Counter(word for of in words for word in of)
    most = max(1, MAX_WORD_SHARE * len(messages))
    keys = (
        frozenset(word for word in words[place] if uses[word] <= most)
        for place, item in enumerate(items)
        if item.id in gold
    )
    return LabelledConversation(messages, tuple(key for key in keys if key), split)


def _message(place: int, item: TaskItem) -> Message:
    assistant = item.speaker == "assistant"
    return Message(
        id=item.id,
        conversation_id=item.scope,
        position=place,
        role=Role.ASSISTANT if assistant else Role.USER,
        name="" if item.speaker in ("user", "assistant") else item.speaker,
        content=item.text,
        tokens=estimate_tokens(item.text),
        created_at=item.at or DEFAULT_AT,
    )


def _spoken_text(message: Message) -> str:
    return " ".join(spoken_sentences(message.content))


def _summarize_whole(messages: Sequence[Message], budget: int) -> str:
    return summarize(messages, budget_tokens=budget, count=estimate_tokens)


def _summarize_rolling(messages: Sequence[Message], budget: int) -> str:
    summary = ""
    for start in range(0, len(messages), ROLLING_STEP):
        part = messages[start : start + ROLLING_STEP]
        summary = summarize(part, previous=summary, budget_tokens=budget, count=estimate_tokens)
    return summary


def _first_tokens(messages: Sequence[Message], budget: int) -> str:
    return _fill_budget((message.content for message in messages), budget)


def _every_nth_sentence(messages: Sequence[Message], budget: int) -> str:
    sentences = [sentence for message in messages for sentence in spoken_sentences(message.content)]
    return _sample_evenly(sentences, budget)


def _every_nth_user_sentence(messages: Sequence[Message], budget: int) -> str:
    of = (message for message in messages if message.role is Role.USER)
    return _sample_evenly(
        [sentence for message in of for sentence in spoken_sentences(message.content)], budget
    )


def _sample_evenly(sentences: Sequence[str], budget: int) -> str:
    """Return every n-th of *sentences*, n as small as the budget allows."""
    whole = sum(estimate_tokens(f"{sentence}\n") for sentence in sentences)
    share = min(budget / max(whole, 1), 1.0)
    picked = [
        sentence
        for n, sentence in enumerate(sentences)
        if int(n * share + 0.5) > int((n - 1) * share + 0.5) or share == 1.0
    ]
    return _fill_budget(picked, budget)


def _fill_budget(texts: Iterator[str] | Sequence[str], budget: int) -> str:
    lines: list[str] = []
    left = budget
    for text in texts:
        cost = estimate_tokens(f"{text}\n")
        if cost > left:
            words = text.split()
            while words and estimate_tokens(" ".join(words)) > left:
                words = words[: max(len(words) * 9 // 10, 0)]
            lines.append(" ".join(words))
            break
        lines.append(text)
        left -= cost
    return "\n".join(lines)


SUMMARIZERS: dict[str, Summarizer] = {
    "**summarize**": _summarize_whole,
    f"summarize, rolled on every {ROLLING_STEP} messages": _summarize_rolling,
    "the first tokens": _first_tokens,
    "sentences taken evenly": _every_nth_sentence,
    "the user's sentences taken evenly": _every_nth_user_sentence,
}


def _score(
    conversations: Sequence[LabelledConversation], way: Summarizer, share: float
) -> SummaryScore:
    word_shares: list[float] = []
    has_line: list[bool] = []
    spent = 0.0
    for conversation in conversations:
        budget = max(int(conversation.tokens * share), 1)
        started = time.perf_counter()
        summary = way(conversation.messages, budget)
        spent += time.perf_counter() - started
        have = weighted_words(summary).keys()
        lines = [weighted_words(line).keys() for line in summary.splitlines()]
        word_shares += [len(key & have) / len(key) for key in conversation.gold]
        has_line += [
            any(len(key & line) >= MIN_LINE_SHARE * len(key) for line in lines)
            for key in conversation.gold
        ]
    count = sum(len(conversation.messages) for conversation in conversations)
    return SummaryScore(fmean(word_shares), fmean(has_line), count / max(spent, 1e-9))


def _report(
    conversations: dict[str, list[LabelledConversation]],
    splits: Sequence[str],
    arguments: Sequence[str],
) -> Iterator[str]:
    yield "# What a summary keeps"
    yield ""
    command = shlex.join(["python", "-m", "benchmarks.summary", *arguments])
    yield f"`{command}`, Recollect {recollect.__version__}, Python {platform.python_version()}."
    yield ""
    yield from _NOTES
    for split in splits:
        yield f"## {split}"
        yield ""
        for name, of in conversations.items():
            chosen = [conversation for conversation in of if conversation.split == split]
            gold = sum(len(conversation.gold) for conversation in chosen)
            tokens = fmean(conversation.tokens for conversation in chosen)
            yield (
                f"{name}: {len(chosen)} conversations of {tokens:,.0f} tokens on average, "
                f"{gold} messages that answer a question."
            )
            yield ""
            rows = [[way, *_row(chosen, SUMMARIZERS[way])] for way in SUMMARIZERS]
            header = ["", *(f"{part} at {s:.0%}" for s in SHARES for part in ("kept", "told"))]
            yield from table([*header, "messages a second"], rows)
            yield ""


def _row(conversations: Sequence[LabelledConversation], way: Summarizer) -> list[str]:
    scored = [_score(conversations, way, share) for share in SHARES]
    cells = [
        f"{100 * part:.1f}" for score in scored for part in (score.word_share, score.message_share)
    ]
    return [*cells, f"{scored[-1].messages_a_second:,.0f}"]


_NOTES = """\
Of each message that answers a question, its key words (of its sentences, not of code; those in at
most 5 % of the conversation's messages): *kept*, the share that stands in the summary, on average;
*told*, the share of messages of which one line of the summary has at least a third of them (a word
here and a word there is no telling). All in per cent, at 1, 5 and 10 % of the conversation's
tokens. The questions are not known to the summary. *Rolled*: made in steps, each from the summary
before and the next messages, as a running conversation does it.

""".splitlines()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.summary", description=__doc__)
    parser.add_argument("--tasks", type=Path, default=default_folder(), help="folder of the tasks")
    parser.add_argument("--split", choices=(*SPLITS, "all"), default="dev")
    parser.add_argument("--write", action="store_true", help=f"write {OUT.name}")
    return parser


if __name__ == "__main__":
    sys.exit(main())
