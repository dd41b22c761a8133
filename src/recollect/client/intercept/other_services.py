"""
Recognise calls to language models that `learning()` neither changes nor records.

A block in which no call was recognised names the services it saw, so that nobody believes that
their calls are remembered. The names are taken from the path of the request, whatever its host.
"""

from recollect.text.lazy_pattern import LazyPattern

_SERVICES: tuple[tuple[str, LazyPattern], ...] = (
    ("Gemini's interactions", LazyPattern(r"/v1[a-z0-9]*/interactions$")),
    ("Ollama's generate", LazyPattern(r"/api/generate$")),
    ("Cohere", LazyPattern(r"/v[12]/chat$")),
    (
        "Bedrock",
        LazyPattern(r"/model/[^/]+/(?:invoke|converse)(?:-with-response-stream|-stream)?$"),
    ),
    ("OpenAI's completions", LazyPattern(r"/v1/completions$")),
)


def other_service(path: str) -> str:
    """Return the name of the service that a request with this path calls, '' if it is unknown."""
    return next((name for name, pattern in _SERVICES if pattern.search(path)), "")
