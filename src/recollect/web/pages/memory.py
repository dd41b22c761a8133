"""
One memory: its text, its quotes in their sources, links, history; edit, change status, forget.

A quote is shown in a window of its source, because a source may be a long transcript; `margin` in
the address widens the window.
"""

import re
from collections.abc import Sequence

from starlette.responses import Response
from starlette.routing import Route

from recollect.domain.change import Change
from recollect.domain.lifecycle import allowed_statuses
from recollect.domain.memory import Memory, MemoryType, Status
from recollect.domain.retrieval import MemoryExplanation
from recollect.domain.scope import Scope
from recollect.domain.source import Evidence, SourceWindow
from recollect.errors import NotFound, RecollectError
from recollect.lazy_dataclass import dataclass
from recollect.web.browser_sessions import ReviewDecision
from recollect.web.link_graph import link_graph
from recollect.web.page import PageRequest, address, page
from recollect.web.place_names import PlaceNames

MARGIN = 400
MAX_MARGIN = 20_000
MAX_WINDOWS = 10  # quotes shown with their source
RETRIEVALS_SHOWN = 5
CONFIRM_STATUSES = (Status.ACTIVE, Status.CONTRADICTED)


@dataclass(frozen=True)
class QuoteInSource:
    """A quote, with the text of its source before and after it."""

    evidence: Evidence
    window: SourceWindow
    before: str
    quote: str
    after: str


def show_memory(request: PageRequest) -> Response:
    """Show one memory."""
    explanation = _explain(request)
    memory = explanation.memory
    margin = min(MAX_MARGIN, request.number("margin", MARGIN) or MARGIN)
    other_ids = {
        end for link in explanation.links for end in (link.from_id, link.to_id) if end != memory.id
    }
    for change in explanation.changes:
        other_ids |= {change.effects.caused_by or memory.id, *change.effects.superseded}
    others = _memories(request, sorted(other_ids - {memory.id}))
    names = PlaceNames.read(request.rec)
    return request.render(
        "memory.html",
        memory=memory,
        explanation=explanation,
        place=names.of(memory),
        names=names,
        quotes=[_in_source(request, item, margin) for item in memory.evidence[:MAX_WINDOWS]],
        margin=margin,
        capture_title=_capture_title(request, memory),
        clients={source.id: source.metadata.get("client", "") for source in explanation.sources},
        history=_history(explanation.changes),
        others=others,
        graph=link_graph(memory, explanation.links, others, names.projects),
        retrievals=request.rec.retrievals.list(memory=memory.id, limit=RETRIEVALS_SHOWN),
        allowed=allowed_statuses(memory.status),
        can_undo=any(change.before not in (None, change.after) for change in explanation.changes),
        can_confirm=memory.status in CONFIRM_STATUSES,
    )


@dataclass(frozen=True)
class HistoryEntry:
    """A change of a memory. The ids in its words are links: each part is a text or a memory id."""

    change: Change
    parts: tuple[str, ...]


def _history(changes: Sequence[Change]) -> list[HistoryEntry]:
    entries = []
    for change in changes:
        ids = [*filter(None, (change.effects.caused_by, *change.effects.superseded))]
        pattern = "|".join(map(re.escape, ids))
        parts = re.split(f"({pattern})", change.action) if ids else [change.action]
        entries.append(HistoryEntry(change, tuple(filter(None, parts))))
    return entries


def _capture_title(request: PageRequest, memory: Memory) -> str:
    """Return the title of the capture that a memory was found in; '' if it has none."""
    event_id = memory.provenance.event_id
    try:
        return request.rec.captures.get(event_id).title if event_id else ""
    except NotFound:
        return ""


def show_editor(request: PageRequest) -> Response:
    """Show the form to correct a memory."""
    memory = request.rec.memories.get(request.path("id"))
    return _editor(request, memory, {})


def edit(request: PageRequest) -> Response:
    """Correct a memory; if that fails, the form still holds what was typed."""
    memory = request.rec.memories.get(request.path("id"))
    names = ("content", "tags", "reason", "rationale", "observed_on")
    form = {name: request.value(name) for name in names}
    scope = request.value("scope", memory.scope)
    project = request.value("project")
    moved = scope != memory.scope or (
        scope == Scope.PROJECT and project != (memory.project_id or "")
    )
    places = PlaceNames.read(request.rec)
    identity = {project.id: project.identity or project.name for project in places.all_projects}
    is_dated = form["observed_on"] not in ("", f"{memory.observed_at:%Y-%m-%d}")
    try:
        edited = request.rec.memories.edit(
            memory.id,
            content=form["content"],
            type=request.value("type", memory.type),
            tags=[tag.strip() for tag in form["tags"].split(",") if tag.strip()],
            rationale=form["rationale"],
            scope=scope if moved else None,
            project=identity.get(project, project) or None
            if moved and scope == "project"
            else None,
            observed_at=form["observed_on"] if is_dated else None,
            reason=form["reason"],
        )
    except RecollectError as error:
        if request.wants_json:
            raise
        return _editor(request, memory, form, problem=str(error), status=error.status)
    if memory.status is Status.INBOX:  # the reviewer goes on, and can undo it there
        decision = ReviewDecision(verdict="keep", memory_ids=(edited.id,))
        request.session.add_decision(decision)
        return request.redirect("/ui/inbox", "Kept as you wrote it.")
    return request.redirect(f"/ui/memories/{edited.id}", "Saved. The original is kept below.")


def change_status(request: PageRequest) -> Response:
    """Keep, reject, archive or restore a memory."""
    memory_id, status = request.path("id"), request.value("status")
    memory = request.rec.memories.set_status(memory_id, status, reason=request.value("reason"))
    target = f"/ui/memories/{memory.id}"
    if request.form_has("query"):  # from a list of hits
        target = f"/ui/search?{request.value('query')}"
    return request.redirect(target, f"It is {memory.status} now.")


def confirm(request: PageRequest) -> Response:
    """Record that a memory is still true."""
    memory = request.rec.memories.confirm(request.path("id"))
    return request.redirect(f"/ui/memories/{memory.id}", "Confirmed: it counts as fresh again.")


def undo(request: PageRequest) -> Response:
    """Undo the last change; an undone edit leads to the original."""
    before = _explain(request)
    memory = request.rec.undo(before.memory.id)
    copied_from = before.changes[0].effects.caused_by if before.changes else ""
    is_undone_edit = copied_from and memory.status is Status.ARCHIVED
    target = copied_from if is_undone_edit else memory.id
    status = request.rec.memories.get(target).status
    return request.redirect(f"/ui/memories/{target}", f"Undone. It is {status} now.")


def show_forget(request: PageRequest) -> Response:
    """Show what forgetting a memory would remove."""
    memory = request.rec.memories.get(request.path("id"))
    receipt = request.rec.forget(memory.id, dry_run=True)
    return request.render("forget.html", memory=memory, receipt=receipt)


def forget(request: PageRequest) -> Response:
    """Forget a memory and show the receipt."""
    receipt = request.rec.forget(request.path("id"))
    request.site.counts.expire()
    if request.wants_json:
        return request.redirect(
            address("/ui/forgotten", receipt=request.session.keep_receipt(receipt))
        )
    return request.render("forget.html", memory=None, receipt=receipt)


def show_receipt(request: PageRequest) -> Response:
    """Show the receipt of what was forgotten in this session."""
    receipt = request.session.receipts.get(request.query("receipt"))
    if receipt is None:
        raise NotFound("this receipt is not kept any more")
    return request.render("forget.html", memory=None, receipt=receipt)


def _explain(request: PageRequest) -> MemoryExplanation:
    explanation = request.rec.explain(request.path("id"))
    if not isinstance(explanation, MemoryExplanation):
        raise NotFound(f"{request.path('id')!r} is a retrieval, not a memory")
    return explanation


def _memories(request: PageRequest, ids: list[str]) -> dict[str, Memory]:
    """Return the memories among some ids; a link may also lead to a project."""
    memories: dict[str, Memory] = {}
    for memory_id in ids:
        try:
            memories[memory_id] = request.rec.memories.get(memory_id)
        except NotFound:
            continue
    return memories


def _in_source(request: PageRequest, evidence: Evidence, margin: int) -> QuoteInSource:
    window = request.rec.memories.read_source(
        evidence.source_id, start=evidence.start, end=evidence.end, margin=margin
    )
    start, end = evidence.start - window.start, evidence.end - window.start
    text = window.text
    return QuoteInSource(evidence, window, text[:start], text[start:end], text[end:])


def _editor(
    request: PageRequest,
    memory: Memory,
    form: dict[str, str],
    *,
    problem: str = "",
    status: int = 200,
) -> Response:
    values = {
        "content": memory.content,
        "tags": ", ".join(memory.tags),
        "rationale": memory.rationale,
        "reason": "",
        "observed_on": f"{memory.observed_at:%Y-%m-%d}",
        **form,
    }
    names = PlaceNames.read(request.rec)
    return request.render(
        "memory_edit.html",
        status_code=status,
        memory=memory,
        values=values,
        problem=problem,
        names=names,
        types=list(MemoryType),
        scopes=dict.fromkeys([memory.scope, Scope.GLOBAL, Scope.PROJECT]),
    )


routes = [
    Route("/forgotten", page(show_receipt), methods=["GET"]),
    Route("/memories/{id}", page(show_memory), methods=["GET"]),
    Route("/memories/{id}/edit", page(show_editor), methods=["GET"]),
    Route("/memories/{id}/edit", page(edit), methods=["POST"]),
    Route("/memories/{id}/status", page(change_status), methods=["POST"]),
    Route("/memories/{id}/confirm", page(confirm), methods=["POST"]),
    Route("/memories/{id}/undo", page(undo), methods=["POST"]),
    Route("/memories/{id}/forget", page(show_forget), methods=["GET"]),
    Route("/memories/{id}/forget", page(forget), methods=["POST"]),
]
