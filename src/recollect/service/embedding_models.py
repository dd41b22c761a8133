"""
List, add, remove and choose the embedding models of a store, and embed everything again.

Choosing a model writes one row. Embedding takes time and is done by the next program that embeds:
a search, the background thread of a server, or `reembed`. Until then the previous model's vectors
answer queries.
"""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from recollect.domain.embedding_model import EmbeddingModel, ModelSelection, ReembedProgress
from recollect.domain.maintenance import EmbedderState
from recollect.errors import InvalidInput, RecollectError
from recollect.models import models_folder
from recollect.models.model_manifest import Manifest
from recollect.models.model_names import manifest_by_name
from recollect.models.models_folder import DEFAULT_NAME
from recollect.service.services import Services
from recollect.store.protocol import Tables
from recollect.text.token_counter import counter_for
from recollect.wire.requests import models as requests


def list_models(services: Services, request: requests.ListModelsRequest) -> list[EmbeddingModel]:
    """Return the default model, those of this machine, and any other the store knows."""
    usage = _read_usage(services)
    installed = (DEFAULT_NAME, *models_folder.list_models(services.models_folder))
    models = [_installed_model(services, usage, name) for name in installed]
    identities = {model.identity for model in models} | {""}
    others = dict.fromkeys((usage.wanted, *(name for name, _ in usage.vectors), usage.serving))
    return models + [usage.model("", other) for other in others if other not in identities]


def add_model(
    services: Services, folder: Path, *, name: object = None, in_place: object = False
) -> EmbeddingModel:
    """Copy a model folder to the models of this machine, after it has embedded a sentence."""
    if name is not None and not isinstance(name, str):
        raise InvalidInput(f"the name of a model is text, not {type(name).__name__}")
    target = services.models_folder
    added = models_folder.add_model(folder, target, name=name, replace=bool(in_place))
    return _installed_model(services, _read_usage(services), added)


def remove_model(services: Services, name: object) -> EmbeddingModel:
    """Remove a model of this machine; refuse if this store needs it."""
    if not isinstance(name, str):
        raise InvalidInput(f"name a model by its name, not by {type(name).__name__}")
    if name == DEFAULT_NAME:
        raise InvalidInput("the default model is installed with Recollect and cannot be removed")
    usage = _read_usage(services)
    model = _installed_model(services, usage, name)
    others = {DEFAULT_NAME, *models_folder.list_models(services.models_folder)} - {name}
    same_model = {_installed_model(services, usage, other).identity for other in others}
    if model.identity not in same_model:  # not installed under another name too
        _require_unused(usage, model)
    models_folder.remove_model(services.models_folder, name)
    return model


def use_model(services: Services, request: requests.UseModelRequest) -> ModelSelection:
    """Choose the model of a store; every program that has it open follows at its next query."""
    manifest = manifest_by_name(services.settings, request.name)
    services.store.write(lambda tables: _choose(tables, manifest))
    usage = _read_usage(services)
    model = _installed_model(services, usage, request.name)
    return ModelSelection(model=model, note=_note(usage, manifest.identity))


def reembed(services: Services, request: requests.ReembedRequest) -> ReembedProgress:
    """Embed everything with the chosen model; return the progress."""
    *_, last = reembed_in_steps(services)
    return last


def reembed_in_steps(services: Services) -> Iterator[ReembedProgress]:
    """Embed everything with the chosen model, yielding the progress after each batch."""
    indexer = services.indexer()
    if indexer is None:
        raise InvalidInput(
            "embeddings are switched off (embedding_backend = none); name another backend first"
        )
    identity = indexer.target_embedder().name
    yield _progress(services, identity)
    while indexer.embed_batch():
        yield _progress(services, identity)
    yield _progress(services, identity)


def check_embedder(services: Services, request: requests.CheckEmbedderRequest) -> str:
    """Embed one word; return the model and its dimension. Raises `EmbedderUnavailable`."""
    indexer = services.indexer()
    if indexer is None:
        return "switched off; search goes by words"
    embedder = indexer.target_embedder()
    return f"{embedder.name}, {len(embedder.embed_query('test'))} dimensions"


def count_tokens(services: Services, request: requests.CountTokensRequest) -> int:
    """Return how many tokens a text has for a model."""
    return counter_for(request.model).count(request.text)


def _choose(tables: Tables, manifest: Manifest) -> None:
    vectors = tables.embeddings
    model_id = vectors.add_model(manifest.identity, manifest.dimension)
    vectors.choose_model(model_id)
    serving = vectors.models_in_use().serving
    # If every item has vectors of it already, as after a choice that is taken back, it serves now.
    if serving is not None and (serving.id == model_id or not vectors.count_pending(model_id)):
        vectors.set_serving_model(model_id)


class _ModelUsage:
    """The models of a store and of this program, read at one moment."""

    def __init__(self, services: Services, tables: Tables) -> None:
        in_use = tables.embeddings.models_in_use()
        self.vectors = tables.embeddings.count_vectors()
        self.items = sum(tables.embeddings.count_by_model().values())
        self.embedder = services.embedder_status()
        self.wanted = "" if self.embedder.state is EmbedderState.OFF else self.embedder.name
        self.serving = in_use.serving.name if in_use.serving else ""
        self.chosen = in_use.chosen.name if in_use.chosen else ""
        latest = tables.embeddings.latest_model(self.wanted)
        self.waiting = tables.embeddings.count_pending(latest[0] if latest else None)

    def model(
        self, name: str, identity: str, *, folder: str = "", trouble: str = ""
    ) -> EmbeddingModel:
        embedded = sum(count for (model, _), count in self.vectors.items() if model == identity)
        is_wanted = identity == self.wanted
        return EmbeddingModel(
            name=name,
            identity=identity,
            dimension=dict(self.vectors.keys()).get(identity),
            folder=folder,
            wanted=is_wanted,
            serving=identity == self.serving,
            embedded=embedded,
            waiting=self.waiting if is_wanted else self.items - embedded,
            trouble=trouble or (self.embedder.trouble if is_wanted else ""),
        )


def _read_usage(services: Services) -> _ModelUsage:
    with services.store.read() as tables:
        return _ModelUsage(services, tables)


def _installed_model(services: Services, usage: _ModelUsage, name: str) -> EmbeddingModel:
    folder = "" if name == DEFAULT_NAME else str(services.models_folder / name)
    try:
        manifest = manifest_by_name(services.settings, name)
    except RecollectError as error:  # damaged or missing: it is listed with the error
        return usage.model(name, "", folder=folder, trouble=str(error))
    model = usage.model(name, manifest.identity, folder=folder)
    return replace(model, dimension=manifest.dimension)


def _require_unused(usage: _ModelUsage, model: EmbeddingModel) -> None:
    if not model.identity:  # it cannot be read, so nobody can use it
        return
    if model.identity == usage.chosen:
        raise InvalidInput(
            f"this store uses the model {model.name!r}; choose another one first, for example "
            f"`recollect models use {DEFAULT_NAME}`"
        )
    if model.wanted:
        raise InvalidInput(
            f"this program is told to use the model {model.name!r}; name another one in "
            "RECOLLECT_EMBEDDING_MODEL, the argument or the configuration file first"
        )
    if model.serving:
        raise InvalidInput(
            f"the model {model.name!r} answers this store's questions until everything is embedded "
            "by the one that was chosen; run `recollect models reembed` first"
        )


def _note(usage: _ModelUsage, identity: str) -> str:
    if not usage.wanted:
        return "embeddings are switched off here (embedding_backend = none); search goes by words"
    if usage.wanted != identity:
        return (
            f"this program is told to use {usage.wanted} (RECOLLECT_EMBEDDING_BACKEND or "
            "RECOLLECT_EMBEDDING_MODEL, or an argument), and that comes before the store's choice"
        )
    return ""


def _progress(services: Services, identity: str) -> ReembedProgress:
    with services.store.read() as tables:
        latest = tables.embeddings.latest_model(identity)
        waiting = tables.embeddings.count_pending(latest[0] if latest else None)
        items = sum(tables.embeddings.count_by_model().values())
        serving = tables.embeddings.models_in_use().serving
    return ReembedProgress(
        identity=identity,
        done=items - waiting,
        waiting=waiting,
        serving=serving is not None and serving.name == identity,
    )
