"""The answer of a chat without a model: the memories that match the message, with their quotes."""

from collections.abc import Iterator, Sequence

from recollect.cli.output import safe
from recollect.cli.terminal_chat.chat_session import ChatSession
from recollect.domain.retrieval import Hit

LIMIT = 5
NOTHING_FOUND = "Nothing in memory answers this."
NO_MODEL = (
    "No model is configured, so the answer is what memory holds. Set chat_backend and chat_model "
    "in the configuration file, or RECOLLECT_CHAT_BACKEND and RECOLLECT_CHAT_MODEL."
)


def find_answer(session: ChatSession, text: str) -> Sequence[Hit]:
    """Return the memories that match *text*, which is stored as a message of the user."""
    hits = session.rec.search(text, agent=session.agent, project=session.project, limit=LIMIT)
    session.rec.conversations.append(session.ensure_conversation(), "user", text)
    session.result, session.hits = None, hits
    return hits


def answer_lines(session: ChatSession, text: str, hits: Sequence[Hit]) -> Iterator[str]:
    """Yield the memories with their quotes, or what came closest."""
    if not hits:
        yield NOTHING_FOUND
        nearest = session.rec.why_nothing(text, agent=session.agent, project=session.project)
        if nearest.memory_id:
            yield f"[dim]{safe(nearest.text)}[/dim]"
    for number, hit in enumerate(hits, start=1):
        memory = hit.memory
        reviewed = "" if memory.is_reviewed else ", not reviewed"
        day = f"{memory.observed_at:%Y-%m-%d}{reviewed}"
        yield f"[bold]m{number}[/bold] {safe(memory.labelled_content)} [dim]({day})[/dim]"
        for evidence in memory.evidence[:1]:
            if evidence.quote != memory.content:
                yield f"   [green]“{safe(evidence.quote)}”[/green]"


def plain_answer(hits: Sequence[Hit]) -> str:
    """Return the memories as text, one in each line."""
    return "\n".join(hit.memory.labelled_content for hit in hits)
