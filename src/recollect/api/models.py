"""Embedding models and calls of language models."""

from recollect.api.arguments import AgentLike
from recollect.api.verb_group import VerbGroup
from recollect.domain.embedding_model import EmbeddingModel, ModelSelection, ReembedProgress
from recollect.domain.model_usage import ChatModelStatus, ModelCall
from recollect.wire.requests import models as requests


class Models(VerbGroup):
    """Embedding models and calls of language models."""

    def use(self, name: str) -> ModelSelection:
        """Choose the store's model; the previous one answers queries until all is embedded."""
        return self._send(requests.UseModelRequest, locals())

    def reembed(self) -> ReembedProgress:
        """Embed everything with the chosen model; return the progress."""
        return self._send(requests.ReembedRequest, locals())

    def check_embedder(self) -> str:
        """Embed one word and return the embedder's name, or raise `EmbedderUnavailable`."""
        return self._send(requests.CheckEmbedderRequest, locals())

    def chat(self, *, agent: AgentLike | None = None) -> ChatModelStatus:
        """Return the chat model that agents, or one agent, run on; the name '' means none."""
        return self._send(requests.GetChatModelRequest, locals())

    def calls(self, *, limit: int = 50) -> list[ModelCall]:
        """Return the latest calls of language models, with their token counts and costs."""
        return self._send(requests.ListModelCallsRequest, locals())

    def count_tokens(self, text: str, *, model: str = "") -> int:
        """
        Return how many tokens *text* has.

        The count is exact for OpenAI's models if the extra `tokens` is installed, and otherwise
        estimated.
        """
        return self._send(requests.CountTokensRequest, locals())

    def list(self) -> list[EmbeddingModel]:
        """Return the known embedding models and how much of the store each has embedded."""
        return self._send(requests.ListModelsRequest, locals())
