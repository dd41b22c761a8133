"""Handlers of the requests for captures and their progress."""

from recollect.domain.capture_event import Event, Trigger
from recollect.service import capture, read
from recollect.service.handlers.table import Handlers
from recollect.service.services import Services
from recollect.wire.requests.captures import (
    CaptureManyRequest,
    GetCaptureRequest,
    ListCapturesRequest,
)


def capture_many(services: Services, request: CaptureManyRequest) -> list[Event]:
    captures = [
        found
        for material in request.materials
        for found in capture.captures(
            material, request, trigger=Trigger.SESSION, mode=request.capture_mode
        )
    ]
    return capture.capture_many(services, captures)


def get_capture(services: Services, request: GetCaptureRequest) -> Event:
    return read.event(services, request.event_id)


def list_captures(services: Services, request: ListCapturesRequest) -> list[Event]:
    with services.store.read() as tables:
        return tables.sources.events()


HANDLERS: Handlers = {
    CaptureManyRequest: capture_many,
    GetCaptureRequest: get_capture,
    ListCapturesRequest: list_captures,
}
