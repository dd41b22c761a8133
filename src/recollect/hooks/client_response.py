"""
Render the text to inject in the response format of each client.

Claude Code, Codex and Gemini CLI read `additionalContext` for all events. Cursor documents
`additional_context` for the start of a session and after a tool; its client also reads it before a
prompt, and older versions ignore it. `continue` is sent so that Cursor cannot mistake the response
for a block. No response decides whether a tool may run.
"""

import json

from recollect.hooks import event_names
from recollect.hooks.client_events import HookEvent

MAX_CHARS = 10_000  # limit of Claude Code, and of Cursor before it moves the text into a file
_EVENT_NAMES = {
    event_names.SESSION_START: "SessionStart",
    event_names.PROMPT: "UserPromptSubmit",
    event_names.PRE_TOOL: "PreToolUse",
    event_names.POST_TOOL: "PostToolUseFailure",
}
_GEMINI_EVENT_NAMES = {
    event_names.SESSION_START: "SessionStart",
    event_names.PROMPT: "BeforeAgent",
    event_names.PRE_TOOL: "BeforeTool",
    event_names.POST_TOOL: "AfterTool",
}


def render_response(event: HookEvent, text: str) -> bytes:
    """Return the bytes to print for *text*, b'' if there is nothing to inject."""
    if not text or event.kind not in event_names.RECALL_EVENTS:
        return b""
    # ASCII only: on some machines a client does not decode hook output as UTF-8.
    return json.dumps(_response_body(event, text)).encode("ascii")


def _response_body(event: HookEvent, text: str) -> dict[str, object]:
    if event.client != event_names.CURSOR:
        is_gemini = event.client == event_names.GEMINI_CLI
        name = (_GEMINI_EVENT_NAMES if is_gemini else _EVENT_NAMES)[event.kind]
        return {"hookSpecificOutput": {"hookEventName": name, "additionalContext": text}}
    if event.kind in (event_names.SESSION_START, event_names.POST_TOOL):
        return {"additional_context": text}
    return {"continue": True, "additional_context": text}
