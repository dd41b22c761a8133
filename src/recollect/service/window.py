"""What fills a model's context window, section by section, and a warning before it overflows."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from recollect.context.block_prompt import PromptMetadata, compile_blocks, render_metadata
from recollect.context.compaction_plan import message_tokens
from recollect.domain.agent import Agent
from recollect.domain.context_bundle import WindowOverview
from recollect.service import inputs
from recollect.service.block_target import Place, found_in, visible
from recollect.service.files import FilePlace, opened
from recollect.service.services import Services
from recollect.text.message_text import tool_calls_text
from recollect.text.token_counter import counter_for
from recollect.wire.requests.agents import WARN_AT

WINDOW_TOKENS = 32_000
LEAST, MOST = 200, 10**8  # tokens a window can sensibly have


def overview(
    services: Services,
    place: Place,
    *,
    window_tokens: object = None,
    tools: Sequence[Any] = (),
    warn_at: object = WARN_AT,
) -> WindowOverview:
    """Return how many tokens each section of an agent's window takes now."""
    bar = inputs.share_of("warn_at", warn_at)
    schemas = tool_calls_text(inputs.json_of("tools", list(tools)))
    with services.store.read() as tables:
        agent, project_id, conversation = found_in(tables, place)
        counter = counter_for(agent.model if agent else "")
        window = window_tokens_of(window_tokens, agent)
        blocks = visible(tables, agent, project_id, conversation)
        messages = tables.messages.in_context(conversation.id) if conversation else []
        summaries = tables.conversations.summaries(conversation.id) if conversation else []
        metadata = ""
        if agent is not None:
            archived, tags = tables.agents.archive_summary(agent.id, tag_limit=20)
            total = tables.messages.count_of_agent(agent.id)
            told = PromptMetadata(
                now=services.clock.now(),
                blocks_changed_at=max((block.updated_at for block in blocks), default=None),
                recalled=max(total - len(messages), 0),
                archived=archived,
                tags=tuple(tags),
            )
            metadata = render_metadata(told)
    files = opened(services, FilePlace(agent=agent)) if agent is not None else []
    found = WindowOverview(
        window_tokens=window,
        counted_by=counter.name,
        system=counter.count(agent.system_prompt) if agent else 0,
        blocks=counter.count(compile_blocks(blocks).text),
        metadata=counter.count(metadata),
        summary=summaries[-1].tokens if summaries else 0,
        messages=sum(map(message_tokens, messages)),
        tools=counter.count(schemas),
        files=sum(counter.count(file.text) for file in files),
    )
    if found.used <= bar * window:
        return found
    share = f"{found.used / window:.0%} of the window is used"
    return replace(found, warning=f"{share}; compact the conversation, or shorten blocks")


def window_tokens_of(given: object, agent: Agent | None) -> int:
    """Return how large the window is: as given, as the agent's metadata say, or a default."""
    if given is not None:
        return inputs.count_of("window_tokens", given, least=LEAST, most=MOST)
    told = agent.metadata.get("context_window") if agent else None
    if isinstance(told, bool) or not isinstance(told, int) or not LEAST <= told <= MOST:
        return WINDOW_TOKENS
    return told
