"""Handlers of the requests for embedding models and calls of language models."""

from recollect.service import chat_model, embedding_models, jobs
from recollect.service.handlers.handler_table import Handlers
from recollect.wire.requests import models as requests

HANDLERS: Handlers = {
    requests.ListModelsRequest: embedding_models.list_models,
    requests.UseModelRequest: embedding_models.use_model,
    requests.ReembedRequest: embedding_models.reembed,
    requests.CheckEmbedderRequest: embedding_models.check_embedder,
    requests.ListModelCallsRequest: jobs.list_model_calls,
    requests.GetChatModelRequest: chat_model.chat_model_status,
    requests.CountTokensRequest: embedding_models.count_tokens,
}
