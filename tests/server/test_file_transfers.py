"""Exports and imports over HTTP: large, broken off, compressed, refused; nothing is left."""

import gzip
import hashlib
import json
import os
import resource
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import httpx2
import pytest

import recollect
from in_process_server import serve_in_thread
from raw_http import becomes_empty, request, send_raw
from recollect import LocalRecollect
from recollect.errors import ImportRefused, TooLarge
from server_process import run_server, without_embedder
from support import open_memory

pytestmark = pytest.mark.door


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where this process puts temporary folders, for this test alone."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalRecollect]:
    """A memory with enough in it that an export does not fit into a socket's buffers."""
    path = tmp_path_factory.mktemp("transfers") / "memory.db"
    with open_memory(path, words_only=True, reach=[], auto_compaction=False) as rec:
        rec.agents.create("ben")
        said = rec.conversations.start(agent="ben")
        noise = [os.urandom(3_000).hex() for _ in range(2_000)]
        rec.conversations.append_many(said, [{"role": "user", "content": text} for text in noise])
        yield rec


def get(url: str, target: str, *lines: str) -> bytes:
    port = int(url.rpartition(":")[2])
    return request("GET", target, f"Host: 127.0.0.1:{port}", *lines)


def test_an_export_that_was_fetched_leaves_no_folder(
    filled: LocalRecollect, temporary: Path, tmp_path: Path
) -> None:
    with serve_in_thread(filled) as url, recollect.connect(url) as remote:
        remote.export(tmp_path / "all.jsonl")
        remote.export(tmp_path / "all.jsonl.gz")
        remote.agents.export("ben", tmp_path / "ben.json")

        assert becomes_empty(temporary)


def test_an_export_that_nobody_waits_for_leaves_no_folder(
    filled: LocalRecollect, temporary: Path
) -> None:
    with serve_in_thread(filled) as url:
        port = int(url.rpartition(":")[2])
        with socket.create_connection(("127.0.0.1", port), 60) as leaving:
            leaving.sendall(get(url, "/api/export"))
            assert leaving.recv(1_000)

        assert becomes_empty(temporary)


@pytest.mark.parametrize("asked", ["bytes=zz", "bytes=999999999-"])
def test_an_export_asked_for_in_impossible_parts_leaves_no_folder(
    filled: LocalRecollect, temporary: Path, asked: str
) -> None:
    with serve_in_thread(filled) as url:
        send_raw(int(url.rpartition(":")[2]), get(url, "/api/export", f"Range: {asked}"))

        assert becomes_empty(temporary)


def test_an_export_under_way_when_the_server_ends_leaves_no_folder(
    filled: LocalRecollect, tmp_path: Path
) -> None:
    """A reader that stalls holds its answer until the server's grace is over."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    env = without_embedder(TMPDIR=str(folder), PYTHONWARNINGS="always::ResourceWarning")
    log = tmp_path / "log"
    with (
        run_server(filled.path, env=env, log=log) as served,
        socket.create_connection(("127.0.0.1", served.port), 60) as stalled,
    ):
        stalled.sendall(get(served.url, "/api/export"))
        assert stalled.recv(1_000)
        served.process.terminate()
        served.process.wait(60)

    said_at_the_end = log.read_text()
    assert "Implicitly cleaning up" not in said_at_the_end
    assert list(folder.iterdir()) == []


def test_an_import_that_breaks_off_leaves_nothing_and_is_no_fault_of_the_server(
    filled: LocalRecollect, temporary: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    filled.export(tmp_path / "all.jsonl")
    content = (tmp_path / "all.jsonl").read_bytes()
    with (
        open_memory(tmp_path / "other.db", words_only=True) as rec,
        serve_in_thread(rec) as url,
    ):
        port = int(url.rpartition(":")[2])
        for end in (0, 10, len(content) // 2, len(content) - 1):
            lines = (f"Host: 127.0.0.1:{port}", f"Content-Length: {len(content)}")
            with socket.create_connection(("127.0.0.1", port), 60) as leaving:
                leaving.sendall(request("POST", "/api/import", *lines, body=content[:end]))
        assert becomes_empty(temporary)
        kept = rec.maintenance.status().counts

    assert not any(kept.values())
    assert not any(record.exc_info for record in caplog.records)


@pytest.mark.parametrize("shape", ["cut", "gz", "cut gz", "flipped gz", "twice", "html", "empty"])
def test_an_import_is_taken_whole_or_refused_whole(
    two_agents: LocalRecollect, temporary: Path, tmp_path: Path, shape: str
) -> None:
    source = tmp_path / "all.jsonl"
    conversation = two_agents.conversations.start(agent="anna")
    texts = [os.urandom(3_000).hex() for _ in range(100)]
    two_agents.conversations.append_many(
        conversation, [{"role": "user", "content": text} for text in texts]
    )
    two_agents.export(source)
    content = source.read_bytes()
    packed = gzip.compress(content, 1)
    middle = len(packed) // 2
    source.write_bytes(
        {
            "cut": content[: len(content) // 2],
            "gz": packed,
            "cut gz": packed[:middle],
            "flipped gz": packed[:middle] + bytes([packed[middle] ^ 255]) + packed[middle + 1 :],
            "twice": content + content,
            "html": b"<html></html>",
            "empty": b"",
        }[shape]
    )
    with (
        open_memory(tmp_path / "other.db", words_only=True) as rec,
        serve_in_thread(rec) as url,
        recollect.connect(url) as remote,
    ):
        if shape == "gz":
            remote.import_(source, trust=True)
            assert rec.maintenance.status().counts["messages"] == len(texts)
        else:
            with pytest.raises(ImportRefused) as told:
                remote.import_(source, trust=True)
            assert str(source) in str(told.value)
            assert not any(rec.maintenance.status().counts.values())
        assert becomes_empty(temporary)


def test_an_import_over_the_limit_is_refused_as_too_large(
    words_only: LocalRecollect, temporary: Path, tmp_path: Path
) -> None:
    source = tmp_path / "large.jsonl"
    source.write_bytes(b"x" * 30_000_000)
    with serve_in_thread(words_only, max_body_mb=1) as url, recollect.connect(url) as remote:
        with pytest.raises(TooLarge):
            remote.import_(source, trust=True)
        assert becomes_empty(temporary)


def test_the_result_of_an_export_tells_no_path_of_the_server(filled: LocalRecollect) -> None:
    with (
        serve_in_thread(filled) as url,
        httpx2.Client(base_url=url, trust_env=False, timeout=60) as client,
    ):
        answer = client.get("/api/agents/ben/export")

    assert tempfile.gettempdir() not in answer.headers["recollect-result"]


LARGE_MESSAGES = 10_001  # of 10,000 characters each
PEAK = """
import resource, sys, recollect
verb, url, path = sys.argv[1:]
options = {"trust": True} if verb == "import_" else {}
with recollect.connect(url, timeout_s=280) as remote:  # the machine may be busy
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    getattr(remote, verb)(path, **options)
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


def _peak_mb(pid: int) -> float:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmHWM"):
            return int(line.split()[1]) / 1_000
    raise AssertionError


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_hundred_megabytes_go_in_and_out_without_being_held(tmp_path: Path) -> None:
    assert resource.RUSAGE_SELF == 0
    source, back = tmp_path / "all.jsonl", tmp_path / "back.jsonl"
    write_large_export(source)
    env = without_embedder(RECOLLECT_MAX_BODY_MB="500", RECOLLECT_REQUESTS_PER_SECOND="0")

    def growth_mb(verb: str, file: Path) -> tuple[float, float]:
        with run_server(tmp_path / "memory.db", env=env, log=tmp_path / "log") as served:
            with recollect.connect(served.url) as remote:
                remote.models.count_tokens(
                    "warm"
                )  # its tables belong to every server, whatever it moves
            before = _peak_mb(served.pid)
            command = [sys.executable, "-c", PEAK, verb, served.url, str(file)]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            return _peak_mb(served.pid) - before, int(done.stdout) / 1_000

    imported, exported = growth_mb("import_", source), growth_mb("export", back)

    assert min(source.stat().st_size, back.stat().st_size) > 100_000_000
    # MB, of a file of more than 100.
    assert max(*imported, *exported) < 80, (imported, exported)


def write_large_export(path: Path) -> None:
    """Write an export of 100 MB: a real one, with its last message repeated under new ids."""
    with open_memory(path.with_suffix(".db"), words_only=True) as rec:
        conversation = rec.conversations.start(agent="ben")
        rec.conversations.append(conversation, "user", "Hello.")
        rec.export(path)
    *before, last, end = path.read_text().splitlines(keepends=True)
    message, number_of_rows = json.loads(last), json.loads(end)["end"]
    digest = hashlib.sha256()
    with path.open("w") as file:

        def write(line: str) -> None:
            digest.update(line.encode())
            file.write(line)

        for line in (*before, last):
            write(line)
        for position in range(1, LARGE_MESSAGES):
            copy = {"position": position, "content": os.urandom(5_000).hex(), "tokens": 5_000}
            write(json.dumps(message | copy | {"id": str(uuid4())}) + "\n")
        rows = number_of_rows + LARGE_MESSAGES - 1
        file.write(json.dumps({"end": rows, "sha256": digest.hexdigest()}) + "\n")
