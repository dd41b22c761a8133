"""The verb that brings the past in: what other programs keep on this machine."""

import os
from collections.abc import Iterator, Sequence
from os import PathLike
from pathlib import Path

from recollect.app.given import Moment, Place, Verbs, path_of
from recollect.config import at_home
from recollect.domain.importing import ImportStep


class Importing(Verbs):
    """The verb that brings the past in."""

    def import_past_in_steps(
        self,
        source: str,
        paths: Sequence[str | PathLike[str]] = (),
        *,
        since: Moment = None,
        project: Place = None,
        limit: int | None = None,
        dry_run: bool = False,
    ) -> Iterator[ImportStep]:
        """
        Capture what another program kept of earlier sessions, yielding how far it is.

        *source* is `claude-code`, `codex`, `gemini-cli`, `cursor`, `chatgpt`, `claude-ai`,
        `mcp-memory` or `claude-memory`; *paths* are files or folders, where not the usual ones.
        It can be stopped at any time and run again: everything comes in once. All of it waits in
        the inbox once the queue is worked off.
        """
        # The readers of every format are loaded by those who import, not by everybody.
        from recollect.service.imports import run
        from recollect.service.imports.past import Machine

        wanted = run.wish(
            source,
            [at_home(str(Path(one))) for one in paths],
            since=since,
            project=path_of(project),
            limit=limit,
            dry_run=dry_run,
        )
        machine = Machine(Path.home(), os.environ)
        run.roots_of(wanted, machine)  # what is wrong with the wish is said before the first step
        return run.import_in_steps(self._deps, wanted, machine)
