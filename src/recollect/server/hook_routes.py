"""
The route for hooks of coding agents: takes a client's JSON and returns what its hook prints.

Only `recollect hook` uses it; other programs use the verbs. It captures nothing: the process of the
hook reads the transcript.
"""

import os
from typing import Any

from fastapi import APIRouter, Response
from pydantic import BaseModel, Field

from recollect.app.local_recollect import LocalRecollect, store_location
from recollect.hooks import event_names
from recollect.hooks.handle_event import handle_event
from recollect.wire.request import PREFIX


class HookRequest(BaseModel):
    """The body of a hook request: the store, the project and the JSON of the client."""

    db: str = Field(default="", max_length=4_096)  # '': the store of this server
    project: str = Field(default="", max_length=4_096)
    payload: dict[str, Any] = Field(alias="told")
    deadline: float = Field(default=0.0, alias="until")  # Unix time; 0: no deadline


def hook_router(rec: LocalRecollect) -> APIRouter:
    """Return the router with the hook route."""
    router = APIRouter(prefix=PREFIX)
    served = os.path.realpath(store_location(rec))  # a store on a database server has no other name

    @router.post("/hooks/{client}/{event}", include_in_schema=False)
    def hook(client: str, event: str, hook_request: HookRequest) -> Response:
        """Return what the hook prints; 409 if it is meant for another store."""
        kind = event_names.event_kind(event)
        if kind not in event_names.RECALL_EVENTS:
            return Response(status_code=404)
        if hook_request.db and os.path.realpath(hook_request.db) != served:
            return Response(status_code=409)
        output = handle_event(
            rec,
            hook_request.payload,
            client=event_names.client_name(client),
            kind=kind,
            project=hook_request.project,
            deadline=hook_request.deadline,
            # A hook that names the file of the store runs on this machine.
            is_local=bool(hook_request.db) and os.path.isfile(served),
        )
        return Response(output, media_type="application/json", status_code=200 if output else 204)

    return router
