"""A small file that unpacks to gigabytes is refused with little memory, and the bound is named."""

import json
import subprocess
import sys
import zipfile
import zlib
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.kill,
    pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs Linux's /proc"),
]
MAX_RESIDENT_MB = 300
MEGABYTE = 1_000_000

# The program of the child: it imports every bomb, and tells the reasons and its peak of memory.
IMPORT = """
import json, re, sys
from pathlib import Path
from recollect import RecollectError
from support import open_memory

def reason_of(rec, verb, path):
    try:
        if verb == "export":
            rec.import_(path)
        elif verb == "agent":
            rec.agents.import_(path)
        else:
            steps = list(rec.engine.import_history_in_steps(verb, [path]))
            return " ".join(step.reason for step in steps)
    except RecollectError as error:
        return str(error)

folder, *bombs = map(Path, sys.argv[1:])
with open_memory(folder / "memory.db", words_only=True) as rec:
    before = rec.maintenance.status().counts
    reasons = [reason_of(rec, path.stem.split("-")[0], path) for path in bombs]
    unchanged = rec.maintenance.status().counts == before
status = Path("/proc/self/status").read_text()  # ru_maxrss counts the parent before exec, too
resident_mb = int(re.search(r"VmHWM:\\s+(\\d+) kB", status)[1]) // 1000
print(json.dumps([reasons, unchanged, resident_mb]))
"""


def packed(path: Path, pieces: Iterable[bytes]) -> None:
    """Write gzip that is as small as it can be, without having its content in memory."""
    packer = zlib.compressobj(6, zlib.DEFLATED, 31)
    with path.open("wb") as file:
        for piece in pieces:
            file.write(packer.compress(piece))
        file.write(packer.flush())


def repeated(content: bytes, megabytes: int) -> Iterable[bytes]:
    piece = content * (MEGABYTE // len(content))
    return (piece for _ in range(megabytes))


HEAD = b'{"recollect":"export","format":1,"schema":6}\n'


def one_line(path: Path) -> None:
    start = b'{"table":"views","name":"'
    packed(path, [HEAD, start, *repeated(b"a", 150)])


def many_lines(path: Path) -> None:
    line = b'{"table":"views","name":"' + b"n" * 10_000 + b'"}\n'
    packed(path, [HEAD, *repeated(line, 70)])


def many_values(path: Path) -> None:
    packed(path, [HEAD, b'{"table":"views","name":[', *repeated(b"[],", 4), b"0]}\n"])


def nested(path: Path) -> None:
    packed(path, [HEAD, b'{"table":"views","name":', b"[" * MEGABYTE, b"\n"])


def agent_of_spaces(path: Path) -> None:
    packed(path, repeated(b" ", 100))


def agent_of_lists(path: Path) -> None:
    packed(path, [b"[", *repeated(b"[],", 4), b"0]"])


def zipped_history(path: Path) -> None:
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("conversations.json", "w") as member,
    ):
        member.write(b"[")
        for piece in repeated(b'{"mapping":{}},', 20):
            member.write(piece)


def history_of_lists(path: Path) -> None:
    with path.open("wb") as file:
        file.writelines([b"[", *repeated(b"[],", 10), b"0]"])


BOMBS: list[tuple[str, Callable[[Path], None], str]] = [
    ("export", one_line, "line 2 has more than 16,000,000 bytes"),
    ("export", many_lines, "more than 200 times as large"),
    ("export", many_values, "line 2 has more than 1,000,000 values"),
    ("export", nested, "line 2 is not JSON, or is nested too deep"),
    ("agent", agent_of_spaces, "more than 32,000,000 bytes"),
    ("agent", agent_of_lists, "more than 1,000,000 values"),
    ("chatgpt", zipped_history, "100 times as large"),
    ("chatgpt", history_of_lists, "more than 3,000,000 values"),
]


def test_every_bomb_is_refused_within_a_bounded_memory(tmp_path: Path) -> None:
    paths = [tmp_path / f"{verb}-{write.__name__}.json" for verb, write, _ in BOMBS]
    for path, (_, write, _) in zip(paths, BOMBS, strict=True):
        write(path)
    child = subprocess.run(
        [sys.executable, "-c", IMPORT, str(tmp_path), *map(str, paths)],
        capture_output=True,
        check=True,
        timeout=100,
        cwd=Path(__file__).parents[1],
    )

    reasons, is_unchanged, resident_mb = json.loads(child.stdout)
    for path, (_, _, bound), reason in zip(paths, BOMBS, reasons, strict=True):
        assert bound in reason
        assert path.name in reason
    assert is_unchanged
    assert resident_mb < MAX_RESIDENT_MB
