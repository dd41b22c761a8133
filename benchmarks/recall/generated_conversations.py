"""
Generate a year of agents' conversations, and questions about them. Deterministic.

Half of the messages belong to one agent, the rest to ten others. A turn is a user message, an
assistant message, a tool call without text, its result and an assistant message. Texts are made of
sentences of the tasks (generated ones if there are no tasks), so no two messages are equal.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import cycle, islice
from random import Random
from typing import Any

from benchmarks.capture.generated_messages import (
    SHAPES,
    GeneratedMessage,
    TextPool,
    generated_messages,
)

LARGE = "large"
SMALL = tuple(f"small-{number}" for number in range(10))
LENGTH = 40  # messages of a conversation
LONG = 2_000  # … of the two long ones of the last small agent
PROJECTS = 20
YEAR = timedelta(days=365)
ENDS_AT = datetime(2025, 11, 14, 18, 0, tzinfo=UTC)
PAUSE_S = 90
SEED = 17

_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")
_WORD = re.compile(r"[A-Za-z]{3,}")
_OPENINGS = ("what about", "when did we", "why is", "who said", "how do we handle", "where is")
_TIMES = (
    "what did we decide {0} about {1}?",
    "what was it {0} with {1}?",
    "who said {0} that {1}?",
)
_WHEN = ("last Friday", "yesterday", "last week", "in March", "last month", "three sessions ago")
_ONLY_TIMES = ("what did we talk about {0}?", "summarize what we said {0}", "what happened {0}?")


@dataclass(frozen=True, kw_only=True)
class ConversationMessage:
    """One message of an agent's conversation; without words it is a tool call."""

    agent: str
    role: str
    content: str
    at: datetime
    tool_calls: tuple[Mapping[str, Any], ...] = ()
    tool_call_id: str = ""

    def as_arguments(self) -> dict[str, Any]:
        """Return the message as `append_messages` takes it."""
        arguments: dict[str, Any] = {
            "role": self.role,
            "content": self.content,
            "created_at": self.at,
        }
        if self.tool_calls:
            arguments["tool_calls"] = list(self.tool_calls)
        if self.tool_call_id:
            arguments["tool_call_id"] = self.tool_call_id
        return arguments


@dataclass(frozen=True, kw_only=True)
class GeneratedConversation:
    """One conversation."""

    agent: str
    project: str
    started_at: datetime
    messages: tuple[ConversationMessage, ...]


@dataclass(frozen=True, kw_only=True)
class AgentQuestion:
    """A question to an agent about its past."""

    agent: str
    text: str


def generated_conversations(pool: TextPool, count: int) -> list[GeneratedConversation]:
    """Return conversations of *count* messages in all, in the order in which they began."""
    random = Random(SEED)
    texts = MessageTexts(pool, random, generated_messages(pool, count, shape="agent"))
    share = count // 2 // len(SMALL)
    generated = []
    for agent in (LARGE, *SMALL):
        messages_left = count // 2 if agent == LARGE else share
        lengths = list(_conversation_lengths(messages_left, long=agent == SMALL[-1]))
        for length in lengths:
            started_at = ENDS_AT - random.random() * (YEAR - timedelta(days=3)) - timedelta(days=2)
            project = f"project-{random.randrange(PROJECTS)}"
            spoken = tuple(conversation_messages(agent, started_at, length, texts))
            generated.append(
                GeneratedConversation(
                    agent=agent, project=project, started_at=started_at, messages=spoken
                )
            )
    return sorted(generated, key=lambda conversation: conversation.started_at)


def more_messages(
    pool: TextPool, agent: str, count: int, *, seed: int
) -> list[ConversationMessage]:
    """Return messages that come after everything else, all of them with words."""
    texts = MessageTexts(pool, Random(seed), generated_messages(pool, 4 * count + 1, shape="agent"))
    spoken = conversation_messages(agent, ENDS_AT, 2 * count, texts)
    return list(islice((message for message in spoken if message.content), count))


def questions(
    past: Sequence[GeneratedConversation], agent: str, count: int, *, seed: int
) -> list[AgentQuestion]:
    """Return *count* questions, no two alike, each with a few words of one message."""

    def phrase(random: Random, words: str) -> str:
        return f"{random.choice(_OPENINGS)} {words}?"

    return _distinct_questions(past, agent, count, seed, phrase)


def time_questions(
    past: Sequence[GeneratedConversation], agent: str, count: int, *, seed: int
) -> list[AgentQuestion]:
    """Return questions that name a time, and something to look for."""

    def phrase(random: Random, words: str) -> str:
        return random.choice(_TIMES).format(random.choice(_WHEN), words)

    return _distinct_questions(past, agent, count, seed, phrase)


def only_time_questions(agent: str) -> list[AgentQuestion]:
    """Return questions that name nothing but a time."""
    texts = [template.format(when) for template in _ONLY_TIMES for when in _WHEN]
    return [AgentQuestion(agent=agent, text=text) for text in texts]


def _distinct_questions(
    past: Sequence[GeneratedConversation],
    agent: str,
    count: int,
    seed: int,
    put: Callable[[Random, str], str],
) -> list[AgentQuestion]:
    random = Random(seed)
    about = [
        message.content
        for conversation in past
        if conversation.agent == agent
        for message in conversation.messages
        if message.role in ("user", "assistant") and message.content
    ]
    by_text: dict[str, AgentQuestion] = {}
    while len(by_text) < count:
        words = _WORD.findall(random.choice(about))
        if len(words) < 4:
            continue
        picked = random.sample(words, k=min(random.randint(4, 8), len(words)))
        text = put(random, " ".join(picked))
        by_text[text] = AgentQuestion(agent=agent, text=text)
    return list(by_text.values())


def _conversation_lengths(count: int, *, long: bool) -> Iterator[int]:
    while long and count >= 2 * LONG + LENGTH:
        yield LONG
        count -= LONG
    while count > 0:
        yield min(LENGTH, count)
        count -= LENGTH


def conversation_messages(
    agent: str, started_at: datetime, length: int, texts: "MessageTexts"
) -> Iterator[ConversationMessage]:
    """Yield the messages of one conversation."""
    at = started_at
    for number, kind in enumerate(islice(cycle(SHAPES["agent"]), length)):
        at += timedelta(seconds=texts.random.randint(5, 2 * PAUSE_S))
        text = texts.of(kind)
        if kind == "call":
            call = _tool_call(f"call-{number}", text)
            yield ConversationMessage(
                agent=agent, role="assistant", content="", at=at, tool_calls=(call,)
            )
        elif kind == "result":
            called = f"call-{number - 1}"
            yield ConversationMessage(
                agent=agent, role="tool", content=text, at=at, tool_call_id=called
            )
        else:
            yield ConversationMessage(agent=agent, role=kind, content=text, at=at)


def _tool_call(call_id: str, command: str) -> Mapping[str, Any]:
    arguments = json.dumps({"command": command})
    return {
        "id": call_id,
        "type": "function",
        "function": {"name": "shell", "arguments": arguments},
    }


class MessageTexts:
    """Texts of messages by kind, put together from sentences that people and assistants said."""

    def __init__(self, pool: TextPool, random: Random, stock: Sequence[GeneratedMessage]) -> None:
        self.random = random
        self._sentences = {kind: _sentences(texts) for kind, texts in pool.texts_by_role.items()}
        # What tools are told and put out, as it is made for captures; each is used once.
        self._tools = {kind: cycle(_texts_of(stock, kind)) for kind in ("call", "result")}

    def of(self, kind: str) -> str:
        """Return a text of that kind: a user says a sentence or some, an assistant more."""
        if kind in self._tools:
            return next(self._tools[kind])
        least, mean, most = (1, 2, 8) if kind == "user" else (2, 4, 20)
        count = min(least + int(self.random.expovariate(1 / mean)), most)
        return " ".join(self.random.choices(self._sentences[kind], k=count))


def _sentences(texts: Sequence[str]) -> list[str]:
    pieces = (piece.strip() for text in texts for piece in _SENTENCE.split(text))
    return sorted({piece for piece in pieces if 20 <= len(piece) <= 400})


def _texts_of(stock: Sequence[GeneratedMessage], kind: str) -> list[str]:
    return [message.text for message in stock if message.kind == kind]
