"""Captures and their progress."""

from collections.abc import Sequence

from recollect.api.arguments import AgentLike, FilePath, Material, Moment, Place
from recollect.api.noun import Noun, passed_arguments
from recollect.domain.capture_event import Event
from recollect.domain.maintenance import Imported
from recollect.wire.material_files import file_material, material_of
from recollect.wire.requests import captures as requests


class Captures(Noun):
    """Capture files, and follow the progress of captures."""

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
