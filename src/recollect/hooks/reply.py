"""
A client's JSON in, the bytes to print out: what the server and a hook without one both do.

Everything is decided here and below; the hook's own process only carries.
"""

import os
import time
from collections.abc import Mapping

from recollect.app.root import Recollect
from recollect.errors import InvalidInput
from recollect.hooks import names, state
from recollect.hooks.answers import answer_to
from recollect.hooks.events import HookEvent, event_of
from recollect.hooks.given import Given
from recollect.hooks.recall import recalled


def reply(
    memory: Recollect,
    told: Mapping[str, object],
    *,
    client: str,
    kind: str,
    project: str,
    until: float = 0.0,
) -> bytes:
    """
    Return what to print for what a client *told*, nothing where there is nothing to say.

    After *until*, a time of the clock on the wall, nobody prints it any more; 0: somebody does.
    """
    event = event_of(told, client=client, kind=kind, project=project)
    folder = state.session_folder(state.state_folder(dict(os.environ)))
    given = Given(folder, event, db=str(memory.path), until=until)
    text = _recalled(memory, event, given)
    if event.kind == names.SESSION_START:
        state.remove_old(folder, time.time())
    return answer_to(event, text)


def _recalled(memory: Recollect, event: HookEvent, given: Given) -> str:
    """Return what memory says; a session or a place with a name nobody could have is left out."""
    try:
        return recalled(memory, event, given)
    except InvalidInput:
        nameless = event._replace(session="")
    try:
        return recalled(memory, nameless, given)
    except InvalidInput:
        return recalled(memory, nameless._replace(cwd="", project=""), given)
