"""Read the Dockerfile in deploy/ as far as it uses the format."""

import shlex
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DEPLOY = ROOT / "deploy"
DOCKERFILE = DEPLOY / "Dockerfile"


@cache
def instructions() -> tuple[tuple[str, str], ...]:
    """Return the instructions of the Dockerfile: name and text."""
    text = DOCKERFILE.read_text(encoding="utf-8").replace("\\\n", " ")
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    return tuple((name, rest.strip()) for name, _, rest in (line.partition(" ") for line in lines))


def environment_of(dockerfile: Path) -> dict[str, str]:
    """Return the variables that the image sets."""
    assert dockerfile == DOCKERFILE
    [text] = [text for name, text in instructions() if name == "ENV"]
    return dict(pair.split("=", 1) for pair in shlex.split(text))
