"""
What of an agent may go to the members of a project: not what rests on its user's conversations.

A memory that was drawn from a conversation has the text of it as its source, and blocks that are
shared between agents keep every value they have had. Neither is part of what the user shares.
"""

from dataclasses import replace
from pathlib import Path

from recollect.domain.source import SourceKind
from recollect.errors import InvalidInput
from recollect.service.agent_files import native_format
from recollect.service.agent_files.json_file import TRUSTED_FILE, read_json
from recollect.service.agent_files.model import AgentParts, BlockParts


def remove_private_parts(path: Path) -> None:
    """Rewrite the file of an agent without its conversations and what rests on them."""
    value = read_json(path, TRUSTED_FILE)
    if not native_format.is_native(value):
        raise InvalidInput(f"{path.name} is not a file of an agent in Recollect's own format")
    parts = shareable_parts(native_format.read_agent(value, path.name))
    path.write_bytes(native_format.write_agent(parts))


def shareable_parts(parts: AgentParts) -> AgentParts:
    """Return the blocks with their current values, and what was written into the archive."""
    sources = {source.id: source for source in parts.sources if source.kind is SourceKind.MANUAL}
    memories = [
        part
        for part in parts.memories
        if all(piece.source_id in sources for piece in part.memory.evidence)
    ]
    memory_ids = {part.memory.id for part in memories}
    source_ids = {piece.source_id for part in memories for piece in part.memory.evidence}
    return replace(
        parts,
        blocks=tuple(_present_value(part) for part in parts.blocks),
        conversations=(),
        sources=tuple(sources[source_id] for source_id in sorted(source_ids)),
        memories=tuple(memories),
        links=tuple(link for link in parts.links if {link.from_id, link.to_id} <= memory_ids),
    )


def _present_value(part: BlockParts) -> BlockParts:
    version = replace(part.versions[-1], version=1)
    return BlockParts(replace(part.block, version=1), (version,))
