"""
Look up names of models, and manifests of embedders, without creating one: no NumPy, no call.

The names equal those of the embedders (`LocalEmbedder.name`, `HttpEmbedder.name`).
"""

from collections.abc import Callable, Iterator
from functools import partial

from recollect.config import Settings, expand_home
from recollect.errors import EmbedderUnavailable, InvalidInput, NotFound
from recollect.models.model_manifest import Manifest, read_manifest
from recollect.models.models_folder import DEFAULT_NAME, list_models, load_manifest
from recollect.models.packaged_models import default_manifest, packaged_manifests

# backend: its default model
DEFAULT_MODELS = {"ollama": "all-minilm", "openai": "text-embedding-3-small"}
LOCAL_BACKENDS = ("local", "folder")


def embedder_name_and_dimension(settings: Settings) -> tuple[str, int | None]:
    """Return name and dimension of the configured embedder; the dimension may not be known yet."""
    backend = settings.embedding_backend
    if backend in LOCAL_BACKENDS:
        manifest = local_manifest(settings)
        return manifest.identity, manifest.dimension
    if backend in DEFAULT_MODELS:
        return f"{backend}:{settings.embedding_model or DEFAULT_MODELS[backend]}", None
    return "none", None


def local_manifest(settings: Settings) -> Manifest:
    """Return the manifest of the configured local model."""
    if settings.embedding_backend == "local" and not settings.embedding_model:
        return default_manifest()
    return read_manifest(expand_home(settings.embedding_model))


def manifest_by_name(settings: Settings, name: str) -> Manifest:
    """Return the manifest of the default model or of one in the models folder, by its name."""
    if name == DEFAULT_NAME:
        return default_manifest()
    return load_manifest(expand_home(settings.models_folder), name)


def manifest_by_identity(settings: Settings, identity: str) -> Manifest | None:
    """Return the manifest of the model with that identity, or None if it is not here."""
    manifests = _manifests(settings)
    return next((manifest for manifest in manifests if manifest.identity == identity), None)


def missing_model_error(identity: str) -> EmbedderUnavailable:
    """Return the error for a store's model that this machine does not have."""
    return EmbedderUnavailable(
        f"this store uses the embedding model {identity}, which is not on this machine; add it "
        "with `recollect models add FOLDER`, or choose another with `recollect models use default`"
    )


def agent_model_name(settings: Settings, agent_model: str) -> str:
    """
    Return the name of the model that an agent runs on.

    A name with the configured backend before it (`anthropic/…`) is the agent's own choice. Another
    one counts only if no model is configured: it may be of a server that is not configured here.
    """
    backend, separator, name = agent_model.partition("/")
    if separator and backend == settings.chat_backend and name:
        return name
    return settings.chat_model.strip() or agent_model


def _manifests(settings: Settings) -> Iterator[Manifest]:
    for load_packaged in packaged_manifests():
        yield from _if_usable(load_packaged)
    if settings.embedding_backend in LOCAL_BACKENDS:
        yield from _if_usable(partial(local_manifest, settings))
    folder = expand_home(settings.models_folder)
    for name in list_models(folder):
        yield from _if_usable(partial(load_manifest, folder, name))


def _if_usable(load: Callable[[], Manifest]) -> Iterator[Manifest]:
    try:
        yield load()
    except (EmbedderUnavailable, InvalidInput, NotFound):
        return  # not installed, damaged or removed
