"""Look after the store: verify, rebuild, drain, prune the log, status."""

from collections.abc import Iterator, Mapping

from recollect.domain.upkeep import EmbedderState, Pulse, StoreStatus, Verification
from recollect.errors import EmbedderUnavailable, StoreUnavailable
from recollect.models.named import ON_THIS_MACHINE
from recollect.service.deps import Deps
from recollect.service.jobs import work_in_steps
from recollect.store.protocol import Tables

PRUNED_AT_ONCE = 200  # retrievals, so that the write lock is never held for long


def verify(deps: Deps) -> Verification:
    """Check the file, the rules and the indexes; change nothing."""
    names, problems = deps.store.check()
    return Verification(checks=tuple(names), problems=tuple(problems))


def rebuild_indexes(deps: Deps) -> Mapping[str, int]:
    """Make every index anew from the memories."""
    return deps.store.rebuild()


def drain(deps: Deps) -> int:
    """Do everything that is due now; return how many jobs and items were worked on."""
    return sum(drain_in_steps(deps))


def drain_in_steps(deps: Deps) -> Iterator[int]:
    """Do everything that is due now, yielding how many jobs or items each step worked on."""
    for _ in work_in_steps(deps):
        yield 1
    yield from embed_in_steps(deps)
    while prune_log(deps):
        pass  # no work that anybody waits for, so it does not count


def embed_in_steps(deps: Deps) -> Iterator[int]:
    """Embed everything that waits, yielding how many items each step embedded."""
    indexer = deps.indexer()
    while indexer is not None and (done := indexer.step()):
        yield done


def embed_some(deps: Deps) -> int:
    """Embed a batch of what waits; return 0 where nothing does, or the embedder rests."""
    if deps.embedder().state is EmbedderState.OFF:
        return 0
    with deps.store.read() as tables:
        waiting, _ = _waiting(deps, tables)
        serving = tables.vectors.in_use().serving
    # What waited for a new model may have been forgotten: then it only has to take over.
    is_changing = serving is not None and serving.name != deps.embedder().name
    # Only now: the indexer brings NumPy, and asks an embedder behind HTTP how long its vectors are.
    indexer = deps.indexer() if waiting or is_changing else None
    return 0 if indexer is None or indexer.resting else indexer.step()


def prune_log(deps: Deps, *, slack: int = PRUNED_AT_ONCE) -> int:
    """
    Remove a batch of the oldest logged retrievals beyond those that are kept; return how many.

    Nothing is done before *slack* are too many: one write for so many questions, not for each.
    """
    keep = deps.settings.keep_retrievals
    if not keep:
        return 0
    with deps.store.read() as tables:
        if tables.retrievals.count() < keep + slack:
            return 0
    return deps.store.write(lambda tables: tables.retrievals.prune(keep, most=PRUNED_AT_ONCE))


def warm(deps: Deps) -> bool:
    """Load the embedder where it runs on this machine; say whether it does."""
    if deps.embedder().backend not in ON_THIS_MACHINE:
        return False
    indexer = deps.indexer()
    if indexer is not None:
        indexer.warm()
    return indexer is not None


def try_embedder(deps: Deps) -> str:
    """Embed one word and say with what; raises `EmbedderUnavailable`."""
    indexer = deps.indexer()
    if indexer is None:
        return "switched off; search goes by words"
    embedder = indexer.wanted()
    return f"{embedder.name}, {len(embedder.embed_query('test'))} dimensions"


def status(deps: Deps) -> StoreStatus:
    """Return what is in the store and how far its indexes are."""
    embedder = _embedder_name(deps)
    with deps.store.read() as tables:
        by_status = tables.memories.count_by_status()
        embedded = dict(tables.vectors.count_by_model())
        jobs = tables.jobs.count_by_state()
        next_job_at = tables.jobs.next_run()
        extracted, rejected = tables.memories.count_extracted()
        contradictions = tables.links.count_conflicts()
        serving = tables.vectors.in_use().serving
    items = sum(embedded.values())
    embedded.pop("", None)
    return StoreStatus(
        path=str(deps.store.path),
        schema=deps.store.schema(),
        bytes=deps.store.path.stat().st_size,
        counts=deps.store.counts(),
        memories_by_status=by_status,
        embedder=embedder,
        serving=serving.name if serving else "",
        embedded=embedded,
        waiting=items - embedded.get(embedder, 0),
        jobs=jobs,
        next_job_at=next_job_at if next_job_at and next_job_at > deps.clock.now() else None,
        extracted=extracted,
        rejected=rejected,
        contradictions=contradictions,
    )


def pulse(deps: Deps) -> Pulse:
    """Take a short look at the store, without waking the embedder; raises `StoreError`."""
    if not deps.store.path.exists():
        # It can still be read while it is held open, but what is written goes nowhere.
        raise StoreUnavailable(
            f"{deps.store.path} is no longer there; put it back, or stop this program soon"
        )
    with deps.store.read() as tables:
        jobs = tables.jobs.count_open()
        waiting, dimension = _waiting(deps, tables)
    return Pulse(schema=deps.store.schema(), jobs=jobs, waiting=waiting, dimension=dimension)


def _waiting(deps: Deps, tables: Tables) -> tuple[int, int | None]:
    """Return how many items wait for the present embedder, and the dimension it had last."""
    seen = deps.embedder()
    if seen.state is EmbedderState.OFF:
        return 0, None
    model_id, dimension = tables.vectors.latest_model(seen.name) or (None, None)
    return tables.vectors.count_waiting(model_id), dimension


def _embedder_name(deps: Deps) -> str:
    try:
        indexer = deps.indexer()
        return "none" if indexer is None else indexer.wanted().name
    except EmbedderUnavailable:
        return "none that works"
