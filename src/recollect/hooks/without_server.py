"""
Answer a hook from the store file if no server runs.

Most of the time is spent loading modules, so no other hook module may import this one. Prompts are
searched by words only, because loading the embedding model takes longer than a prompt may wait.
"""

from recollect.app.local_recollect import LocalRecollect
from recollect.config import load_settings
from recollect.hooks.client_events import Payload
from recollect.hooks.handle_event import handle_event


def answer_from_file(db: str, payload: Payload, *, client: str, kind: str, project: str) -> bytes:
    """Return what to print for *payload*, from the store *db*."""
    with LocalRecollect(load_settings(db=db, embedding_backend="none")) as rec:
        return handle_event(rec, payload, client=client, kind=kind, project=project, is_local=True)
