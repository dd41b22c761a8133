"""
Write the scores that a relevance threshold could use: `python -m benchmarks.threshold_features`.

Stores each task of unrelated_questions.py, asks every question, and writes one line for each: the
scores of the best candidates in each index, statistics of the store, and how well search answers. A
rule for "nothing here answers this" can then be tried offline.
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
from benchmarks.cached_embedder import CachedEmbedder
from benchmarks.memory_adapter import MemoryAdapter
from benchmarks.metrics import recall
from benchmarks.quality import CACHE
from benchmarks.question_rounds import PlacedQuery, question_rounds
from benchmarks.tasks import Task, TasksMissing, default_folder
from benchmarks.unrelated_questions import kind_of, unrelated_tasks
from recollect.config import load_settings
from recollect.domain.retrieval import Filters
from recollect.domain.scope import ItemKind, Owner, Scope
from recollect.models.embedder import Embedder
from recollect.models.model_factory import create_embedder
from recollect.service.query_snapshot import query_snapshot
from recollect.service.services import Services
from recollect.store.protocol import Tables
from recollect.store.search_index import IndexQuery, QueryVector, SearchCandidate

SHOWN = 5
DEPTH = 50  # candidates of each index
MAX_ITEMS = 1_000_000


def features(task: Task, embedder: Embedder) -> Iterator[dict[str, Any]]:
    """Yield the features of every question of *task*."""
    with TemporaryDirectory(prefix="recollect-bench-") as folder:
        path = Path(folder) / "memory.db"
        with recollect.open(path, embedder=embedder, cross_project=False) as rec:
            adapter = MemoryAdapter()
            for round_ in question_rounds(task):
                adapter.store(rec, round_.items)
                rec.drain()
                for query in round_.queries:
                    yield _line(task.name, rec, query, adapter)


def _line(
    task: str, rec: recollect.LocalRecollect, placed: PlacedQuery, adapter: MemoryAdapter
) -> dict[str, Any]:
    query = placed.query
    hits = rec.search(query.text, project=placed.project, asked_at=query.asked_at, limit=SHOWN)
    ranked = adapter.items(hits)
    services = rec._services  # the indexes are not public
    with query_snapshot(services, query.text) as snapshot:
        index_scores = _index_scores(snapshot.tables, services, placed, snapshot.vector)
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
        **index_scores,
    }


def _index_scores(
    tables: Tables, services: Services, placed: PlacedQuery, meaning: QueryVector | None
) -> dict[str, Any]:
    place = tables.projects.project_by_identity(placed.project)
    assert place is not None
    index_query = IndexQuery(
        kind=ItemKind.MEMORY,
        text=placed.query.text,
        vector=meaning,
        owners=[Owner(Scope.PROJECT, place.id)],
        filters=Filters(),
        limit=DEPTH,
    )
    candidates = tables.search_index.search(index_query).candidates
    return {
        "items": len(tables.search_index.timeline(index_query, limit=MAX_ITEMS) or []),
        "length": len(placed.query.text.split()),
        **_words(candidates),
        **_meaning(candidates),
        "top": [
            _candidate(candidate)
            for candidate in sorted(candidates, key=_nearness, reverse=True)[:SHOWN]
        ],
        "top_words": [
            _candidate(candidate)
            for candidate in sorted(candidates, key=_matching, reverse=True)[:SHOWN]
        ],
    }


def _words(candidates: Sequence[SearchCandidate]) -> dict[str, Any]:
    """Return how the candidates match words, the best of each measure."""
    matches = [c.word_match for c in candidates if c.word_match]
    scores = sorted((match.score for match in matches), reverse=True)
    return {
        "matching": len(matches),
        "bm25": scores[0] if scores else 0.0,
        "bm25_10": scores[9] if len(scores) > 9 else 0.0,
        "matched_words": max((len(match.words) for match in matches), default=0),
        "coverage": max((c.coverage for c in candidates), default=0.0),
        "weight": max((match.weight for match in matches), default=0.0),
    }


def _meaning(candidates: Sequence[SearchCandidate]) -> dict[str, Any]:
    """Return how similar the candidates are; the others of the store are not compared."""
    compared = (c.vector_match.similarity for c in candidates if c.vector_match)
    cosines = sorted(compared, reverse=True)
    if not cosines:
        return {}
    mean, spread = fmean(cosines), pstdev(cosines)
    return {
        "cosine": cosines[0],
        "cosine_10": cosines[min(9, len(cosines) - 1)],
        "cosine_mean": mean,
        "cosine_spread": spread,
        "z": (cosines[0] - mean) / spread if spread else 0.0,
    }


def _candidate(candidate: SearchCandidate) -> dict[str, Any]:
    return {
        "cosine": candidate.vector_match.similarity if candidate.vector_match else None,
        "chunks": candidate.vector_match.chunk_count if candidate.vector_match else None,
        "coverage": candidate.coverage,
        "bm25": candidate.word_match.score if candidate.word_match else 0.0,
        "words": len(candidate.word_match.words) if candidate.word_match else 0,
    }


def _nearness(candidate: SearchCandidate) -> float:
    return candidate.vector_match.similarity if candidate.vector_match else 0.0


def _matching(candidate: SearchCandidate) -> float:
    return candidate.word_match.score if candidate.word_match else 0.0


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.threshold_features", description=__doc__
    )
    parser.add_argument("out", type=Path, help="the file to write, a JSON object a line")
    parser.add_argument("--tasks", type=Path, default=default_folder(), help="folder of the tasks")
    options = parser.parse_args(arguments)
    embedder = CachedEmbedder(create_embedder(load_settings()), CACHE)
    try:
        tasks = unrelated_tasks(options.tasks)
        with options.out.open("w", encoding="utf-8") as lines:
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
