"""The dependencies of the engine: store, clock, models and budget, passed in by the application."""

from collections.abc import Callable
from dataclasses import field
from typing import TYPE_CHECKING

from recollect.clock import Clock
from recollect.domain.job import Job
from recollect.domain.model_usage import ModelBudget
from recollect.domain.promotion_policy import DEFAULT_POLICY, PolicySettings
from recollect.lazy_dataclass import dataclass
from recollect.models.model_prices import ModelPrices
from recollect.models.model_windows_file import ModelWindows
from recollect.store.protocol import Store

if TYPE_CHECKING:
    # For the type checker only: the indexer imports NumPy, models import an HTTP client.
    from recollect.engine.embedding_indexer import Indexer
    from recollect.models.chat_model import ChatModel


@dataclass(frozen=True)
class EngineContext:
    """What the stages of the engine use; `indexer` and `chat` return None if there is none."""

    store: Store
    clock: Clock
    indexer: "Callable[[], Indexer | None]"
    chat: "Callable[[], ChatModel | None]"
    budget: ModelBudget
    policy: PolicySettings = DEFAULT_POLICY
    uses_chat: bool = False  # a chat model is configured, whether or not it is available now
    prices: ModelPrices = field(default_factory=ModelPrices)
    windows: ModelWindows = field(default_factory=ModelWindows)
    running: dict[str, Job] = field(default_factory=dict)  # by id: the jobs this process works on
