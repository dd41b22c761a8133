"""The two tools that ChatGPT connectors expect: `search(query)` and `fetch(id)`."""

from recollect.app.local_recollect import LocalRecollect
from recollect.domain.memory import Memory
from recollect.mcp.caller_scope import Caller, get_visible_memory
from recollect.mcp.pagination import one_line, take_fitting, truncate
from recollect.mcp.tool_definition import READ_ONLY, Arguments, Tool, ToolResult
from recollect.wire.json_schema import TEXT, list_of, object_of

MAX_HITS = 10
MAX_TITLE_CHARS = 80
MAX_CONTENT_CHARS = 500
MAX_FETCH_CHARS = 40_000  # a longer memory is a document and would fill the context window


def search(rec: LocalRecollect, caller: Caller, arguments: Arguments) -> ToolResult:
    """Return the hits of a query as links."""
    hits = rec.search(arguments["query"], **caller.read_scope, limit=MAX_HITS)
    # Without hits of other projects, which could not be fetched.
    rows = [
        {**_link(hit.memory), "text": truncate(hit.memory.content, MAX_CONTENT_CHARS)}
        for hit in hits
        if hit.reached == "visible"
    ]
    return ToolResult({"results": take_fitting(rows, rec.models.count_tokens)})


def fetch(rec: LocalRecollect, caller: Caller, arguments: Arguments) -> ToolResult:
    """Return one memory, truncated if it is a long document."""
    record = get_visible_memory(rec, caller, arguments["id"])
    metadata = {
        "type": record.type.value,
        "status": record.status.value,
        "observed_at": record.observed_at.isoformat(),
        "tags": ", ".join(record.tags),
        "quote": record.evidence[0].quote if record.evidence else "",
    }
    if len(record.content) > MAX_FETCH_CHARS:
        missing = len(record.content) - MAX_FETCH_CHARS
        metadata["cut"] = f"{missing:,} more characters; use search to find their content"
    text = record.content[:MAX_FETCH_CHARS]
    return ToolResult({**_link(record), "text": text, "metadata": metadata})


def _link(memory: Memory) -> dict[str, str]:
    title = one_line(memory.title or memory.content, MAX_TITLE_CHARS)
    return {"id": memory.id, "title": title, "url": f"recollect://memories/{memory.id}"}


_LINK = dict.fromkeys(("id", "title", "url", "text"), TEXT)
CHATGPT_TOOLS = (
    Tool(
        name="search",
        description="Search the user's memory. Returns links; fetch returns the full text.",
        parameters={"query": TEXT},
        required=("query",),
        output={"results": list_of(object_of(_LINK))},
        hints=READ_ONLY,
        run=search,
    ),
    Tool(
        name="fetch",
        description="Return the full text of a memory, by an id from search.",
        parameters={"id": TEXT},
        required=("id",),
        output={**_LINK, "metadata": {"type": "object"}},
        hints=READ_ONLY,
        run=fetch,
    ),
)
