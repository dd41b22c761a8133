"""
Find the embedder a program uses, and those a store needs by name.

The configured embedder is the one that the caller or the settings name. A store may use another
model, and during a migration it also needs the previous one. Creating an embedder loads nothing;
each is created once.
"""

import threading

from recollect.config import Settings
from recollect.errors import EmbedderUnavailable, InvalidInput
from recollect.models.embedder import Embedder
from recollect.models.local_embedder import LocalEmbedder
from recollect.models.model_factory import create_embedder
from recollect.models.model_names import manifest_by_identity


class EmbedderRegistry:
    """Creates and caches the embedders of one program. Safe to share between threads."""

    def __init__(self, settings: Settings, explicit: Embedder | None = None) -> None:
        self._settings = settings
        self._explicit = explicit
        self._configured: Embedder | None = None
        self._by_name: dict[str, Embedder] = {}
        self._lock = threading.Lock()

    @property
    def has_explicit_embedder(self) -> bool:
        """Whether the program names its embedder: then the store's choice is ignored."""
        return self._explicit is not None or self._settings.has_explicit_embedder

    def configured_embedder(self) -> Embedder:
        """Return the embedder that the caller or the settings name."""
        with self._lock:
            if self._configured is None:
                self._configured = self._explicit or create_embedder(self._settings)
            return self._configured

    def get(self, name: str) -> Embedder | None:
        """
        Return the embedder *name*, or None if this machine does not have it.

        A model behind HTTP is returned only if it is the configured one: texts are sent only to
        servers that the settings name, even if a store was once embedded by another.
        """
        configured = self._configured_or_none()
        if configured is not None and configured.name == name:
            return configured
        with self._lock:
            embedder = self._by_name.get(name)
            if embedder is None:
                manifest = manifest_by_identity(self._settings, name)
                if manifest is None:
                    return None
                embedder = self._by_name[name] = LocalEmbedder(manifest)
            return embedder

    def _configured_or_none(self) -> Embedder | None:
        try:
            return self.configured_embedder()
        except (EmbedderUnavailable, InvalidInput):
            return None  # the configured model is missing; the store's may exist
