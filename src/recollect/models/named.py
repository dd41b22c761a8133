"""
What an embedder is called, without making one: no NumPy, no model, no call to anybody.

The names are those the embedders give themselves (`LocalEmbedder.name`, `HttpEmbedder.name`).
"""

from recollect.config import Settings, at_home
from recollect.models.manifest import Manifest, default_manifest, read_manifest

# backend: the model it uses unless told otherwise
DEFAULT_MODELS = {"ollama": "all-minilm", "openai": "text-embedding-3-small"}
ON_THIS_MACHINE = ("local", "folder")


def named_embedder(settings: Settings) -> tuple[str, int | None]:
    """Return name and dimension of the embedder that *settings* name; None: not known before."""
    backend = settings.embedding_backend
    if backend in ON_THIS_MACHINE:
        manifest = local_manifest(settings)
        return manifest.identity, manifest.dimension
    if backend in DEFAULT_MODELS:
        return f"{backend}:{settings.embedding_model or DEFAULT_MODELS[backend]}", None
    return "none", None


def local_manifest(settings: Settings) -> Manifest:
    """Return the manifest of the model that runs on this machine."""
    if settings.embedding_backend == "local" and not settings.embedding_model:
        return default_manifest()
    return read_manifest(at_home(settings.embedding_model))
