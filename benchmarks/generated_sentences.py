"""
Make up memories and questions: deterministic, varied, with words as common as words are.

The vocabulary is the default model's word list, which stands in order of frequency, drawn by
Zipf's law; names and numbers are mixed in. A question takes words of a memory its project can see.
The sentences mean nothing. Nothing here knows a store.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from itertools import accumulate
from random import Random

PROJECTS = 100
GLOBAL_SHARE = 0.1
VOCABULARY = 8_000
SHORTEST, LONGEST = 8, 40  # words of a memory

_FIRST = ("Ana", "Bo", "Chidi", "Dana", "Emil", "Farah", "Goran", "Hana", "Ines", "Jonas", "Kira")
_LAST = ("Abe", "Brandt", "Costa", "Diaz", "Eze", "Falk", "Greco", "Haas", "Ito", "Kovac", "Mora")
_OPENINGS = ("what about", "when did we", "why is", "who said", "how do we handle", "where is")


@dataclass(frozen=True)
class GeneratedSentence:
    """A memory; without a project it is global."""

    text: str
    project: str | None


@dataclass(frozen=True)
class ProjectQuestion:
    """A question asked in a project."""

    text: str
    project: str


def sentences(count: int, *, seed: int = 1) -> list[GeneratedSentence]:
    """Return *count* memories over PROJECTS projects, a tenth of them global."""
    random = Random(seed)
    words, weights = _vocabulary()
    generated = []
    for number in range(count):
        length = random.randint(SHORTEST, LONGEST)
        text = random.choices(words, cum_weights=weights, k=length)
        text[random.randrange(length)] = f"{random.choice(_FIRST)} {random.choice(_LAST)}"
        if random.random() < 0.3:
            text[random.randrange(length)] = str(random.randrange(10_000))
        project = None if random.random() < GLOBAL_SHARE else f"project-{number % PROJECTS}"
        generated.append(GeneratedSentence(" ".join(text).capitalize() + ".", project))
    return generated


def questions(
    about: Sequence[GeneratedSentence], count: int, *, seed: int
) -> list[ProjectQuestion]:
    """Return *count* questions, no two alike, each with a few words of one memory."""
    random = Random(seed)
    by_text: dict[str, ProjectQuestion] = {}
    while len(by_text) < count:
        sentence = random.choice(about)
        words = sentence.text.rstrip(".").split()
        picked = random.sample(words, k=min(random.randint(4, 8), len(words)))
        text = f"{random.choice(_OPENINGS)} {' '.join(picked)}?"
        project = sentence.project or f"project-{random.randrange(PROJECTS)}"
        by_text[text] = ProjectQuestion(text, project)
    return list(by_text.values())


def _vocabulary() -> tuple[list[str], list[float]]:
    pieces = (files("recollect.models") / "minilm" / "vocab.txt").read_text("utf-8").splitlines()
    first = pieces.index("the")  # before it stand marks, letters and unused pieces
    words = [word for word in pieces[first:] if word.isascii() and word.isalpha()][:VOCABULARY]
    return words, list(accumulate(1 / (place + 2.7) for place in range(len(words))))
