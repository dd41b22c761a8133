"""Embedding models and calls of language models."""

from recollect.api.noun import Noun
from recollect.domain.embedding_model import EmbeddingModel, ModelChosen, Reembedded
from recollect.domain.model_usage import ModelCall
from recollect.wire.requests.models import (
    CheckEmbedderRequest,
    CountTokensRequest,
    ListModelCallsRequest,
    ListModelsRequest,
    ReembedRequest,
    UseModelRequest,
)


class Models(Noun):
    """Embedding models and calls of language models."""

    def use(self, name: str) -> ModelChosen:
        """Choose the store's embedding model; the previous one answers queries until all is embedded."""
        return self._send(UseModelRequest, locals())

    def reembed(self) -> Reembedded:
        """Embed everything with the chosen model; return the progress."""
        return self._send(ReembedRequest, locals())

    def check_embedder(self) -> str:
        """Embed one word and return the embedder's name; raise `EmbedderUnavailable` if it fails."""
        return self._send(CheckEmbedderRequest, locals())

    def calls(self, *, limit: int = 50) -> list[ModelCall]:
        """Return the latest calls of language models, with their token counts."""
        return self._send(ListModelCallsRequest, locals())

    def count_tokens(self, text: str, *, model: str = "") -> int:
        """Return how many tokens *text* has for a model: exact for OpenAI models, else estimated."""
        return self._send(CountTokensRequest, locals())

    def list(self) -> list[EmbeddingModel]:
        """Return the known embedding models and how much of the store each has embedded."""
        return self._send(ListModelsRequest, locals())
