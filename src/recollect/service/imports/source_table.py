"""The table of what can be brought in, by name."""

from collections.abc import Mapping

from recollect.service.imports import claude_code, claude_memory, codex, cursor, gemini_cli, mcp_memory
from recollect.service.imports import chat_exports
from recollect.service.imports.history_source import HistorySource

SOURCES: Mapping[str, HistorySource] = {
    one.name: one
    for one in (
        claude_code.SOURCE,
        codex.SOURCE,
        gemini_cli.SOURCE,
        cursor.SOURCE,
        chat_exports.CHATGPT,
        chat_exports.CLAUDE_AI,
        mcp_memory.SOURCE,
        claude_memory.SOURCE,
    )
}
