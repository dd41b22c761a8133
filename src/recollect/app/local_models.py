"""Embedding models of a local store: the verbs of `Models`, and those about folders on disk."""

from collections.abc import Iterator

from recollect.api.arguments import FilePath
from recollect.api.models import Models
from recollect.api.transport import Transport
from recollect.domain.embedding_model import EmbeddingModel, ReembedProgress
from recollect.service import embedding_models
from recollect.service.services import Services
from recollect.wire.material_files import file_path


class LocalModels(Models):
    """List, choose, add and remove embedding models."""

    def __init__(self, transport: Transport, services: Services) -> None:
        super().__init__(transport)
        self._services = services

    def add(
        self, folder: FilePath, *, name: str | None = None, replace: bool = False
    ) -> EmbeddingModel:
        """Copy a model folder to the models of this machine, after it has embedded a sentence."""
        path = file_path(folder)
        return embedding_models.add_model(self._services, path, name=name, in_place=replace)

    def remove(self, name: str) -> EmbeddingModel:
        """Remove a model that `add` copied here; a model this store needs is refused."""
        return embedding_models.remove_model(self._services, name)

    def reembed_in_steps(self) -> Iterator[ReembedProgress]:
        """Embed everything with the chosen model, yielding the progress after each batch."""
        return embedding_models.reembed_in_steps(self._services)
