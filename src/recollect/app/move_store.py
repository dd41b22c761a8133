"""
Move a store to another database: from a file to a PostgreSQL server, or back.

The rows go the way of an import, in short transactions, and the vectors after them, so that nothing
is embedded again. What is there already is left as it is: a move that was interrupted is run again,
and continues. At the end both stores are read completely and compared: the number and the hash of
the rows of each table, the vectors of each model, and how a sample of memories rank. The source is
only read.
"""

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice

from recollect.app.local_recollect import key_places
from recollect.app.open_server_store import open_server_store
from recollect.clock import Clock, SystemClock
from recollect.config import Settings
from recollect.domain.memory import Memory, Status
from recollect.domain.move_report import MoveReport
from recollect.domain.retrieval import Filters
from recollect.domain.scope import ItemKind
from recollect.domain.unfinished_work import UnfinishedWork, WorkKind
from recollect.errors import AlreadyExists, ImportRefused, InvalidInput
from recollect.store.protocol import Store, Tables
from recollect.store.row_conversion import to_json
from recollect.store.search_index import IndexQuery, NeighbourQuery, SearchCandidate
from recollect.store.sqlite.store import SqliteStore
from recollect.store.values import ChunkEmbedding, ModelsInUse, RegisteredModel

MOVE = "move"  # the subject of the unfinished work
MOVED_ROWS = "move: rows"
VECTORS_AT_ONCE = 500
SAMPLE = 30  # memories whose neighbours are compared
SAMPLE_LIMIT = 20

Report = Callable[[str], None]


def move_store(settings: Settings, to: str, *, plain: bool, report: Report) -> MoveReport:
    """
    Copy the store of *settings* to the database *to* and compare the two.

    *plain*: an encrypted store may be copied to a place where it is not encrypted.
    """
    target_settings = replace(settings, db=to)
    if target_settings.location == settings.location:
        raise InvalidInput(f"{settings.location} cannot be moved to itself; name another place")
    clock = SystemClock()
    source = _open(settings, clock)
    try:
        target = _open(target_settings, clock)
        try:
            _check_encryption(source, target, plain=plain)
            _start(source, target, clock)
            report("Copying rows")
            work = _work(source, MOVED_ROWS, clock)
            target.import_rows(source.export_rows(), work)
            report("Copying vectors")
            vectors = _copy_vectors(source, target)
            target.update_statistics()
            report("Comparing")
            rows = _compare_rows(source, target)
            rankings = _compare_rankings(source, target)
            target.write(lambda tables: tables.unfinished_work.remove(WorkKind.IMPORT, MOVE))
        finally:
            target.close()
    finally:
        source.close()
    return MoveReport(
        source=settings.location,
        target=target_settings.location,
        rows=rows,
        vectors=vectors,
        compared_rankings=rankings,
    )


def _open(settings: Settings, clock: Clock) -> Store:
    if settings.is_on_server:
        return open_server_store(settings, clock)
    return SqliteStore(settings.db_path, clock, keys=key_places(settings))


def _check_encryption(source: Store, target: Store, *, plain: bool) -> None:
    encrypted_source = source.file is not None and source.file.is_encrypted
    encrypted_target = target.file is not None and target.file.is_encrypted
    if encrypted_source and not encrypted_target and not plain:
        raise InvalidInput(
            f"{source.location} is encrypted, and {target.location} would not be; pass --plain if "
            "the place itself is encrypted, or if that is all right"
        )


def _work(source: Store, subject: str, clock: Clock) -> UnfinishedWork:
    return UnfinishedWork(
        kind=WorkKind.IMPORT,
        subject=subject,
        detail=f"{source.location} (recollect move)",
        started_at=clock.now(),
    )


def _start(source: Store, target: Store, clock: Clock) -> None:
    """Record that the move has begun; refuse a target that has rows of its own."""
    with target.read() as tables:
        begun = [work for work in tables.unfinished_work.all() if work.subject == MOVE]
    work = _work(source, MOVE, clock)
    if begun and begun[0].detail != work.detail:
        raise AlreadyExists(
            f"{target.location} has a part of {begun[0].detail}; finish that move first, or choose "
            "an empty place"
        )
    if not begun and any(target.row_counts().values()):
        raise AlreadyExists(
            f"{target.location} is not empty; a store is moved to an empty place. To join two "
            "stores use `recollect export` and `recollect import`"
        )
    target.write(lambda tables: tables.unfinished_work.add(work))


def _copy_vectors(source: Store, target: Store) -> int:
    """Copy the vectors of every model, and which model is used; return how many there are."""
    count = 0
    with source.read() as tables:
        in_use = tables.embeddings.models_in_use()
        for model in tables.embeddings.all_models():
            model_id = target.write(partial(_add_model, model))
            for chunks in _batches(tables.embeddings.all_vectors(model.id)):
                target.write(partial(_save_vectors, model_id, chunks))
                count += len(chunks)
            ids = tables.embeddings.embedded_ids(model.id)
            target.write(partial(_finish_model, model_id, ids, model, in_use))
    return count


def _add_model(model: RegisteredModel, tables: Tables) -> int:
    return tables.embeddings.add_model(model.name, model.dimension)


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
            name = f"vectors of {model.name}"
            digest = digests.setdefault(name, hashlib.sha256())
            for chunk in tables.embeddings.all_vectors(model.id):
                counts[name] = counts.get(name, 0) + 1
                digest.update(f"{chunk.id} {chunk.chunk} {chunk.chunk_count}".encode())
                digest.update(chunk.text_hash + chunk.data)
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
