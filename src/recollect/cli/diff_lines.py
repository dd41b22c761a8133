"""The lines of a unified diff in the colours of a terminal."""

from collections.abc import Iterator

from recollect.cli.output import safe

_COLOURS = {"+": "green", "-": "red", "@": "cyan"}


def diff_lines(diff: str) -> Iterator[str]:
    """Yield the lines of *diff*, without the names of the two texts."""
    for line in diff.splitlines()[2:]:
        colour = _COLOURS.get(line[:1])
        yield f"  [{colour}]{safe(line)}[/{colour}]" if colour else f"  {safe(line)}"
