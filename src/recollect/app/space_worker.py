"""
Work on the stores of a team's users and projects that nobody has open.

A server works on the stores that are in use. What is due in the others would wait until somebody
uses them: retries, the jobs of a server that was killed, deletions that a kill left. So each
server, and each `recollect work`, opens them in turn. Several processes may do so: jobs have
leases.
"""

import logging
import threading
from collections.abc import Callable, Generator
from contextlib import closing

from recollect.app.background_worker import FINISH_S, HANDED_BACK_S, BackgroundWorker
from recollect.app.local_recollect import LocalRecollect
from recollect.app.space_stores import space_exists
from recollect.app.team_space import TeamSpace, directory_schema, space_settings
from recollect.errors import RecollectError, StoreClosed

ROUND_S = 60.0  # from the end of a round to the beginning of the next one

log = logging.getLogger(__name__)


def open_spaces(
    rec: LocalRecollect, *, is_in_use: Callable[[str], bool] = lambda space_id: False
) -> Generator[LocalRecollect, None, None]:
    """
    Yield the memory of each user and project of the team of *rec*, opened as the space itself.

    Those in use, those that were never used and those of revoked users are left out.
    """
    services = rec.engine.services
    directory = rec.engine.team.directory
    if not directory.has_users():
        return
    revoked = {user.id for user in directory.users() if not user.is_active}
    for space_id in directory.space_ids():
        if space_id in revoked or is_in_use(space_id):
            continue
        try:
            if not space_exists(services.settings, space_id, first=services.store):
                continue
            memory = _open(rec, space_id)
        except StoreClosed:
            raise
        except RecollectError as error:
            log.warning("the store of a user or project cannot be opened: %s", error)
            continue
        with closing(memory):
            yield memory


def _open(rec: LocalRecollect, space_id: str) -> LocalRecollect:
    services = rec.engine.services
    return LocalRecollect(
        space_settings(services.settings, space_id),
        clock=services.clock,
        readable_folders=(),
        reads_home_skills=False,
        runs_agent_file_code=False,
        space=TeamSpace(
            id=space_id, directory_schema=directory_schema(services.settings), default_user=space_id
        ),
        models_of=rec,
    )


class SpaceWorker:
    """A thread of a server that works on the spaces in turn, from `start` to `stop`."""

    def __init__(self, rec: LocalRecollect, *, is_in_use: Callable[[str], bool]) -> None:
        """*rec* is the first store of the team."""
        self._rec = rec
        self._is_in_use = is_in_use
        self._stop = threading.Event()
        self._worker: BackgroundWorker | None = None
        self._thread = threading.Thread(target=self._run, name="recollect-spaces", daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def stop(self) -> None:
        """End the thread after its current step; one that takes long hands its job back."""
        self._stop.set()
        worker = self._worker
        if worker is not None:
            worker.stop()
        if self._thread.ident is None:
            return  # it was not started
        self._thread.join(FINISH_S)
        if self._thread.is_alive() and worker is not None:
            worker.hand_back()
            self._thread.join(HANDED_BACK_S)

    def _run(self) -> None:
        while not self._stop.is_set():
            try:
                self._work()
            except StoreClosed:
                return
            except RecollectError as error:
                log.warning("the stores of users and projects cannot be listed: %s", error)
            self._stop.wait(ROUND_S)

    def _work(self) -> None:
        with closing(open_spaces(self._rec, is_in_use=self._is_in_use)) as spaces:
            for memory in spaces:
                self._worker = BackgroundWorker(memory)
                if self._stop.is_set():
                    return
                self._worker.run_once()
                self._worker = None
