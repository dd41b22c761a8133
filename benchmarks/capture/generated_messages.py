"""
Generate long transcripts: texts of users and assistants from the tasks, tool output generated.

Without the tasks everything is generated, and the rules find almost nothing in it. Deterministic.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle, islice
from pathlib import Path
from random import Random

from benchmarks.extraction.realmem import read_sessions
from benchmarks.generated_sentences import sentences
from benchmarks.tasks import TasksMissing, read_task

# One turn of each shape. An agent's session is mostly tools; in a chat every other message is the
# user's, which is where the rules look.
SHAPES = {
    "agent": ("user", "assistant", "call", "result", "assistant"),
    "chat": ("user", "assistant"),
}
MAX_CHARS = 1_000  # of what users and assistants say
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
class GeneratedMessage:
    """One message; kind is user, assistant, call (of a tool) or result (of one)."""

    kind: str
    text: str


@dataclass(frozen=True)
class TextPool:
    """What users and assistants say, in random order, and words for tools."""

    texts_by_role: Mapping[str, Sequence[str]]
    words: Sequence[str]
    origin: str


def make_pool(tasks: Path) -> TextPool:
    """Return what is said in the tasks, or made-up sentences where there are none."""
    random = Random(SEED)
    words = [
        word for sentence in sentences(200) for word in sentence.text.lower().strip(".").split()
    ]
    try:
        texts_by_role = _from_tasks(tasks)
        origin = "what people and assistants say in RealMem, LoCoMo, LongMemEval and BEAM"
    except TasksMissing:
        generated = [sentence.text for sentence in sentences(20_000)]
        texts_by_role = {"user": generated[::2], "assistant": generated[1::2]}
        origin = "made-up sentences, in which the rules find next to nothing"
    distinct = {kind: list(dict.fromkeys(texts)) for kind, texts in texts_by_role.items()}
    for texts in distinct.values():
        random.shuffle(texts)
    return TextPool(distinct, words, origin)


def generated_messages(pool: TextPool, count: int, *, shape: str) -> list[GeneratedMessage]:
    """Return *count* messages; a text comes again only when all were used."""
    random = Random(count)
    texts_by_role = {kind: cycle(texts) for kind, texts in pool.texts_by_role.items()}
    kinds = islice(cycle(SHAPES[shape]), count)
    return [
        GeneratedMessage(kind, _text(kind, texts_by_role, pool.words, random)) for kind in kinds
    ]


def _text(
    kind: str, texts_by_role: dict[str, "cycle[str]"], words: Sequence[str], random: Random
) -> str:
    if kind == "call":
        return f"python -m pytest tests/{random.choice(words)} -k {random.choice(words)}"
    if kind == "result":
        lines = (random.choice(_RESULTS) for _ in range(random.randint(4, 24)))
        return "\n".join(
            line.format(random.choice(words), random.choice(words), random.randint(10, 59), "x")
            for line in lines
        )
    return _truncate(next(texts_by_role[kind]))


def _truncate(text: str) -> str:
    """Return the beginning of a long text, up to the end of a sentence or line if there is one."""
    if len(text) <= MAX_CHARS:
        return text
    end = max(text.rfind(mark, 0, MAX_CHARS) for mark in (". ", "\n", "! ", "? "))
    beginning = text[: end + 1 if end > MAX_CHARS // 2 else MAX_CHARS].rstrip()
    return (
        f"{beginning}\n```" if beginning.count("```") % 2 else beginning
    )  # code that was cut off is closed


def _from_tasks(tasks: Path) -> dict[str, list[str]]:
    texts_by_role: dict[str, list[str]] = {"user": [], "assistant": []}
    for session in read_sessions(tasks, "all"):
        for message in session.messages:
            texts_by_role[message["role"]].append(message["content"])
    for item in read_task(tasks, "locomo-turn").items:
        texts_by_role["user"].append(_NAME.sub("", item.text))
    for name in ("lme-pool-turn", "beam-100K"):
        for item in read_task(tasks, name).items:
            texts_by_role[item.speaker].append(item.text)
    return {kind: [text for text in texts if text.strip()] for kind, texts in texts_by_role.items()}
