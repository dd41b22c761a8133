"""
Run the engine of a local store step by step.

Programs that only store and search use `drain`. A server, a command that shows progress, and
tests need single steps, callbacks and the state of the embedder. What only one method needs is
imported there, so that other programs do not load it.
"""

import os
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from recollect.api.arguments import AgentLike, FilePath, Moment, Place
from recollect.api.transport import Transport
from recollect.config import expand_home
from recollect.domain.backup import BackupReport
from recollect.domain.block import BlockChange
from recollect.domain.import_progress import ImportStep
from recollect.domain.job import Job
from recollect.domain.maintenance import EmbedderStatus, StoreHealth, StoreLoad
from recollect.domain.memory import Memory
from recollect.domain.retrieval import Hit, WhyNot
from recollect.domain.scope import Viewer
from recollect.domain.vault_report import VaultReport
from recollect.errors import InvalidInput
from recollect.service import jobs, maintenance, review, store_status
from recollect.service.backup import BackupSchedule, scheduled_folder
from recollect.service.finish_work import compare_written_in_steps, finish_in_steps
from recollect.service.idempotency import run_once
from recollect.service.place_lookup import find_viewer, place_of
from recollect.service.services import Services
from recollect.store.protocol import JobListener
from recollect.wire.requests.recollect import SearchRequest
from recollect.wire.requests.shared import PlaceFields

if TYPE_CHECKING:
    # For the type checker only: the models load when an exchange is read.
    from recollect.app.local_team import LocalTeam
    from recollect.app.team_backups import TeamBackups
    from recollect.wire.memory_exchange import ExchangeReceipt

Result = TypeVar("Result")


class EngineControl:
    """Single steps of the engine, and the state of its parts."""

    def __init__(self, services: Services, transport: Transport) -> None:
        self.services = services
        self.transport = transport  # carries out requests that were not made by a verb
        self._backups = BackupSchedule(services)

    @cached_property
    def team(self) -> "LocalTeam":
        """Add users and members, and read the audit log of a team's stores."""
        from recollect.app.local_team import LocalTeam

        return LocalTeam(self.services)

    @cached_property
    def team_backups(self) -> "TeamBackups | None":
        """The scheduled backups of a team's users and projects, None if there are none."""
        if scheduled_folder(self.services.settings) is None or not self.store_is_file:
            return None
        from recollect.app.team_backups import TeamBackups

        return TeamBackups(self.services)

    @property
    def store_is_file(self) -> bool:
        """Whether the store is in a file, not on a database server."""
        return self.services.store.file is not None

    def run_jobs_in_steps(self) -> Iterator[Job]:
        """Run every job that is due, yielding each one that was claimed."""
        return jobs.run_jobs_in_steps(self.services)

    def listen_for_jobs(self, wake: Callable[[], None]) -> JobListener | None:
        """Call *wake*, in a thread, when another process stores a job; None if it cannot tell."""
        return self.services.store.listen_for_jobs(wake)

    def hand_back_jobs(self) -> int:
        """Make the jobs that this process works on due again, because it ends; return how many."""
        return jobs.hand_back_jobs(self.services)

    def drain_in_steps(self) -> Iterator[int]:
        """Do what `drain` does, yielding how much each step did."""
        return maintenance.drain_in_steps(self.services)

    def finish_work_in_steps(self) -> Iterator[int]:
        """Finish deletions, run sleeptime, read captured tool calls; yield after each step."""
        return finish_in_steps(self.services)

    def compare_written(self) -> int:
        """Link written memories that wait to what they contradict; return how many waited."""
        return sum(compare_written_in_steps(self.services))

    def embed_batch(self) -> int:
        """Embed one batch of pending items; return how many, 0 if the embedder is unavailable."""
        return maintenance.embed_batch(self.services)

    def prune_retrievals(self) -> int:
        """Remove one batch of old logged retrievals if there are too many; return how many."""
        return maintenance.prune_retrievals(self.services)

    def back_up_if_due(self) -> BackupReport | None:
        """
        Make a backup if the settings ask for one now; a failure is logged and tried later.

        If the store has users, also one of the store of a user or project; the next call goes on.
        """
        report = self._backups.run_if_due()
        if report is None and self.team_backups is not None:
            return self.team_backups.run_if_due()
        return report

    def search_or_explain(self, query: str, **options: Any) -> tuple[list[Hit], WhyNot | None]:
        """
        Return what `search` returns; if that is nothing, also what `why_nothing` returns.

        One search answers both, of one state of the store.
        """
        from recollect.service import search_memories

        request = SearchRequest.of({"query": query, **options})
        return search_memories.search_or_explain(self.services, request)

    def write_vault(self, folder: FilePath, *, plain: bool = False) -> VaultReport:
        """
        Write memories, decisions and blocks to *folder* as Markdown pages.

        Pages that were edited there become candidates and proposals first. The vault of an
        encrypted store is written only if *plain* is set.
        """
        from recollect.service.vault import write_vault

        if not os.fspath(folder).strip():
            raise InvalidInput("the folder of the vault is empty; name one, or `.` for this folder")
        return write_vault(self.services, expand_home(str(Path(folder))), plain=plain)

    def write_memory_directory(self, folder: FilePath, *, plain: bool = False) -> int:
        """
        Write active memories and shared blocks as a directory with MEMORY.md files.

        Return how many files it has. The directory of an encrypted store is written only if *plain*
        is set.
        """
        from recollect.service.memory_directory import write_memory_directory

        return write_memory_directory(self.services, expand_home(str(Path(folder))), plain=plain)

    def export_exchange(self, path: FilePath, *, plain: bool = False) -> int:
        """Write a memory exchange of the Open Memory Protocol; return how many objects it has."""
        from recollect.service.exchange_file import write_exchange

        return write_exchange(self.services, expand_home(str(Path(path))), plain=plain)

    def import_exchange(
        self,
        path: FilePath,
        *,
        trust: bool = False,
        principals: Mapping[str, str] | None = None,
        derive_anew: bool = False,
    ) -> "ExchangeReceipt":
        """
        Read a memory exchange; return what became of each of its objects and events.

        Without *trust* memories wait in the inbox and nothing is deleted. *principals* maps names
        in its policies to names here.
        """
        from recollect.service.exchange_file import read_exchange

        return read_exchange(
            self.services,
            expand_home(str(Path(path))),
            trust=trust,
            principals=principals or {},
            mode="re_derive" if derive_anew else "preserve",
        )

    def warm_up(self) -> bool:
        """Load what first requests need; return whether the embedder runs on this machine."""
        return maintenance.warm_up(self.services)

    def check_health(self) -> StoreHealth:
        """Return a quick health check of the store that does not load the embedder."""
        return store_status.check_health(self.services)

    def store_load(self) -> StoreLoad:
        """Return how busy the connections to the store are, and how large its caches."""
        return self.services.store.load()

    def embedder_status(self) -> EmbedderStatus:
        """Return the state of the embedder without calling it."""
        return self.services.embedder_status()

    def run_once(self, key: str, fingerprint: str, call: Callable[[], Result]) -> Result:
        """Return the result of *call*; refuse it if the idempotency key was used before."""
        return run_once(self.services, key, fingerprint, call)

    def replay_condition(self) -> Hashable:
        """Return what must be the same when a response is sent once more."""
        return ()

    def record_deletion(self) -> None:
        """Record that something was deleted: earlier responses may quote it."""

    def on_block_change(self, listener: Callable[[BlockChange], None]) -> Callable[[], None]:
        """Call *listener* on every change of a block in this process; return its unsubscriber."""
        return self.services.listeners.subscribe(listener)

    def duplicates_of(self, memory_id: str) -> list[Memory]:
        """Return the duplicates that `inbox.decide` would change together with a candidate."""
        return review.list_duplicates(self.services, memory_id)

    def viewer(self, *, project: Place = None, agent: AgentLike | None = None) -> Viewer:
        """Return the ids of the project, its repos and the agent that a request sees."""
        place = place_of(PlaceFields.model_validate({"project": project, "agent": agent}))
        with self.services.store.read() as tables:
            return find_viewer(tables, place)

    def import_history_in_steps(
        self,
        source: str,
        paths: Sequence[FilePath] = (),
        *,
        since: Moment = None,
        project: Place = None,
        limit: int | None = None,
        dry_run: bool = False,
    ) -> Iterator[ImportStep]:
        """
        Capture the earlier sessions that another program stored, yielding the progress.

        *source* is `claude-code`, `codex`, `gemini-cli`, `cursor`, `chatgpt`, `claude-ai`,
        `mcp-memory` or `claude-memory`; *paths* are files or folders other than the usual ones.
        It can be stopped and run again: each session is captured once. All candidates wait in the
        inbox when the queue is drained.
        """
        from recollect.service.imports import import_history
        from recollect.service.imports.history_source import UserEnvironment

        place = PlaceFields.model_validate({"project": project}).project
        options = import_history.import_options(
            source,
            [expand_home(str(Path(path))) for path in paths],
            UserEnvironment(Path.home(), os.environ),
            since=since,
            project=place,
            limit=limit,
            dry_run=dry_run,
        )
        return import_history.import_in_steps(self.services, options)
