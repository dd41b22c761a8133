"""
Measure MCP: `python -m benchmarks.mcp_tools`.

Calls each tool with the protocol's own client over stdio and over HTTP, in both protocol versions,
beside a bare `MCPServer` whose only tool returns a constant. Also counts the tokens of the list of
tools and of each response. The store holds generated sentences.
"""

import argparse
import os
import platform
import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

import anyio
import mcp_types as types
from mcp import Client, StdioServerParameters

import recollect
from benchmarks.generated_sentences import GeneratedSentence, questions, sentences
from benchmarks.markdown_table import table
from benchmarks.metrics import percentile
from benchmarks.quality import RESULTS
from benchmarks.random_vectors import RandomVectors
from benchmarks.server.processes import environment, memory_server, module_server
from benchmarks.tasks import ROOT
from recollect.config import Settings
from recollect.models.model_factory import create_embedder

OUT = RESULTS / "mcp.md"
ERAS = {"2025-11-25": "legacy", "2026-07-28": "2026-07-28"}
BARE = "*bare MCPServer*"
PROJECT, AGENT = "project-1", "coder"
BATCH = 500
SAMPLE = 64  # real vectors, for the mean of the made-up ones
WARM = 3  # calls of each tool that do not count

Call = tuple[str, Mapping[str, Any]]


@dataclass
class ToolTimings:
    """What one client saw: times in ms by tool, and the tokens of the answers."""

    times: dict[str, list[float]] = field(default_factory=dict)
    texts: dict[str, list[str]] = field(default_factory=dict)
    tools: str = ""


def main(arguments: Sequence[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    stored = sentences(options.memories)
    seen: dict[str, ToolTimings] = {}
    with TemporaryDirectory(prefix="recollect-bench-", ignore_cleanup_errors=True) as folder:
        db = Path(folder) / "memory.db"
        _print_progress(f"storing {options.memories:,} memories")
        # Made-up vectors for what lies there; what is asked and written is embedded in earnest.
        vectors = RandomVectors(
            create_embedder(Settings()), [sentence.text for sentence in stored[:SAMPLE]]
        )
        with recollect.open(db, embedder=vectors) as rec:
            waiting = _fill(rec, stored)
            rec.drain()
        plan = _plan(stored, waiting, options.calls)
        for name, era in ERAS.items():
            _print_progress(f"pipes, {name}")
            seen[f"stdio, {name}"] = anyio.run(
                _call_tools, _stdio_server(db, Path(folder)), era, plan
            )
            bare = StdioServerParameters(
                command=sys.executable, args=["-m", "benchmarks.bare_mcp_server", "stdio"], cwd=ROOT
            )
            seen[f"stdio, {name}"].times |= anyio.run(
                _call_tools, bare, era, _bare_calls(options.calls)
            ).times
        with memory_server(db) as own, module_server("benchmarks.bare_mcp_server") as other:
            for name, era in ERAS.items():
                _print_progress(f"HTTP, {name}")
                url = f"{own.url}/mcp?project={PROJECT}&agent={AGENT}"
                seen[f"HTTP, {name}"] = anyio.run(_call_tools, url, era, plan)
                bare_url = f"{other.url}/mcp"
                times = anyio.run(_call_tools, bare_url, era, _bare_calls(options.calls)).times
                seen[f"HTTP, {name}"].times |= times
    report = "\n".join(_render(seen, options, sys.argv[1:] if arguments is None else arguments))
    print(report)
    if options.write:
        OUT.write_text(report + "\n", encoding="utf-8")
    return 0


def _fill(rec: recollect.LocalRecollect, stored: Sequence[GeneratedSentence]) -> list[str]:
    """Store everything; return the ids of some candidates."""
    items = [{"content": sentence.text, "project": sentence.project} for sentence in stored]
    for start in range(0, len(items), BATCH):
        rec.memories.ingest_many(items[start : start + BATCH])
    rec.agents.create(AGENT)
    rec.blocks.set(AGENT, "human", "Ann. Prefers short answers.")
    return [
        rec.ingest(sentence.text, project=PROJECT, status="inbox").id
        for sentence in sentences(40, seed=7)
    ]


def _plan(stored: Sequence[GeneratedSentence], waiting: Sequence[str], count: int) -> list[Call]:
    """Return what is asked: every tool *count* times, no question twice."""
    seen = [sentence for sentence in stored if sentence.project in (None, PROJECT)]
    texts = [question.text for question in questions(seen, 3 * (count + WARM), seed=3)]
    calls: list[Call] = []
    for number in range(count + WARM):
        memory = {"id": waiting[number % len(waiting)]}
        calls += [
            ("search", {"query": texts.pop()}),
            ("context", {"task": texts.pop()}),
            ("remember", {"content": f"Note {number}: {texts.pop()}"}),
            ("explain", memory),
            ("review", {}),
            ("edit_block", {"label": "human", "how": "set", "text": f"Ann. Visit {number}."}),
            ("status", {}),
        ]
    return calls


def _bare_calls(count: int) -> list[Call]:
    return [("constant", {})] * (count + WARM)


async def _call_tools(server: Any, era: str, plan: Sequence[Call]) -> ToolTimings:
    timings = ToolTimings()

    async def yes(context: object, params: object) -> types.ElicitResult:
        return types.ElicitResult(action="accept", content={"confirm": True})

    async with Client(server, mode=era, elicitation_callback=yes) as client:
        listed = await client.list_tools()
        timings.tools = listed.model_dump_json(by_alias=True, exclude_none=True)
        for tool, arguments in plan:
            await _time_call(client, timings, tool, arguments)
            if tool == "remember":  # what was just written is forgotten, with a yes
                await _time_call(client, timings, "forget", {"id": _last_id(timings)})
    return timings


async def _time_call(
    client: Client, timings: ToolTimings, tool: str, arguments: Mapping[str, Any]
) -> None:
    started = perf_counter()
    result = await client.call_tool(tool, dict(arguments))
    took = 1000 * (perf_counter() - started)
    text = result.content[0]
    assert isinstance(text, types.TextContent)
    if result.is_error:
        raise RuntimeError(f"{tool}: {text.text}")
    timings.times.setdefault(tool, []).append(took)
    timings.texts.setdefault(tool, []).append(text.text)
    if tool == "remember":
        timings.texts["id"] = [str((result.structured_content or {})["id"])]


def _last_id(timings: ToolTimings) -> str:
    return timings.texts["id"][-1]


def _stdio_server(db: Path, folder: Path) -> StdioServerParameters:
    code = "from recollect.cli.main import main; main()"
    options = ["mcp", "--db", str(db), "--project", PROJECT, "--agent", AGENT]
    return StdioServerParameters(
        command=sys.executable, args=["-c", code, *options], env=environment(folder)
    )


def _render(
    seen: Mapping[str, ToolTimings], options: argparse.Namespace, command_arguments: Sequence[str]
) -> Iterator[str]:
    load = f"{os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "not known"
    command = shlex.join(["python", "-m", "benchmarks.mcp_tools", *command_arguments])
    yield "# MCP\n"
    yield (
        f"- `{command}`, Recollect {recollect.__version__}, Python {platform.python_version()}, "
        f"{os.cpu_count()} cores; load of the machine when it ended: {load}."
    )
    yield (
        f"- {options.memories:,} memories of made-up sentences in 100 projects; their vectors are "
        "made up too, what is asked and written is embedded by the local model. "
        f"{options.calls} calls of each tool after {WARM} that do not count, by the "
        "protocol's own client, one after another. `forget` includes asking the person, who says "
        "yes at once."
    )
    yield (
        f"- {BARE}: a server of the same package whose one tool returns a constant, in the same "
        "run. *times* is our p50 in multiples of its p50.\n"
    )
    with recollect.open(":memory:", embedding_backend="none") as rec:
        for over, timings in seen.items():
            yield f"## Over {over}\n"
            yield from _times(timings, rec)
            yield ""
        listed = next(iter(seen.values())).tools
        yield "## Tokens\n"
        yield f"The whole list of tools: {rec.models.count_tokens(listed):,} tokens (o200k)."


def _times(timings: ToolTimings, rec: recollect.LocalRecollect) -> Iterator[str]:
    bare = percentile(timings.times["constant"][WARM:], 50)
    rows = []
    for tool, times in timings.times.items():
        counted = times[WARM:]
        p50, p95 = percentile(counted, 50), percentile(counted, 95)
        texts = timings.texts.get(tool, [])
        tokens = (
            percentile([float(rec.models.count_tokens(text)) for text in texts], 50) if texts else 0
        )
        name = BARE if tool == "constant" else f"`{tool}`"
        token_cell = f"{tokens:,.0f}" if texts else ""
        rows.append([name, f"{p50:.1f}", f"{p95:.1f}", f"{p50 / bare:.1f}", token_cell])
    yield from table(["tool", "p50 ms", "p95 ms", "times", "tokens of an answer"], rows)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--memories", type=int, default=10_000)
    parser.add_argument("--calls", type=int, default=100)
    parser.add_argument("--write", action="store_true", help=f"write {OUT.name}")
    return parser


def _print_progress(what: str) -> None:
    print(what, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
