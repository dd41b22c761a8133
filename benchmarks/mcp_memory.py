"""
Measure the memory of MCP processes: `python -m benchmarks.mcp_memory --write`.

Two `recollect mcp` processes use one store, as two coding agents of one user do, and each answers
searches by the real model: with a running server of the store and without. RSS counts shared pages
in each process, PSS once among all that share them. Read from /proc, so Linux only.
"""

import argparse
import json
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import recollect
from benchmarks.generated_sentences import sentences
from benchmarks.markdown_table import table
from benchmarks.quality import RESULTS
from benchmarks.server.processes import environment, memory_server

OUT = RESULTS / "mcp.md"
HEADING = "## Memory of two clients"
CLIENTS = 2
SEARCHES = 5
_SECTION = re.compile(rf"\n{HEADING}\n.*?(?=\n## |\Z)", re.DOTALL)


class ProcessMemory(NamedTuple):
    """What a process has in memory, in MB."""

    rss: float
    pss: float


def main(arguments: Sequence[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    options_text = sys.argv[1:] if arguments is None else arguments
    command = shlex.join(["python", "-m", "benchmarks.mcp_memory", *options_text])
    with TemporaryDirectory(prefix="recollect-bench-", ignore_cleanup_errors=True) as folder:
        db = Path(folder) / "memory.db"
        with recollect.open(db) as rec:
            contents = [sentence.text for sentence in sentences(options.memories)]
            rec.memories.ingest_many([{"content": text, "project": "site"} for text in contents])
            rec.drain()
        rows = [*_measure(db, with_server=False), *_measure(db, with_server=True)]
    note = f"`{command}`, {options.memories:,} memories; {SEARCHES} searches in each client.\n"
    section = "\n".join([HEADING, "", note, *table(["", "process", "RSS MB", "PSS MB"], rows), ""])
    print(section)
    if options.write:
        before = _SECTION.sub("", OUT.read_text(encoding="utf-8")).rstrip("\n")
        OUT.write_text(f"{before}\n\n{section}", encoding="utf-8")
    return 0


def _measure(db: Path, *, with_server: bool) -> Iterator[list[str]]:
    how = "with a server" if with_server else "without a server"
    with ExitStack() as stack:
        server = stack.enter_context(memory_server(db)) if with_server else None
        clients = [stack.enter_context(_mcp_client(db)) for _ in range(CLIENTS)]
        for client in clients:
            _search(client)
        processes = {f"client {number}": client for number, client in enumerate(clients, start=1)}
        if server is not None:
            processes["server"] = server.process
        measured = {name: _memory_of(process.pid) for name, process in processes.items()}
    measured["together"] = ProcessMemory(
        sum(memory.rss for memory in measured.values()),
        sum(memory.pss for memory in measured.values()),
    )
    for name, memory in measured.items():
        yield [how, name, f"{memory.rss:.0f}", f"{memory.pss:.0f}"]


@contextmanager
def _mcp_client(db: Path) -> Iterator["subprocess.Popen[str]"]:
    """Run `recollect mcp` inside the block."""
    code = "from recollect.cli.main import main; main()"
    with subprocess.Popen(
        [sys.executable, "-c", code, "mcp", "--db", str(db), "--project", "site"],
        env=environment(db.parent),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        yield process
        assert process.stdin is not None
        process.stdin.close()


def _search(process: "subprocess.Popen[str]") -> None:
    """Begin a session, list the tools and search."""
    client = {"name": "benchmark", "version": "1"}
    start = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client}
    _request(process, 1, "initialize", start)
    _send(process, {"jsonrpc": "2.0", "method": "notifications/initialized"})
    _request(process, 2, "tools/list", {})
    for number in range(SEARCHES):
        search = {"name": "search", "arguments": {"query": f"what about number {number}?"}}
        answer = _request(process, 3 + number, "tools/call", search)
        if answer.get("result", {}).get("isError", True):
            raise RuntimeError(f"the search failed: {answer}")


def _request(
    process: "subprocess.Popen[str]", number: int, method: str, params: dict[str, Any]
) -> dict[str, Any]:
    _send(process, {"jsonrpc": "2.0", "id": number, "method": method, "params": params})
    assert process.stdout is not None
    while True:
        message: dict[str, Any] = json.loads(process.stdout.readline())
        if message.get("id") == number:
            return message


def _send(process: "subprocess.Popen[str]", message: dict[str, Any]) -> None:
    assert process.stdin is not None
    process.stdin.write(f"{json.dumps(message)}\n")
    process.stdin.flush()


def _memory_of(pid: int) -> ProcessMemory:
    text = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii")
    sizes = dict(re.findall(r"^(\w+): +(\d+) kB$", text, re.MULTILINE))
    return ProcessMemory(int(sizes["Rss"]) * 1024 / 1e6, int(sizes["Pss"]) * 1024 / 1e6)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--memories", type=int, default=2_000)
    parser.add_argument("--write", action="store_true", help=f"write it into {OUT.name}")
    return parser


if __name__ == "__main__":
    sys.exit(main())
