"""
Draw docs/terminal.svg: a terminal session with the real output of the commands.

    python scripts/terminal_svg.py

The commands run in a temporary folder with their own database. The same text is in the `<desc>` of
the picture, for screen readers and for the test that compares it with a fresh session.
"""

import io
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from html import escape, unescape
from pathlib import Path

from rich._export_format import CONSOLE_SVG_FORMAT
from rich.console import Console
from rich.text import Text

PICTURE = Path(__file__).resolve().parent.parent / "docs" / "terminal.svg"
WIDTH = 110
COMMANDS = (
    'recollect add "Use pnpm, not npm." --project site --type decision --rationale "Faster CI."',
    'recollect search "npm or pnpm?" --project site',
    'recollect capture - --project site --work <<< "I prefer short answers. Tests run with '
    'make test."',
    "recollect inbox list",
    'recollect context "install the packages: npm or pnpm?" --project site',
)


def main() -> None:
    """Run the session and write the picture."""
    console = Console(record=True, width=WIDTH, file=io.StringIO(), force_terminal=True)
    steps = list(session())
    for command, output in steps:
        console.print(Text.assemble(("$ ", "green"), (command, "bold")), soft_wrap=True)
        console.print(Text.from_ansi(output), soft_wrap=True)
        console.print()
    # The default format loads a font from the network.
    code_format = re.sub(r"@font-face \{\{.*?\}\}\s*", "", CONSOLE_SVG_FORMAT, flags=re.DOTALL)
    svg = console.export_svg(title="recollect", code_format=code_format)
    head, _, rest = svg.partition(">")
    description = escape(transcript(steps))
    PICTURE.write_text(f'{head} role="img"><desc>{description}</desc>{rest}', encoding="utf-8")
    print(f"wrote {PICTURE.name}")


def session() -> Iterator[tuple[str, str]]:
    """Run the commands; yield each with what it printed."""
    with tempfile.TemporaryDirectory() as folder:
        env = {
            **os.environ,
            "HOME": folder,
            "COLUMNS": str(WIDTH),
            "RECOLLECT_DB": str(Path(folder) / "memory.db"),
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        }
        for command in COMMANDS:
            done = subprocess.run(
                ["bash", "-c", command],
                cwd=folder,
                env=env,
                capture_output=True,
                text=True,
                check=True,
                timeout=60,
            )
            yield command, done.stdout.rstrip()


def transcript(steps: list[tuple[str, str]]) -> str:
    """Return the session as text."""
    return "\n\n".join(f"$ {command}\n{output}" for command, output in steps)


def description(svg: str) -> str:
    """Return the session that a picture shows."""
    return unescape(svg.partition("<desc>")[2].partition("</desc>")[0])


if __name__ == "__main__":
    main()
