"""
Measure an agent's conversations: `python -m benchmarks.recall`.

One store holds 100,000 messages of eleven agents. Times appending, searching, context bundles,
compaction and deletion, and measures memory and disk for each agent. Plain SQLite with FTS5 and
ChromaDB store the same messages and answer the same questions in the same round.
"""

import argparse
import os
import platform
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

import apsw

import recollect
from benchmarks.capture.generated_messages import make_pool
from benchmarks.quality import RESULTS
from benchmarks.random_vectors import RandomVectors
from benchmarks.recall.generated_conversations import LENGTH, SMALL, generated_conversations
from benchmarks.recall.message_baselines import BASELINES, is_installed
from benchmarks.recall.recall_report import render
from benchmarks.recall.recall_timing import BUDGET, RecallInput, measure
from benchmarks.tasks import default_folder
from recollect.config import load_settings
from recollect.models.model_factory import create_embedder

OUT = RESULTS / "recall.md"
SAMPLE = 64  # real vectors, for the mean of the made-up ones


def main(arguments: list[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    load = _load()
    recall_input = _recall_input(options.tasks, options.messages)
    baselines = [name for name in options.baselines.split(",") if name]
    rounds = []
    for number in range(options.rounds):
        print(f"round {number + 1} of {options.rounds}", file=sys.stderr, flush=True)
        rounds.append(measure(recall_input, baselines))
    command_arguments = sys.argv[1:] if arguments is None else arguments
    notes = _notes(recall_input, baselines, options.rounds, load, command_arguments)
    report = render(rounds, notes)
    print(report)
    if options.write:
        OUT.write_text(report, encoding="utf-8")
    return 0


def _recall_input(tasks: Path, count: int) -> RecallInput:
    pool = make_pool(tasks)
    past = generated_conversations(pool, count)
    real = create_embedder(load_settings())
    sample = [message.content for message in past[0].messages if message.content][:SAMPLE]
    real.embed_query("warm up")  # what loading the model takes is measured by benchmarks.speed
    return RecallInput(
        pool=pool, conversations=past, embedder=RandomVectors(real, sample), real=real
    )


def _notes(
    recall_input: RecallInput,
    baselines: Sequence[str],
    rounds: int,
    load: str,
    arguments: Sequence[str],
) -> list[str]:
    messages = [
        message for conversation in recall_input.conversations for message in conversation.messages
    ]
    chars = sum(len(message.content) for message in messages) / len(messages)
    missing = [name for name in baselines if not is_installed(name)]
    lines = [
        f"- `{shlex.join(['python', '-m', 'benchmarks.recall', *arguments])}`, Recollect "
        f"{recollect.__version__}, {recall_input.real.name}; SQLite {apsw.sqlite_lib_version()}, "
        f"Python {platform.python_version()}, {os.cpu_count()} cores; load of the machine "
        "when it began: "
        f"{load}.",
        f"- {len(messages):,} messages over a year, {chars:.0f} characters on average; half belong "
        f"to one agent (*large*), the rest to {len(SMALL)} others (*small*). Conversations have "
        f"{LENGTH} messages, one in five a tool call without text. "
        f"Texts: {recall_input.pool.origin}; tool output is generated.",
        "- Vectors of items are random, questions are embedded by the real model and none is asked "
        "twice. Recollect logs every question with its hits and reasons; the baselines do not.",
        f"- A bundle has a budget of {BUDGET:,} tokens: system prompt, blocks, summary, pins, "
        "history, memories, messages.",
        "- `fts5` has words only, `chromadb` embeddings only; each is shown where it can be "
        "compared. "
        "The last columns say how many times better Recollect is; below 1× it is worse.",
    ]
    if rounds > 1:
        lines.append(
            f"- Each figure is the median of {rounds} rounds, every round with a store of its own; "
            "in brackets the least and the most."
        )
    lines += [f"- {name}: left out, it is not installed." for name in missing]
    return lines


def _load() -> str:
    return f"{os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "unknown"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.recall", description=__doc__)
    parser.add_argument("--messages", type=int, default=100_000, help="in the store")
    parser.add_argument("--rounds", type=int, default=2, help="of which the median counts")
    parser.add_argument(
        "--baselines", "--rivals", default=",".join(BASELINES), help="empty for none"
    )
    parser.add_argument("--tasks", type=Path, default=default_folder(), help="folder of the tasks")
    parser.add_argument("--write", action="store_true", help=f"write {OUT.name} as well")
    return parser


if __name__ == "__main__":
    sys.exit(main())
