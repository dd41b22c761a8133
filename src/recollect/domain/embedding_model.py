"""Embedding models as shown to users: their names, and the progress of a store with each."""

from recollect.lazy_dataclass import dataclass


@dataclass(frozen=True, kw_only=True)
class EmbeddingModel:
    """One model that a store uses or may use."""

    name: str  # the argument of `models use`; '' if it cannot be chosen
    identity: str  # one name for everything that makes its vectors comparable
    dimension: int | None  # None: not known before the first call
    folder: str = ""
    wanted: bool = False  # every item is to be embedded by it
    serving: bool = False  # its vectors answer queries
    embedded: int = 0  # items of the store with vectors of it
    waiting: int = 0  # items of the store without
    trouble: str = ""  # why it cannot be used


@dataclass(frozen=True, kw_only=True)
class ModelSelection:
    """The result of choosing a model."""

    model: EmbeddingModel
    note: str = ""  # why this program does not use it


@dataclass(frozen=True, kw_only=True)
class ReembedProgress:
    """The progress of embedding every item by the wanted model."""

    identity: str
    done: int  # items with its vectors
    waiting: int
    serving: bool  # its vectors answer queries now
