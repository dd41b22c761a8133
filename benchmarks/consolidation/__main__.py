"""
Measure whether a new fact supersedes the old one: `python -m benchmarks.consolidation`.

The facts of letta-update and factcons-6k are captured as notes, one session after another, and
processed. A reviewer who keeps everything then promotes the held candidates, and the questions of
the task are asked. Reported: how many stale facts ended superseded or linked as contradicted by the
current one; how many facts without a conflict were linked or superseded by mistake; and how often
the stale fact is still ranked above the current one.
"""

import argparse
import re
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import recollect
from benchmarks.cached_embedder import CachedEmbedder
from benchmarks.metrics import stale_above
from benchmarks.tasks import Task, TaskItem, TaskQuery, TasksMissing, default_folder, read_task
from recollect import LocalRecollect, Memory, Relation, Status
from recollect.config import Settings, load_settings
from recollect.models.model_factory import create_embedder

RESULTS = Path(__file__).resolve().parent.parent / "results"
CACHE = RESULTS / "embeddings.cache"
TASKS = ("letta-update", "factcons-6k")
BEGIN = datetime(2025, 1, 1, tzinfo=UTC)
EVERY_STATUS = [status.value for status in Status]
_VERB = re.compile(r"\b(?:is|was|are|were|plays|died|worked|speaks|has|have|had|be|been|works)\b")


@dataclass
class ConsolidationScore:
    """What became of the facts of a task."""

    stale: int = 0
    caught: int = 0  # superseded by the current fact, or linked as contradicted by it
    superseded: int = 0
    unrelated: int = 0
    wrong: int = 0  # unrelated facts that were linked or superseded
    questions: int = 0
    above: list[float] = field(default_factory=list)
    examples: list[str] = field(default_factory=list)
    missed: list[str] = field(default_factory=list)
    stood: list[str] = field(default_factory=list)
    seconds: float = 0.0
    facts: int = 0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("tasks", nargs="*", default=TASKS)
    parser.add_argument("--half", choices=("even", "odd"), help="only every second scope")
    parser.add_argument("--apart", action="store_true", help="each fact in a session of its own")
    parser.add_argument("--words", action="store_true", help="without embeddings")
    parser.add_argument("--show", type=int, default=0, help="print so many wrong links")
    parser.add_argument("--write", action="store_true", help="keep the table in results/")
    options = parser.parse_args()
    try:
        tasks = [read_task(default_folder(), name) for name in options.tasks]
    except TasksMissing as error:
        sys.exit(str(error))
    lines = [HEAD]
    for task in tasks:
        score = run(halved(task, options.half), words=options.words, apart=options.apart)
        lines.append(row(task.name, score))
        print(lines[-1], flush=True)
        for example in score.examples[: options.show]:
            print("  wrong:", example)
        for example in score.missed[: options.show]:
            print("  missed:", example)
        for example in score.stood[: options.show]:
            print("  stale above,", example)
    print("\n".join(lines))
    if options.write:
        (RESULTS / "consolidation.md").write_text(page(lines), encoding="utf-8")


HEAD = (
    "| task | facts | stale facts caught | of them superseded | wrongly linked, of unrelated facts "
    "| stale above current | facts/s |\n|---|---|---|---|---|---|---|"
)


def row(name: str, score: ConsolidationScore) -> str:
    return (
        f"| {name} | {score.facts} | {share(score.caught, score.stale)} "
        f"| {share(score.superseded, score.stale)} | {share(score.wrong, score.unrelated)} "
        f"| {100 * sum(score.above) / max(1, len(score.above)):.1f} % of {len(score.above)} "
        f"| {score.facts / score.seconds:.0f} |"
    )


def page(lines: Sequence[str]) -> str:
    return (
        "# Consolidation\n\nReproduce with `python -m benchmarks.consolidation --write`. "
        + " ".join((__doc__ or "").split("\n\n")[1].split())
        + "\n\n"
        + "\n".join(lines)
        + "\n"
    )


def share(part: int, whole: int) -> str:
    return f"{100 * part / max(1, whole):.1f} % of {whole}"


def halved(task: Task, half: str | None) -> Task:
    """Return the task with every second scope, so that thresholds can be chosen on one half."""
    if half is None or len({item.scope for item in task.items}) == 1:
        return task
    scopes = sorted({item.scope for item in task.items})[0 if half == "even" else 1 :: 2]
    chosen = frozenset(scopes)
    return Task(
        name=task.name,
        items=tuple(item for item in task.items if item.scope in chosen),
        queries=tuple(query for query in task.queries if query.scope in chosen),
    )


def run(task: Task, *, words: bool, apart: bool) -> ConsolidationScore:
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings(
            db=f"{folder}/memory.db", embedding_backend="none" if words else "local"
        )
        embedder = None
        if not words:
            embedder = CachedEmbedder(create_embedder(load_settings()), CACHE)
        with LocalRecollect(settings, embedder=embedder) as rec:
            return measure(rec, task, apart=apart)


def measure(rec: LocalRecollect, task: Task, *, apart: bool) -> ConsolidationScore:
    by_scope: dict[str, list[TaskItem]] = defaultdict(list)
    for item in task.items:
        by_scope[item.scope].append(item)
    started = time.perf_counter()
    for scope, items in by_scope.items():
        for number, session in enumerate(sessions(items, task.queries, apart=apart)):
            at = BEGIN + timedelta(days=number)
            text = "\n".join(item.text for item in session)
            rec.capture_conversation(text, "note", project=scope, observed_at=at)
    rec.drain()
    score = ConsolidationScore(facts=len(task.items), seconds=time.perf_counter() - started)
    for scope, items in by_scope.items():
        judge(rec, scope, items, [q for q in task.queries if q.scope == scope], score)
    return score


def sessions(
    items: Sequence[TaskItem], queries: Sequence[TaskQuery], *, apart: bool
) -> Iterator[list[TaskItem]]:
    """Yield what is said together: what is known first, each update in a session of its own."""
    gold = {item_id for query in queries if query.stale for item_id in query.gold}
    old = [item for item in items if item.id not in gold]
    if apart or len(old) > 20:
        yield from ([item] for item in items)
        return
    yield old
    yield from ([item] for item in items if item.id in gold)


def judge(
    rec: LocalRecollect,
    scope: str,
    items: Sequence[TaskItem],
    queries: Sequence[TaskQuery],
    score: ConsolidationScore,
) -> None:
    ids = {item.text.casefold(): item.id for item in reversed(items)}
    texts = {item.id: item.text for item in items}
    memories = rec.memories.list(project=scope, statuses=EVERY_STATUS, limit=1_000)
    item_ids = {
        memory.id: fact
        for memory in memories
        if (fact := ids.get(memory.content.casefold())) is not None
    }
    conflicts = linked(rec, memories, item_ids)
    stale_pairs = {(gold, old) for q in queries for gold in q.gold for old in q.stale}
    status = {item_ids[memory.id]: memory.status for memory in memories if memory.id in item_ids}
    for query in queries:
        for old in query.stale:
            if not related(texts[old], [texts[gold] for gold in query.gold], len(items)):
                continue
            score.stale += 1
            against = conflicts[old] & query.gold
            caught = bool(against) or status.get(old) is Status.SUPERSEDED
            score.caught += caught
            if not caught:
                score.missed.append(f"{texts[next(iter(query.gold))]} ⟂ {texts[old]}")
            score.superseded += status.get(old) is Status.SUPERSEDED
    involved = {item_id for pair in stale_pairs for item_id in pair}
    for item in items:
        wrong = {
            other
            for other in conflicts[item.id]
            if not rightly_linked(item, other, stale_pairs, texts, len(items))
        }
        score.unrelated += item.id not in involved or bool(wrong)
        if wrong:
            score.wrong += 1
            score.examples.append(f"{item.text} ⟂ {texts[next(iter(wrong))]}")
    waiting = [
        memory.id
        for memory in rec.memories.list(
            statuses=["inbox"], project=scope, limit=1_000, everywhere=False
        )
    ]
    rec.inbox.promote(waiting, reason="kept by the reviewer")
    for query in queries:
        hits = rec.search(query.text, project=scope, limit=50)
        ranked = [item_ids[hit.memory.id] for hit in hits if hit.memory.id in item_ids]
        above = stale_above(ranked, query.gold, query.stale)
        if above is not None:
            score.above.append(above)
        if above:
            old = next(iter(query.stale))
            caught = bool(conflicts[old] & query.gold)
            score.stood.append(f"{'linked' if caught else 'missed'}: {query.text}")


def rightly_linked(
    item: TaskItem, other: str, stale_pairs: set[tuple[str, str]], texts: dict[str, str], facts: int
) -> bool:
    """Return whether two linked facts conflict: by the labels, or (factcons) by their form."""
    if (item.id, other) in stale_pairs or (other, item.id) in stale_pairs:
        return True
    return facts > 20 and _same_until_value(item.text, texts[other])


def linked(
    rec: LocalRecollect, memories: Sequence[Memory], item_ids: dict[str, str]
) -> defaultdict[str, set[str]]:
    """Return which facts were linked as speaking against which, both ways."""
    conflicts: defaultdict[str, set[str]] = defaultdict(set)
    for memory in memories:
        explained = rec.explain(memory.id)
        assert isinstance(explained, recollect.MemoryExplanation)
        for link in explained.links:
            if link.relation in (Relation.CONTRADICTS, Relation.SUPERSEDES):
                a, b = item_ids.get(link.from_id), item_ids.get(link.to_id)
                if a and b:
                    conflicts[a].add(b)
                    conflicts[b].add(a)
    return conflicts


def related(fact: str, others: Sequence[str], facts: int) -> bool:
    """
    Return whether a stale and a current fact answer the same question.

    In a scope of ten facts the labels decide. In one long list (factcons) they also name facts of
    other subjects as stale; there two facts conflict if they are equal up to a value after the
    verb.
    """
    return facts <= 20 or any(_same_until_value(fact, other) for other in others)


def _same_until_value(fact: str, other: str) -> bool:
    a, b = fact.split(), other.split()
    shared = 0
    while shared < min(len(a), len(b)) and a[shared] == b[shared]:
        shared += 1
    return bool(_VERB.search(" ".join(a[:shared])))


if __name__ == "__main__":
    main()
