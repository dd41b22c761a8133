"""Handlers of the requests for captures and their progress."""

from recollect.service import action_advice, action_history, assistant_memories, capture
from recollect.service.handlers.handler_table import Handlers
from recollect.wire.requests import captures as requests

HANDLERS: Handlers = {
    requests.CaptureManyRequest: capture.capture_many,
    requests.AddAssistantMemoriesRequest: assistant_memories.add_assistant_memories,
    requests.GetCaptureRequest: capture.get_capture,
    requests.ListCapturesRequest: capture.list_captures,
    requests.GetFileHistoryRequest: action_history.file_history,
    requests.GetErrorHistoryRequest: action_history.error_history,
    requests.GetCommandHistoryRequest: action_history.command_history,
    requests.GetSessionFilesRequest: action_history.session_files,
    requests.GetAdviceRequest: action_advice.advice,
}
