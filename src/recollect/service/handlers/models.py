"""Handlers of the requests for embedding models and calls of language models."""

from recollect.domain.embedding_model import EmbeddingModel, ModelChosen, Reembedded
from recollect.domain.model_usage import ModelCall
from recollect.service import embedders, jobs, upkeep
from recollect.service.handlers.table import Handlers
from recollect.service.services import Services
from recollect.text.token_counter import counter_for
from recollect.wire.requests.models import (
    CheckEmbedderRequest,
    CountTokensRequest,
    ListModelCallsRequest,
    ListModelsRequest,
    ReembedRequest,
    UseModelRequest,
)


def list_models(services: Services, request: ListModelsRequest) -> list[EmbeddingModel]:
    return embedders.models(services)


def use_model(services: Services, request: UseModelRequest) -> ModelChosen:
    return embedders.use_model(services, request.name)


def reembed(services: Services, request: ReembedRequest) -> Reembedded:
    return embedders.reembed(services)


def check_embedder(services: Services, request: CheckEmbedderRequest) -> str:
    return upkeep.try_embedder(services)


def list_model_calls(services: Services, request: ListModelCallsRequest) -> list[ModelCall]:
    return jobs.ledger(services, limit=request.limit)


def count_tokens(services: Services, request: CountTokensRequest) -> int:
    return counter_for(request.model).count(request.text)


HANDLERS: Handlers = {
    ListModelsRequest: list_models,
    UseModelRequest: use_model,
    ReembedRequest: reembed,
    CheckEmbedderRequest: check_embedder,
    ListModelCallsRequest: list_model_calls,
    CountTokensRequest: count_tokens,
}
