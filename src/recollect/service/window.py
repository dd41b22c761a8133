"""What fills a model's context window, section by section, and a warning before it overflows."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from recollect.context.history import size_of
from recollect.context.prompt import Metadata, compile_blocks, memory_metadata
from recollect.domain.context import WindowOverview
from recollect.service import inputs
from recollect.service.block_target import Place, found_in, visible
from recollect.service.compaction import window_tokens_of
from recollect.service.deps import Deps
from recollect.store.values import KeptFile, OpenWindow
from recollect.text.lines import window as window_of
from recollect.text.message import calls_text
from recollect.text.tokens import counter_for

WARN_AT = 0.8


def overview(
    deps: Deps,
    place: Place,
    *,
    window_tokens: object = None,
    tools: Sequence[Any] = (),
    warn_at: object = WARN_AT,
) -> WindowOverview:
    """Return how many tokens each section of an agent's window takes now."""
    bar = inputs.share_of("warn_at", warn_at)
    schemas = calls_text(inputs.json_of("tools", list(tools)))
    with deps.store.read() as tables:
        agent, project_id, conversation = found_in(tables, place)
        counter = counter_for(agent.model if agent else "")
        window = window_tokens_of(window_tokens, agent)
        blocks = visible(tables, agent, project_id, conversation)
        messages = tables.messages.in_context(conversation.id) if conversation else []
        summaries = tables.conversations.summaries(conversation.id) if conversation else []
        metadata = ""
        files: list[str] = []
        if agent is not None:
            opened = tables.files.opened(agent.id)
            kept = tables.files.get_many([one.file_id for one in opened])
            files = [_shown(file, one) for file, one in zip(kept, opened, strict=True)]
            archived, tags = tables.agents.archive(agent.id, tags=20)
            total = tables.messages.count_of_agent(agent.id)
            told = Metadata(
                now=deps.clock.now(),
                blocks_changed_at=max((block.updated_at for block in blocks), default=None),
                recalled=total - len(messages),
                archived=archived,
                tags=tuple(tags),
            )
            metadata = memory_metadata(told)
    found = WindowOverview(
        window_tokens=window,
        counted_by=counter.name,
        system=counter.count(agent.system_prompt) if agent else 0,
        blocks=counter.count(compile_blocks(blocks).text),
        metadata=counter.count(metadata),
        summary=summaries[-1].tokens if summaries else 0,
        messages=sum(size_of(message, counter.count) for message in messages),
        tools=counter.count(schemas),
        files=sum(counter.count(text) for text in files),
    )
    if found.used <= bar * window:
        return found
    share = f"{found.used / window:.0%} of the window is used"
    return replace(found, warning=f"{share}; compact the conversation, or shorten blocks")


def _shown(file: KeptFile, opened: OpenWindow) -> str:
    length = None if opened.last_line is None else opened.last_line - opened.first_line
    return window_of(file.content, opened.first_line, length).text
