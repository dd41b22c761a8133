"""
Copy one store into another one, and compare the two.

The rows go the way of an import, in short transactions, then the vectors, so that nothing is
embedded again, then the audit log. What is there already is left as it is: a copy that was
interrupted is made again, and continues. At the end both stores are read completely and compared:
the number and the hash of the rows of each table, of the vectors of each model and of the audit
log, and how a sample of memories rank. The source is only read.
"""

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice

from recollect.clock import Clock
from recollect.domain.memory import Memory, Status
from recollect.domain.retrieval import Filters
from recollect.domain.scope import ItemKind
from recollect.domain.team import AuditEntry
from recollect.domain.unfinished_work import UnfinishedWork, WorkKind
from recollect.errors import AlreadyExists, ImportRefused
from recollect.lazy_dataclass import dataclass
from recollect.store.protocol import Store, Tables
from recollect.store.repositories.repository import field_values
from recollect.store.row_conversion import to_json
from recollect.store.search_index import IndexQuery, NeighbourQuery, SearchCandidate
from recollect.store.values import ChunkEmbedding, ModelsInUse, RegisteredModel

MOVE = "move"  # the subject of the unfinished work
MOVED_ROWS = "move: rows"
VECTORS_AT_ONCE = 500
ENTRIES_AT_ONCE = 1_000  # of the audit log
SAMPLE = 30  # memories whose neighbours are compared
SAMPLE_LIMIT = 20
AUDIT_LOG = "audit_log"
VECTORS_OF = "vectors of "  # then the name of the model: the name of their fingerprint

Report = Callable[[str], None]


@dataclass(frozen=True, kw_only=True)
class CopyCounts:
    """What was copied and compared of one store."""

    rows: Mapping[str, int]  # by table
    vectors: int
    rankings: int


def start_copy(source: Store, target: Store, clock: Clock) -> bool:
    """
    Record in *target* that it gets a copy; return whether an earlier copy continues.

    A target that has rows of its own is refused.
    """
    with target.read() as tables:
        begun = [work for work in tables.unfinished_work.all() if work.subject == MOVE]
        has_users = tables.team.has_users()
    work = _work(source, MOVE, clock)
    if begun and begun[0].detail != work.detail:
        raise AlreadyExists(
            f"{target.location} has a part of {begun[0].detail}; finish that move first, or choose "
            "an empty place"
        )
    if not begun and (has_users or has_rows(target)):
        raise AlreadyExists(
            f"{target.location} is not empty; a store is moved to an empty place. To join two "
            "stores use `recollect export` and `recollect import`"
        )
    if not begun:
        target.write(lambda tables: tables.unfinished_work.add(work))
    return bool(begun)


def has_rows(store: Store) -> bool:
    """Return whether a store has anything that a copy would have."""
    with store.read() as tables:
        return bool(tables.team.last_audit_id()) or any(store.row_counts().values())


def is_copying(target: Store) -> bool:
    """Return whether a copy to *target* has begun and is not finished."""
    with target.read() as tables:
        return any(work.subject == MOVE for work in tables.unfinished_work.all())


def finish_copy(tables: Tables) -> None:
    """Record that a copy is complete."""
    tables.unfinished_work.remove(WorkKind.IMPORT, MOVE)


def copy_content(source: Store, target: Store, clock: Clock, *, report: Report) -> None:
    """Copy rows, vectors and the audit log."""
    report("Copying rows")
    target.import_rows(source.export_rows(), _work(source, MOVED_ROWS, clock))
    report("Copying vectors")
    _copy_vectors(source, target)
    _copy_audit_log(source, target)
    target.update_statistics()


def compare_stores(source: Store, target: Store) -> CopyCounts:
    """Return what both stores have; raises `ImportRefused` if they differ."""
    rows = _compare_rows(source, target)
    vectors = sum(count for name, count in rows.items() if name.startswith(VECTORS_OF))
    return CopyCounts(rows=rows, vectors=vectors, rankings=_compare_rankings(source, target))


def _work(source: Store, subject: str, clock: Clock) -> UnfinishedWork:
    return UnfinishedWork(
        kind=WorkKind.IMPORT,
        subject=subject,
        detail=f"{source.location} (recollect move)",
        started_at=clock.now(),
    )


def _copy_vectors(source: Store, target: Store) -> None:
    """Copy the vectors of every model, and which model is used."""
    with source.read() as tables:
        in_use = tables.embeddings.models_in_use()
        for model in tables.embeddings.all_models():
            model_id = target.write(partial(_add_model, model))
            for chunks in _batches(tables.embeddings.all_vectors(model.id)):
                target.write(partial(_save_vectors, model_id, chunks))
            ids = tables.embeddings.embedded_ids(model.id)
            target.write(partial(_finish_model, model_id, ids, model, in_use))


def _add_model(model: RegisteredModel, tables: Tables) -> int:
    model_id = tables.embeddings.add_model(model.name, model.dimension)
    if model.profile is not None:
        tables.embeddings.set_profile(model_id, model.profile)
    return model_id


def _finish_model(
    model_id: int, ids: Sequence[str], model: RegisteredModel, in_use: ModelsInUse, tables: Tables
) -> None:
    """Use the model as the source does, and mark the records that it has embedded."""
    if in_use.serving == model:
        tables.embeddings.set_serving_model(model_id)
    if in_use.chosen == model:
        tables.embeddings.choose_model(model_id)
    tables.embeddings.save(model_id, ids, ())


def _save_vectors(model_id: int, chunks: Sequence[ChunkEmbedding], tables: Tables) -> None:
    tables.embeddings.save(model_id, (), chunks)


def _batches(chunks: Iterator[ChunkEmbedding]) -> Iterator[list[ChunkEmbedding]]:
    while batch := list(islice(chunks, VECTORS_AT_ONCE)):
        yield batch


def _copy_audit_log(source: Store, target: Store) -> None:
    with target.read() as tables:
        last = tables.team.last_audit_id()
    for entries in _audit_pages(source, after=last):
        target.write(partial(_add_entries, entries))


def _add_entries(entries: Sequence[AuditEntry], tables: Tables) -> None:
    tables.team.add_audit_entries(entries)


def _audit_pages(store: Store, *, after: str = "") -> Iterator[list[AuditEntry]]:
    while True:
        with store.read() as tables:
            entries = tables.team.audit_page(after=after, limit=ENTRIES_AT_ONCE)
        if not entries:
            return
        yield entries
        after = entries[-1].id


def _compare_rows(source: Store, target: Store) -> Mapping[str, int]:
    """Return the number of rows by table; raises if the rows of a table differ."""
    ours, theirs = _fingerprints(source), _fingerprints(target)
    differing = [name for name in {**ours, **theirs} if ours.get(name) != theirs.get(name)]
    if differing:
        raise ImportRefused(
            f"the copy differs from {source.location} in {', '.join(differing)}. If a program "
            f"wrote to it meanwhile, stop it, empty {target.location} and move the store again"
        )
    return {name: count for name, (count, _) in ours.items()}


def _fingerprints(store: Store) -> dict[str, tuple[int, str]]:
    """Return the number of rows of each table and of each model, and a hash of all of them."""
    counts: dict[str, int] = {}
    digests: dict[str, hashlib._Hash] = {}
    for row in store.export_rows():
        table = str(row["table"])
        counts[table] = counts.get(table, 0) + 1
        digest = digests.setdefault(table, hashlib.sha256())
        digest.update(to_json(row).encode())
    with store.read() as tables:
        for model in tables.embeddings.all_models():
            name = f"{VECTORS_OF}{model.name}"
            digest = digests.setdefault(name, hashlib.sha256())
            for chunk in tables.embeddings.all_vectors(model.id):
                counts[name] = counts.get(name, 0) + 1
                digest.update(f"{chunk.id} {chunk.chunk} {chunk.chunk_count}".encode())
                digest.update(chunk.text_hash + chunk.data)
    for entries in _audit_pages(store):
        counts[AUDIT_LOG] = counts.get(AUDIT_LOG, 0) + len(entries)
        digest = digests.setdefault(AUDIT_LOG, hashlib.sha256())
        for entry in entries:
            digest.update(str(field_values(entry)).encode())
    return {name: (count, digests[name].hexdigest()) for name, count in counts.items()}


def _compare_rankings(source: Store, target: Store) -> int:
    """Compare what both find for a sample of memories; return how many were compared."""
    with source.read() as tables:
        ids = tables.memories.ids_with_status(Status.ACTIVE)
        step = max(1, len(ids) // SAMPLE)
        sample = tables.memories.get_many(ids[::step][:SAMPLE])
        expected = [_ranking(tables, memory) for memory in sample]
    with target.read() as tables:
        for memory, ranking in zip(sample, expected, strict=True):
            if _ranking(tables, memory) != ranking:
                raise ImportRefused(
                    f"{target.location} ranks other memories for the words of {memory.id}; keep "
                    "using the source, and report this"
                )
    return len(sample)


def _ranking(tables: Tables, memory: Memory) -> list[object]:
    """Return what is found for the words and for the vector of *memory*, with all scores."""
    query = IndexQuery(
        kind=ItemKind.MEMORY,
        text=memory.content,
        vector=None,
        owners=None,
        limit=SAMPLE_LIMIT,
        filters=Filters(),
    )
    serving = tables.embeddings.models_in_use().serving
    near = NeighbourQuery(memory.content, owners=[memory.owner], like=memory.id)
    similar = tables.search_index.neighbours(
        [near], limit=SAMPLE_LIMIT, model_id=None if serving is None else serving.id
    )
    return [*map(_scores, tables.search_index.search(query).candidates), *similar]


def _scores(candidate: SearchCandidate) -> tuple[object, ...]:
    return candidate.record.id, candidate.word_match, candidate.coverage
