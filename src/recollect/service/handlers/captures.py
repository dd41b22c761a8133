"""Handlers of the requests for captures and their progress."""

from recollect.service import assistant_memories, capture
from recollect.service.handlers.handler_table import Handlers
from recollect.wire.requests import captures as requests

HANDLERS: Handlers = {
    requests.CaptureManyRequest: capture.capture_many,
    requests.AddAssistantMemoriesRequest: assistant_memories.add_assistant_memories,
    requests.GetCaptureRequest: capture.get_capture,
    requests.ListCapturesRequest: capture.list_captures,
}
