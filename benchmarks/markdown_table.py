"""Tables in Markdown. Knows how a table looks, not what stands in it."""

from collections.abc import Sequence


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Return the lines of a table: names to the left, everything after them to the right."""
    lines = [header, ["---", *["---:"] * (len(header) - 1)], *rows]
    return [f"| {' | '.join(line)} |" for line in lines]
