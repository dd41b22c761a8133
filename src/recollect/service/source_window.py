"""Read a part of a source: a long transcript is not sent as a whole."""

from recollect.domain.source import SourceWindow
from recollect.errors import InvalidInput, NotFound
from recollect.service.services import Services
from recollect.wire.requests.memories import MAX_SOURCE_MARGIN, ReadSourceRequest


def read_source(services: Services, request: ReadSourceRequest) -> SourceWindow:
    """Return the requested characters of a source, with a margin around them."""
    end = request.start if request.end is None else request.end
    if end < request.start:
        raise InvalidInput(f"end ({end}) must not be before start ({request.start})")
    with services.store.read() as tables:
        source = tables.sources.get(request.source_id)
    if source is None:
        raise NotFound(f"there is no source {request.source_id!r} in this store")
    length = len(source.content)
    first = max(0, min(request.start, length) - request.margin)
    last = min(length, end + request.margin, first + 2 * MAX_SOURCE_MARGIN)
    return SourceWindow(
        source_id=source.id,
        kind=source.kind,
        title=source.title,
        uri=source.uri,
        session=source.session,
        captured_at=source.captured_at,
        observed_at=source.observed_at,
        text=source.content[first:last],
        start=first,
        end=last,
        length=length,
    )
