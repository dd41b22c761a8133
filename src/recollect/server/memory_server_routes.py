"""
The memory server's own endpoints: agents, messages, memory blocks, context.

They answer 200, 404 for an unknown agent or block, 409 for a used label or a block that changed
meanwhile, 422 for a bad value. Errors of the service go up as they are; the app translates them.

An agent is named by its name or its id. A slash in a name is written %2F in a path.
"""

from collections.abc import Callable
from functools import cache
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from pydantic import BaseModel, Field

from recollect.app.local_recollect import LocalRecollect
from recollect.config import Settings
from recollect.domain.agent import Agent
from recollect.domain.block import Block
from recollect.errors import AlreadyExists, InvalidInput, NotFound
from recollect.server.error_handlers import PROBLEM_RESPONSES
from recollect.server.idempotency import IdempotencyKey
from recollect.server.verb_routes import ServedStore
from recollect.text.fence import FENCE_OVERHEAD, fence_bundle
from recollect.wire import path_segment
from recollect.wire import rest_models as models

MAX_LISTED = 1_000
_OpenApi = dict[int | str, dict[str, Any]]
_NO_AGENT: _OpenApi = {404: {"description": "There is no such agent."}}
_NO_BLOCK: _OpenApi = {404: {"description": "No such agent or block."}}
_TAKEN: _OpenApi = {409: {"description": "The agent has a block with this label."}}
_STALE: _OpenApi = {409: {"description": "Somebody changed the block since the expected version."}}


def router(settings: Settings) -> APIRouter:
    """Return the endpoints; they serve the store in `app.state.served`, and run in threads."""
    limit = settings.max_search_limit
    return _router(limit, min(settings.default_search_limit, limit), settings.max_context_messages)


@cache  # to build the routes takes 20 ms
def _router(max_limit: int, default_limit: int, context_messages: int) -> APIRouter:
    routes = APIRouter(responses=PROBLEM_RESPONSES)
    _add_agents(routes)
    _add_messages(routes, max_limit, default_limit)
    _add_blocks(routes)
    _add_context(routes, context_messages)
    return routes


def _add_agents(routes: APIRouter) -> None:
    @routes.post("/agents", tags=["agents"], response_model=models.AgentResponse)
    def create_agent(
        body: models.AgentRequest, request: Request, idempotency_key: IdempotencyKey = None
    ) -> Response:
        """Create a new agent, or return the existing one with the same name, unchanged."""

        def run() -> models.AgentResponse:
            return models.AgentResponse.from_agent(
                _create_or_get_agent(_served_store(request).rec, body)
            )

        return _respond_once(idempotency_key, request, body, run)

    @routes.get("/agents/{name}", tags=["agents"], responses=_NO_AGENT)
    def get_agent(name: str, request: Request) -> models.AgentResponse:
        """Get an agent by its name or id."""
        return models.AgentResponse.from_agent(_require_agent(_served_store(request).rec, name))


def _add_messages(routes: APIRouter, max_limit: int, default_limit: int) -> None:
    class LimitedSearch(models.MessageSearchRequest):
        """The search request with this server's limits, so that they are documented."""

        limit: Annotated[int, Field(ge=1, le=max_limit)] | None = default_limit

    @routes.post(
        "/messages", tags=["messages"], responses=_NO_AGENT, response_model=models.MessageResponse
    )
    def store_message(
        body: models.MessageRequest, request: Request, idempotency_key: IdempotencyKey = None
    ) -> Response:
        """Store a message in the agent's running conversation; it can be found at once."""

        def run() -> models.MessageResponse:
            rec = _served_store(request).rec
            agent, metadata = _require_agent(rec, body.agent_name), body.metadata
            message = rec.conversations.add_message(
                agent, body.role, body.content, metadata=metadata
            )
            return models.MessageResponse.from_message(message, agent)

        return _respond_once(idempotency_key, request, body, run)

    @routes.get("/messages/{agent_name}", tags=["messages"], responses=_NO_AGENT)
    def list_messages(
        agent_name: str, request: Request, limit: Annotated[int, Query(ge=1, le=MAX_LISTED)] = 100
    ) -> list[models.MessageResponse]:
        """List the messages of an agent, of all its conversations, most recent first."""
        rec = _served_store(request).rec
        agent = _require_agent(rec, agent_name)
        return [
            models.MessageResponse.from_message(message, agent)
            for message in rec.conversations.agent_messages(agent, limit=limit)
        ]

    @routes.post("/messages/search", tags=["messages"], responses=_NO_AGENT)
    def search_messages(body: LimitedSearch, request: Request) -> list[models.MessageResponse]:
        """Search messages by meaning and by words, sorted by similarity."""
        rec = _served_store(request).rec
        agent = _require_agent(rec, body.agent_name)
        hits = rec.conversations.search(body.query, agent=agent, limit=body.limit or default_limit)
        # What was said at a time the question names comes first otherwise, whatever its score.
        hits.sort(key=lambda hit: -hit.score)
        return [models.MessageResponse.from_hit(hit, agent) for hit in hits]


def _add_blocks(routes: APIRouter) -> None:
    @routes.post(
        "/memory-blocks",
        tags=["memory blocks"],
        responses={**_NO_AGENT, **_TAKEN},
        response_model=models.BlockResponse,
    )
    def create_block(
        body: models.BlockRequest, request: Request, idempotency_key: IdempotencyKey = None
    ) -> Response:
        """Create a memory block that belongs to this agent alone."""

        def run() -> models.BlockResponse:
            rec = _served_store(request).rec
            agent = _require_agent(rec, body.agent_name)
            block = rec.blocks.create(body.label, body.value, agent=agent, scope="agent")
            return models.BlockResponse.from_block(block, agent)

        return _respond_once(idempotency_key, request, body, run)

    @routes.get("/memory-blocks/{agent_name}", tags=["memory blocks"], responses=_NO_AGENT)
    def list_blocks(agent_name: str, request: Request) -> list[models.BlockResponse]:
        """List the memory blocks an agent sees, in the order of its prompt."""
        rec = _served_store(request).rec
        agent = _require_agent(rec, agent_name)
        return [models.BlockResponse.from_block(block, agent) for block in rec.blocks.list(agent)]

    path = "/memory-blocks/{agent_name}/{label}"

    @routes.get(path, tags=["memory blocks"], responses=_NO_BLOCK)
    def get_block(agent_name: str, label: str, request: Request) -> models.BlockResponse:
        """Get one memory block."""
        rec = _served_store(request).rec
        agent = _require_agent(rec, agent_name)
        return models.BlockResponse.from_block(_known_block(rec, agent, label), agent)

    @routes.put(
        path,
        tags=["memory blocks"],
        responses={**_NO_BLOCK, **_STALE},
        response_model=models.BlockResponse,
    )
    def update_block(
        agent_name: str,
        label: str,
        body: models.BlockUpdate,
        request: Request,
        idempotency_key: IdempotencyKey = None,
    ) -> Response:
        """Update a memory block's value."""

        def run() -> models.BlockResponse:
            rec = _served_store(request).rec
            agent = _require_agent(rec, agent_name)
            # By its id: by its label, a default block that is missing would be made, and shared.
            block = _known_block(rec, agent, label)
            block = rec.blocks.set(None, block, body.value, expected_version=body.expected_version)
            return models.BlockResponse.from_block(block, agent)

        return _respond_once(idempotency_key, request, body, run)


def _add_context(routes: APIRouter, context_messages: int) -> None:
    @routes.post("/context/{agent_name}", tags=["context"], responses=_NO_AGENT)
    def get_context(
        agent_name: str, body: models.ContextRequest, request: Request
    ) -> models.ContextResponse:
        """Get what to put into a prompt: every memory block, and what was said about the query."""
        rec = _served_store(request).rec
        agent = _require_agent(rec, agent_name)
        _refuse_another(rec, agent, body.agent_name)
        model = body.model or agent.model
        bundle = rec.context_for(
            body.query,
            agent=agent,
            conversation=body.conversation,
            history=False,
            message_limit=context_messages,
            budget_tokens=body.budget_tokens - rec.models.count_tokens(FENCE_OVERHEAD, model=model),
            model=model,
            form="markdown",
        )
        text, prefix = fence_bundle(bundle.prefix, bundle.text)
        visible = rec.blocks.list(agent, conversation=body.conversation)
        blocks = [block for block in visible if block.value and not block.hidden]
        return models.ContextResponse(
            memory_blocks=[models.BlockResponse.from_block(block, agent) for block in blocks],
            relevant_messages=[
                models.MessageResponse.from_hit(hit, agent) for hit in bundle.messages_found
            ],
            text=text,
            prefix=prefix,
            tokens=rec.models.count_tokens(text, model=model),
            citations=[
                models.CitationResponse.model_validate(citation, from_attributes=True)
                for citation in bundle.citations
            ],
            retrieval_id=bundle.retrieval_id,
        )


def _served_store(request: Request) -> ServedStore:
    served: ServedStore = request.app.state.served
    return served


def _respond_once(
    key: str | None, request: Request, body: BaseModel, run: Callable[[], BaseModel]
) -> Response:
    """Run a write and return its response; with an idempotency key, it runs once."""

    def write() -> Response:
        return Response(run().model_dump_json(), media_type="application/json")

    keyed = _served_store(request).responses.for_request(key, body.model_dump())
    return keyed.respond(request, "", write)


def _create_or_get_agent(rec: LocalRecollect, body: models.AgentRequest) -> Agent:
    try:
        return rec.agents.get(body.name)
    except NotFound:
        pass
    try:
        return rec.agents.create(body.name, metadata=body.metadata, default_blocks=False)
    except AlreadyExists:  # another request created it in between
        return rec.agents.get(body.name)


def _require_agent(rec: LocalRecollect, name: str) -> Agent:
    name = path_segment.decode_segment(name)
    try:
        return rec.agents.get(name)
    except NotFound:
        raise NotFound(
            f"there is no agent {name!r} in this store; make it with POST /agents and its name"
        ) from None


def _known_block(rec: LocalRecollect, agent: Agent, label: str) -> Block:
    label = path_segment.decode_segment(label)
    try:
        return rec.blocks.get(agent, label)
    except InvalidInput as error:  # no block can have such a label
        raise NotFound(f"agent {agent.name!r} has no block {label!r}: {error}") from None


def _refuse_another(rec: LocalRecollect, agent: Agent, named: str | None) -> None:
    if named is None or named in (agent.name, agent.id):
        return
    try:
        same = rec.agents.get(named).id == agent.id
    except NotFound:
        same = False
    if not same:
        raise InvalidInput(
            f"the path names agent {agent.name!r} and the body {named!r}; "
            "name the same one in both, or leave agent_name out of the body"
        )
