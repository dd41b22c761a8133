"""The response body of `GET /health`."""

from typing import Literal

from pydantic import BaseModel, Field


class StoreReport(BaseModel):
    """The database file. `schema` is null if the file cannot be read."""

    ok: bool
    schema_number: int | None = Field(alias="schema")  # BaseModel already has a `schema`


class QueueReport(BaseModel):
    """Number of unfinished jobs by state."""

    todo: int = 0
    doing: int = 0
    parked: int = 0


class EmbedderReport(BaseModel):
    """The embedder, and how many items are not embedded yet."""

    name: str
    state: Literal["off", "not loaded", "ready", "resting"]
    trouble: str
    waiting: int


class WorkerReport(BaseModel):
    """The background worker."""

    state: Literal["stopped", "warming", "idle", "working", "resting"]
    last_error: str


class HealthReport(BaseModel):
    """The state of the server. Every memory server sends the first four fields."""

    status: Literal["ok", "degraded"]
    embedding_backend: str
    embedding_dimension: int | None
    database_path: str
    reasons: list[str]
    version: str
    pid: int
    uptime_s: float
    store: StoreReport
    queue: QueueReport
    embedder: EmbedderReport
    worker: WorkerReport
