"""MCP resources: blocks, memories and skills, each readable at a URI."""

import json
from collections.abc import Callable, Mapping, Sequence
from urllib.parse import quote, unquote

from recollect.app.local_recollect import LocalRecollect
from recollect.domain.block import authorship_note
from recollect.domain.skill import Skill
from recollect.errors import NotFound, RequestRefused
from recollect.lazy_dataclass import dataclass
from recollect.mcp.caller_scope import Caller, get_visible_memory, visible_blocks
from recollect.mcp.pagination import one_line

SCHEME = "recollect://"
TEMPLATES: Mapping[str, tuple[str, str]] = {
    "blocks/{label}": ("block", "A block of the agent or the project"),
    "memories/{id}": ("memory", "A memory with its evidence, as JSON"),
    "skills/{name}": ("skill", "A skill's SKILL.md"),
}


@dataclass(frozen=True)
class ListedResource:
    """A resource as a list shows it."""

    uri: str
    name: str
    description: str
    mime_type: str


@dataclass(frozen=True)
class ResourceContent:
    """The content of a resource."""

    text: str
    mime_type: str


def list_resources(rec: LocalRecollect, caller: Caller) -> list[ListedResource]:
    """Return every block with a text and every skill that *caller* sees, but no memories."""
    blocks = [
        _list_entry("blocks", block.label, block.description, "text/plain")
        for block in visible_blocks(rec, caller)
        if block.value
    ]
    skills = [
        _list_entry("skills", skill.name, skill.description, "text/markdown")
        for skill in _skills(rec, caller)
    ]
    return [*blocks, *sorted(skills, key=lambda resource: resource.name)]


def read_resource(rec: LocalRecollect, caller: Caller, uri: str) -> ResourceContent:
    """Return the content of *uri*, or raise `NotFound`."""
    kind, _, name = uri.removeprefix(SCHEME).partition("/")
    reader = _READERS.get(kind)
    if not uri.startswith(SCHEME) or reader is None or not name:
        templates = ", ".join(SCHEME + template for template in TEMPLATES)
        raise NotFound(f"there is no resource {uri[:200]!r}; valid URIs are {templates}")
    return reader(rec, caller, unquote(name))


def _skills(rec: LocalRecollect, caller: Caller) -> Sequence[Skill]:
    """Return the skills of the caller's project; the others if its folder may not be read."""
    try:
        return rec.skills.list(project=caller.project).skills
    except RequestRefused:  # over HTTP; its message would reveal the folder of the project
        return rec.skills.list().skills


def _read_block(rec: LocalRecollect, caller: Caller, label: str) -> ResourceContent:
    for block in visible_blocks(rec, caller):
        if block.label == label:
            note = authorship_note(block)
            text = f"({note})\n{block.value}" if note else block.value
            return ResourceContent(text, "text/plain")
    raise NotFound(f"there is no block {label[:80]!r} here")


def _read_memory(rec: LocalRecollect, caller: Caller, memory_id: str) -> ResourceContent:
    record = get_visible_memory(rec, caller, memory_id)
    fields = {
        "id": record.id,
        "content": record.content,
        "type": record.type,
        "scope": record.scope,
        "status": record.status,
        "observed_at": record.observed_at.isoformat(),
        "tags": record.tags,
        "rationale": record.rationale,
        "alternatives": record.alternatives,
        "evidence": [
            {"quote": item.quote, "voice": item.voice, "source": item.source_id}
            for item in record.evidence
        ],
    }
    return ResourceContent(json.dumps(fields, ensure_ascii=False, indent=2), "application/json")


def _read_skill(rec: LocalRecollect, caller: Caller, name: str) -> ResourceContent:
    for skill in _skills(rec, caller):
        if skill.name == name:
            return ResourceContent(skill.content, "text/markdown")
    raise NotFound(f"there is no skill {name[:80]!r} here")


def _list_entry(kind: str, name: str, description: str, mime_type: str) -> ListedResource:
    uri = f"{SCHEME}{kind}/{quote(name, safe='')}"
    return ListedResource(uri, name, one_line(description, 200), mime_type)


_READERS: Mapping[str, Callable[[LocalRecollect, Caller, str], ResourceContent]] = {
    "blocks": _read_block,
    "memories": _read_memory,
    "skills": _read_skill,
}
