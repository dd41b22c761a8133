"""Look after the store: verify, rebuild, drain, status."""

from collections.abc import Iterator, Mapping

from recollect.domain.upkeep import StoreStatus, Verification
from recollect.errors import EmbedderUnavailable
from recollect.service.deps import Deps
from recollect.service.jobs import work_in_steps


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


def embed_in_steps(deps: Deps) -> Iterator[int]:
    """Embed everything that waits, yielding how many items each step embedded."""
    indexer = deps.indexer()
    while indexer is not None and (done := indexer.step()):
        yield done


def try_embedder(deps: Deps) -> str:
    """Embed one word and say with what; raises `EmbedderUnavailable`."""
    indexer = deps.indexer()
    if indexer is None:
        return "switched off; search goes by words"
    vector = indexer.embedder.embed_query("test")
    return f"{indexer.embedder.name}, {len(vector)} dimensions"


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
    items = sum(embedded.values())
    embedded.pop("", None)
    return StoreStatus(
        path=str(deps.store.path),
        schema=deps.store.schema(),
        bytes=deps.store.path.stat().st_size,
        counts=deps.store.counts(),
        memories_by_status=by_status,
        embedder=embedder,
        embedded=embedded,
        waiting=items - embedded.get(embedder, 0),
        jobs=jobs,
        next_job_at=next_job_at if next_job_at and next_job_at > deps.clock.now() else None,
        extracted=extracted,
        rejected=rejected,
        contradictions=contradictions,
    )


def _embedder_name(deps: Deps) -> str:
    try:
        indexer = deps.indexer()
    except EmbedderUnavailable:
        return "none that works"
    return "none" if indexer is None else indexer.embedder.name
