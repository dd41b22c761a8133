"""Requests for the inbox: candidates that wait for a decision."""

from recollect.domain.block import BlockAuthor
from recollect.domain.maintenance import InboxItem
from recollect.domain.memory import Memory
from recollect.wire.fields import Flag, MemoryIds, ScopeName, Summary, Verdict, Writer
from recollect.wire.request import VerbRequest
from recollect.wire.requests.shared import InboxFilterFields


class ListInboxRequest(InboxFilterFields, VerbRequest[list[InboxItem]], route="GET /inbox"):
    """Return the candidates that wait for a decision."""

    grouped: Flag = True


class ReviewOrderRequest(VerbRequest[list[str]], route="GET /inbox/order"):
    """Return the ids of all candidates in the order of review."""


class InboxItemsRequest(VerbRequest[list[InboxItem]], route="GET /inbox/items"):
    """Return some candidates with what a reviewer needs."""

    memory_ids: MemoryIds


class DecideRequest(VerbRequest[list[Memory]], route="POST /inbox/decide"):
    """Decide about candidates and their duplicates."""

    memory_ids: MemoryIds
    verdict: Verdict
    reason: Summary = ""
    by: Writer = BlockAuthor.USER


class PromoteManyRequest(VerbRequest[list[Memory]], route="POST /inbox/promote"):
    """Make candidates active, all or none."""

    memory_ids: MemoryIds
    reason: Summary = ""
    replaces: Flag = False
    scope: ScopeName | None = None


class RejectManyRequest(VerbRequest[list[Memory]], route="POST /inbox/reject"):
    """Archive candidates, all or none."""

    memory_ids: MemoryIds
    reason: Summary = ""


class UndoManyRequest(VerbRequest[list[Memory]], route="POST /inbox/undo"):
    """Undo the last status change of each memory, all or none."""

    memory_ids: MemoryIds
