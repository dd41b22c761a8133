"""
Turn the JSON payload of a client into the bytes that the hook prints.

Both the server and a hook without a server use this; the hook process itself decides nothing.
"""

import os
import time

from recollect.app.local_recollect import LocalRecollect, store_location
from recollect.calling_client import use_client
from recollect.domain.project import unknown_name_hint
from recollect.errors import InvalidInput
from recollect.hooks import event_names, state_files
from recollect.hooks.client_events import HookEvent, Payload, parse_event
from recollect.hooks.client_response import render_response
from recollect.hooks.injected_memories import InjectedMemories
from recollect.hooks.recall import recall_text


def handle_event(
    rec: LocalRecollect,
    payload: Payload,
    *,
    client: str,
    kind: str,
    project: str,
    deadline: float = 0.0,
    is_local: bool = False,
) -> bytes:
    """
    Return what to print for the *payload* of a client, b'' if there is nothing to inject.

    After *deadline*, a wall-clock time, the hook no longer prints the response; 0: no deadline.
    Only a client that *is_local*, on this machine, is told paths of it.
    """
    event = parse_event(payload, client=client, kind=kind, project=project)
    state = state_files.state_folder(dict(os.environ))
    folder = state_files.session_folder(state)
    injected = InjectedMemories(folder, event, db=store_location(rec), deadline=deadline)
    with use_client(client):
        text = _recall_or_retry(rec, event, injected, is_local=is_local)
    if event.kind == event_names.SESSION_START:
        if event.project and (hint := unknown_name_hint(event.project, rec.projects.list())):
            state_files.append_log(state, hint)
        state_files.remove_old(folder, time.time())
    return render_response(event, text)


def _recall_or_retry(
    rec: LocalRecollect, event: HookEvent, injected: InjectedMemories, *, is_local: bool
) -> str:
    """Return the text to inject, without the session or project if its name is not valid."""
    for attempt in (event, event._replace(session="")):
        try:
            return recall_text(rec, attempt, injected, is_local=is_local)
        except InvalidInput:
            continue
    return recall_text(rec, event._replace(session="", cwd="", project=""), injected)
