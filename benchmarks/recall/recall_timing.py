"""
Time one round: fill a store, write, search, compact and delete; then the baselines.

Each figure is stored under a name that recall_report.py knows. Times are in ms unless the name says
otherwise. Everything uses the Python API with its default settings.
"""

import json
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from itertools import cycle
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import TypeVar

import recollect
from benchmarks.capture.generated_messages import TextPool
from benchmarks.metrics import percentile
from benchmarks.recall import generated_conversations as generator
from benchmarks.recall.fill_agents import MODEL, AgentStore, embed_pending, fill_agents
from benchmarks.recall.generated_conversations import (
    ENDS_AT,
    LARGE,
    SMALL,
    AgentQuestion,
    GeneratedConversation,
)
from benchmarks.recall.message_baselines import MessageBaseline, is_installed, open_baseline
from benchmarks.tasks import ROOT
from recollect import LocalRecollect
from recollect.models.embedder import Embedder

ASKED_AT = ENDS_AT + timedelta(minutes=1)
WRITES = 500
BATCH = 100
BATCHES = 20
QUESTIONS = 200
BUNDLES = 100
TURNS = 50
EDITS = 200
IDLE_AGENTS = 1_000  # agents that do nothing
DELETED = 3  # small agents
BUDGET = 8_000
FILE = ROOT / "README.md"

Figures = dict[str, float]
T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class RecallInput:
    """What every round is given; no question comes twice in a round."""

    pool: TextPool
    conversations: Sequence[GeneratedConversation]
    embedder: Embedder  # makes up the vectors of items
    real: Embedder


def measure(recall_input: RecallInput, baselines: Sequence[str]) -> dict[str, Figures]:
    """Return the figures of one round by system."""
    with _folder() as folder:
        figures = {"recollect": _measure_recollect(recall_input, Path(folder) / "memory.db")}
    for name in baselines:
        if is_installed(name):
            _print_progress(name)
            with _folder() as folder:
                figures[name] = _measure_baseline(name, recall_input, Path(folder))
    return figures


def _measure_recollect(recall_input: RecallInput, path: Path) -> Figures:
    count = sum(len(conversation.messages) for conversation in recall_input.conversations)
    _print_progress(f"writing {count:,} messages")
    started = perf_counter()
    filled = fill_agents(path, recall_input.conversations)
    figures = {"fill/s": count / (perf_counter() - started)}
    kilo = count / 1000
    figures["bytes text"] = _text_mb(recall_input.conversations) / kilo
    figures["bytes words"] = _size_mb(path) / kilo
    _print_progress("embedding them")
    embed_pending(path, recall_input.embedder)
    figures["bytes all"] = _size_mb(path) / kilo
    with recollect.open(path, embedder=recall_input.embedder) as rec:
        _print_progress("appending")
        figures |= _time_appends(rec, recall_input, filled)
        rec.drain()
        _print_progress("searching")
        figures |= _time_searches(rec, recall_input)
        _print_progress("making bundles")
        figures |= _time_bundles(rec, recall_input, filled)
        _print_progress("editing, compacting")
        figures |= _time_edits(rec)
        figures |= _time_compaction(rec, filled)
    with recollect.open(path, embedder=recall_input.real) as rec:
        figures |= _time_turns(rec, recall_input, filled)
    _print_progress("idle agents")
    figures |= _idle_agent_figures(path)
    with recollect.open(path, embedder=recall_input.embedder) as rec:
        _print_progress("deleting")
        figures |= _percentiles("delete", _call_times(rec.agents.delete, SMALL[1 : 1 + DELETED]))
    return figures


def _time_appends(rec: LocalRecollect, recall_input: RecallInput, filled: AgentStore) -> Figures:
    messages = generator.more_messages(recall_input.pool, LARGE, WRITES + BATCH * BATCHES, seed=31)
    conversations = cycle(filled.open_ids)

    def append(message: generator.ConversationMessage) -> None:
        rec.conversations.append(
            next(conversations), message.role, message.content, created_at=message.at
        )

    figures = _percentiles("append", _call_times(append, messages[:WRITES]))
    batches = [messages[start : start + BATCH] for start in range(WRITES, len(messages), BATCH)]
    # A conversation that is not asked about: the open ones stay as they are.
    aside = rec.conversations.start(agent=LARGE, started_at=ENDS_AT - generator.YEAR)
    started = perf_counter()
    for batch in batches:
        rec.conversations.append_many(aside, [message.as_arguments() for message in batch])
    figures["appended/s"] = BATCH * BATCHES / (perf_counter() - started)
    return figures


def _time_searches(rec: LocalRecollect, recall_input: RecallInput) -> Figures:
    def search(question: AgentQuestion) -> int:
        hits = rec.conversations.search(question.text, agent=question.agent, asked_at=ASKED_AT)
        return len(hits)

    def by_words(question: AgentQuestion) -> int:
        return len(
            rec.conversations.search(
                question.text, agent=question.agent, asked_at=ASKED_AT, mode="fts"
            )
        )

    def tool(question: AgentQuestion) -> int:
        results = rec.conversations.letta_search(question.agent, question.text, asked_at=ASKED_AT)
        return len(results["results"])

    figures: Figures = {}
    for agent in (LARGE, SMALL[0]):
        which = "large" if agent == LARGE else "small"
        first = generator.questions(recall_input.conversations, agent, 1, seed=40)
        figures[f"first {which}"] = _call_times(search, first)[0]
        for name, verb, seed in (
            ("search", search, 41),
            ("tool", tool, 42),
            ("words", by_words, 43),
        ):
            questions = generator.questions(recall_input.conversations, agent, QUESTIONS, seed=seed)
            figures |= _percentiles(f"{name} {which}", _call_times(verb, questions))
        questions = generator.time_questions(recall_input.conversations, agent, QUESTIONS, seed=44)
        figures |= _percentiles(f"time {which}", _call_times(search, questions))
        questions = generator.only_time_questions(agent)
        figures |= _percentiles(f"only time {which}", _call_times(search, questions))
    return figures | _time_search_in_conversation(rec, recall_input)


def _time_search_in_conversation(rec: LocalRecollect, recall_input: RecallInput) -> Figures:
    inside = cycle(rec.conversations.list(agent=LARGE, limit=50))

    def search(question: AgentQuestion) -> None:
        rec.conversations.search(question.text, conversation=next(inside), asked_at=ASKED_AT)

    questions = generator.questions(recall_input.conversations, LARGE, QUESTIONS, seed=45)
    return _percentiles("inside", _call_times(search, questions))


def _time_bundles(rec: LocalRecollect, recall_input: RecallInput, filled: AgentStore) -> Figures:
    figures: Figures = {}
    for which, agent, ids in (
        ("large", LARGE, filled.open_ids),
        ("small", SMALL[0], filled.small_open_ids),
    ):
        for name, file, seed in (("bundle", None, 51), ("file", FILE, 52)):
            questions = generator.questions(recall_input.conversations, agent, BUNDLES, seed=seed)
            bundle = partial(_bundle, rec, file)
            figures |= _percentiles(
                f"{name} {which}", _call_times(bundle, zip(questions, cycle(ids), strict=False))
            )
    return figures


def _bundle(rec: LocalRecollect, file: Path | None, pair: tuple[AgentQuestion, str]) -> None:
    question, conversation = pair
    rec.context_for(
        question.text,
        agent=question.agent,
        conversation=conversation,
        file=file,
        budget_tokens=BUDGET,
        asked_at=ASKED_AT,
    )


def _time_turns(rec: LocalRecollect, recall_input: RecallInput, filled: AgentStore) -> Figures:
    """Time what an agent does at each turn: a message comes in, and a bundle is made of it."""
    messages = generator.more_messages(recall_input.pool, LARGE, TURNS, seed=61)
    questions = generator.questions(recall_input.conversations, LARGE, TURNS, seed=62)
    conversations = cycle(filled.open_ids)
    rec.context_for("warm up", agent=LARGE, budget_tokens=BUDGET)

    def turn(pair: tuple[generator.ConversationMessage, AgentQuestion]) -> None:
        conversation = next(conversations)
        rec.conversations.append(conversation, "user", pair[0].content, created_at=pair[0].at)
        rec.context_for(pair[1].text, agent=LARGE, conversation=conversation, budget_tokens=BUDGET)

    return _percentiles("turn", _call_times(turn, zip(messages, questions, strict=True)))


def _time_edits(rec: LocalRecollect) -> Figures:
    texts = [f"Line {number} of what is known about the user." for number in range(EDITS)]

    def edit(text: str) -> None:
        rec.blocks.set(LARGE, "persona", text)

    return _percentiles("edit", _call_times(edit, texts))


def _time_compaction(rec: LocalRecollect, filled: AgentStore) -> Figures:
    times = _call_times(
        lambda conversation: rec.conversations.compact(conversation, force=True), filled.long_ids
    )
    return {"compact": percentile(times, 50)} if times else {}


def _idle_agent_figures(path: Path) -> Figures:
    before = _size_mb(path)
    names = [f"idle-{number}" for number in range(IDLE_AGENTS)]
    with recollect.open(path, embedding_backend="none") as rec:
        figures = _percentiles(
            "create", _call_times(lambda name: rec.agents.create(name, model=MODEL), names)
        )
    figures["idle KB in file"] = 1000 * (_size_mb(path) - before) / IDLE_AGENTS
    at_rest = _process_memory(path, [SMALL[0], *names])
    figures["idle MB"] = (at_rest["after_mb"] - at_rest["before_mb"]) / IDLE_AGENTS
    active = _process_memory(path, [names[0], *SMALL])
    figures["active MB"] = (active["after_mb"] - active["before_mb"]) / len(SMALL)
    large = _process_memory(path, [names[0], LARGE])
    figures["large MB"] = large["after_mb"] - large["before_mb"]
    figures["process MB"] = large["before_mb"]
    return figures


def _process_memory(path: Path, agents: Sequence[str]) -> dict[str, float]:
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.recall.agent_memory_use", str(path)],
        input=json.dumps(agents),
        cwd=ROOT,
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    figures: dict[str, float] = json.loads(done.stdout)
    return figures


def _measure_baseline(name: str, recall_input: RecallInput, folder: Path) -> Figures:
    messages = [
        message for conversation in recall_input.conversations for message in conversation.messages
    ]
    with closing(open_baseline(name, folder, recall_input.embedder)) as baseline:
        started = perf_counter()
        for start in range(0, len(messages), BATCH):
            baseline.append(messages[start : start + BATCH])
        figures = {"fill/s": len(messages) / (perf_counter() - started)}
    size = _size_mb(folder)
    figures["bytes words" if name == "fts5" else "bytes all"] = 1000 * size / len(messages)
    with closing(open_baseline(name, folder, recall_input.embedder)) as baseline:
        figures |= _time_baseline_appends(baseline, recall_input)
        for agent in (LARGE, SMALL[0]):
            which = "large" if agent == LARGE else "small"
            kind, seed = ("words", 43) if name == "fts5" else ("search", 41)
            questions = generator.questions(recall_input.conversations, agent, QUESTIONS, seed=seed)
            baseline.search(generator.questions(recall_input.conversations, agent, 1, seed=40)[0])
            figures |= _percentiles(f"{kind} {which}", _call_times(baseline.search, questions))
    return figures


def _time_baseline_appends(baseline: MessageBaseline, recall_input: RecallInput) -> Figures:
    messages = generator.more_messages(recall_input.pool, LARGE, WRITES + BATCH * BATCHES, seed=31)
    figures = _percentiles(
        "append", _call_times(lambda message: baseline.append([message]), messages[:WRITES])
    )
    started = perf_counter()
    for start in range(WRITES, len(messages), BATCH):
        baseline.append(messages[start : start + BATCH])
    figures["appended/s"] = BATCH * BATCHES / (perf_counter() - started)
    return figures


def _call_times(call: Callable[[T], object], arguments: Iterable[T]) -> list[float]:
    times = []
    for argument in arguments:
        started = perf_counter()
        call(argument)
        times.append(1000 * (perf_counter() - started))
    return times


def _percentiles(name: str, times: Sequence[float]) -> Figures:
    return {f"{name} p{rank}": percentile(times, rank) for rank in (50, 95)}


def _size_mb(path: Path) -> float:
    if path.is_dir():
        return sum(file.stat().st_size for file in path.rglob("*") if file.is_file()) / 1e6
    return path.stat().st_size / 1e6


def _text_mb(past: Sequence[GeneratedConversation]) -> float:
    return (
        sum(
            len(message.content.encode())
            for conversation in past
            for message in conversation.messages
        )
        / 1e6
    )


def _folder() -> "TemporaryDirectory[str]":
    return TemporaryDirectory(prefix="recollect-bench-", ignore_cleanup_errors=True)


def _print_progress(what: str) -> None:
    print(f"{what} …", file=sys.stderr, flush=True)
