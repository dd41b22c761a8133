"""Requests for captures and their progress."""

from recollect.domain.capture_event import CaptureMode, Event
from recollect.domain.maintenance import Imported
from recollect.wire.fields import CaptureModeName, Id, JsonList, Name, Place, Text
from recollect.wire.request import VerbRequest
from recollect.wire.requests.shared import CaptureFields


class CaptureManyRequest(CaptureFields, VerbRequest[list[Event]], route="POST /captures/batch"):
    """Capture every conversation in several texts or files, all or none."""

    materials: JsonList
    capture_mode: CaptureModeName = CaptureMode.TRANSCRIPT


class AddAssistantMemoriesRequest(VerbRequest[Imported], route="POST /captures/assistant"):
    """Take the answer in which another assistant lists its memories as candidates."""

    answer: Text
    assistant: Name = "another assistant"
    project: Place | None = None


class GetCaptureRequest(VerbRequest[Event], route="GET /events/{event_id}"):
    """Return the progress of one capture."""

    event_id: Id


class ListCapturesRequest(VerbRequest[list[Event]], route="GET /events"):
    """Return every capture and write, oldest first."""
