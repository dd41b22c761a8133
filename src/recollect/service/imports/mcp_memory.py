"""
The official MCP memory server: one file of JSON Lines with entities and relations.

It lies where MEMORY_FILE_PATH says, or else beside the server's own program, which npx keeps in its
cache. An agent wrote it, so it is read as an agent's summary.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from recollect.domain.capture_event import CaptureMode
from recollect.service.imports.history_source import (
    HistorySource,
    ImportedConversation,
    UserEnvironment,
    matching_files,
    read_conversations,
)
from recollect.text.transcripts import mcp_memory_file

_IN_CACHE = "_npx/*/node_modules/@modelcontextprotocol/server-memory/dist"


def _roots(environment: UserEnvironment) -> Sequence[Path]:
    named = environment.environ.get("MEMORY_FILE_PATH", "")
    if named:
        return [Path(named).expanduser()]
    return sorted(environment.folder("npm_config_cache", ".npm").glob(_IN_CACHE))


def _files(folder: Path) -> Iterator[Path]:
    return matching_files(folder, "memory.jsonl", "memory.json")


def _read(path: Path, environment: UserEnvironment) -> Iterator[ImportedConversation]:
    for transcript in read_conversations(path, mcp_memory_file, "file of the MCP memory server"):
        transcript = replace(transcript, session=f"mcp-memory {path.absolute()}"[-200:])
        yield ImportedConversation(transcript=transcript, mode=CaptureMode.SUMMARY)


SOURCE = HistorySource(
    name="mcp-memory",
    about="The file of the official MCP memory server (memory.jsonl).",
    roots=_roots,
    files=_files,
    read=_read,
)
