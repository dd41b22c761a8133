"""
Assemble what an agent should know when a session starts, before the first question.

Facts about the user, the project's facts, decisions and open points, what the last sessions were
about, and the project's blocks: the newest of each kind in turn, so that no kind fills the budget
alone. There is no query, so no embedder is needed. context/bundle.py decides what fits; this file
only reads.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain, zip_longest

from recollect.context.bundle import BundleInput, BundleOptions, assemble_bundle
from recollect.context.bundle_selection import newer_sides_first
from recollect.context.token_budget import BudgetShares
from recollect.domain.context_bundle import Bundle
from recollect.domain.memory import UNREVIEWED, Memory, MemoryType
from recollect.domain.retrieval import DEFAULT_STATUSES, Filters, Hit, LoggedItem
from recollect.domain.scope import Viewer, visible_owners
from recollect.service.block_lookup import BlockPlace, visible_blocks
from recollect.service.memory_query import MemoryQuery
from recollect.service.place_lookup import find_viewer, place_of
from recollect.service.retrieval_log import log_query, logged_hits
from recollect.service.search_memories import unranked_hits
from recollect.service.services import Services
from recollect.service.shared_material import SharedMaterial, add_shared
from recollect.store.protocol import Tables
from recollect.text.token_counter import cached_count, counter_for
from recollect.wire.requests.recollect import BriefingRequest

# How many of each kind are read, newest first; the budget decides how many are shown.
KINDS: tuple[tuple[MemoryType, int], ...] = (
    (MemoryType.DECISION, 15),
    (MemoryType.PROFILE, 15),
    (MemoryType.PROJECT, 15),
    (MemoryType.TASK_HINT, 8),
    (MemoryType.EPISODE, 3),
    (MemoryType.ARTIFACT, 5),
)
# The session starts: there is no history and no system prompt to leave room for.
SHARES = BudgetShares(system=0.0, blocks=0.3, history=0.0, relevant=0.65, margin=0.05)
WHY_NEWER = "Said later than a memory of the briefing, and contradicts it."
WHY = "A session began here: the newest of each kind, while the budget allows."


def briefing(
    services: Services, request: BriefingRequest, *, shared: Sequence[SharedMaterial] = ()
) -> Bundle:
    """
    Return what an agent should know when a session starts, within a token budget.

    *shared* is what other stores have: those of projects with members.
    """
    model = request.model.strip()
    query = MemoryQuery(place=place_of(request))
    with services.store.read() as tables:
        viewer = find_viewer(tables, query.place)
        hits = _newest_hits(tables, viewer)
        blocks = tuple(visible_blocks(tables, BlockPlace(project_id=viewer.project_id)))
    options = BundleOptions(
        budget_tokens=request.budget_tokens,
        count=cached_count(counter_for(model)),
        shares=SHARES,
        form=request.form,
    )
    inputs = add_shared(BundleInput(hits=tuple(hits), blocks=blocks), shared)
    bundle = assemble_bundle(inputs, options)
    reasons = {item.item_id: f"dropped: {item.reason}" for item in bundle.dropped}
    logged = logged_hits(hits, reasons)
    items = [LoggedItem(kind="block", item_id=block.id) for block in bundle.blocks]
    retrieval_id = log_query(
        services, "briefing", query, logged, [WHY], items, agent_id=viewer.agent_id
    )
    return replace(bundle, retrieval_id=retrieval_id)


def shared_briefing(services: Services, request: BriefingRequest) -> SharedMaterial:
    """Return the newest memories and the blocks of this store, for the briefing of another."""
    with services.store.read() as tables:
        viewer = find_viewer(tables, place_of(request))
        blocks = visible_blocks(tables, BlockPlace(project_id=viewer.project_id))
        return SharedMaterial(tuple(_newest_hits(tables, viewer)), tuple(blocks))


def _newest_hits(tables: Tables, viewer: Viewer) -> list[Hit]:
    owners = visible_owners(viewer)
    by_kind = []
    for kind, limit in KINDS:
        # One more than needed: the record of a session that goes on is left out.
        filters = Filters(types=frozenset({kind})).seen_by(viewer)
        newest = tables.memories.newest(owners, filters, limit + 1)
        session = viewer.session_id or ""
        by_kind.append([memory for memory in newest if not memory.is_record_of(session)][:limit])
    in_turn = chain.from_iterable(zip_longest(*by_kind))
    hits = unranked_hits(tables, [memory for memory in in_turn if memory is not None], WHY)
    return _with_newer_statements(tables, viewer, hits)


def _with_newer_statements(tables: Tables, viewer: Viewer, hits: Sequence[Hit]) -> list[Hit]:
    """
    Return *hits*, before each what the user said later that contradicts it.

    It may wait for a review; without it, what the user changed would be presented as current. An
    older statement that nobody reviewed is not presented, and neither is its conflict.
    """
    conflict_ids = {other_id for hit in hits for other_id in hit.conflicts}
    if not conflict_ids:
        return list(hits)
    filters = Filters(statuses=frozenset(DEFAULT_STATUSES) | UNREVIEWED, only_said=True)
    filters, owners = filters.seen_by(viewer), visible_owners(viewer)
    others = {other.id: other for other in tables.memories.get_many(sorted(conflict_ids))}
    newer: dict[str, Memory] = {}
    presented = []
    for hit in hits:
        conflicts = []
        for other in (others[other_id] for other_id in hit.conflicts if other_id in others):
            if other.is_reviewed or other.observed_at >= hit.memory.observed_at:
                conflicts.append(other.id)
            is_newer = other.observed_at > hit.memory.observed_at
            if is_newer and other.owner in owners and filters.violation(other) is None:
                newer[other.id] = other
        presented.append(replace(hit, conflicts=tuple(conflicts)))
    present_ids = {hit.memory.id for hit in hits}
    missing = [other for other in newer.values() if other.id not in present_ids]
    return newer_sides_first([*presented, *unranked_hits(tables, missing, WHY_NEWER)])
