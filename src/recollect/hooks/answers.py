"""
What is said to a client, in the form it reads.

Claude Code and Codex take `additionalContext` for both events. Cursor documents
`additional_context` for the start of a session only; its client takes it before a prompt too, and
an older one ignores it. `continue` is said so that no reading of it could hold a prompt back.
"""

import json

from recollect.hooks import names
from recollect.hooks.events import HookEvent

MOST_CHARS = 10_000  # of Claude Code, and of Cursor before it moves the text into a file
_EVENT_NAMES = {names.SESSION_START: "SessionStart", names.PROMPT: "UserPromptSubmit"}


def answer_to(event: HookEvent, text: str) -> bytes:
    """Return what to print for *text*; nothing where there is nothing to say."""
    if not text or event.kind not in names.ASKING:
        return b""
    # ASCII only: on some machines a client reads its hooks in another encoding than UTF-8.
    return json.dumps(_shaped(event, text)).encode("ascii")


def _shaped(event: HookEvent, text: str) -> dict[str, object]:
    if event.client != names.CURSOR:
        told = {"hookEventName": _EVENT_NAMES[event.kind], "additionalContext": text}
        return {"hookSpecificOutput": told}
    if event.kind == names.SESSION_START:
        return {"additional_context": text}
    return {"continue": True, "additional_context": text}
