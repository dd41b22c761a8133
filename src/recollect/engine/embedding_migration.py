"""
Choose the embedding model that answers queries and the one the store is migrated to.

Normally one model does both. During a migration there are two: the *serving* model has vectors of
every item and embeds queries; the *next* model embeds the items in batches. New items are embedded
by the serving model first. So every item the next model has is found through the serving model too,
a query needs one search, and vectors of two models are never compared. If the serving model cannot
be used on this machine, the next one answers with the items it has embedded so far.
"""

from recollect.engine.resilient_embedder import ResilientEmbedder
from recollect.errors import EmbedderUnavailable
from recollect.lazy_dataclass import dataclass
from recollect.models.embedder import Embedder
from recollect.models.embedder_registry import EmbedderRegistry
from recollect.models.model_names import missing_model_error
from recollect.store.values import ModelsInUse, PendingFilter, RegisteredModel

_NO_ERROR = EmbedderUnavailable("")


@dataclass(frozen=True)
class ModelRoles:
    """The models in use: one that serves queries, one that is migrated to, and a note for users."""

    serving: ResilientEmbedder
    next: ResilientEmbedder | None = None
    pending: PendingFilter = PendingFilter.ALL  # which items the serving model still has to embed
    registered: RegisteredModel | None = None  # the first one, if the store says that it serves
    has_pending: bool = True  # whether items may wait for the model that the store says serves
    note: str = ""

    @property
    def is_serving(self) -> bool:
        """Whether the store says that the first one serves."""
        return self.registered is not None


class ModelSelector:
    """Assigns the roles to the embedders of one program."""

    def __init__(self, registry: EmbedderRegistry) -> None:
        self._registry = registry
        self._embedders: dict[int, ResilientEmbedder] = {}

    def choose(self, in_use: ModelsInUse, *, has_pending: bool = True) -> ModelRoles:
        """Return the roles; raises `EmbedderUnavailable` if no embedder can be used."""
        target, error = self._target_or_error(in_use)
        serving = in_use.serving
        if serving is None or (target is not None and target.matches(serving)):
            if target is None:
                raise error
            # Another program may be migrating to the model the store has chosen: leave that to it.
            is_replaced = serving is not None and in_use.chosen not in (None, serving)
            pending = PendingFilter.NEW if is_replaced else PendingFilter.ALL
            return ModelRoles(target, pending=pending, registered=serving, has_pending=has_pending)
        current = self._embedder_of(serving)
        if current is not None and not current.is_paused:
            return ModelRoles(current, next=target, pending=PendingFilter.NEW)
        if target is None:
            raise error
        why = "it is not on this machine" if current is None else current.failure
        note = (
            f"meaning was compared with what {target.embedder.name} has embedded so far; "
            f"{serving.name} cannot be used: {why}"
        )
        return ModelRoles(target, note=note)

    def target(self, in_use: ModelsInUse) -> ResilientEmbedder:
        """Return the model for all items; raises `EmbedderUnavailable` if it is not available."""
        if self._registry.has_explicit_embedder or in_use.chosen is None:
            return self._resilient_embedder(self._registry.configured_embedder())
        chosen = self._embedder_of(in_use.chosen)
        if chosen is None:
            raise missing_model_error(in_use.chosen.name)
        return chosen

    def may_serve(self, in_use: ModelsInUse, model_id: int) -> bool:
        """Return whether *model_id* may serve queries once it has embedded every item."""
        chosen = in_use.chosen
        return self._registry.has_explicit_embedder or chosen is None or chosen.id == model_id

    def _target_or_error(
        self, in_use: ModelsInUse
    ) -> tuple[ResilientEmbedder | None, EmbedderUnavailable]:
        try:
            return self.target(in_use), _NO_ERROR
        except EmbedderUnavailable as error:
            return None, error

    def _embedder_of(self, model: RegisteredModel) -> ResilientEmbedder | None:
        registered = self._registry.get(model.name)
        if registered is None:
            return None
        embedder = self._resilient_embedder(registered)
        try:
            return embedder if embedder.matches(model) else None
        except EmbedderUnavailable:
            return embedder  # it is paused now, and holds the failure

    def _resilient_embedder(self, embedder: Embedder) -> ResilientEmbedder:
        return self._embedders.setdefault(id(embedder), ResilientEmbedder(embedder))
