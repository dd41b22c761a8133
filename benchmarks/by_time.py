"""
How well Recollect answers questions by time: `python -m benchmarks.by_time`.

Makes the questions of time_questions.py and asks them in three ways: of messages, one conversation
per session; of memories that are whole sessions; of memories that are single turns. Found are
sessions: one counts at the place of its first message or turn. Prints a table, saves nothing.
"""

import argparse
import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, timedelta
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryDirectory

import recollect
from benchmarks.answers import BOTH, WORDS, Configuration, answer
from benchmarks.cached import CachedEmbedder
from benchmarks.dated_chats import read_chats
from benchmarks.metrics import DEPTH, in_per_cent, recall, scores
from benchmarks.quality import CACHE
from benchmarks.rounds import rounds
from benchmarks.tasks import FIRST_AT, Item, Query, Task, TasksMissing, default_folder
from benchmarks.time_questions import GROUPS, group_of, time_tasks
from recollect.config import load_settings
from recollect.models.model_factory import create_embedder
from recollect.models.embedder import Embedder
from recollect.service.inputs import MAX_CONTENT

Ranked = tuple[Query, tuple[str, ...]]  # a question, and the sessions it found
SHOWN = ("R@1", "R@5", "all@5", "MRR")
_MOMENT = timedelta(seconds=1)


def of_memories(task: Task, embedder: Embedder | None) -> list[Ranked]:
    """Return the sessions each question finds where every item is a memory."""
    session = {item.id: item.session or item.id for item in task.items}
    whole = Configuration(leg=WORDS if embedder is None else BOTH)
    found = answer(task, [whole], embedder=embedder)[0].answers
    return [(one.query, _sessions(one.ranked, session)) for one in found]


def of_messages(task: Task, embedder: Embedder | None) -> list[Ranked]:
    """Return the sessions each question finds where every turn is a message."""
    found: list[Ranked] = []
    session: dict[str, str] = {}  # of each conversation
    with TemporaryDirectory(prefix="recollect-bench-") as folder:
        path = Path(folder) / "memory.db"
        if embedder is None:
            memory = recollect.open(path, embedding_backend="none")
        else:
            memory = recollect.open(path, embedder=embedder)
        with memory:
            for one in rounds(task):
                session |= _told(memory, [placed.item for placed in one.stored])
                memory.drain()
                for asked in one.asked:
                    ranked = _ask(memory, asked.query)
                    found.append((asked.query, _sessions(ranked, session)))
    return found


def _told(memory: recollect.LocalRecollect, turns: Sequence[Item]) -> dict[str, str]:
    """Say *turns* in conversations of their sessions; return the session of each conversation."""
    session = {}
    for (scope, name), group in groupby(turns, key=lambda turn: (turn.scope, turn.session)):
        said = list(group)
        at = (said[0].at or FIRST_AT).replace(tzinfo=UTC)
        talk = memory.conversations.start(agent=scope, started_at=at)
        session[talk.id] = name
        speakers = list(dict.fromkeys(turn.speaker for turn in said))
        drafts = [
            {
                "role": "user" if turn.speaker in (speakers[0], "User", "user") else "assistant",
                "content": turn.text[:MAX_CONTENT],
                "created_at": at + number * _MOMENT,
            }
            for number, turn in enumerate(said)
        ]
        memory.conversations.append_many(talk, drafts)
        memory.conversations.end(talk, ended_at=at + len(said) * _MOMENT)
    return session


def _ask(memory: recollect.LocalRecollect, query: Query) -> list[str]:
    hits = memory.conversations.search(
        query.text, agent=query.scope, asked_at=query.asked_at, limit=DEPTH
    )
    return [hit.message.conversation_id for hit in hits]


def _sessions(ranked: Sequence[str], session: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(session[one] for one in ranked))


def _table(ranked: Sequence[Ranked], session: Mapping[str, str]) -> dict[str, dict[str, float]]:
    """Return the metrics of each group of kinds, and of all."""
    each = [
        (group_of(query.category), scores(found, frozenset(session[one] for one in query.gold)))
        for query, found in ranked
    ]
    groups = {
        name: [found for group, found in each if name in ("all", group)]
        for name in ("all", *GROUPS)
    }
    return {name: in_per_cent(found) | {"n": len(found)} for name, found in groups.items() if found}


def _misses(ranked: Sequence[Ranked], session: Mapping[str, str]) -> None:
    for query, found in ranked:
        gold = frozenset(session[one] for one in query.gold)
        if recall(found, gold, 5) < 1:
            print(f"  {query.asked_at} [{query.category}] {query.text}")
            print(f"      wanted {sorted(gold)}, found {list(found[:5])}")


def main(arguments: list[str] | None = None) -> int:
    given = _parser().parse_args(arguments)
    try:
        tasks = {task.name: task for task in time_tasks(read_chats(given.tasks))}
    except TasksMissing as missing:
        print(f"by_time: {missing}", file=sys.stderr)
        return 2
    embedder = None
    if not given.words_only:
        embedder = CachedEmbedder(create_embedder(load_settings()), CACHE)
    print("| asked of | half | questions | n | " + " | ".join(SHOWN) + " |")
    print("|---" * (4 + len(SHOWN)) + "|")
    for way in given.ways.split(","):
        for half in given.halves.split(","):
            task = tasks[f"time-{'session' if way == 'sessions' else 'turn'}-{half}"]
            ranked = (of_messages if way == "messages" else of_memories)(task, embedder)
            session = {item.id: item.session or item.id for item in task.items}
            for group, reached in _table(ranked, session).items():
                cells = [f"{reached[name]:.1f}" for name in SHOWN]
                head = f"| {way} | {half} | {group} | {reached['n']:.0f} | "
                print(head + " | ".join(cells) + " |", flush=True)
            if given.misses:
                _misses(ranked, session)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.by_time", description=__doc__)
    parser.add_argument("--tasks", type=Path, default=default_folder(), help="folder of the tasks")
    parser.add_argument("--ways", default="messages,sessions,turns", help="of those three")
    parser.add_argument("--halves", default="choose,confirm", help="of those two")
    parser.add_argument("--words-only", action="store_true", help="without embeddings")
    parser.add_argument("--misses", action="store_true", help="list what was not found")
    return parser


if __name__ == "__main__":
    sys.exit(main())
