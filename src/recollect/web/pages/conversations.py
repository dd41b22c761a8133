"""Conversations: the list, and the log of one with its summaries and pins."""

from starlette.responses import Response
from starlette.routing import Route

from recollect.api.conversation_titles import conversation_titles
from recollect.domain.conversation import MessageHit
from recollect.web.downloads import download
from recollect.web.page import PageRequest, page
from recollect.web.place_names import PlaceNames

PAGE_SIZE = 30
MESSAGES = 50
RUNS = 20
MAX_FILE = 1_000
MAX_AGENTS = 20  # whose messages are searched
HITS = 10  # of each


def show_conversations(request: PageRequest) -> Response:
    """List the conversations, or search their messages."""
    query, number = request.query("q").strip(), request.page_number()
    names = PlaceNames.read(request.rec)
    hits = _search(request, query, names) if query else []
    wants_file = bool(request.query("format"))
    conversations = request.rec.conversations.list(
        limit=MAX_FILE if wants_file else PAGE_SIZE + 1,
        offset=0 if wants_file else (number - 1) * PAGE_SIZE,
    )
    if (file := download(request, "conversations", conversations)) is not None:
        return file
    return request.render(
        "conversations.html",
        query=query,
        hits=hits,
        conversations=conversations[:PAGE_SIZE],
        titles=conversation_titles(request.rec, conversations[:PAGE_SIZE]),
        number=number,
        has_more=len(conversations) > PAGE_SIZE,
        names=names,
    )


def _search(request: PageRequest, query: str, names: PlaceNames) -> list[MessageHit]:
    """Return the messages of all agents that match, best first: each agent has its own."""
    hits = [
        hit
        for agent in names.all_agents[:MAX_AGENTS]
        for hit in request.rec.conversations.search(query, agent=agent, limit=HITS)
    ]
    return sorted(hits, key=lambda hit: -hit.score)[:PAGE_SIZE]


def show_conversation(request: PageRequest) -> Response:
    """Show a part of one conversation; `start` in the address is the first position."""
    rec = request.rec
    conversation = rec.conversations.get(request.path("id"))
    text = request.query("start", "0")
    start = int(text) if text.isascii() and text.isdigit() and len(text) < 10 else 0
    messages = rec.conversations.messages(conversation, start=start, limit=MESSAGES + 1)
    return request.render(
        "conversation.html",
        conversation=conversation,
        messages=messages[:MESSAGES],
        start=start,
        earlier=max(0, start - MESSAGES),
        later=messages[MESSAGES].position if len(messages) > MESSAGES else None,
        summaries=rec.conversations.summaries(conversation),
        pins=rec.conversations.pins(conversation),
        runs=rec.agents.runs(conversation, limit=RUNS) if conversation.agent_id else [],
        names=PlaceNames.read(rec),
    )


routes = [
    Route("/conversations", page(show_conversations), methods=["GET"]),
    Route("/conversations/{id}", page(show_conversation), methods=["GET"]),
]
