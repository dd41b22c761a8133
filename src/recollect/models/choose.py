"""Choose the embedder and the chat model the settings name. Nothing is loaded or called here."""

from typing import TYPE_CHECKING

from recollect.config import Settings
from recollect.errors import InvalidInput
from recollect.models.chat import ChatModel
from recollect.models.local import LocalEmbedder
from recollect.models.named import DEFAULT_MODELS, local_manifest
from recollect.models.protocol import Embedder

if TYPE_CHECKING:
    from recollect.models.http_chat import Kind


def choose_embedder(settings: Settings) -> Embedder:
    """Return the embedder that *settings* name."""
    match settings.embedding_backend:
        case "local" | "folder":
            return LocalEmbedder(local_manifest(settings))
        case "ollama":
            model = settings.embedding_model or DEFAULT_MODELS["ollama"]
            return _served("ollama", settings.ollama_url, model)
        case "openai":
            model = settings.embedding_model or DEFAULT_MODELS["openai"]
            return _served("openai", settings.openai_url, model, settings.openai_key)
        case other:
            raise InvalidInput(f"the embedding backend {other!r} has no embedder")


def choose_chat_model(settings: Settings) -> ChatModel | None:
    """Return the chat model that *settings* name, None where they want none."""
    match settings.chat_backend:
        case "none":
            return None
        case "openai":
            return _chat("openai", settings.openai_url, settings, settings.openai_key)
        case "ollama":
            return _chat("ollama", settings.ollama_url, settings)
        case "anthropic":
            return _chat("anthropic", settings.anthropic_url, settings, settings.anthropic_key)
        case other:
            raise InvalidInput(f"the chat backend {other!r} has no chat model")


def _served(kind: str, url: str, model: str, key: str = "") -> Embedder:
    # The HTTP client loads only for those who use a server.
    from recollect.models.http import HttpEmbedder

    return HttpEmbedder(kind=kind, url=url, model=model, key=key)


def _chat(kind: "Kind", url: str, settings: Settings, key: str = "") -> ChatModel:
    if not settings.chat_model.strip():
        raise InvalidInput(
            f"the chat backend {kind!r} needs the name of a model; "
            "set chat_model in the configuration file, or RECOLLECT_CHAT_MODEL"
        )
    # As above.
    from recollect.models.http_chat import HttpChatModel

    return HttpChatModel(kind=kind, url=url, model=settings.chat_model.strip(), key=key)
