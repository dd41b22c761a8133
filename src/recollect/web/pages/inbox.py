"""
The inbox: review candidates one by one or several at once, and undo.

The order is that of the API and does not change while a browser reviews: a decided candidate
leaves the list, one put off moves to its end. The session remembers every decision, so undo works
after a reload too.
"""

from collections.abc import Sequence

from starlette.responses import Response
from starlette.routing import Route

from recollect.domain.maintenance import InboxItem
from recollect.errors import InvalidInput, RecollectError
from recollect.web.browser_sessions import ReviewDecision
from recollect.web.page import PageRequest, page

SHOWN = 50
VERDICTS = {
    "keep": "Kept",
    "replace": "Kept, in place of the older one",
    "reject": "Rejected",
    "merge": "Merged",
}
LATER = "later"


def show_inbox(request: PageRequest) -> Response:
    """Show the candidates that wait."""
    request.site.counts.expire()  # the script compares later counts with those of this page
    items = _in_order(request, request.rec.inbox.list(limit=SHOWN + len(request.session.put_off)))
    return request.render(
        "inbox.html",
        items=items[:SHOWN],
        waiting=items[0].of if items else 0,
        put_off=request.session.put_off,
        summary={verdict: request.session.count(verdict) for verdict in VERDICTS},
    )


def decide(request: PageRequest) -> Response:
    """Decide about the candidates of the form."""
    ids, verdict = request.values("id"), request.value("verdict")
    if not ids:
        raise InvalidInput("select at least one candidate")
    if verdict == LATER:
        request.session.put_off |= dict.fromkeys(ids)
        return request.redirect("/ui/inbox", _count_text("Put off", ids), decided=ids)
    if verdict not in VERDICTS:
        raise InvalidInput(f"the verdict is keep, replace, reject, merge or later, not {verdict!r}")
    changed = request.rec.inbox.decide(ids, verdict, reason=request.value("reason"))
    gone = [memory.id for memory in changed]
    # To undo a merge, each duplicate is put back; another decision is undone with its first memory.
    undo_ids = gone if verdict == "merge" else ids
    request.session.add_decision(ReviewDecision(verdict=verdict, memory_ids=tuple(undo_ids)))
    return request.redirect("/ui/inbox", _count_text(VERDICTS[verdict], ids), decided=gone)


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


def _in_order(request: PageRequest, items: Sequence[InboxItem]) -> list[InboxItem]:
    """Return the items with those put off at the end."""
    put_off = request.session.put_off
    return sorted(items, key=lambda item: item.memory.id in put_off)  # stable


def _count_text(action: str, ids: Sequence[str]) -> str:
    return f"{action}." if len(ids) == 1 else f"{action}: {len(ids)} candidates."


routes = [
    Route("/inbox", page(show_inbox), methods=["GET"]),
    Route("/inbox/decide", page(decide), methods=["POST"]),
    Route("/inbox/undo", page(undo), methods=["POST"]),
]
