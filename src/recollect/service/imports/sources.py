"""The table of what can be brought in, by name."""

from collections.abc import Mapping

from recollect.service.imports import (
    claude_code,
    claude_memory,
    codex,
    cursor,
    exports,
    gemini_cli,
    mcp_memory,
)
from recollect.service.imports.past import PastSource

SOURCES: Mapping[str, PastSource] = {
    one.name: one
    for one in (
        claude_code.SOURCE,
        codex.SOURCE,
        gemini_cli.SOURCE,
        cursor.SOURCE,
        exports.CHATGPT,
        exports.CLAUDE_AI,
        mcp_memory.SOURCE,
        claude_memory.SOURCE,
    )
}
