"""The query of a request for memories: its text, filters and limits, and what it may see."""

from collections.abc import Mapping
from dataclasses import field, replace
from datetime import datetime
from typing import Any

from recollect.domain.memory import UNREVIEWED, MemoryType, Status
from recollect.domain.retrieval import DEFAULT_STATUSES, Filters, ResolvedQuery
from recollect.domain.scope import Owner, Scope, Viewer, visible_owners
from recollect.lazy_dataclass import dataclass
from recollect.service import validate
from recollect.service.place_lookup import RequestPlace, find_viewer, place_of
from recollect.service.services import Services
from recollect.store.protocol import Tables
from recollect.text.redact import redact
from recollect.text.request_kind import asks_about_past
from recollect.wire.requests.shared import FilterFields, InboxFilterFields


@dataclass(frozen=True, kw_only=True)
class MemoryQuery:
    """A query with its filters; validated, its place not yet looked up."""

    query: str = ""
    place: RequestPlace = field(default_factory=RequestPlace)
    filters: Filters = field(default_factory=Filters)
    scopes: frozenset[Scope] | None = None
    everywhere: bool = False
    asked_at: datetime | None = None
    limit: int = 10
    unreviewed: bool = False  # also what the user said and nobody reviewed
    session_records: bool = True  # also the records of whole sessions
    below_threshold: bool = False  # also what is not relevant enough
    related: bool = False  # also what is linked to the hits
    for_bundle: bool = False  # only what is relevant enough for a prompt without being searched for

    @property
    def effective_filters(self) -> Filters:
        """The filters, with what a search adds to them if the caller does not name it."""
        filters = replace(self.filters, session_records=self.session_records)
        if not self.unreviewed:
            return filters
        return replace(filters, statuses=filters.statuses | UNREVIEWED, only_said=True)

    def as_json(self) -> Mapping[str, Any]:
        """Return everything except the text, for the log and for saved views."""
        values = {
            **vars(self.place),
            **vars(self.filters),
            "scopes": self.scopes,
            "everywhere": self.everywhere,
            "limit": self.limit,
        }
        return {
            name: _json_value(value)
            for name, value in values.items()
            if value or (name == "scopes" and value is not None)
            if value != _DEFAULTS.get(name)
        }


_DEFAULTS = vars(Filters())


def _json_value(value: Any) -> Any:
    if isinstance(value, frozenset):
        return sorted(value)
    return value.isoformat() if isinstance(value, datetime) else value


def memory_query_of(request: FilterFields, query: str) -> MemoryQuery:
    """Return the query of a request with its place and filters."""
    inbox = inbox_query_of(request)
    statuses = frozenset(DEFAULT_STATUSES if request.statuses is None else request.statuses)
    filters = replace(inbox.filters, statuses=statuses)
    return replace(inbox, query=validate.query_of(query), filters=filters)


def search_query_of(request: FilterFields, query: str) -> MemoryQuery:
    """
    Return the query of a search.

    Unless the request names statuses, what the user said is found before anybody reviewed it. The
    records of whole sessions are found only if the request names their type or asks about the past:
    otherwise they repeat what was said there.
    """
    names_records = MemoryType.EPISODE in (request.types or ())
    return replace(
        memory_query_of(request, query),
        unreviewed=request.statuses is None,
        session_records=names_records or asks_about_past(query),
    )


def inbox_query_of(request: InboxFilterFields) -> MemoryQuery:
    """Return the query for the candidates that a request selects."""
    return MemoryQuery(
        place=place_of(request),
        filters=_filters_of(request),
        scopes=None if request.scopes is None else frozenset(request.scopes),
        everywhere=request.everywhere,
        asked_at=request.asked_at,
        limit=request.limit,
    )


def _filters_of(request: InboxFilterFields) -> Filters:
    """Return the filters of a request: its fields that have the name of a filter."""
    values: dict[str, Any] = {
        name: frozenset(value) if isinstance(value, tuple) else value
        for name in _DEFAULTS
        if (value := getattr(request, name, None)) is not None
    }
    tags = frozenset(redact(tag).text for tag in request.tags)
    return Filters(**{"statuses": frozenset({Status.INBOX}), **values, "tags": tags})


def resolve_query(
    services: Services, tables: Tables, query: MemoryQuery, viewer: Viewer | None = None
) -> ResolvedQuery:
    """Return *query* with its owners and filters; *viewer* is its place if that is known."""
    viewer = viewer or find_viewer(tables, query.place)
    filters = query.effective_filters
    if not query.everywhere:
        filters = filters.seen_by(viewer, single_user=services.settings.single_user)
    return ResolvedQuery(
        text=query.query,
        viewer=viewer,
        owners=None if query.everywhere else visible_owners(viewer, query.scopes),
        filters=filters,
        asked_at=query.asked_at or services.clock.now(),
        limit=query.limit,
        scopes=frozenset(Scope) if query.scopes is None else query.scopes,
        cross_project=services.cross_project,
        below_threshold=query.below_threshold,
        related=query.related,
        for_bundle=query.for_bundle,
    )


def owners_of(tables: Tables, query: MemoryQuery) -> tuple[Owner, ...] | None:
    """Return the owners whose memories a query may see; None for all."""
    if query.everywhere:
        return None
    return visible_owners(find_viewer(tables, query.place), query.scopes)


def visible_filters(tables: Tables, query: MemoryQuery, *, single_user: bool) -> Filters:
    """Return the filters of a list, with those of its place; without an agent it is a person's."""
    if query.everywhere:
        return query.filters
    viewer = find_viewer(tables, query.place)
    is_of_person = single_user or viewer.agent_id is None
    return query.filters.seen_by(viewer, single_user=is_of_person)
