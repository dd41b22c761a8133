"""The examples of a document: fenced code, and the output that the document shows for it."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent
INSTALL = "pip install . && "  # the tests run what is installed
_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_VARYING = (
    (re.compile(r"\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b"), "ID"),
    (re.compile(r"\b\d{4}-\d{2}-\d{2}\b"), "DATE"),
    (re.compile(r'fingerprint="\d+"'), 'fingerprint="…"'),
    (re.compile(r"\b\d\.\d+\b"), "0.00"),  # scores differ in the last digits between processors
)


@dataclass(frozen=True)
class Example:
    """One block of code. `output` is what the document shows for it, or None."""

    language: str
    code: str
    output: str | None


FRAMEWORKS = ROOT / "docs" / "guides" / "frameworks"  # run by tests/integrations


def pages_with_examples() -> list[Path]:
    """Return README.md and every page of the site that has code to run with Recollect alone."""
    written = [ROOT / "README.md", *sorted((ROOT / "docs").glob("**/*.md"))]
    return [
        path
        for path in written
        if path.parent != FRAMEWORKS and list(examples(path.read_text(encoding="utf-8")))
    ]


def run_framework_page(
    name: str, folder: Path, env: Mapping[str, str], *, ignored: str = ""
) -> None:
    """
    Run the examples of the page about a framework, and compare what they print.

    *ignored* is a category of warnings that the framework itself causes.
    """
    for example in examples((FRAMEWORKS / name).read_text(encoding="utf-8")):
        if example.language == "python":
            printed = run_example(example, folder, env, ignored=ignored)
            expected = without_varying_parts(example.output or "")
            assert without_varying_parts(printed) == expected, name


def examples(text: str) -> Iterator[Example]:
    """Yield the Python and shell examples of a document, each with the output shown after it."""
    blocks = list(_FENCE.finditer(text))
    for number, block in enumerate(blocks):
        if block[1] in ("python", "sh"):
            output = None
            for following in blocks[number + 1 : number + 2]:
                between = text[block.end() : following.start()]
                output = following[2] if following[1] == "text" and not between.strip() else None
            yield Example(block[1], block[2], output)


def run_example(
    example: Example, folder: Path, env: Mapping[str, str], *, ignored: str = ""
) -> str:
    """Run an example in *folder* and return what it printed; fail if it fails or warns."""
    if example.language == "python":
        warnings = ["-W", "error", *(["-W", f"ignore::{ignored}"] if ignored else [])]
        return _run([sys.executable, *warnings, "-c", example.code], folder, env)
    lines = [line.removeprefix(INSTALL) for line in example.code.splitlines()]
    return "".join(_run(["bash", "-c", line], folder, env) for line in lines)


def _run(command: list[str], folder: Path, env: Mapping[str, str]) -> str:
    done = subprocess.run(
        command, cwd=folder, env=dict(env), capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, f"{command[-1]}\n{done.stderr}"
    return done.stdout


def reader_environment(folder: Path, **more: str) -> dict[str, str]:
    """Return the environment of a reader: an empty home, and their own database in *folder*."""
    return {
        **os.environ,
        "HOME": str(folder),  # a developer's own settings are not read
        "XDG_CONFIG_HOME": str(folder / ".config"),
        "XDG_STATE_HOME": str(folder / ".state"),
        "COLUMNS": "110",
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "RECOLLECT_DB": str(folder / "memory.db"),
        **more,
    }


def without_varying_parts(text: str) -> list[str]:
    """Return the lines of *text* with ids, dates and decimals replaced."""
    for pattern, replacement in _VARYING:
        text = pattern.sub(replacement, text)
    return [line.rstrip() for line in text.strip().splitlines()]
