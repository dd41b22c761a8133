"""Choose the embedder the settings name. Nothing is loaded or called here."""

from recollect.config import Settings, at_home
from recollect.errors import InvalidInput
from recollect.models.local import LocalEmbedder
from recollect.models.manifest import default_manifest, read_manifest
from recollect.models.protocol import Embedder


def choose_embedder(settings: Settings) -> Embedder:
    """Return the embedder that *settings* name."""
    match settings.embedding_backend:
        case "local" if not settings.embedding_model:
            return LocalEmbedder(default_manifest())
        case "local" | "folder":
            return LocalEmbedder(read_manifest(at_home(settings.embedding_model)))
        case "ollama":
            model = settings.embedding_model or "all-minilm"
            return _served("ollama", settings.ollama_url, model)
        case "openai":
            model = settings.embedding_model or "text-embedding-3-small"
            return _served("openai", settings.openai_url, model, settings.openai_key)
        case other:
            raise InvalidInput(f"the embedding backend {other!r} has no embedder")


def _served(kind: str, url: str, model: str, key: str = "") -> Embedder:
    # The HTTP client loads only for those who use a server.
    from recollect.models.http import HttpEmbedder

    return HttpEmbedder(kind=kind, url=url, model=model, key=key)
