"""
What a step of an agent costs besides the model: prompt, tools, checkpoints, events.

An agent with the default embedder, memories, passages and a long conversation is sent messages. Its
model is scripted and takes no time: it calls a tool twice, one of them a memory tool, and answers.
Measured is the time from the message, or from the end of the model's last answer, to the next
question to the model, and from the last answer to the end of the run.

    python -m benchmarks.agent_steps --write
"""

import argparse
import platform
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter, process_time

from benchmarks.generated_sentences import sentences as generated_sentences
from benchmarks.markdown_table import table
from benchmarks.metrics import percentile
from recollect import LocalRecollect
from recollect.config import Settings
from recollect.models.chat_turn import TurnPart, TurnRequest
from recollect.models.scripted_turns import ScriptedTurnModel, call_turn

OUT = Path(__file__).parent / "results" / "agent_steps.md"
FIRST, LATER, END = "first step of a message", "later step", "end of the run"


@dataclass
class StepClock:
    """The times between the answers of the model and what follows them, in ms."""

    walls: dict[str, list[float]] = field(default_factory=dict)
    cpus: dict[str, list[float]] = field(default_factory=dict)
    wall: float = 0.0
    cpu: float = 0.0

    def start(self) -> None:
        self.wall, self.cpu = perf_counter(), process_time()

    def stop(self, name: str) -> None:
        self.walls.setdefault(name, []).append(1_000 * (perf_counter() - self.wall))
        self.cpus.setdefault(name, []).append(1_000 * (process_time() - self.cpu))


class TimedModel(ScriptedTurnModel):
    """A scripted model that notes when it is asked and when it has answered."""

    def __init__(self, clock: StepClock) -> None:
        super().__init__()
        self.clock = clock

    def stream_turn(self, request: TurnRequest) -> Iterator[TurnPart]:
        self.clock.stop(LATER if self.requests else FIRST)
        yield from super().stream_turn(request)
        self.clock.start()


def look(place: str) -> str:
    """Look at a place."""
    return f"{place}: a table and two chairs"


def measure(folder: Path, *, memories: int, messages: int, runs: int) -> StepClock:
    """Run an agent and return the times."""
    clock = StepClock()
    model = TimedModel(clock)
    settings = Settings(
        db=str(folder / "memory.db"), chat_calls_per_day=10**9, chat_tokens_per_day=10**12
    )
    sentences = [sentence.text for sentence in generated_sentences(memories + runs, seed=3)]
    with LocalRecollect(settings, chat=model) as rec:
        rec.agents.create("ada", model="gpt-4o", system_prompt="You are Ada. " * 100)
        rec.agents.add_tool(look)
        rec.memories.ingest_many(
            [
                {"content": text, "type": "project", "project": "site"}
                for text in sentences[:memories]
            ]
        )
        conversation = rec.conversations.start(agent="ada", project="site")
        rec.conversations.append_many(
            conversation,
            [
                {"role": "user" if number % 2 == 0 else "assistant", "content": sentences[number]}
                for number in range(messages)
            ],
        )
        rec.drain()
        for number in range(-3, runs):
            passage = {"content": f"Note {number}: {sentences[number]}"}
            model.requests = []
            model.turns = [
                call_turn(("look", {"place": "here"})),
                call_turn(("archival_memory_insert", passage)),
                "Done.",
            ]
            if number == 0:
                clock.walls.clear()
                clock.cpus.clear()
            clock.start()
            result = rec.agents.run(
                "ada", sentences[memories + max(number, 0)], conversation=conversation
            )
            clock.stop(END)
            assert result.stop_reason == "end_turn", result
            rec.drain()  # as the worker of a server does between two messages
    return clock


def report(clock: StepClock, arguments: argparse.Namespace) -> str:
    """Return the results as Markdown."""
    rows = []
    for name in (FIRST, LATER, END):
        wall, cpu = sorted(clock.walls[name]), sorted(clock.cpus[name])
        numbers = [
            percentile(wall, 50),
            percentile(wall, 95),
            percentile(cpu, 50),
            percentile(cpu, 95),
        ]
        rows.append([name, f"{len(wall):,}", *(f"{number:.1f}" for number in numbers)])
    every = sorted([time for name in (FIRST, LATER) for time in clock.cpus[name]])
    walls = sorted([time for name in (FIRST, LATER) for time in clock.walls[name]])
    numbers = [
        percentile(walls, 50),
        percentile(walls, 95),
        percentile(every, 50),
        percentile(every, 95),
    ]
    rows.append(["all steps", f"{len(walls):,}", *(f"{number:.1f}" for number in numbers)])
    header = ["ms", "measured", "wall p50", "wall p95", "CPU p50", "CPU p95"]
    options = (
        f"--memories {arguments.memories} --messages {arguments.messages} --runs {arguments.runs}"
    )
    return "\n".join(
        [
            "# What a step of an agent costs besides the model",
            "",
            f"- `python -m benchmarks.agent_steps {options}`, Python {platform.python_version()},",
            "  default embedder, every checkpoint on disk. The model is scripted, without delay.",
            "  Messages are embedded between two runs, as by the worker of a server. On a busy",
            "  machine only the CPU time counts.",
            "- The first step of a message also searches memory and compiles the prompt.",
            "",
            *table(header, rows),
            "",
        ]
    )


def main() -> None:
    """Measure and print; with --write, save the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--memories", type=int, default=2_000)
    parser.add_argument("--messages", type=int, default=200)
    parser.add_argument("--runs", type=int, default=60)
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        sizes = {name: getattr(arguments, name) for name in ("memories", "messages", "runs")}
        text = report(measure(Path(folder), **sizes), arguments)
    print(text)
    if arguments.write:
        OUT.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
