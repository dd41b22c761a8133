"""
What an embedder is called, without making one: no NumPy, no model, no call to anybody.

The names are those the embedders give themselves (`LocalEmbedder.name`, `HttpEmbedder.name`).
"""

from collections.abc import Callable, Iterator
from functools import partial

from recollect.config import Settings, at_home
from recollect.errors import EmbedderUnavailable, InvalidInput, NotFound
from recollect.models.kept import DEFAULT, kept_manifest, kept_names
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


def manifest_of(settings: Settings, name: str) -> Manifest:
    """Return the manifest of the default model or of a kept one, by the name it is used by."""
    if name == DEFAULT:
        return default_manifest()
    return kept_manifest(at_home(settings.models_folder), name)


def manifest_called(settings: Settings, identity: str) -> Manifest | None:
    """Return the manifest of the model of that identity; None where this machine has none."""
    return next((one for one in _manifests(settings) if one.identity == identity), None)


def not_here(identity: str) -> EmbedderUnavailable:
    """Return what to say of a store's model that this machine does not have."""
    return EmbedderUnavailable(
        f"this store uses the embedding model {identity}, which is not on this machine; add it "
        "with `recollect models add FOLDER`, or choose another with `recollect models use default`"
    )


def _manifests(settings: Settings) -> Iterator[Manifest]:
    yield from _if_whole(default_manifest)
    if settings.embedding_backend in ON_THIS_MACHINE:
        yield from _if_whole(partial(local_manifest, settings))
    below = at_home(settings.models_folder)
    for name in kept_names(below):
        yield from _if_whole(partial(kept_manifest, below, name))


def _if_whole(find: Callable[[], Manifest]) -> Iterator[Manifest]:
    try:
        yield find()
    except (EmbedderUnavailable, InvalidInput, NotFound):
        return  # not installed, damaged or gone: then it is none that could be used
