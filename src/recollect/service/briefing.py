"""
What an agent should know when a session begins, before anybody has asked anything.

Facts about the user, the project's facts, decisions and open points, what the last sessions were
about, and the project's blocks: the newest of each kind in turn, so that none crowds out the
others. No question is compared, so no embedder is needed. Deciding what gets in is
context/bundle.py; this file only reads.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import chain, zip_longest

from recollect.context.bundle import BundleInput, BundleOptions, assemble_bundle
from recollect.context.token_budget import BudgetShares
from recollect.domain.context_bundle import Bundle, Form
from recollect.domain.memory import MemoryType
from recollect.domain.retrieval import Filters, Hit, LoggedItem
from recollect.domain.scope import visible_owners
from recollect.service import inputs, read
from recollect.service.block_target import visible
from recollect.service.places import Where, find
from recollect.service.services import Services
from recollect.store.protocol import Tables
from recollect.text.token_counter import counter_for

# How many of each kind are looked at, newest first; the budget decides how many are told.
KINDS: tuple[tuple[MemoryType, int], ...] = (
    (MemoryType.DECISION, 15),
    (MemoryType.PROFILE, 15),
    (MemoryType.PROJECT, 15),
    (MemoryType.TASK_HINT, 8),
    (MemoryType.EPISODE, 3),
    (MemoryType.ARTIFACT, 5),
)
# Nobody talks yet: there is no history and no system prompt to leave room for.
SHARES = BudgetShares(system=0.0, blocks=0.3, history=0.0, relevant=0.65, margin=0.05)
WHY = "A session began here: the newest of each kind, while the budget allows."


@dataclass(frozen=True, kw_only=True)
class Request:
    """What a caller wants told, checked."""

    asked: read.Question
    budget_tokens: int
    form: Form
    model: str


def request(
    *,
    where: Where,
    budget_tokens: object = 1_500,
    form: object = Form.TAGS,
    model: object = "",
) -> Request:
    """Check what a caller wants told."""
    return Request(
        asked=read.Question(where=where),
        budget_tokens=inputs.count_of("budget_tokens", budget_tokens, least=50, most=2_000_000),
        form=inputs.one_of("form", Form, form),
        model=inputs.text_of("model", model, most=inputs.MAX_NAME).strip(),
    )


def briefing(services: Services, wanted: Request) -> Bundle:
    """Return what an agent should know when a session begins, within a token budget."""
    with services.store.read() as tables:
        viewer = find(tables, wanted.asked.where)
        hits = _newest(tables, wanted)
        blocks = tuple(visible(tables, None, viewer.project_id, None))
    wish = BundleOptions(
        budget_tokens=wanted.budget_tokens,
        count=cache(counter_for(wanted.model).count),
        shares=SHARES,
        form=wanted.form,
    )
    return _logged(
        services, wanted, assemble_bundle(BundleInput(hits=tuple(hits), blocks=blocks), wish), hits
    )


def _newest(tables: Tables, wanted: Request) -> list[Hit]:
    owners = visible_owners(find(tables, wanted.asked.where))
    session = wanted.asked.where.session or ""
    found = []
    for kind, limit in KINDS:
        # One more than is wanted: a session that goes on is not told of itself.
        newest = tables.memories.newest(owners, Filters(types=frozenset({kind})), limit + 1)
        found.append([one for one in newest if not one.is_record_of(session)][:limit])
    in_turn = chain.from_iterable(zip_longest(*found))
    return read.unasked(tables, [one for one in in_turn if one is not None], WHY)


def _logged(services: Services, wanted: Request, bundle: Bundle, hits: Sequence[Hit]) -> Bundle:
    reasons = {one.item_id: f"dropped: {one.reason}" for one in bundle.dropped}
    kept = [
        read.logged(rank, hit, reasons.get(hit.memory.id, "returned"))
        for rank, hit in enumerate(hits, start=1)
    ]
    items = [LoggedItem(kind="block", item_id=block.id) for block in bundle.blocks]
    retrieval_id = read.log_answer(services, "briefing", wanted.asked, kept, [WHY], items)
    return replace(bundle, retrieval_id=retrieval_id)
