"""
One chat: the store, the agent, the conversation, and what `/undo` can take back.

It starts a conversation with the first message, so that a chat in which nothing is said leaves
nothing behind.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import field
from pathlib import Path

from recollect.api.recollect import Recollect
from recollect.cli.output import print_text, safe, shorten
from recollect.domain.agent import Agent
from recollect.domain.agent_run import RunResult
from recollect.domain.agent_transfer import RUNTIME
from recollect.domain.conversation import Conversation, Role
from recollect.domain.model_usage import ChatModelStatus
from recollect.domain.retrieval import Hit
from recollect.domain.sleeptime import FREQUENCY
from recollect.errors import NotFound
from recollect.lazy_dataclass import dataclass

DEFAULT_AGENT = "assistant"
SLEEPTIME_TURNS = 5  # after which the agent that a chat creates learns what was said
LAST = "last"  # the conversation to resume if none is named
SHOWN_MESSAGES = 4  # of a conversation that is resumed
HISTORY = 200


@dataclass(frozen=True)
class UndoStep:
    """A change of memory that can be taken back."""

    name: str
    undo: Callable[[], object]


@dataclass
class ChatSession:
    """The state of a chat."""

    rec: Recollect
    agent: Agent
    project: str | None
    model: str  # asked for with --model or /model; '': the configured one
    status: ChatModelStatus
    conversation: Conversation | None = None
    result: RunResult | None = None  # of the last answer
    hits: Sequence[Hit] = ()  # the last answer, if no model is configured
    tokens: int = 0
    cost_usd: float | None = None
    undo_steps: list[UndoStep] = field(default_factory=list)

    @property
    def has_model(self) -> bool:
        """Whether a chat model is configured."""
        return bool(self.status.name)

    @property
    def model_name(self) -> str:
        """The name of the model that answers."""
        if not self.has_model:
            return "no model"
        return self.model or self.status.name

    def ensure_conversation(self) -> Conversation:
        """Return the conversation, which is started if there is none yet."""
        if self.conversation is None:
            self.conversation = self.rec.conversations.start(agent=self.agent, project=self.project)
        return self.conversation

    def resume(self, conversation: Conversation) -> None:
        """Continue an earlier conversation."""
        self.end_conversation()
        if conversation.ended_at is not None:
            conversation = self.rec.conversations.resume(conversation)
        self.conversation = conversation
        self.project = conversation.project_id
        self.result, self.hits = None, ()

    def end_conversation(self) -> None:
        """End the conversation, so that the next message starts another."""
        if self.conversation is not None:
            self.rec.conversations.end(self.conversation)
        self.conversation = None

    def count_usage(self, result: RunResult) -> None:
        """Add what a run used to what the chat used."""
        usage = result.usage
        self.result = result
        self.tokens += usage.input_tokens + usage.output_tokens
        if usage.cost_usd is not None:
            self.cost_usd = (self.cost_usd or 0.0) + usage.cost_usd

    def typed_messages(self) -> Iterator[str]:
        """Return what the user said to this agent, newest first."""
        messages = self.rec.conversations.agent_messages(self.agent, limit=HISTORY, roles=["user"])
        return (message.content for message in messages)


def open_session(
    rec: Recollect,
    *,
    agent: str | None,
    project: str | None,
    model: str,
    resume: str | None,
    context_files: Iterable[str],
) -> ChatSession:
    """Return a chat with *agent*, or with the agent that was talked to last."""
    chosen = _choose_agent(rec, agent, project)
    session = ChatSession(
        rec=rec,
        agent=chosen,
        project=project,
        model=model,
        status=rec.models.chat(agent=chosen),
    )
    for file in context_files:
        open_file(session, file)
    if resume is not None:
        session.resume(_earlier_conversation(session, resume))
    return session


def open_file(session: ChatSession, file: str) -> str:
    """Open a file for the agent, and return its path."""
    path = Path(file).expanduser().absolute()
    [window] = session.rec.files.open(session.agent, [str(path)], roots=[str(path.parent)])
    return window.path


def print_last_messages(session: ChatSession) -> None:
    """Print how a resumed conversation ended."""
    if session.conversation is None:
        return
    messages = session.rec.conversations.messages(
        session.conversation, limit=SHOWN_MESSAGES, newest_first=True
    )
    title = session.conversation.title or f"{session.conversation.started_at:%Y-%m-%d %H:%M}"
    print_text(f"[dim]Continuing {safe(title)}[/dim]")
    for message in reversed(messages):
        if message.role in (Role.USER, Role.ASSISTANT) and message.content:
            mark = ">" if message.role is Role.USER else " "
            print_text(f"[dim]{mark} {safe(shorten(message.content, 300))}[/dim]")


def _choose_agent(rec: Recollect, name: str | None, project: str | None) -> Agent:
    if name is not None:
        return rec.agents.get(name)
    agents = rec.agents.list(project=project)
    if not agents:
        return rec.agents.create(DEFAULT_AGENT, metadata={RUNTIME: {FREQUENCY: SLEEPTIME_TURNS}})
    latest = rec.conversations.list(limit=1)
    last_id = latest[0].agent_id if latest and not agents[0].pinned else None
    return next((agent for agent in agents if agent.id == last_id), agents[0])


def _earlier_conversation(session: ChatSession, name: str) -> Conversation:
    if name != LAST:
        return session.rec.conversations.get(name)
    latest = session.rec.conversations.list(agent=session.agent, limit=1)
    if not latest:
        raise NotFound(
            f"the agent {session.agent.name!r} has no conversation yet; leave out --resume"
        )
    return latest[0]
