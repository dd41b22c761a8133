"""
Compile blocks into the prompt: the part that stays the same, byte for byte, until a block changes.

No time, no count and no question enters here, so a model's prompt cache keeps working. What changes
from call to call is `memory_metadata`, which stands at the end of a bundle.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from recollect.domain.block import Block
from recollect.text.fence import unfenced

Count = Callable[[str], int]

OPENING = "Your memory blocks. You can edit those that are not read-only."
ALWAYS = ("persona", "loaded_skills")  # tier 1: these get their tokens first
_OWN_TAGS = re.compile(
    r"<\s*/?\s*(?:memory_blocks|memory_metadata|value|description|metadata)\s*>", re.IGNORECASE
)
CUT = "… (cut: over the budget)"
LEAST_TOKENS = 12  # a block with fewer left of its value is left out whole


@dataclass(frozen=True)
class CompiledBlocks:
    """The text of the blocks, those in it, and what was cut or left out, by block id."""

    text: str
    shown: tuple[Block, ...] = ()
    left_out: tuple[tuple[Block, str], ...] = ()


def compile_blocks(
    blocks: Sequence[Block],
    *,
    line_numbers: bool = False,
    budget: int | None = None,
    count: Count = len,
) -> CompiledBlocks:
    """Return *blocks* as the text a model sees, in their order, within *budget* tokens."""
    wanted = [block for block in blocks if _is_shown(block)]
    if not wanted:
        return CompiledBlocks("")
    parts = {block.id: _part(block, block.value, line_numbers) for block in wanted}
    left_out: list[tuple[Block, str]] = []
    if budget is not None:
        parts, left_out = _within(wanted, parts, line_numbers, budget, count)
    shown = tuple(block for block in wanted if block.id in parts)
    if not shown:
        return CompiledBlocks("", (), tuple(left_out))
    inside = "\n".join(parts[block.id] for block in shown)
    text = f"<memory_blocks>\n{OPENING}\n\n{inside}\n</memory_blocks>"
    return CompiledBlocks(text, shown, tuple(left_out))


def blocks_as_markdown(blocks: Sequence[Block], *, budget: int, count: Count) -> CompiledBlocks:
    """Return the *blocks* that say something under headings; one that is too long is cut."""
    text = "## Memory"
    shown: list[Block] = []
    left_out: list[tuple[Block, str]] = []
    for block in blocks:
        if block.hidden or not block.value:
            continue
        heading, value = f"{text}\n\n### {block.label}\n", unfenced(block.value)

        def fits(said: str, heading: str = heading) -> bool:
            return count(f"{heading}{said}\n\n") <= budget

        if not fits(value):
            cost = count(f"### {block.label}\n{value}")
            whole, value = len(value), _beginning(value, fits)
            if count(value) < LEAST_TOKENS:
                left_out.append((block, f"budget: {cost} tokens did not fit"))
                continue
            left_out.append((block, f"budget: cut to {len(value)} of {whole} characters"))
        text = heading + value
        shown.append(block)
    return CompiledBlocks(text if shown else "", tuple(shown), tuple(left_out))


def _beginning(value: str, fits: Callable[[str], bool]) -> str:
    """Return the longest beginning of *value* that fits, marked as cut; '' where nothing does."""
    low, high = 0, len(value)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(value[:middle] + CUT) else (low, middle - 1)
    return value[:low] + CUT if low else ""


def _within(
    wanted: Sequence[Block],
    parts: dict[str, str],
    line_numbers: bool,
    budget: int,
    count: Count,
) -> tuple[dict[str, str], list[tuple[Block, str]]]:
    """Keep what fits: tier 1 first, then the others in order; the last one that fits is cut."""
    left = budget - count(f"<memory_blocks>\n{OPENING}\n\n\n</memory_blocks>\n")
    kept: dict[str, str] = {}
    left_out: list[tuple[Block, str]] = []
    for block in sorted(wanted, key=lambda one: one.label not in ALWAYS):
        cost = count(parts[block.id] + "\n")
        if cost <= left:
            kept[block.id] = parts[block.id]
            left -= cost
            continue
        frame = count(_part(block, CUT, line_numbers) + "\n") + LEAST_TOKENS
        value = _cut(block, left, line_numbers, count) if left > frame else None
        if value is None:
            left_out.append((block, f"budget: {cost} tokens did not fit"))
            continue
        kept[block.id] = _part(block, value, line_numbers)
        left -= count(kept[block.id] + "\n")
        left_out.append((block, f"budget: cut to {len(value)} of {len(block.value)} characters"))
    return kept, left_out


def _cut(block: Block, left: int, line_numbers: bool, count: Count) -> str | None:
    """Return the longest beginning of a block's value that fits, marked as cut."""

    def fits(value: str) -> bool:
        return count(_part(block, value, line_numbers) + "\n") <= left

    return _beginning(block.value, fits) or None


def _is_shown(block: Block) -> bool:
    # An empty block invites writing; one that cannot be written and says nothing is of no use.
    return not block.hidden and bool(block.value or not block.read_only)


def _part(block: Block, value: str, line_numbers: bool) -> str:
    lines = [f"<{block.label}>"]
    if block.description:
        lines += ["<description>", _inside(block.description), "</description>"]
    lines += ["<metadata>"]
    lines += ["- read_only=true"] if block.read_only else []
    lines += [f"- chars_current={len(block.value)}"]
    lines += [f"- chars_limit={block.limit}"] if block.limit is not None else []
    lines += ["</metadata>", "<value>"]
    text = re.sub(rf"<(\s*/?\s*{re.escape(block.label)}\s*)>", r"‹\1›", _inside(value))
    if line_numbers and text:
        text = "\n".join(f"{n}→ {line}" for n, line in enumerate(text.split("\n"), start=1))
    return "\n".join([*lines, text, "</value>", f"</{block.label}>"])


def _inside(text: str) -> str:
    """Return *text* unable to close the tags it stands in."""
    return _OWN_TAGS.sub(
        lambda tag: tag.group().replace("<", "‹").replace(">", "›"), unfenced(text)
    )


@dataclass(frozen=True, kw_only=True)
class Metadata:
    """What changes from call to call, for the end of a prompt."""

    now: datetime
    blocks_changed_at: datetime | None = None
    recalled: int = 0  # earlier messages, out of context
    archived: int = 0
    tags: tuple[str, ...] = ()


def memory_metadata(told: Metadata) -> str:
    """Return the metadata as the text a model sees."""
    lines = [f"- The current time is {told.now:%Y-%m-%d %H:%M} {told.now.tzname() or 'UTC'}."]
    if told.blocks_changed_at is not None:
        lines.append(f"- Memory blocks were last changed {told.blocks_changed_at:%Y-%m-%d %H:%M}.")
    if told.recalled:
        lines.append(
            f"- {told.recalled} earlier messages are in recall memory; search them with tools."
        )
    if told.archived:
        lines.append(f"- {told.archived} passages are in archival memory; search them with tools.")
    if told.tags:
        lines.append(f"- Archival tags: {', '.join(_inside(tag) for tag in told.tags)}.")
    return "\n".join(["<memory_metadata>", *lines, "</memory_metadata>"])
