"""
Render blocks as prompt text that stays the same, byte for byte, until a block changes.

The text contains no time, count or query, so a model's prompt cache stays valid. What changes from
call to call is in `render_metadata`, whose text comes last in a bundle.
"""

import re
from collections.abc import Callable, Sequence
from datetime import datetime

from recollect.context.token_budget import TokenCounter
from recollect.domain.block import Block, authorship_note
from recollect.lazy_dataclass import dataclass
from recollect.text.fence import escape_fence_tags

OPENING = "Your memory blocks. You can edit those that are not read-only."
PRIORITY_LABELS = ("persona", "loaded_skills")  # tier 1: these blocks are included first
_OWN_TAGS = re.compile(
    r"<\s*/?\s*(?:memory_blocks|memory_metadata|value|description|metadata)\s*>", re.IGNORECASE
)
CUT = "… (cut: over the budget)"
MIN_TOKENS = 12  # a block whose value would be cut shorter is omitted


@dataclass(frozen=True)
class CompiledBlocks:
    """The text of the blocks, the blocks in it, and those cut or omitted with the reason."""

    text: str
    included: tuple[Block, ...] = ()
    omitted: tuple[tuple[Block, str], ...] = ()


def compile_blocks(
    blocks: Sequence[Block],
    *,
    line_numbers: bool = False,
    budget: int | None = None,
    count: TokenCounter = len,
) -> CompiledBlocks:
    """Return *blocks* in their order as prompt text of at most *budget* tokens."""
    # An empty block is visible because the model can write to it; a read-only one is not useful.
    visible = [
        block for block in blocks if not block.hidden and (block.value or not block.read_only)
    ]
    parts = {block.id: _render_block(block, block.value, line_numbers) for block in visible}
    omitted: list[tuple[Block, str]] = []
    if budget is not None:
        parts, omitted = _fit_blocks(visible, parts, line_numbers, budget, count)
    included = tuple(block for block in visible if block.id in parts)
    body = "\n".join(parts[block.id] for block in included)
    text = f"<memory_blocks>\n{OPENING}\n\n{body}\n</memory_blocks>" if included else ""
    return CompiledBlocks(text, included, tuple(omitted))


def compile_blocks_as_markdown(
    blocks: Sequence[Block], *, budget: int, count: TokenCounter
) -> CompiledBlocks:
    """Return the non-empty *blocks* under Markdown headings; a block that is too long is cut."""
    text = "## Memory"
    parts: dict[str, str] = {}
    omitted: list[tuple[Block, str]] = []
    visible = [block for block in blocks if block.value and not block.hidden]
    for block in sorted(visible, key=lambda block: block.label not in PRIORITY_LABELS):
        note = authorship_note(block)
        mark = f"({escape_fence_tags(note)})\n" if note else ""
        start = f"\n\n### {block.label}\n{mark}"
        heading, value = f"{text}{start}", escape_fence_tags(block.value)

        def fits(value: str, heading: str = heading) -> bool:
            return count(f"{heading}{value}\n\n") <= budget

        if not fits(value):
            cost = count(f"### {block.label}\n{value}")
            length, value = len(value), truncate_to_fit(value, fits)
            if count(value) < MIN_TOKENS:
                omitted.append((block, f"budget: {cost} tokens did not fit"))
                continue
            omitted.append((block, f"budget: cut to {len(value)} of {length} characters"))
        text = heading + value
        parts[block.id] = start + value
    included = tuple(block for block in visible if block.id in parts)
    body = "".join(parts[block.id] for block in included)
    return CompiledBlocks(f"## Memory{body}" if included else "", included, tuple(omitted))


def truncate_to_fit(value: str, fits: Callable[[str], bool]) -> str:
    """Return the longest prefix of *value* that fits, marked as cut, or '' if none does."""
    low, high = 0, len(value)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(value[:middle] + CUT) else (low, middle - 1)
    return value[:low] + CUT if low else ""


def _fit_blocks(
    visible: Sequence[Block],
    parts: dict[str, str],
    line_numbers: bool,
    budget: int,
    count: TokenCounter,
) -> tuple[dict[str, str], list[tuple[Block, str]]]:
    """Include the blocks that fit, tier 1 first; cut a block that does not fit whole."""
    remaining = budget - count(f"<memory_blocks>\n{OPENING}\n\n\n</memory_blocks>\n")
    fitting: dict[str, str] = {}
    omitted: list[tuple[Block, str]] = []
    for block in sorted(visible, key=lambda block: block.label not in PRIORITY_LABELS):
        cost = count(parts[block.id] + "\n")
        if cost <= remaining:
            fitting[block.id] = parts[block.id]
            remaining -= cost
            continue
        frame = count(_render_block(block, CUT, line_numbers) + "\n") + MIN_TOKENS
        value = (
            _truncate_value(block, remaining, line_numbers, count) if remaining > frame else None
        )
        if value is None:
            omitted.append((block, f"budget: {cost} tokens did not fit"))
            continue
        fitting[block.id] = _render_block(block, value, line_numbers)
        remaining -= count(fitting[block.id] + "\n")
        omitted.append((block, f"budget: cut to {len(value)} of {len(block.value)} characters"))
    return fitting, omitted


def _truncate_value(
    block: Block, budget: int, line_numbers: bool, count: TokenCounter
) -> str | None:
    """Return the longest prefix of a block's value that fits, marked as cut, or None."""

    def fits(value: str) -> bool:
        return count(_render_block(block, value, line_numbers) + "\n") <= budget

    return truncate_to_fit(block.value, fits) or None


def _render_block(block: Block, value: str, line_numbers: bool) -> str:
    lines = [f"<{block.label}>"]
    if block.description:
        lines += ["<description>", _escape_tags(block.description), "</description>"]
    lines += ["<metadata>"]
    lines += ["- read_only=true"] if block.read_only else []
    lines += [f"- chars_current={len(block.value)}"]
    lines += [f"- chars_limit={block.limit}"] if block.limit is not None else []
    lines += [f"- {_escape_tags(note)}"] if (note := authorship_note(block)) else []
    lines += ["</metadata>", "<value>"]
    text = re.sub(rf"<(\s*/?\s*{re.escape(block.label)}\s*)>", r"‹\1›", _escape_tags(value))
    if line_numbers and text:
        text = "\n".join(f"{n}→ {line}" for n, line in enumerate(text.split("\n"), start=1))
    return "\n".join([*lines, text, "</value>", f"</{block.label}>"])


def _escape_tags(text: str) -> str:
    """Return *text* with our own tags escaped, so that it cannot close them."""
    return _OWN_TAGS.sub(lambda tag: f"‹{tag.group()[1:-1]}›", escape_fence_tags(text))


@dataclass(frozen=True, kw_only=True)
class PromptMetadata:
    """The values that change from call to call, shown at the end of a prompt."""

    now: datetime
    blocks_changed_at: datetime | None = None
    recalled: int = 0  # earlier messages, out of context
    archived: int = 0
    tags: tuple[str, ...] = ()


def render_metadata(metadata: PromptMetadata) -> str:
    """Return the metadata as prompt text."""
    now = metadata.now
    lines = [f"- The current time is {now:%Y-%m-%d %H:%M} {now.tzname() or 'UTC'}."]
    if changed_at := metadata.blocks_changed_at:
        lines.append(f"- Memory blocks were last changed {changed_at:%Y-%m-%d %H:%M}.")
    if recalled := metadata.recalled:
        lines.append(f"- {recalled} earlier messages are in recall memory; search them with tools.")
    if archived := metadata.archived:
        lines.append(f"- {archived} passages are in archival memory; search them with tools.")
    if metadata.tags:
        lines.append(f"- Archival tags: {', '.join(_escape_tags(tag) for tag in metadata.tags)}.")
    return "\n".join(["<memory_metadata>", *lines, "</memory_metadata>"])
