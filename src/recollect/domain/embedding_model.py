"""Embedding models as people see them: what they are called, how far a store has come with each."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class EmbeddingModel:
    """One model that a store may use, or uses."""

    name: str  # as `models use` takes it; '' where it cannot be chosen
    identity: str  # names everything that makes its vectors comparable
    dimension: int | None  # None: not known before it is asked
    folder: str = ""
    wanted: bool = False  # everything is to be embedded by it
    serving: bool = False  # its vectors answer questions
    embedded: int = 0  # items of the store that it has embedded
    waiting: int = 0  # items of the store that it has not
    trouble: str = ""  # why it cannot be used


@dataclass(frozen=True, kw_only=True)
class ModelChosen:
    """What choosing a model did, and what is left to do."""

    model: EmbeddingModel
    note: str = ""  # what keeps this program from using it


@dataclass(frozen=True, kw_only=True)
class Reembedded:
    """How far embedding everything by the wanted model has come."""

    identity: str
    done: int  # so many items have its vectors
    waiting: int
    serving: bool  # its vectors answer questions now
