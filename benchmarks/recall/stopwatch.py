"""
Time one round: fill a store, write to it, ask it, make room in it; then the rivals.

Each figure is a number under a name that report.py knows. Times are in ms unless the name says
otherwise. Everything goes through the Python door with its default settings.
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
from benchmarks.capture.messages import Pool
from benchmarks.metrics import percentile
from benchmarks.recall import past as made
from benchmarks.recall.fill import MODEL, Filled, fill, settle
from benchmarks.recall.past import ENDS_AT, LARGE, SMALL, Question, Talk
from benchmarks.recall.rivals import Rival, is_there, open_rival
from benchmarks.tasks import ROOT
from recollect import LocalRecollect
from recollect.models.embedder import Embedder

ASKED_AT = ENDS_AT + timedelta(minutes=1)
WRITES = 500
BATCH = 100
BATCHES = 20
ASKED = 200
BUNDLES = 100
TURNS = 50
EDITS = 200
IDLE = 1_000  # agents that do nothing
DELETED = 3  # small agents
BUDGET = 8_000
FILE = ROOT / "README.md"

Figures = dict[str, float]
T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class Given:
    """What every round is given; no question comes twice in a round."""

    pool: Pool
    past: Sequence[Talk]
    embedder: Embedder  # makes up the vectors of items
    real: Embedder


def measure(given: Given, rivals: Sequence[str]) -> dict[str, Figures]:
    """Return the figures of one round by system."""
    with _folder() as folder:
        found = {"recollect": _own(given, Path(folder) / "memory.db")}
    for name in rivals:
        if is_there(name):
            _say(name)
            with _folder() as folder:
                found[name] = _rival(name, given, Path(folder))
    return found


def _own(given: Given, path: Path) -> Figures:
    count = sum(len(talk.messages) for talk in given.past)
    _say(f"writing {count:,} messages")
    started = perf_counter()
    filled = fill(path, given.past)
    figures = {"fill/s": count / (perf_counter() - started)}
    kilo = count / 1000
    figures["bytes text"] = _text_mb(given.past) / kilo
    figures["bytes words"] = _size_mb(path) / kilo
    _say("embedding them")
    settle(path, given.embedder)
    figures["bytes all"] = _size_mb(path) / kilo
    with recollect.open(path, embedder=given.embedder) as memory:
        _say("appending")
        figures |= _appended(memory, given, filled)
        memory.drain()
        _say("searching")
        figures |= _searched(memory, given)
        _say("making bundles")
        figures |= _bundled(memory, given, filled)
        _say("editing, compacting")
        figures |= _edited(memory)
        figures |= _compacted(memory, filled)
    with recollect.open(path, embedder=given.real) as memory:
        figures |= _turns(memory, given, filled)
    _say("idle agents")
    figures |= _idle(path)
    with recollect.open(path, embedder=given.embedder) as memory:
        _say("deleting")
        figures |= _spread("delete", _times(memory.agents.delete, SMALL[1 : 1 + DELETED]))
    return figures


def _appended(memory: LocalRecollect, given: Given, filled: Filled) -> Figures:
    said = made.more_messages(given.pool, LARGE, WRITES + BATCH * BATCHES, seed=31)
    conversations = cycle(filled.open_ids)

    def append(one: made.Said) -> None:
        memory.conversations.append(next(conversations), one.role, one.content, created_at=one.at)

    figures = _spread("append", _times(append, said[:WRITES]))
    batches = [said[start : start + BATCH] for start in range(WRITES, len(said), BATCH)]
    # A conversation that is not asked about: the open ones stay as they are.
    aside = memory.conversations.start(agent=LARGE, started_at=ENDS_AT - made.YEAR)
    started = perf_counter()
    for batch in batches:
        memory.conversations.append_many(aside, [one.as_given() for one in batch])
    figures["appended/s"] = BATCH * BATCHES / (perf_counter() - started)
    return figures


def _searched(memory: LocalRecollect, given: Given) -> Figures:
    def search(asked: Question) -> int:
        found = memory.conversations.search(asked.text, agent=asked.agent, asked_at=ASKED_AT)
        return len(found)

    def by_words(asked: Question) -> int:
        return len(
            memory.conversations.search(asked.text, agent=asked.agent, asked_at=ASKED_AT, mode="fts")
        )

    def tool(asked: Question) -> int:
        found = memory.conversations.letta_search(asked.agent, asked.text, asked_at=ASKED_AT)
        return len(found["results"])

    figures: Figures = {}
    for agent in (LARGE, SMALL[0]):
        which = "large" if agent == LARGE else "small"
        first = made.questions(given.past, agent, 1, seed=40)
        figures[f"first {which}"] = _times(search, first)[0]
        for name, verb, seed in (
            ("search", search, 41),
            ("tool", tool, 42),
            ("words", by_words, 43),
        ):
            asked = made.questions(given.past, agent, ASKED, seed=seed)
            figures |= _spread(f"{name} {which}", _times(verb, asked))
        asked = made.time_questions(given.past, agent, ASKED, seed=44)
        figures |= _spread(f"time {which}", _times(search, asked))
        asked = made.only_time_questions(agent)
        figures |= _spread(f"only time {which}", _times(search, asked))
    return figures | _in_conversation(memory, given)


def _in_conversation(memory: LocalRecollect, given: Given) -> Figures:
    inside = cycle(memory.conversations.list(agent=LARGE, limit=50))

    def search(asked: Question) -> None:
        memory.conversations.search(asked.text, conversation=next(inside), asked_at=ASKED_AT)

    asked = made.questions(given.past, LARGE, ASKED, seed=45)
    return _spread("inside", _times(search, asked))


def _bundled(memory: LocalRecollect, given: Given, filled: Filled) -> Figures:
    figures: Figures = {}
    for which, agent, ids in (
        ("large", LARGE, filled.open_ids),
        ("small", SMALL[0], filled.small_open_ids),
    ):
        for name, file, seed in (("bundle", None, 51), ("file", FILE, 52)):
            asked = made.questions(given.past, agent, BUNDLES, seed=seed)
            bundle = partial(_bundle, memory, file)
            figures |= _spread(
                f"{name} {which}", _times(bundle, zip(asked, cycle(ids), strict=False))
            )
    return figures


def _bundle(memory: LocalRecollect, file: Path | None, asked: tuple[Question, str]) -> None:
    question, conversation = asked
    memory.context_for(
        question.text,
        agent=question.agent,
        conversation=conversation,
        file=file,
        budget_tokens=BUDGET,
        asked_at=ASKED_AT,
    )


def _turns(memory: LocalRecollect, given: Given, filled: Filled) -> Figures:
    """Time what an agent does at each turn: a message comes in, and a bundle is made of it."""
    said = made.more_messages(given.pool, LARGE, TURNS, seed=61)
    asked = made.questions(given.past, LARGE, TURNS, seed=62)
    conversations = cycle(filled.open_ids)
    memory.context_for("warm up", agent=LARGE, budget_tokens=BUDGET)

    def turn(pair: tuple[made.Said, Question]) -> None:
        conversation = next(conversations)
        memory.conversations.append(conversation, "user", pair[0].content, created_at=pair[0].at)
        memory.context_for(
            pair[1].text, agent=LARGE, conversation=conversation, budget_tokens=BUDGET
        )

    return _spread("turn", _times(turn, zip(said, asked, strict=True)))


def _edited(memory: LocalRecollect) -> Figures:
    texts = [f"Line {number} of what is known about the user." for number in range(EDITS)]

    def edit(text: str) -> None:
        memory.blocks.set(LARGE, "persona", text)

    return _spread("edit", _times(edit, texts))


def _compacted(memory: LocalRecollect, filled: Filled) -> Figures:
    times = _times(lambda one: memory.conversations.compact(one, force=True), filled.long_ids)
    return {"compact": percentile(times, 50)} if times else {}


def _idle(path: Path) -> Figures:
    before = _size_mb(path)
    names = [f"idle-{number}" for number in range(IDLE)]
    with recollect.open(path, embedding_backend="none") as memory:
        figures = _spread(
            "create", _times(lambda name: memory.agents.create(name, model=MODEL), names)
        )
    figures["idle KB in file"] = 1000 * (_size_mb(path) - before) / IDLE
    at_rest = _held(path, [SMALL[0], *names])
    figures["idle MB"] = (at_rest["after_mb"] - at_rest["before_mb"]) / IDLE
    active = _held(path, [names[0], *SMALL])
    figures["active MB"] = (active["after_mb"] - active["before_mb"]) / len(SMALL)
    large = _held(path, [names[0], LARGE])
    figures["large MB"] = large["after_mb"] - large["before_mb"]
    figures["process MB"] = large["before_mb"]
    return figures


def _held(path: Path, agents: Sequence[str]) -> dict[str, float]:
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.recall.idle", str(path)],
        input=json.dumps(agents),
        cwd=ROOT,
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    told: dict[str, float] = json.loads(done.stdout)
    return told


def _rival(name: str, given: Given, folder: Path) -> Figures:
    said = [one for talk in given.past for one in talk.messages]
    with closing(open_rival(name, folder, given.embedder)) as rival:
        started = perf_counter()
        for start in range(0, len(said), BATCH):
            rival.append(said[start : start + BATCH])
        figures = {"fill/s": len(said) / (perf_counter() - started)}
    size = _size_mb(folder)
    figures["bytes words" if name == "fts5" else "bytes all"] = 1000 * size / len(said)
    with closing(open_rival(name, folder, given.embedder)) as rival:
        figures |= _rival_appended(rival, given)
        for agent in (LARGE, SMALL[0]):
            which = "large" if agent == LARGE else "small"
            kind, seed = ("words", 43) if name == "fts5" else ("search", 41)
            asked = made.questions(given.past, agent, ASKED, seed=seed)
            rival.search(made.questions(given.past, agent, 1, seed=40)[0])
            figures |= _spread(f"{kind} {which}", _times(rival.search, asked))
    return figures


def _rival_appended(rival: Rival, given: Given) -> Figures:
    said = made.more_messages(given.pool, LARGE, WRITES + BATCH * BATCHES, seed=31)
    figures = _spread("append", _times(lambda one: rival.append([one]), said[:WRITES]))
    started = perf_counter()
    for start in range(WRITES, len(said), BATCH):
        rival.append(said[start : start + BATCH])
    figures["appended/s"] = BATCH * BATCHES / (perf_counter() - started)
    return figures


def _times(call: Callable[[T], object], given: Iterable[T]) -> list[float]:
    times = []
    for one in given:
        started = perf_counter()
        call(one)
        times.append(1000 * (perf_counter() - started))
    return times


def _spread(name: str, times: Sequence[float]) -> Figures:
    return {f"{name} p{one}": percentile(times, one) for one in (50, 95)}


def _size_mb(path: Path) -> float:
    if path.is_dir():
        return sum(one.stat().st_size for one in path.rglob("*") if one.is_file()) / 1e6
    return path.stat().st_size / 1e6


def _text_mb(past: Sequence[Talk]) -> float:
    return sum(len(one.content.encode()) for talk in past for one in talk.messages) / 1e6


def _folder() -> "TemporaryDirectory[str]":
    return TemporaryDirectory(prefix="recollect-bench-", ignore_cleanup_errors=True)


def _say(what: str) -> None:
    print(f"{what} …", file=sys.stderr, flush=True)
