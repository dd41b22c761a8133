"""Count the tokens of each section of a model's context window, and warn before it overflows."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, TypeGuard

from recollect.context.block_prompt import compile_blocks, render_metadata
from recollect.domain.agent import Agent
from recollect.domain.agent_transfer import LETTA
from recollect.domain.context_bundle import WindowOverview
from recollect.errors import InvalidInput
from recollect.service import validate
from recollect.service.agents import prompt_metadata
from recollect.service.block_lookup import resolve_place, visible_blocks
from recollect.service.files import list_open_files
from recollect.service.services import Services
from recollect.text.message_text import tool_calls_text
from recollect.text.token_counter import counter_for
from recollect.wire.fields import MAX_WINDOW, MIN_WINDOW
from recollect.wire.requests.agents import GetContextWindowRequest
from recollect.wire.requests.files import ListOpenFilesRequest
from recollect.wire.requests.shared import BlockPlaceFields

WINDOW_TOKENS = 32_000  # if neither the agent nor its model says


def get_context_window(services: Services, request: GetContextWindowRequest) -> WindowOverview:
    """Return how many tokens each section of an agent's window uses."""
    if not isinstance(request.tools, list | tuple):
        raise InvalidInput(f"tools must be a list, not {type(request.tools).__name__}")
    place = BlockPlaceFields.model_validate(request, from_attributes=True)
    overview = measure_window(
        services,
        place,
        window_tokens=request.window_tokens,
        tool_schemas=tool_calls_text(validate.json_of("tools", list(request.tools))),
    )
    if overview.used <= request.warn_at * overview.window_tokens:
        return overview
    share = f"{overview.used / overview.window_tokens:.0%} of the window is used"
    return replace(overview, warning=f"{share}; compact the conversation, or shorten blocks")


def measure_window(
    services: Services,
    place_fields: BlockPlaceFields,
    *,
    window_tokens: int | None = None,
    tool_schemas: str = "",
) -> WindowOverview:
    """Count the tokens of each section of the window that belongs to a place."""
    with services.store.read() as tables:
        place = resolve_place(tables, place_fields)
        agent, conversation = place.agent, place.conversation
        counter = counter_for(agent.model if agent else "")
        blocks = visible_blocks(tables, place)
        in_context, tokens = (
            tables.messages.context_size(conversation.id) if conversation else (0, 0)
        )
        summaries = tables.conversations.summaries(conversation.id) if conversation else []
        metadata = ""
        if agent is not None:
            now = services.clock.now()
            metadata = render_metadata(prompt_metadata(tables, agent, blocks, now, in_context))
    files = list_open_files(services, ListOpenFilesRequest(agent=agent.id)) if agent else []
    return WindowOverview(
        window_tokens=window_size(services, window_tokens, agent),
        counted_by=counter.name,
        system=counter.count(agent.system_prompt) if agent else 0,
        blocks=counter.count(compile_blocks(blocks).text),
        metadata=counter.count(metadata),
        summary=summaries[-1].tokens if summaries else 0,
        messages=tokens,
        tools=counter.count(tool_schemas),
        files=sum(counter.count(file.text) for file in files),
    )


def window_size(services: Services, window_tokens: int | None, agent: Agent | None) -> int:
    """
    Return the tokens of a window: as given, as the agent says, or of the agent's model.

    An agent says it in its metadata (`context_window`) or in the agent file it was imported from.
    """
    if window_tokens is not None:
        return window_tokens
    if agent is None:
        return WINDOW_TOKENS
    of_model = services.engine.windows.window(agent.model)
    sizes = (agent.metadata.get("context_window"), _imported_size(agent), of_model)
    return next((size for size in sizes if _is_size(size)), WINDOW_TOKENS)


def _imported_size(agent: Agent) -> Any:
    """Return the window in the agent file, if the agent still runs on the model of the file."""
    carry = agent.metadata.get(LETTA)
    if not isinstance(carry, Mapping) or carry.get("model") != agent.model:
        return None
    value: Any = carry
    for name in ("agent", "rest", "llm_config", "context_window"):
        value = value.get(name) if isinstance(value, Mapping) else None
    return value


def _is_size(size: Any) -> TypeGuard[int]:
    is_number = isinstance(size, int) and not isinstance(size, bool)
    return is_number and MIN_WINDOW <= size <= MAX_WINDOW
