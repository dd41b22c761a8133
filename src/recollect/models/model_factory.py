"""Create the embedder and the chat model that the settings name. Loads and calls nothing."""

from typing import TYPE_CHECKING

from recollect.config import Settings
from recollect.errors import InvalidInput
from recollect.models.embedder import Embedder
from recollect.models.local_embedder import LocalEmbedder
from recollect.models.model_names import DEFAULT_MODELS, local_manifest

if TYPE_CHECKING:
    from recollect.models.http_chat import ChatServerKind, HttpChatModel


def create_embedder(settings: Settings) -> Embedder:
    """Return the embedder that *settings* name."""
    match settings.embedding_backend:
        case "local" | "folder":
            return LocalEmbedder(local_manifest(settings))
        case "ollama":
            return _http_embedder("ollama", settings.ollama_url, settings)
        case "openai":
            return _http_embedder("openai", settings.openai_url, settings, settings.openai_key)
        case other:
            raise InvalidInput(f"the embedding backend {other!r} has no embedder")


def create_chat_model(settings: Settings) -> "HttpChatModel | None":
    """Return the chat model that *settings* name, or None for the backend "none"."""
    match settings.chat_backend:
        case "none":
            return None
        case "openai":
            return _http_chat("openai", settings.openai_url, settings, settings.openai_key)
        case "ollama":
            return _http_chat("ollama", settings.ollama_url, settings)
        case "anthropic":
            return _http_chat("anthropic", settings.anthropic_url, settings, settings.anthropic_key)
        case other:
            raise InvalidInput(f"the chat backend {other!r} has no chat model")


def _http_embedder(kind: str, url: str, settings: Settings, key: str = "") -> Embedder:
    # The HTTP client is imported only if a server is used.
    from recollect.models.http_embedder import HttpEmbedder

    model = settings.embedding_model or DEFAULT_MODELS[kind]
    return HttpEmbedder(kind=kind, url=url, model=model, key=key)


def _http_chat(
    kind: "ChatServerKind", url: str, settings: Settings, key: str = ""
) -> "HttpChatModel":
    if not settings.chat_model.strip():
        raise InvalidInput(
            f"the chat backend {kind!r} needs the name of a model; "
            "set chat_model in the configuration file, or RECOLLECT_CHAT_MODEL"
        )
    # Imported only if used.
    from recollect.models.http_chat import HttpChatModel

    return HttpChatModel(kind=kind, url=url, model=settings.chat_model.strip(), key=key)
