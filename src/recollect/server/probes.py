"""
The paths that an orchestrator asks: `/live` and `/ready`.

They need no token and no known host name, because a probe has neither, and tell nothing but a word.
"""

LIVE = "/live"
READY = "/ready"


def is_probe(method: str, path: str) -> bool:
    """Return whether a request only asks whether the server lives or is ready."""
    return path in (LIVE, READY) and method in ("GET", "HEAD")
