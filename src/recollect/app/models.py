"""Verbs about embedding models: which there are, and which one the store uses."""

from collections.abc import Iterator
from os import PathLike, fspath

from recollect.app.given import Verbs
from recollect.config import at_home
from recollect.domain.embedding_model import EmbeddingModel, ModelChosen, Reembedded
from recollect.service import embedders


class ModelVerbs(Verbs):
    """Verbs about embedding models."""

    def models(self) -> list[EmbeddingModel]:
        """Return the models there are, and how far the store has come with each."""
        return embedders.models(self._deps)

    def add_model(
        self, folder: str | PathLike[str], *, name: str | None = None, replace: bool = False
    ) -> EmbeddingModel:
        """Copy a model folder to those kept on this machine, proved to work."""
        given = at_home(fspath(folder))
        return embedders.add_model(self._deps, given, name=name, in_place=replace)

    def remove_model(self, name: str) -> EmbeddingModel:
        """Remove a model that `add_model` copied here; one that this store needs is refused."""
        return embedders.remove_model(self._deps, name)

    def use_model(self, name: str) -> ModelChosen:
        """Choose the store's model; the former one answers until everything is embedded."""
        return embedders.use_model(self._deps, name)

    def reembed(self) -> Reembedded:
        """Embed everything by the wanted model; return how far that came."""
        return embedders.reembed(self._deps)

    def reembed_in_steps(self) -> Iterator[Reembedded]:
        """Do the same in steps, yielding how far it has come, for whoever shows progress."""
        return embedders.reembed_in_steps(self._deps)
