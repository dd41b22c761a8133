"""
Select the text of an agent's open files for a bundle: the last used file first.

A file that does not fit whole is cut at the end and marked, so that the model knows to read on.
"""

from collections.abc import Sequence
from textwrap import indent

from recollect.context.block_prompt import truncate_to_fit
from recollect.context.earlier_messages import BundleLine
from recollect.context.token_budget import TokenCounter
from recollect.domain.context_bundle import DroppedItem
from recollect.domain.file import FileWindow
from recollect.text.fence import escape_fence_tags

MIN_TOKENS = 20  # of a file that is cut


def open_files_cost(files: Sequence[FileWindow], count: TokenCounter) -> int:
    """Return the tokens that all *files* would take in a bundle."""
    return sum(count(_render_file(file, _text_of(file)) + "\n") for file in files)


def select_open_files(
    files: Sequence[FileWindow], *, budget: int, count: TokenCounter
) -> tuple[list[BundleLine], list[DroppedItem]]:
    """Return the files that fit into *budget* tokens, and what was cut. *files*: last used last."""
    lines: list[BundleLine] = []
    dropped: list[DroppedItem] = []
    remaining = budget
    for file in reversed(files):
        text = _text_of(file)

        def fits(shorter: str, file: FileWindow = file, remaining: int = remaining) -> bool:
            return count(_render_file(file, shorter) + "\n") <= remaining

        if not fits(text):
            text = truncate_to_fit(text, fits)
            is_cut = count(text) >= MIN_TOKENS
            reason = "budget: cut" if is_cut else "budget: it did not fit"
            dropped.append(DroppedItem(kind="file", item_id=file.path, reason=reason))
            if not is_cut:
                continue
        line = _render_file(file, text)
        lines.append((file.path, line))
        remaining -= count(line + "\n")
    return lines, dropped


def _text_of(file: FileWindow) -> str:
    return escape_fence_tags(file.text)


def _render_file(file: FileWindow, text: str) -> str:
    lines = f"lines {file.first_line} to {file.last_line} of {file.total_lines}"
    # Indented, so that no line of a file can pass for a heading or an entry of the bundle.
    return f"- {escape_fence_tags(file.path)}, {lines}:\n{indent(text, '    ')}"
