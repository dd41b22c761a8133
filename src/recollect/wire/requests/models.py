"""Requests for embedding models and calls of language models."""

from recollect.domain.embedding_model import EmbeddingModel, ModelSelection, ReembedProgress
from recollect.domain.model_usage import ChatModelStatus, ModelCall
from recollect.wire.fields import Id, Limit, Text, option
from recollect.wire.request import VerbRequest


class ListModelsRequest(VerbRequest[list[EmbeddingModel]], route="GET /models"):
    """Return the models there are, and how far the store has come with each."""


class UseModelRequest(VerbRequest[ModelSelection], route="PUT /models/in-use"):
    """Choose the store's model; the previous one answers until everything is embedded."""

    name: Text


class ReembedRequest(VerbRequest[ReembedProgress], route="POST /reembed"):
    """Embed everything by the wanted model; return how far that came."""


class CheckEmbedderRequest(VerbRequest[str], route="POST /embedder/try"):
    """Embed one word and say with what; raises `EmbedderUnavailable`."""


class ListModelCallsRequest(VerbRequest[list[ModelCall]], route="GET /ledger"):
    """Return what language models were asked lately, and what it cost."""

    limit: Limit = 50


class GetChatModelRequest(VerbRequest[ChatModelStatus], route="GET /models/chat"):
    """Return the chat model that agents, or one agent, run on, and its price."""

    agent: Id | None = option(None, "The agent, which may name a model of its own.")


class CountTokensRequest(VerbRequest[int], route="POST /tokens"):
    """Return how many tokens *text* has for a model: exact for OpenAI's, else an estimate."""

    text: Text
    model: Text = ""
