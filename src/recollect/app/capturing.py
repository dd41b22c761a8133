"""Verbs that hand material over, and the queue that works it off."""

from collections.abc import Iterator, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, Unpack

from recollect.app.given import Material, Texts, Told, Verbs, known_names, names_of, where_of
from recollect.domain.event import Event, Trigger
from recollect.domain.job import Job
from recollect.domain.ledger import ModelCall
from recollect.errors import InvalidInput
from recollect.service import capture, jobs, read

_CAPTURE = names_of(capture.captures, besides=["material", "trigger"])


class Capturing(Verbs):
    """Verbs that hand material over, and the queue that works it off."""

    def capture_session(self, transcript: Material, **told: Unpack[Told]) -> Event:
        """
        Hand over what was said in an agent's session, and go on; the engine reads it later.

        *transcript* is text, a list of `{role, content}` messages, or a path to a transcript of
        Claude Code, Codex, Cursor, Gemini CLI or ChatGPT. Takes project, repo, agent, session,
        scope, title, user and observed_at.
        """
        return self._capture_one(transcript, Trigger.SESSION, told)

    def capture_conversation(
        self, material: Material, capture_mode: str = "transcript", **told: Unpack[Told]
    ) -> Event:
        """Hand over a conversation as transcript, note, summary or import; takes the same."""
        given = {**told, "mode": capture_mode}
        return self._capture_one(material, Trigger.CONVERSATION, given)

    def capture_file(
        self, path: str | PathLike[str], capture_mode: str = "transcript", **told: Unpack[Told]
    ) -> list[Event]:
        """Hand over every conversation in a file; takes what `capture_session` takes."""
        if not isinstance(path, str | PathLike):
            raise InvalidInput(f"name a file by its path, not by {type(path).__name__}")
        return self.capture_many([Path(path)], capture_mode, **told)

    def capture_many(
        self, materials: Sequence[Material], capture_mode: str = "transcript", **told: Unpack[Told]
    ) -> list[Event]:
        """Hand over every conversation in several files or texts, all or none."""
        given = {**told, "mode": capture_mode}
        return capture.capture_many(self._deps, _laid_out(materials, Trigger.SESSION, given))

    def _capture_one(self, material: Material, trigger: Trigger, told: Mapping[str, Any]) -> Event:
        found = _laid_out([material], trigger, told)
        if len(found) != 1:
            raise InvalidInput(
                f"the material holds {len(found)} conversations; use capture_file or capture_many"
            )
        return capture.capture_many(self._deps, found)[0]

    def event(self, event_id: str) -> Event:
        """Return how far a capture has come."""
        return read.event(self._deps, event_id)

    def events(self) -> list[Event]:
        """Return the history of what came in, oldest first."""
        with self._deps.store.read() as tables:
            return tables.sources.events()

    def jobs(self, *, states: Texts | None = None, limit: int = 50) -> list[Job]:
        """Return the steps that are not done, or those of some states, those due first first."""
        return jobs.jobs(self._deps, states=states, limit=limit)

    def job(self, job_id: str) -> Job:
        """Return one job."""
        return jobs.job(self._deps, job_id)

    def retry(self, job_id: str) -> Job:
        """Make a parked or waiting job due now."""
        return jobs.retry(self._deps, job_id)

    def work_in_steps(self) -> Iterator[Job]:
        """Run every job that is due, yielding each as it was claimed."""
        return jobs.work_in_steps(self._deps)

    def ledger(self, *, limit: int = 50) -> list[ModelCall]:
        """Return what language models were asked lately, and what it cost."""
        return jobs.ledger(self._deps, limit=limit)


def _laid_out(
    materials: Sequence[Material], trigger: Trigger, told: Mapping[str, Any]
) -> list[capture.Capture]:
    """Return every conversation in *materials*, checked; nothing is stored yet."""
    given = known_names(told, _CAPTURE)
    where = where_of(given)
    return [
        one
        for material in materials
        for one in capture.captures(material, where=where, trigger=trigger, **given)
    ]
