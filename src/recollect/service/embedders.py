"""
The models of a store: list them, add or remove one, choose one, embed everything by it.

Choosing writes one row. Embedding takes its time, by whoever does it: a question's thread, a server
in the background, `reembed`. Until it is done the former model's vectors answer.
"""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from recollect.domain.embedding_model import EmbeddingModel, ModelChosen, Reembedded
from recollect.domain.maintenance import EmbedderState
from recollect.errors import InvalidInput, RecollectError
from recollect.models.model_manifest import Manifest
from recollect.models.model_names import manifest_by_name
from recollect.models import models_folder
from recollect.models.models_folder import DEFAULT_NAME, list_models
from recollect.service.services import Services
from recollect.store.protocol import Tables


def models(services: Services) -> list[EmbeddingModel]:
    """Return the default model, those kept on this machine, and any other the store knows."""
    with services.store.read() as tables:
        seen = _Seen(services, tables)
    found = [
        _listed(services, seen, name)
        for name in (DEFAULT_NAME, *list_models(services.models_folder))
    ]
    listed = {one.identity for one in found}
    others = dict.fromkeys((seen.wanted, *(name for name, _ in seen.vectors), seen.serving))
    return found + [seen.model("", one) for one in others if one and one not in listed]


def add_model(
    services: Services, folder: Path, *, name: object = None, in_place: object = False
) -> EmbeddingModel:
    """Copy a model folder to those kept on this machine, proved to work."""
    if name is not None and not isinstance(name, str):
        raise InvalidInput(f"the name of a model is text, not {type(name).__name__}")
    kept = models_folder.add_model(folder, services.models_folder, name=name, replace=bool(in_place))
    with services.store.read() as tables:
        return _listed(services, _Seen(services, tables), kept)


def remove_model(services: Services, name: object) -> EmbeddingModel:
    """Remove a model from those kept on this machine, unless this store has need of it."""
    if not isinstance(name, str):
        raise InvalidInput(f"name a model by its name, not by {type(name).__name__}")
    if name == DEFAULT_NAME:
        raise InvalidInput("the default model is installed with Recollect and cannot be removed")
    with services.store.read() as tables:
        seen = _Seen(services, tables)
    model = _listed(services, seen, name)
    others = {DEFAULT_NAME, *list_models(services.models_folder)} - {name}
    if model.identity not in {_listed(services, seen, one).identity for one in others}:
        _refuse_needed(seen, model)  # else the same model is there under another name
    models_folder.remove_model(services.models_folder, name)
    return model


def use_model(services: Services, name: object) -> ModelChosen:
    """Choose the model of a store; every program that opens it follows at its next question."""
    if not isinstance(name, str):
        raise InvalidInput(f"name a model by its name, not by {type(name).__name__}")
    manifest = manifest_by_name(services.settings, name)
    services.store.write(lambda tables: _choose(tables, manifest))
    with services.store.read() as tables:
        seen = _Seen(services, tables)
    return ModelChosen(model=_listed(services, seen, name), note=_note(seen, manifest.identity))


def reembed(services: Services) -> Reembedded:
    """Embed everything by the wanted model; return how far that came."""
    *_, last = reembed_in_steps(services)
    return last


def reembed_in_steps(services: Services) -> Iterator[Reembedded]:
    """Do the same in steps, yielding how far it has come, for whoever shows progress."""
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


def _choose(tables: Tables, manifest: Manifest) -> None:
    vectors = tables.embeddings
    model_id = vectors.add_model(manifest.identity, manifest.dimension)
    vectors.choose_model(model_id)
    serving = vectors.models_in_use().serving
    # Back to the one that serves: what was on its way to another is here still.
    if serving is not None and (serving.id == model_id or not vectors.count_pending(model_id)):
        vectors.set_serving_model(model_id)


class _Seen:
    """What a store and this program say of models, read at once."""

    def __init__(self, services: Services, tables: Tables) -> None:
        in_use = tables.embeddings.models_in_use()
        self.vectors = tables.embeddings.count_vectors()
        self.items = sum(tables.embeddings.count_by_model().values())
        self.embedder = services.embedder()
        self.wanted = "" if self.embedder.state is EmbedderState.OFF else self.embedder.name
        self.serving = in_use.serving.name if in_use.serving else ""
        self.chosen = in_use.chosen.name if in_use.chosen else ""
        latest = tables.embeddings.latest_model(self.wanted)
        self.waiting = tables.embeddings.count_pending(latest[0] if latest else None)

    def model(
        self, name: str, identity: str, *, folder: str = "", trouble: str = ""
    ) -> EmbeddingModel:
        known = dict(self.vectors.keys())
        embedded = sum(count for (model, _), count in self.vectors.items() if model == identity)
        is_wanted = identity == self.wanted
        return EmbeddingModel(
            name=name,
            identity=identity,
            dimension=known.get(identity),
            folder=folder,
            wanted=is_wanted,
            serving=identity == self.serving,
            embedded=embedded,
            waiting=self.waiting if is_wanted else self.items - embedded,
            trouble=trouble or (self.embedder.trouble if is_wanted else ""),
        )


def _listed(services: Services, seen: _Seen, name: str) -> EmbeddingModel:
    folder = "" if name == DEFAULT_NAME else str(services.models_folder / name)
    try:
        manifest = manifest_by_name(services.settings, name)
    except RecollectError as error:  # damaged or not installed: it is listed with what is wrong
        return seen.model(name, "", folder=folder, trouble=str(error))
    found = seen.model(name, manifest.identity, folder=folder)
    return replace(found, dimension=manifest.dimension)


def _refuse_needed(seen: _Seen, model: EmbeddingModel) -> None:
    if not model.identity:  # it cannot be read, so nobody can use it
        return
    if model.identity == seen.chosen:
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


def _note(seen: _Seen, identity: str) -> str:
    if not seen.wanted:
        return "embeddings are switched off here (embedding_backend = none); search goes by words"
    if seen.wanted != identity:
        return (
            f"this program is told to use {seen.wanted} (RECOLLECT_EMBEDDING_BACKEND or "
            "RECOLLECT_EMBEDDING_MODEL, or an argument), and that comes before the store's choice"
        )
    return ""


def _progress(services: Services, identity: str) -> Reembedded:
    with services.store.read() as tables:
        latest = tables.embeddings.latest_model(identity)
        waiting = tables.embeddings.count_pending(latest[0] if latest else None)
        items = sum(tables.embeddings.count_by_model().values())
        serving = tables.embeddings.models_in_use().serving
    return Reembedded(
        identity=identity,
        done=items - waiting,
        waiting=waiting,
        serving=serving is not None and serving.name == identity,
    )
