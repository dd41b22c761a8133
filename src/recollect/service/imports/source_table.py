"""The sources of history that can be imported, by name."""

from collections.abc import Mapping

from recollect.service.imports import (
    chat_exports,
    claude_code,
    claude_memory,
    codex,
    cursor,
    gemini_cli,
    mcp_memory,
    memory_directory,
)
from recollect.service.imports.history_source import HistorySource

SOURCES: Mapping[str, HistorySource] = {
    source.name: source
    for source in (
        claude_code.SOURCE,
        codex.SOURCE,
        gemini_cli.SOURCE,
        cursor.SOURCE,
        chat_exports.CHATGPT,
        chat_exports.CLAUDE_AI,
        mcp_memory.SOURCE,
        claude_memory.SOURCE,
        memory_directory.SOURCE,
    )
}
