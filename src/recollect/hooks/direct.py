"""
Answer a hook straight from the file, where no server runs.

Loading what that takes is most of the time it takes; so nothing else may load this file. A prompt
is compared by its words alone: the model would take longer to load than a prompt should wait.
"""

from collections.abc import Mapping

from recollect.app.root import Recollect
from recollect.config import load_settings
from recollect.hooks.reply import reply


def answered(db: str, told: Mapping[str, object], *, client: str, kind: str, project: str) -> bytes:
    """Return what to print, from the store in the file *db*."""
    with Recollect(load_settings(db=db, embedding_backend="none")) as memory:
        return reply(memory, told, client=client, kind=kind, project=project)
