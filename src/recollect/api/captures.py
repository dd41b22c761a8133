"""Captures, their progress, and the tool calls in captured sessions."""

from collections.abc import Mapping, Sequence
from typing import Any

from recollect.api.arguments import AgentLike, FilePath, Material, Moment, Place
from recollect.api.verb_group import VerbGroup, passed_arguments
from recollect.domain.capture_event import Event
from recollect.domain.maintenance import Imported
from recollect.domain.tool_call import (
    ActionAdvice,
    CommandHistory,
    ErrorHistory,
    FileHistory,
    SessionFiles,
)
from recollect.wire.material_files import file_material, material_of
from recollect.wire.requests import captures as requests


class Captures(VerbGroup):
    """
    Capture files, follow the progress of captures, and look up what captured sessions did.

    The histories quote tool calls: what an agent did, not what is true. A request sees the sessions
    and memories of its project, and what is global.
    """

    def add_many(
        self,
        materials: Sequence[Material],
        capture_mode: str = "transcript",
        *,
        project: Place = None,
        repo: Place = None,
        agent: AgentLike | None = None,
        session: str | None = None,
        scope: str | None = None,
        title: str = "",
        user: str = "",
        observed_at: Moment = None,
    ) -> list[Event]:
        """Store every conversation in several texts or files, all or none."""
        arguments = passed_arguments(locals())
        contents = [material_of(material) for material in materials]
        return self._send(requests.CaptureManyRequest, {**arguments, "materials": contents})

    def add_file(
        self,
        path: FilePath,
        capture_mode: str = "transcript",
        *,
        project: Place = None,
        repo: Place = None,
        agent: AgentLike | None = None,
        session: str | None = None,
        scope: str | None = None,
        title: str = "",
        user: str = "",
        observed_at: Moment = None,
    ) -> list[Event]:
        """Store every conversation in one file of this machine."""
        arguments = {name: value for name, value in locals().items() if name != "path"}
        return self._send(
            requests.CaptureManyRequest, {**arguments, "materials": [file_material(path)]}
        )

    def add_assistant_memories(
        self, answer: str, *, assistant: str = "another assistant", project: Place = None
    ) -> Imported:
        """
        Take the answer in which another assistant lists its memories as candidates.

        `recollect import assistant` prints the prompt to ask for it. The answer is one source; each
        entry waits in the inbox, and none becomes active by itself. Entries about projects belong
        to *project*, if it is given.
        """
        return self._send(requests.AddAssistantMemoriesRequest, locals())

    def get(self, event_id: str) -> Event:
        """Return the progress of one capture."""
        return self._send(requests.GetCaptureRequest, locals())

    def list(self) -> list[Event]:
        """Return every capture and write, oldest first."""
        return self._send(requests.ListCapturesRequest, locals())

    def file_history(
        self,
        file: FilePath,
        *,
        project: Place = None,
        repo: Place = None,
        agent: AgentLike | None = None,
        session: str | None = None,
        limit: int = 10,
    ) -> FileHistory:
        """Return the changes of a file, the memories that name it, and decisions made then."""
        return self._send(requests.GetFileHistoryRequest, locals())

    def error_history(
        self,
        error: str,
        *,
        project: Place = None,
        repo: Place = None,
        agent: AgentLike | None = None,
        session: str | None = None,
        limit: int = 10,
    ) -> ErrorHistory:
        """Return the commands that failed with a similar error, and what worked afterwards."""
        return self._send(requests.GetErrorHistoryRequest, locals())

    def command_history(
        self,
        program: str,
        *,
        project: Place = None,
        repo: Place = None,
        agent: AgentLike | None = None,
        session: str | None = None,
        limit: int = 10,
    ) -> CommandHistory:
        """Return how a program was run: what worked, what failed, and the memories about it."""
        return self._send(requests.GetCommandHistoryRequest, locals())

    def session_files(
        self,
        session: str | None = None,
        *,
        project: Place = None,
        repo: Place = None,
        agent: AgentLike | None = None,
        limit: int = 10,
    ) -> SessionFiles:
        """
        Return the files that a session changed, and what was decided in it.

        Without *session* it is the one with tool calls that was captured last.
        """
        return self._send(requests.GetSessionFilesRequest, locals())

    def advice(
        self,
        tool: str,
        arguments: Mapping[str, Any],
        *,
        error: str = "",
        project: Place = None,
        repo: Place = None,
        agent: AgentLike | None = None,
        session: str | None = None,
    ) -> ActionAdvice | None:
        """
        Return what concerns a tool call before it is made, or None.

        It is one line: a statement of the user that forbids the action or is about its file, or a
        recorded failure of the same command with the form that worked. With *error*, what the call
        printed, it is what helped against a similar error.
        """
        return self._send(requests.GetAdviceRequest, locals())
