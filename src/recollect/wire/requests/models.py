"""Requests for embedding models and calls of language models."""

from recollect.domain.embedding_model import EmbeddingModel, ModelSelection, ReembedProgress
from recollect.domain.model_usage import ChatModelStatus, ModelCall
from recollect.wire.fields import Id, Limit, Text, option
from recollect.wire.request import VerbRequest


class ListModelsRequest(VerbRequest[list[EmbeddingModel]], route="GET /models"):
    """Return the known embedding models and how much of the store each has embedded."""


class UseModelRequest(VerbRequest[ModelSelection], route="PUT /models/in-use"):
    """Choose the store's model; the previous one answers until everything is embedded."""

    name: Text


class ReembedRequest(VerbRequest[ReembedProgress], route="POST /reembed"):
    """Embed everything with the chosen model; return the progress."""


class CheckEmbedderRequest(VerbRequest[str], route="POST /embedder/try"):
    """Embed one word and return the embedder's name, or raise `EmbedderUnavailable`."""


class ListModelCallsRequest(VerbRequest[list[ModelCall]], route="GET /ledger"):
    """Return the latest calls of language models, with their token counts and costs."""

    limit: Limit = 50


class GetChatModelRequest(VerbRequest[ChatModelStatus], route="GET /models/chat"):
    """Return the chat model that agents, or one agent, run on, and its price."""

    agent: Id | None = option(None, "The agent, which may name a model of its own.")


class CountTokensRequest(VerbRequest[int], route="POST /tokens"):
    """Return how many tokens *text* has for a model: exact for OpenAI's, else an estimate."""

    text: Text
    model: Text = ""
