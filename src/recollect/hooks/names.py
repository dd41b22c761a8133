"""
The names of events and clients, however a client writes them.

Pure, and light: the hook's own process loads it. It does not know what an event carries.
"""

SESSION_START = "session-start"
PROMPT = "prompt"
PRE_COMPACT = "pre-compact"
STOP = "stop"
SESSION_END = "session-end"

ASKING = (SESSION_START, PROMPT)  # the client waits for what memory has to say
TELLING = (PRE_COMPACT, STOP, SESSION_END)  # there is something to keep

CLAUDE_CODE = "claude-code"
CODEX = "codex"
CURSOR = "cursor"
CLIENTS = (CLAUDE_CODE, CODEX, CURSOR)
ANY_CLIENT = "any"  # nobody said which; the event tells

_EVENTS = {
    "sessionstart": SESSION_START,
    "prompt": PROMPT,
    "userpromptsubmit": PROMPT,
    "beforesubmitprompt": PROMPT,
    "precompact": PRE_COMPACT,
    "stop": STOP,
    "sessionend": SESSION_END,
}
_CLIENTS = {"claudecode": CLAUDE_CODE, "claude": CLAUDE_CODE, "codex": CODEX, "cursor": CURSOR}


def kind_of(written: str) -> str:
    """Return which event is meant, '' where it is none of ours."""
    return _EVENTS.get(_letters(written), "")


def client_of(written: str) -> str:
    """Return which client is meant, or that it is not known."""
    return _CLIENTS.get(_letters(written), ANY_CLIENT)


def _letters(written: str) -> str:
    return "".join(char for char in written[:40].lower() if char.isalpha())
