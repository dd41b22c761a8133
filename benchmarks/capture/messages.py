"""
Make long transcripts: what users and assistants said in the tasks, with tool output made up.

Without the tasks everything is made up, and the rules find next to nothing in it. Deterministic.
This file knows nothing of Recollect.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle, islice
from pathlib import Path
from random import Random

from benchmarks.extraction.realmem import read_sessions
from benchmarks.sentences import sentences
from benchmarks.tasks import TasksMissing, read_task

# One turn of each shape. An agent's session is mostly tools; in a chat every other message is the
# user's, which is where the rules look.
SHAPES = {
    "agent": ("user", "assistant", "call", "result", "assistant"),
    "chat": ("user", "assistant"),
}
MOST_CHARS = 1_000  # of what users and assistants say
SEED = 11

_NAME = re.compile(r"^\w+: ")
_RESULTS = (
    "src/{0}/{1}.py:{2}: {1} = {0}({3})",
    "PASSED tests/test_{0}.py::test_{1}_{3} in {2} ms",
    "    {0}.{1}({3}, {2})",
    "-rw-r--r-- 1 dev dev {2} {0}/{1}.json",
    "2025-03-04T10:12:{2}Z INFO {0}: {1} {3}",
)


@dataclass(frozen=True)
class Message:
    """One message; kind is user, assistant, call (of a tool) or result (of one)."""

    kind: str
    text: str


@dataclass(frozen=True)
class Pool:
    """What users and assistants say, in random order, and words for tools."""

    said: Mapping[str, Sequence[str]]
    words: Sequence[str]
    origin: str


def make_pool(tasks: Path) -> Pool:
    """Return what is said in the tasks, or made-up sentences where there are none."""
    random = Random(SEED)
    words = [word for one in sentences(200) for word in one.text.lower().strip(".").split()]
    try:
        said = _from_tasks(tasks)
        origin = "what people and assistants say in RealMem, LoCoMo, LongMemEval and BEAM"
    except TasksMissing:
        made = [one.text for one in sentences(20_000)]
        said = {"user": made[::2], "assistant": made[1::2]}
        origin = "made-up sentences, in which the rules find next to nothing"
    distinct = {kind: list(dict.fromkeys(texts)) for kind, texts in said.items()}
    for texts in distinct.values():
        random.shuffle(texts)
    return Pool(distinct, words, origin)


def messages(pool: Pool, count: int, *, shape: str) -> list[Message]:
    """Return *count* messages; a text comes again only when all were used."""
    random = Random(count)
    said = {kind: cycle(texts) for kind, texts in pool.said.items()}
    kinds = islice(cycle(SHAPES[shape]), count)
    return [Message(kind, _text(kind, said, pool.words, random)) for kind in kinds]


def _text(kind: str, said: dict[str, "cycle[str]"], words: Sequence[str], random: Random) -> str:
    if kind == "call":
        return f"python -m pytest tests/{random.choice(words)} -k {random.choice(words)}"
    if kind == "result":
        lines = (random.choice(_RESULTS) for _ in range(random.randint(4, 24)))
        return "\n".join(
            line.format(random.choice(words), random.choice(words), random.randint(10, 59), "x")
            for line in lines
        )
    return _cut(next(said[kind]))


def _cut(text: str) -> str:
    """Return the beginning of a long text, up to the end of a sentence or line if there is one."""
    if len(text) <= MOST_CHARS:
        return text
    end = max(text.rfind(mark, 0, MOST_CHARS) for mark in (". ", "\n", "! ", "? "))
    kept = text[: end + 1 if end > MOST_CHARS // 2 else MOST_CHARS].rstrip()
    return f"{kept}\n```" if kept.count("```") % 2 else kept  # code that was cut off is closed


def _from_tasks(tasks: Path) -> dict[str, list[str]]:
    said: dict[str, list[str]] = {"user": [], "assistant": []}
    for session in read_sessions(tasks, "all"):
        for message in session.messages:
            said[message["role"]].append(message["content"])
    for item in read_task(tasks, "locomo-turn").items:
        said["user"].append(_NAME.sub("", item.text))
    for name in ("lme-pool-turn", "beam-100K"):
        for item in read_task(tasks, name).items:
            said[item.speaker].append(item.text)
    return {kind: [text for text in texts if text.strip()] for kind, texts in said.items()}
