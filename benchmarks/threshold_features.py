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
from recollect.retrieval.search_candidates import Candidate, QueryVector, find_candidates
from recollect.service.read import query_vector
from recollect.service.services import Services
from recollect.store.protocol import Tables
from recollect.store.values import CandidateRow, Partition

SHOWN = 5
DEPTH = 50  # candidates of each index


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
    meaning, _ = query_vector(services, query.text)
    with services.store.read() as tables:
        index_scores = _index_scores(tables, services, placed, meaning)
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
    partitions = tables.word_index.partitions(ItemKind.MEMORY, [Owner(Scope.PROJECT, place.id)])
    candidates = find_candidates(
        tables,
        placed.query.text,
        partitions,
        lambda item_ids: tables.memories.candidate_rows(item_ids, Filters()),
        meaning,
        limit=DEPTH,
    ).candidates
    return {
        "items": sum(partition.item_count for partition in partitions),
        "length": len(placed.query.text.split()),
        **_words(tables, placed.query.text, partitions),
        **_meaning(tables, meaning, partitions),
        "top": [
            _candidate(candidate)
            for candidate in sorted(candidates, key=_nearness, reverse=True)[:SHOWN]
        ],
        "top_words": [
            _candidate(candidate)
            for candidate in sorted(candidates, key=_matching, reverse=True)[:SHOWN]
        ],
    }


def _words(tables: Tables, query: str, partitions: Sequence[Partition]) -> dict[str, Any]:
    result = tables.word_index.match(query, partitions, limit=DEPTH)
    best = result.matches[0] if result.matches else None
    covered = max((match.weight for match in result.matches), default=0.0)
    return {
        "question_weight": result.query_weight,
        "matching": result.match_count,
        "bm25": best.score if best else 0.0,
        "bm25_10": result.matches[9].score if len(result.matches) > 9 else 0.0,
        "matched_words": max((len(match.words) for match in result.matches), default=0),
        "coverage": covered / result.query_weight if result.query_weight else 0.0,
        "weight": covered,
    }


def _meaning(
    tables: Tables, meaning: QueryVector | None, partitions: Sequence[Partition]
) -> dict[str, Any]:
    if meaning is None:
        return {}
    many = sum(partition.item_count for partition in partitions)
    near = tables.embeddings.nearest(meaning.model_id, meaning.values, partitions, limit=many)
    cosines = sorted((match.similarity for match in near.values()), reverse=True)
    mean, spread = fmean(cosines), pstdev(cosines)
    return {
        "cosine": cosines[0],
        "cosine_10": cosines[min(9, len(cosines) - 1)],
        "cosine_mean": mean,
        "cosine_spread": spread,
        "z": (cosines[0] - mean) / spread if spread else 0.0,
    }


def _candidate(candidate: Candidate[CandidateRow]) -> dict[str, Any]:
    return {
        "cosine": candidate.vector_match.similarity if candidate.vector_match else None,
        "chunks": candidate.vector_match.chunk_count if candidate.vector_match else None,
        "coverage": candidate.coverage,
        "bm25": candidate.word_match.score if candidate.word_match else 0.0,
        "words": len(candidate.word_match.words) if candidate.word_match else 0,
    }


def _nearness(candidate: Candidate[CandidateRow]) -> float:
    return candidate.vector_match.similarity if candidate.vector_match else 0.0


def _matching(candidate: Candidate[CandidateRow]) -> float:
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
