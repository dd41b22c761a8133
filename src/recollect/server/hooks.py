"""
The door of coding agents' hooks: a client's JSON in, the bytes its hook prints out.

For `recollect hook` alone, which knows both sides; other programs want the verbs. Nothing is
captured here: what a transcript's path names stays with whoever runs the hook.
"""

import os
from typing import Any

from fastapi import APIRouter, Response
from pydantic import BaseModel, Field

from recollect.app.root import Recollect
from recollect.hooks import event_names
from recollect.hooks.handle_event import reply
from recollect.text.tokens import counter_for
from recollect.wire.routes import PREFIX


class HookRequest(BaseModel):
    """What a hook carries: which store it means, which project, and what its client said."""

    db: str = Field(default="", max_length=4_096)  # '': whichever is served
    project: str = Field(default="", max_length=4_096)
    told: dict[str, Any]
    until: float = 0.0  # when it goes without an answer, by the clock on the wall; 0: it waits


def warm() -> None:
    """Load what the first hook would have to wait for: the tables that count tokens."""
    counter_for().count("warm")


def hook_router(memory: Recollect) -> APIRouter:
    """Return the route that answers hooks from *memory*."""
    router = APIRouter(prefix=PREFIX)
    served = os.path.realpath(memory.path)

    @router.post("/hooks/{client}/{event}", include_in_schema=False)
    def hook(client: str, event: str, given: HookRequest) -> Response:
        """Return what the hook prints; 409 where it means another store."""
        kind = event_names.kind_of(event)
        if kind not in event_names.ASKING:
            return Response(status_code=404)
        if given.db and os.path.realpath(given.db) != served:
            return Response(status_code=409)
        answer = reply(
            memory,
            given.told,
            client=event_names.client_of(client),
            kind=kind,
            project=given.project,
            until=given.until,
        )
        return Response(answer, media_type="application/json", status_code=200 if answer else 204)

    return router
