"""
The inbox: review candidates one by one or several at once, and undo.

The order is that of the API and does not change while a browser reviews (web/review_queue.py): a
decided candidate leaves the list, one put off moves to its end. A page shows a few candidates; the
script loads the next page before the reviewer reaches its end. The session remembers every
decision, so undo works after a reload too.
"""

from collections import Counter
from collections.abc import Sequence

from starlette.responses import Response
from starlette.routing import Route

from recollect.domain.maintenance import InboxItem
from recollect.domain.memory import Status
from recollect.errors import InvalidInput, RecollectError
from recollect.web.browser_sessions import ReviewDecision
from recollect.web.downloads import download
from recollect.web.page import PageRequest, address, page
from recollect.web.place_names import PlaceNames
from recollect.web.review_queue import ReviewQueue

PAGE_SIZE = 10
MAX_FILE = 1_000  # candidates in a downloaded list
VERDICTS = {
    "keep": "Kept",
    "replace": "Kept, in place of the older one",
    "reject": "Rejected",
    "merge": "Merged",
}
LATER = "later"


def show_inbox(request: PageRequest) -> Response:
    """Show the candidates that wait, from the first or after the one that the address names."""
    if request.query("format"):
        listed = request.rec.inbox.list(limit=MAX_FILE)
        if (file := download(request, "inbox", listed)) is not None:
            return file
    queue, after = request.session.queue, request.query("after")
    if not after:
        request.site.counts.expire()  # the script compares later counts with those of this page
        if request.query("order") == "new":
            queue.begin()
        queue.update(request.rec.inbox.order(), list(request.session.put_off))
    ids = queue.page(after, PAGE_SIZE + 1)
    next_after = ids[PAGE_SIZE - 1] if len(ids) > PAGE_SIZE else ""
    items = _fold(queue, request.rec.inbox.items(ids[:PAGE_SIZE])) if ids else []
    return request.render(
        "inbox.html",
        items=items,
        group_sizes=Counter(item.group for item in items),
        waiting=len(queue),
        after=after,
        next_after=next_after,
        names=PlaceNames.read(request.rec),
        summary={verdict: request.session.count(verdict) for verdict in VERDICTS},
    )


def decide(request: PageRequest) -> Response:
    """Decide about the candidates of the form."""
    ids, verdict = request.values("id"), request.value("verdict")
    if not ids:
        raise InvalidInput("select at least one candidate")
    if verdict == LATER:
        request.session.put_off |= dict.fromkeys(ids)
        return _redirect_after_decision(request, _count_text("Put off", ids), ids)
    if verdict not in VERDICTS:
        raise InvalidInput(f"the verdict is keep, replace, reject, merge or later, not {verdict!r}")
    changed = request.rec.inbox.decide(ids, verdict, reason=request.value("reason"))
    decided_ids = [memory.id for memory in changed]
    # To undo a merge, each duplicate is put back; another decision is undone with its first memory.
    undo_ids = decided_ids if verdict == "merge" else ids
    request.session.add_decision(ReviewDecision(verdict=verdict, memory_ids=tuple(undo_ids)))
    return _redirect_after_decision(request, _count_text(VERDICTS[verdict], ids), decided_ids)


def undo(request: PageRequest) -> Response:
    """Undo the last decision of this session."""
    decisions = request.session.decisions
    if not decisions:
        return request.redirect("/ui/inbox", "There is nothing to undo.", restored=[])
    decision = decisions.pop()
    try:
        request.rec.inbox.undo(decision.memory_ids)
    except RecollectError as error:
        # It was changed elsewhere since. The decisions before it can still be undone.
        raise InvalidInput(f"this decision cannot be undone any more: {error}") from None
    restored = list(decision.memory_ids)
    target = f"/ui/inbox#m-{restored[0]}"
    notice = _count_text("Restored", restored)
    return request.redirect(target, notice, restored=restored, verdict=decision.verdict)


def _redirect_after_decision(
    request: PageRequest, notice: str, decided_ids: Sequence[str]
) -> Response:
    """Return to the same page of the inbox; a script learns what left the list."""
    request.site.counts.expire()
    waiting = request.site.counts.current().inbox
    target = address("/ui/inbox", after=request.value("after"))
    return request.redirect(target, notice, decided=decided_ids, waiting=waiting)


def _fold(queue: ReviewQueue, items: Sequence[InboxItem]) -> list[InboxItem]:
    """Return the items that are not shown with another one."""
    return [
        item
        for item in items
        if not any(queue.precedes(other.id, item.memory.id) for other in item.duplicates)
        and not _is_older_side(item)
    ]


def _is_older_side(item: InboxItem) -> bool:
    """Return whether a newer candidate contradicts it, and shows both sides."""
    memory = item.memory
    return not item.duplicates and any(
        other.status is Status.INBOX
        and (other.observed_at, other.id) > (memory.observed_at, memory.id)
        for other in item.conflicts
    )


def _count_text(action: str, ids: Sequence[str]) -> str:
    return f"{action}." if len(ids) == 1 else f"{action}: {len(ids)} candidates."


routes = [
    Route("/inbox", page(show_inbox), methods=["GET"]),
    Route("/inbox/decide", page(decide), methods=["POST"]),
    Route("/inbox/undo", page(undo), methods=["POST"]),
]
