"""The body of `GET /health`."""

from typing import Literal

from pydantic import BaseModel, Field


class StoreHealth(BaseModel):
    """The database file. `schema` is not known where it cannot be read."""

    ok: bool
    schema_number: int | None = Field(alias="schema")  # pydantic has a `schema` of its own


class QueueHealth(BaseModel):
    """Jobs that are not done."""

    todo: int = 0
    doing: int = 0
    parked: int = 0


class EmbedderHealth(BaseModel):
    """The embedder, and how many items wait for it."""

    name: str
    state: Literal["off", "not loaded", "ready", "resting"]
    trouble: str
    waiting: int


class WorkerHealth(BaseModel):
    """What works in the background."""

    state: Literal["stopped", "warming", "idle", "working", "resting"]
    last_error: str


class Health(BaseModel):
    """How the server is. The first four fields are those every memory server answers with."""

    status: Literal["ok", "degraded"]
    embedding_backend: str
    embedding_dimension: int | None
    database_path: str
    reasons: list[str]
    version: str
    pid: int
    uptime_s: float
    store: StoreHealth
    queue: QueueHealth
    embedder: EmbedderHealth
    worker: WorkerHealth
