"""Decide over a candidate: the one place where MCP lets a memory become active or be archived."""

from recollect.app import Recollect
from recollect.domain.memory import Memory

VERDICTS = ("keep", "replace", "reject")


def decide(memory: Recollect, memory_id: str, verdict: str, *, reason: str) -> list[Memory]:
    """Do what was decided over a candidate; return every memory that changed, it first."""
    if verdict == "reject":
        return [memory.reject(memory_id, reason)]
    return [memory.promote(memory_id, reason=reason, replaces=verdict == "replace")]
