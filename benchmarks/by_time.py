"""
Measure questions that ask by time: `python -m benchmarks.by_time`.

Generates the questions of time_questions.py and asks them in three ways: of messages, with one
conversation for each session; of memories that are whole sessions; of memories that are turns. The
results are sessions, ranked by their first message or turn.
"""

import argparse
import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, timedelta
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryDirectory

import recollect
from benchmarks.cached_embedder import CachedEmbedder
from benchmarks.dated_chats import read_chats
from benchmarks.metrics import DEPTH, in_per_cent, recall, scores
from benchmarks.quality import CACHE
from benchmarks.question_rounds import question_rounds
from benchmarks.task_answers import BOTH, WORDS, Configuration, answer_task
from benchmarks.tasks import FIRST_AT, Task, TaskItem, TaskQuery, TasksMissing, default_folder
from benchmarks.time_questions import GROUPS, group_of, time_tasks
from recollect.config import load_settings
from recollect.domain.limits import MAX_CONTENT
from recollect.models.embedder import Embedder
from recollect.models.model_factory import create_embedder

Ranked = tuple[TaskQuery, tuple[str, ...]]  # a question, and the sessions it found
SHOWN = ("R@1", "R@5", "all@5", "MRR")
_MOMENT = timedelta(seconds=1)


def rank_memories(task: Task, embedder: Embedder | None) -> list[Ranked]:
    """Return the sessions each question finds where every item is a memory."""
    session = {item.id: item.session or item.id for item in task.items}
    whole = Configuration(indexes=WORDS if embedder is None else BOTH)
    answers = answer_task(task, [whole], embedder=embedder)[0].answers
    return [(answer.query, _sessions(answer.ranked, session)) for answer in answers]


def rank_messages(task: Task, embedder: Embedder | None) -> list[Ranked]:
    """Return the sessions each question finds where every turn is a message."""
    rankings: list[Ranked] = []
    session: dict[str, str] = {}  # of each conversation
    with TemporaryDirectory(prefix="recollect-bench-") as folder:
        path = Path(folder) / "memory.db"
        if embedder is None:
            rec = recollect.open(path, embedding_backend="none")
        else:
            rec = recollect.open(path, embedder=embedder)
        with rec:
            for round_ in question_rounds(task):
                session |= _store_turns(rec, [placed.item for placed in round_.items])
                rec.drain()
                for query in round_.queries:
                    ranked = _ask(rec, query.query)
                    rankings.append((query.query, _sessions(ranked, session)))
    return rankings


def _store_turns(rec: recollect.LocalRecollect, turns: Sequence[TaskItem]) -> dict[str, str]:
    """Say *turns* in conversations of their sessions; return the session of each conversation."""
    session = {}
    for (scope, name), group in groupby(turns, key=lambda turn: (turn.scope, turn.session)):
        session_turns = list(group)
        at = (session_turns[0].at or FIRST_AT).replace(tzinfo=UTC)
        conversation = rec.conversations.start(agent=scope, started_at=at)
        session[conversation.id] = name
        speakers = list(dict.fromkeys(turn.speaker for turn in session_turns))
        drafts = [
            {
                "role": "user" if turn.speaker in (speakers[0], "User", "user") else "assistant",
                "content": turn.text[:MAX_CONTENT],
                "created_at": at + number * _MOMENT,
            }
            for number, turn in enumerate(session_turns)
        ]
        rec.conversations.append_many(conversation, drafts)
        rec.conversations.end(conversation, ended_at=at + len(session_turns) * _MOMENT)
    return session


def _ask(rec: recollect.LocalRecollect, query: TaskQuery) -> list[str]:
    hits = rec.conversations.search(
        query.text, agent=query.scope, asked_at=query.asked_at, limit=DEPTH
    )
    return [hit.message.conversation_id for hit in hits]


def _sessions(ranked: Sequence[str], session: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(session[item_id] for item_id in ranked))


def _table(ranked: Sequence[Ranked], session: Mapping[str, str]) -> dict[str, dict[str, float]]:
    """Return the metrics of each group of kinds, and of all."""
    each = [
        (
            group_of(query.category),
            scores(sessions, frozenset(session[item_id] for item_id in query.gold)),
        )
        for query, sessions in ranked
    ]
    groups = {
        name: [metrics for group, metrics in each if name in ("all", group)]
        for name in ("all", *GROUPS)
    }
    return {
        name: in_per_cent(metrics) | {"n": len(metrics)}
        for name, metrics in groups.items()
        if metrics
    }


def _misses(ranked: Sequence[Ranked], session: Mapping[str, str]) -> None:
    for query, sessions in ranked:
        gold = frozenset(session[item_id] for item_id in query.gold)
        if recall(sessions, gold, 5) < 1:
            print(f"  {query.asked_at} [{query.category}] {query.text}")
            print(f"      wanted {sorted(gold)}, found {list(sessions[:5])}")


def main(arguments: list[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    try:
        tasks = {task.name: task for task in time_tasks(read_chats(options.tasks))}
    except TasksMissing as missing:
        print(f"by_time: {missing}", file=sys.stderr)
        return 2
    embedder = None
    if not options.words_only:
        embedder = CachedEmbedder(create_embedder(load_settings()), CACHE)
    print("| asked of | half | questions | n | " + " | ".join(SHOWN) + " |")
    print("|---" * (4 + len(SHOWN)) + "|")
    for way in options.ways.split(","):
        for half in options.halves.split(","):
            task = tasks[f"time-{'session' if way == 'sessions' else 'turn'}-{half}"]
            ranked = (rank_messages if way == "messages" else rank_memories)(task, embedder)
            session = {item.id: item.session or item.id for item in task.items}
            for group, reached in _table(ranked, session).items():
                cells = [f"{reached[name]:.1f}" for name in SHOWN]
                head = f"| {way} | {half} | {group} | {reached['n']:.0f} | "
                print(head + " | ".join(cells) + " |", flush=True)
            if options.misses:
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
