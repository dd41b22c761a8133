"""Requests for captures, their progress, and the tool calls in captured sessions."""

from recollect.domain.capture_event import CaptureMode, Event
from recollect.domain.maintenance import Imported
from recollect.domain.tool_call import (
    ActionAdvice,
    CommandHistory,
    ErrorHistory,
    FileHistory,
    SessionFiles,
)
from recollect.wire.fields import (
    CaptureModeName,
    Content,
    Id,
    Json,
    JsonList,
    Limit,
    Name,
    PathText,
    Place,
    Summary,
    Text,
    option,
)
from recollect.wire.request import VerbRequest
from recollect.wire.requests.shared import CaptureFields, PlaceFields


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


class ActionHistoryFields(PlaceFields):
    """Whose captured sessions are meant, and how many tool calls and memories are returned."""

    limit: Limit = option(10, "How many of each at most.")


class GetFileHistoryRequest(
    ActionHistoryFields, VerbRequest[FileHistory], route="GET /captures/actions/file"
):
    """Return when a file was changed, and what was decided about it."""

    file: PathText


class GetErrorHistoryRequest(
    ActionHistoryFields, VerbRequest[ErrorHistory], route="POST /captures/actions/error"
):
    """Return the commands that failed with a similar error, and what worked afterwards."""

    error: Content


class GetCommandHistoryRequest(
    ActionHistoryFields, VerbRequest[CommandHistory], route="GET /captures/actions/command"
):
    """Return how a program was run, what worked and what failed."""

    program: Summary


class GetSessionFilesRequest(
    ActionHistoryFields, VerbRequest[SessionFiles], route="GET /captures/actions/session"
):
    """Return the files that a session changed, and what was decided in it."""


class GetAdviceRequest(
    PlaceFields, VerbRequest[ActionAdvice | None], route="POST /captures/actions/advice"
):
    """Return the decision or the recorded failure that concerns a tool call, if there is one."""

    tool: Name
    arguments: Json = option({}, "The arguments of the call, as an object.")
    error: Content = option("", "What the call printed, if it was made and failed.")
