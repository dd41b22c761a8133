"""The two tools ChatGPT's connectors look for: `search(query)` and `fetch(id)`."""

from collections.abc import Mapping
from typing import Any

from recollect.app import Recollect
from recollect.domain.memory import Memory
from recollect.mcp.caller import Caller, memory_seen
from recollect.mcp.pages import cut, fitting, line
from recollect.mcp.tool import READS, TEXT, Told, Tool, list_of, object_of

HITS = 10
TITLE = 80
CONTENT = 500
WHOLE = 40_000  # characters; a longer memory is a document, and would fill the client's window


def search(memory: Recollect, caller: Caller, given: Mapping[str, Any]) -> Told:
    """Return what answers a query, as links."""
    hits = memory.search(given["query"], **caller.place, limit=HITS)
    # What came in from another project could not be fetched.
    rows = [
        {**_link(hit.memory), "text": cut(hit.memory.content, CONTENT)}
        for hit in hits
        if hit.reached == "visible"
    ]
    return Told({"results": fitting(rows, memory.count_tokens)})


def fetch(memory: Recollect, caller: Caller, given: Mapping[str, Any]) -> Told:
    """Return one memory, whole unless it is a document."""
    found = memory_seen(memory, caller, given["id"])
    about = {
        "type": found.type.value,
        "status": found.status.value,
        "observed_at": found.observed_at.isoformat(),
        "tags": ", ".join(found.tags),
        "quote": found.evidence[0].quote if found.evidence else "",
    }
    if len(found.content) > WHOLE:
        about["cut"] = f"{len(found.content) - WHOLE:,} more characters; search finds what they say"
    text = found.content[:WHOLE]
    return Told({**_link(found), "text": text, "metadata": about})


def _link(memory: Memory) -> dict[str, str]:
    title = memory.title or memory.content
    return {
        "id": memory.id,
        "title": line(title, TITLE),
        "url": f"recollect://memories/{memory.id}",
    }


_LINK = {"id": TEXT, "title": TEXT, "url": TEXT, "text": TEXT}
CHATGPT_TOOLS = (
    Tool(
        name="search",
        description="Search the user's memory. Returns links; fetch gives the whole text.",
        takes={"query": TEXT},
        needs=("query",),
        gives={"results": list_of(object_of(_LINK))},
        always=("results",),
        hints=READS,
        run=search,
    ),
    Tool(
        name="fetch",
        description="Get one memory whole, by the id that search gave.",
        takes={"id": TEXT},
        needs=("id",),
        gives={**_LINK, "metadata": {"type": "object"}},
        always=("id", "title", "url", "text", "metadata"),
        hints=READS,
        run=fetch,
    ),
)
