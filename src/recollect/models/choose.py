"""Choose the embedder the settings name. Nothing is loaded or called here."""

from pathlib import Path

from recollect.config import Settings
from recollect.errors import InvalidInput
from recollect.models.http import HttpEmbedder
from recollect.models.local import LocalEmbedder
from recollect.models.manifest import default_manifest, read_manifest
from recollect.models.protocol import Embedder


def choose_embedder(settings: Settings) -> Embedder:
    """Return the embedder that *settings* name."""
    match settings.embedding_backend:
        case "local" if not settings.embedding_model:
            return LocalEmbedder(default_manifest())
        case "local" | "folder":
            return LocalEmbedder(read_manifest(Path(settings.embedding_model).expanduser()))
        case "ollama":
            model = settings.embedding_model or "all-minilm"
            return HttpEmbedder(kind="ollama", url=settings.ollama_url, model=model)
        case "openai":
            model = settings.embedding_model or "text-embedding-3-small"
            return HttpEmbedder(
                kind="openai", url=settings.openai_url, model=model, key=settings.openai_key
            )
        case other:
            raise InvalidInput(f"the embedding backend {other!r} has no embedder")
