"""
Measure what is said before a tool call: `python -m benchmarks.actions.measure DAILY --write`.

DAILY is the folder of the daily-life benchmark. The sessions of its developer and those of a
project of our own (sessions.jsonl) are captured; then 60 tool calls are proposed (calls.jsonl), of
which 20 repeat a failure or contradict a decision. The half `confirm` was not looked at while the
rules were written. It is measured before a review of the inbox and after one that accepts what the
benchmark lists as facts.
"""

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any

import recollect
from benchmarks.markdown_table import table
from benchmarks.metrics import percentile
from benchmarks.quality import RESULTS
from recollect.domain.tool_call import ActionAdvice

OUT = RESULTS / "actions.md"
FOLDER = Path(__file__).parent
HALVES = ("tune", "confirm")
Row = dict[str, Any]


def main(arguments: list[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    calls = list(_rows(FOLDER / "calls.jsonl"))
    parts: list[list[str]] = []
    misses: list[list[str]] = []
    with (
        TemporaryDirectory(prefix="recollect-actions-") as folder,
        recollect.open(Path(folder) / "memory.db") as rec,
    ):
        _replay(rec, options.daily / "dev" / "mara")
        for state in ("before a review", "after a review"):
            if state == "after a review":
                _review(rec, options.daily / "dev" / "mara")
            for half in HALVES[: 1 if options.tune_only else 2]:
                row, wrong = _measure(rec, [call for call in calls if call["half"] == half])
                parts.append([f"{half}, {state}", *row])
                misses += [[f"{half}, {state}", *line] for line in wrong]
    header = ["", "right line", "silent otherwise", "CPU ms p50", "CPU ms p95"]
    lines = [
        "# Before a tool call",
        "",
        "- `python -m benchmarks.actions.measure DAILY --write`. The processor time is that "
        "of `rec.captures.advice` in one process; benchmarks/hooks.py measures the whole hook.",
        "- *right line*: calls that repeat a failure or contradict a decision and get the line "
        "that says so. *silent otherwise*: the other calls, which get nothing.",
        "",
        *table(header, parts),
        "",
        "## Wrong",
        "",
        *table(["", "call", "expected", "said"], misses),
        "",
    ]
    text = "\n".join(lines)
    if options.write:
        OUT.write_text(text, encoding="utf-8")
    print(text)
    return 0


def _replay(rec: recollect.LocalRecollect, developer: Path) -> None:
    for session in _rows(developer / "sessions.jsonl"):
        rec.capture_session(
            session["messages"],
            project=session["project"],
            session=session["session"],
            observed_at=session["at"],
        )
        rec.drain()
    for session in _rows(FOLDER / "sessions.jsonl"):
        transcript = "".join(f"{json.dumps(line)}\n" for line in _transcript(session))
        rec.capture_session(transcript, project=session["project"])
        rec.drain()


def _transcript(session: Row) -> Iterator[Row]:
    """Yield the lines of a session as Claude Code writes them."""
    for number, (kind, *values) in enumerate(session["lines"]):
        at = f"{session['day']}T10:{number:02}:00Z"
        line = {"sessionId": session["session"], "timestamp": at, "uuid": f"u{number}"}
        if kind == "user":
            yield {**line, "type": "user", "message": {"role": "user", "content": values[0]}}
            continue
        if kind == "run":
            tool, arguments, (output, failed) = "Bash", {"command": values[0]}, values[1:]
        else:
            arguments = {"file_path": values[0], "old_string": "", "new_string": values[1]}
            tool, output, failed = "Edit", values[2], False
        use = {"type": "tool_use", "id": f"t{number}", "name": tool, "input": arguments}
        result = {
            "type": "tool_result",
            "tool_use_id": f"t{number}",
            "content": output,
            "is_error": failed,
        }
        yield {**line, "type": "assistant", "message": {"role": "assistant", "content": [use]}}
        yield {**line, "type": "user", "message": {"role": "user", "content": [result]}}


def _review(rec: recollect.LocalRecollect, developer: Path) -> None:
    """Accept the candidates whose words are those of a fact, and all of our own project."""
    quotes = [fact["quote"].casefold() for fact in _rows(developer / "facts.jsonl")]
    own = {project.id for project in rec.projects.list() if project.name == "tidepool"}
    for memory in rec.memories.list(everywhere=True, statuses=["inbox"], limit=1000):
        content = memory.content.casefold()
        is_fact = any(quote.strip(".") in content or content in quote for quote in quotes)
        if is_fact or memory.project_id in own:
            rec.inbox.decide(memory.id, "keep")


def _measure(rec: recollect.LocalRecollect, calls: list[Row]) -> tuple[list[str], list[list[str]]]:
    right = silent = expected = 0
    times: list[float] = []
    wrong: list[list[str]] = []
    for call in calls:
        begun = process_time()
        advice = rec.captures.advice(call["tool"], call["input"], project=call["project"])
        times.append(1000 * (process_time() - begun))
        is_right = _is_right(advice, call["expect"])
        expected += bool(call["expect"])
        right += is_right and bool(call["expect"])
        silent += is_right and not call["expect"]
        if not is_right:
            wrong.append([call["id"], call["expect"], advice.text if advice else ""])
    return [
        f"{right} of {expected}",
        f"{silent} of {len(calls) - expected}",
        f"{percentile(times, 50):.1f}",
        f"{percentile(times, 95):.1f}",
    ], wrong


def _is_right(advice: ActionAdvice | None, expected: str) -> bool:
    if not expected or advice is None:
        return not expected and advice is None
    return expected in advice.text


def _rows(path: Path) -> Iterator[Row]:
    with path.open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("daily", type=Path, help="the folder of the daily-life benchmark")
    parser.add_argument("--tune-only", action="store_true", help="leave out the half `confirm`")
    parser.add_argument("--write", action="store_true", help=f"write {OUT.name}")
    return parser


if __name__ == "__main__":
    sys.exit(main())
