"""
The embedders a program may need: its own, and those a store asks for by name.

Its own is the one the settings or the caller name. A store may want another, and while its model is
being changed it needs the former one too. Making one loads nothing; each is made once.
"""

import threading

from recollect.config import Settings
from recollect.errors import EmbedderUnavailable, InvalidInput
from recollect.models.choose import choose_embedder
from recollect.models.local import LocalEmbedder
from recollect.models.named import manifest_called
from recollect.models.protocol import Embedder


class Choice:
    """Finds embedders for one program. Safe to share between threads."""

    def __init__(self, settings: Settings, given: Embedder | None = None) -> None:
        self._settings = settings
        self._given = given
        self._own: Embedder | None = None
        self._found: dict[str, Embedder] = {}
        self._lock = threading.Lock()

    @property
    def is_named(self) -> bool:
        """Whether the program names its embedder: then a store's choice does not count."""
        return self._given is not None or self._settings.names_embedder

    def own(self) -> Embedder:
        """Return the embedder that the caller or the settings name."""
        with self._lock:
            if self._own is None:
                self._own = self._given or choose_embedder(self._settings)
            return self._own

    def called(self, name: str) -> Embedder | None:
        """
        Return the embedder of that name; None where this machine has none.

        A model behind HTTP is only ever the program's own: texts go nowhere the settings do not
        name, even if a store was once embedded there.
        """
        own = self._own_if_any()
        if own is not None and own.name == name:
            return own
        with self._lock:
            found = self._found.get(name)
            if found is None:
                manifest = manifest_called(self._settings, name)
                if manifest is None:
                    return None
                found = self._found[name] = LocalEmbedder(manifest)
            return found

    def _own_if_any(self) -> Embedder | None:
        try:
            return self.own()
        except (EmbedderUnavailable, InvalidInput):
            return None  # the settings name one that is not there; the store's may be
