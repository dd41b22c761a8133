"""What can be read by its address: blocks, memories, skills."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from urllib.parse import quote, unquote

from recollect.app import Recollect
from recollect.errors import NotFound
from recollect.mcp.caller import Caller, blocks_seen, memory_seen
from recollect.mcp.pages import line

SCHEME = "recollect://"
TEMPLATES: Mapping[str, tuple[str, str]] = {
    "blocks/{label}": ("block", "A block of the agent or the project"),
    "memories/{id}": ("memory", "A memory with its evidence, as JSON"),
    "skills/{name}": ("skill", "A skill's SKILL.md"),
}


@dataclass(frozen=True)
class Listed:
    """Something that can be read, as a list shows it."""

    uri: str
    name: str
    description: str
    mime_type: str


@dataclass(frozen=True)
class Read:
    """What stands at an address."""

    text: str
    mime_type: str


def listed(memory: Recollect, caller: Caller) -> list[Listed]:
    """Return every block and skill that *caller* sees; memories are found, not listed."""
    blocks = [
        Listed(_uri("blocks", one.label), one.label, line(one.description, 200), "text/plain")
        for one in blocks_seen(memory, caller)
    ]
    skills = [
        Listed(_uri("skills", one.name), one.name, line(one.description, 200), "text/markdown")
        for one in memory.discover_skills(project=caller.project).skills
    ]
    return [*blocks, *sorted(skills, key=lambda one: one.name)]


def read(memory: Recollect, caller: Caller, uri: str) -> Read:
    """Return what stands at *uri*, or raise `NotFound`."""
    kind, _, name = uri.removeprefix(SCHEME).partition("/")
    reader = _READERS.get(kind)
    if not uri.startswith(SCHEME) or reader is None or not name:
        known = ", ".join(SCHEME + one for one in TEMPLATES)
        raise NotFound(f"there is nothing at {uri[:200]!r}; addresses are {known}")
    return reader(memory, caller, unquote(name))


def _block(memory: Recollect, caller: Caller, label: str) -> Read:
    for one in blocks_seen(memory, caller):
        if one.label == label:
            return Read(one.value, "text/plain")
    raise NotFound(f"there is no block {label[:80]!r} here")


def _memory(memory: Recollect, caller: Caller, memory_id: str) -> Read:
    found = memory_seen(memory, caller, memory_id)
    told = {
        "id": found.id,
        "content": found.content,
        "type": found.type,
        "scope": found.scope,
        "status": found.status,
        "observed_at": found.observed_at.isoformat(),
        "tags": found.tags,
        "rationale": found.rationale,
        "alternatives": found.alternatives,
        "evidence": [
            {"quote": one.quote, "voice": one.voice, "source": one.source_id}
            for one in found.evidence
        ],
    }
    return Read(json.dumps(told, ensure_ascii=False, indent=2), "application/json")


def _skill(memory: Recollect, caller: Caller, name: str) -> Read:
    for one in memory.discover_skills(project=caller.project).skills:
        if one.name == name:
            return Read(one.content, "text/markdown")
    raise NotFound(f"there is no skill {name[:80]!r} here")


def _uri(kind: str, name: str) -> str:
    return f"{SCHEME}{kind}/{quote(name, safe='')}"


_READERS: Mapping[str, Callable[[Recollect, Caller, str], Read]] = {
    "blocks": _block,
    "memories": _memory,
    "skills": _skill,
}
