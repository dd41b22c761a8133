"""
What a bar could look at, with an answer and without: `python -m benchmarks.bar_features`.

Stores each task of unrelated.py, asks every question, and writes one line a question: what each leg
says of the best candidates, how the store as a whole looks to it, and how well the search as it is
answers. A rule for "nothing here answers that" can then be tried without asking again. This file
measures; it decides nothing.
"""

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import fmean, pstdev
from tempfile import TemporaryDirectory
from typing import Any

import recollect
from benchmarks.as_memories import AsMemories
from benchmarks.cached import CachedEmbedder
from benchmarks.metrics import recall
from benchmarks.quality import CACHE
from benchmarks.rounds import Asked, rounds
from benchmarks.tasks import Task, TasksMissing, default_folder
from benchmarks.unrelated import kind_of, unrelated_tasks
from recollect.config import load_settings
from recollect.domain.retrieval import Filters
from recollect.domain.scope import ItemKind, Owner, Scope
from recollect.models.choose import choose_embedder
from recollect.models.protocol import Embedder
from recollect.retrieval.candidates import Candidate, Meaning, gather
from recollect.service.deps import Deps
from recollect.service.read import meaning_of
from recollect.store.protocol import Tables
from recollect.store.values import Shelf, Standing

SHOWN = 5
LEG = 50  # candidates of each leg that are looked at


def features(task: Task, embedder: Embedder) -> Iterator[dict[str, Any]]:
    """Yield a line for every question of *task*."""
    with TemporaryDirectory(prefix="recollect-bench-") as folder:
        path = Path(folder) / "memory.db"
        with recollect.open(path, embedder=embedder, cross_project=False) as memory:
            way = AsMemories()
            for one in rounds(task):
                way.store(memory, one.stored)
                memory.drain()
                for asked in one.asked:
                    yield _line(task.name, memory, asked, way)


def _line(task: str, memory: recollect.Recollect, asked: Asked, way: AsMemories) -> dict[str, Any]:
    query = asked.query
    hits = memory.search(query.text, project=asked.project, asked_at=query.asked_at, limit=SHOWN)
    ranked = way.items(hits)
    deps = memory._deps  # the legs have no door of their own
    meaning, _ = meaning_of(deps, query.text)
    with deps.store.read() as tables:
        told = _legs(tables, deps, asked, meaning)
    first = hits[0].parts if hits else None
    return {
        "task": task,
        "scope": query.scope,
        "kind": kind_of(query),
        "category": query.category,
        "text": query.text,
        "returned": len(hits),
        "R@5": recall(ranked, query.gold, SHOWN) if query.gold else None,
        "score": hits[0].score if hits else 0.0,
        "keyword": first.keyword if first else 0.0,
        "semantic": first.semantic if first else 0.0,
        **told,
    }


def _legs(tables: Tables, deps: Deps, asked: Asked, meaning: Meaning | None) -> dict[str, Any]:
    place = tables.places.project_named(asked.project)
    assert place is not None
    shelves = tables.words.shelves(ItemKind.MEMORY, [Owner(Scope.PROJECT, place.id)])
    found = gather(
        tables,
        asked.query.text,
        shelves,
        lambda seqs: tables.memories.standings(seqs, Filters()),
        meaning,
        limit=LEG,
    ).candidates
    return {
        "items": sum(shelf.items for shelf in shelves),
        "length": len(asked.query.text.split()),
        **_words(tables, asked.query.text, shelves),
        **_meaning(tables, meaning, shelves),
        "top": [_candidate(one) for one in sorted(found, key=_nearness, reverse=True)[:SHOWN]],
        "top_words": [
            _candidate(one) for one in sorted(found, key=_matching, reverse=True)[:SHOWN]
        ],
    }


def _words(tables: Tables, query: str, shelves: Sequence[Shelf]) -> dict[str, Any]:
    told = tables.words.match(query, shelves, limit=LEG)
    best = told.matches[0] if told.matches else None
    covered = max((one.weight for one in told.matches), default=0.0)
    return {
        "question_weight": told.question_weight,
        "matching": told.matching,
        "bm25": best.score if best else 0.0,
        "bm25_10": told.matches[9].score if len(told.matches) > 9 else 0.0,
        "matched_words": max((len(one.words) for one in told.matches), default=0),
        "coverage": covered / told.question_weight if told.question_weight else 0.0,
        "weight": covered,
    }


def _meaning(tables: Tables, meaning: Meaning | None, shelves: Sequence[Shelf]) -> dict[str, Any]:
    if meaning is None:
        return {}
    many = sum(shelf.items for shelf in shelves)
    near = tables.vectors.near(meaning.model_id, meaning.vector, shelves, limit=many)
    cosines = sorted((one.similarity for one in near.values()), reverse=True)
    mean, spread = fmean(cosines), pstdev(cosines)
    return {
        "cosine": cosines[0],
        "cosine_10": cosines[min(9, len(cosines) - 1)],
        "cosine_mean": mean,
        "cosine_spread": spread,
        "z": (cosines[0] - mean) / spread if spread else 0.0,
    }


def _candidate(one: Candidate[Standing]) -> dict[str, Any]:
    return {
        "cosine": one.near.similarity if one.near else None,
        "chunks": one.near.chunks if one.near else None,
        "coverage": one.coverage,
        "bm25": one.words.score if one.words else 0.0,
        "words": len(one.words.words) if one.words else 0,
    }


def _nearness(one: Candidate[Standing]) -> float:
    return one.near.similarity if one.near else 0.0


def _matching(one: Candidate[Standing]) -> float:
    return one.words.score if one.words else 0.0


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.bar_features", description=__doc__)
    parser.add_argument("out", type=Path, help="the file to write, a JSON object a line")
    parser.add_argument("--tasks", type=Path, default=default_folder(), help="folder of the tasks")
    given = parser.parse_args(arguments)
    embedder = CachedEmbedder(choose_embedder(load_settings()), CACHE)
    try:
        tasks = unrelated_tasks(given.tasks)
        with given.out.open("w", encoding="utf-8") as lines:
            for task in tasks:
                for line in features(task, embedder):
                    lines.write(json.dumps(line, ensure_ascii=False) + "\n")
                print(task.name, file=sys.stderr, flush=True)
    except TasksMissing as missing:
        print(f"bar_features: {missing}", file=sys.stderr)
        return 2
    finally:
        embedder.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
