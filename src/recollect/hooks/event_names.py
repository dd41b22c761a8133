"""
Names of hook events and clients, in every spelling that clients use.

This module is small because the hook process loads it on every call. `client_events` reads what an
event contains.
"""

SESSION_START = "session-start"
PROMPT = "prompt"
PRE_TOOL = "pre-tool"
POST_TOOL = "post-tool"
PRE_COMPACT = "pre-compact"
STOP = "stop"
SESSION_END = "session-end"

TOOL_EVENTS = (PRE_TOOL, POST_TOOL)
RECALL_EVENTS = (SESSION_START, PROMPT, *TOOL_EVENTS)  # the client waits for text to inject
CAPTURE_EVENTS = (PRE_COMPACT, STOP, SESSION_END)  # the transcript may have to be captured

CLAUDE_CODE = "claude-code"
CODEX = "codex"
CURSOR = "cursor"
GEMINI_CLI = "gemini-cli"
CLIENTS = (CLAUDE_CODE, CODEX, CURSOR, GEMINI_CLI)
ANY_CLIENT = "any"  # no option names the client; the payload identifies it

_EVENTS = {
    "sessionstart": SESSION_START,
    "prompt": PROMPT,
    "userpromptsubmit": PROMPT,
    "beforesubmitprompt": PROMPT,
    "beforeagent": PROMPT,
    "pretool": PRE_TOOL,
    "pretooluse": PRE_TOOL,
    "posttool": POST_TOOL,
    "posttooluse": POST_TOOL,
    "posttoolusefailure": POST_TOOL,
    "aftertool": POST_TOOL,
    "precompact": PRE_COMPACT,
    "precompress": PRE_COMPACT,
    "stop": STOP,
    "afteragent": STOP,
    "sessionend": SESSION_END,
}
_CLIENTS = {
    "claudecode": CLAUDE_CODE,
    "claude": CLAUDE_CODE,
    "codex": CODEX,
    "cursor": CURSOR,
    "geminicli": GEMINI_CLI,
    "gemini": GEMINI_CLI,
}


def event_kind(name: str) -> str:
    """Return the kind of event that *name* means, '' if it is not a supported event."""
    return _EVENTS.get(_letters(name), "")


def client_name(name: str) -> str:
    """Return the client that *name* means, `ANY_CLIENT` if it is unknown."""
    return _CLIENTS.get(_letters(name), ANY_CLIENT)


def _letters(name: str) -> str:
    return "".join(char for char in name[:40].lower() if char.isalpha())
