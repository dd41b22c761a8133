"""Look after the store: verify, rebuild, drain, prune the log, status."""

from collections.abc import Iterator, Mapping

from recollect.domain.maintenance import EmbedderState, StoreHealth, StoreStatus, Verification
from recollect.errors import EmbedderUnavailable, StoreUnavailable
from recollect.models.model_names import LOCAL_BACKENDS
from recollect.service.jobs import work_in_steps
from recollect.service.services import Services
from recollect.store.protocol import Tables

PRUNED_AT_ONCE = 200  # retrievals, so that the write lock is never held for long


def verify(services: Services) -> Verification:
    """Check the file, the rules and the indexes; change nothing."""
    names, problems = services.store.check()
    return Verification(checks=tuple(names), problems=tuple(problems))


def rebuild_indexes(services: Services) -> Mapping[str, int]:
    """Make every index anew from the memories."""
    return services.store.rebuild_indexes()


def drain(services: Services) -> int:
    """Do everything that is due now; return how many jobs and items were worked on."""
    return sum(drain_in_steps(services))


def drain_in_steps(services: Services) -> Iterator[int]:
    """Do everything that is due now, yielding how many jobs or items each step worked on."""
    for _ in work_in_steps(services):
        yield 1
    yield from embed_in_steps(services)
    while prune_log(services):
        pass  # no work that anybody waits for, so it does not count


def embed_in_steps(services: Services) -> Iterator[int]:
    """Embed everything that waits, yielding how many items each step embedded."""
    indexer = services.indexer()
    while indexer is not None and (done := indexer.embed_batch()):
        yield done


def embed_some(services: Services) -> int:
    """Embed a batch of what waits; return 0 where nothing does, or the embedder rests."""
    if services.embedder().state is EmbedderState.OFF:
        return 0
    with services.store.read() as tables:
        waiting, _ = _waiting(services, tables)
        serving = tables.embeddings.models_in_use().serving
    # What waited for a new model may have been forgotten: then it only has to take over.
    is_changing = serving is not None and serving.name != services.embedder().name
    # Only now: the indexer brings NumPy, and asks an embedder behind HTTP how long its vectors are.
    indexer = services.indexer() if waiting or is_changing else None
    return 0 if indexer is None or indexer.is_paused else indexer.embed_batch()


def prune_log(services: Services, *, slack: int = PRUNED_AT_ONCE) -> int:
    """
    Remove a batch of the oldest logged retrievals beyond those that are kept; return how many.

    Nothing is done before *slack* are too many: one write for so many questions, not for each.
    """
    keep = services.settings.keep_retrievals
    if not keep:
        return 0
    with services.store.read() as tables:
        if tables.retrievals.count() < keep + slack:
            return 0
    return services.store.write(lambda tables: tables.retrievals.prune(keep, limit=PRUNED_AT_ONCE))


def warm(services: Services) -> bool:
    """Load the embedder where it runs on this machine; say whether it does."""
    if services.embedder().backend not in LOCAL_BACKENDS:
        return False
    indexer = services.indexer()
    if indexer is not None:
        indexer.warm_up()
    return indexer is not None


def try_embedder(services: Services) -> str:
    """Embed one word and say with what; raises `EmbedderUnavailable`."""
    indexer = services.indexer()
    if indexer is None:
        return "switched off; search goes by words"
    embedder = indexer.target_embedder()
    return f"{embedder.name}, {len(embedder.embed_query('test'))} dimensions"


def status(services: Services) -> StoreStatus:
    """Return what is in the store and how far its indexes are."""
    embedder = _embedder_name(services)
    with services.store.read() as tables:
        by_status = tables.memories.count_by_status()
        embedded = dict(tables.embeddings.count_by_model())
        jobs = tables.jobs.count_by_state()
        next_job_at = tables.jobs.next_run_at()
        extracted, rejected = tables.memories.count_extracted()
        contradictions = tables.links.count_conflicts()
        serving = tables.embeddings.models_in_use().serving
    items = sum(embedded.values())
    embedded.pop("", None)
    return StoreStatus(
        path=str(services.store.path),
        schema=services.store.schema_version(),
        bytes=services.store.path.stat().st_size,
        counts=services.store.row_counts(),
        memories_by_status=by_status,
        embedder=embedder,
        serving=serving.name if serving else "",
        embedded=embedded,
        waiting=items - embedded.get(embedder, 0),
        jobs=jobs,
        next_job_at=next_job_at if next_job_at and next_job_at > services.clock.now() else None,
        extracted=extracted,
        rejected=rejected,
        contradictions=contradictions,
    )


def pulse(services: Services) -> StoreHealth:
    """Take a short look at the store, without waking the embedder; raises `StoreError`."""
    if not services.store.path.exists():
        # It can still be read while it is held open, but what is written goes nowhere.
        raise StoreUnavailable(
            f"{services.store.path} is no longer there; put it back, or stop this program soon"
        )
    with services.store.read() as tables:
        jobs = tables.jobs.count_open()
        waiting, dimension = _waiting(services, tables)
    return StoreHealth(
        schema=services.store.schema_version(), jobs=jobs, waiting=waiting, dimension=dimension
    )


def _waiting(services: Services, tables: Tables) -> tuple[int, int | None]:
    """Return how many items wait for the present embedder, and the dimension it had last."""
    seen = services.embedder()
    if seen.state is EmbedderState.OFF:
        return 0, None
    model_id, dimension = tables.embeddings.latest_model(seen.name) or (None, None)
    return tables.embeddings.count_pending(model_id), dimension


def _embedder_name(services: Services) -> str:
    try:
        indexer = services.indexer()
        return "none" if indexer is None else indexer.target_embedder().name
    except EmbedderUnavailable:
        return "none that works"
