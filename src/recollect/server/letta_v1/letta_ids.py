"""Letta's ids have a prefix: `agent-` and a UUID. Ours are the UUID alone."""

from typing import Literal

Kind = Literal["agent", "block", "passage", "message", "conv", "archive", "tool", "run"]
DEFAULT_CONVERSATION = "default"  # Letta's name for an agent's default conversation


def letta_id(kind: Kind, our_id: str) -> str:
    """Return one of our ids as Letta writes it."""
    return f"{kind}-{our_id}"


def our_id(kind: Kind, text: str) -> str:
    """Return an id without its prefix; an id without one is returned as it is."""
    return text.removeprefix(f"{kind}-")
