"""
A second process that writes: `python -m benchmarks.capture.concurrent_writer DB`.

Ingests a short memory every 50 ms until its input is closed, then prints, as JSON, the start of
each write (seconds since the epoch) and its duration (ms).
"""

import json
import sys
import threading
import time
from pathlib import Path

import recollect

EVERY_S = 0.05


def main() -> int:
    stop = threading.Event()
    threading.Thread(target=_until_closed, args=[stop], daemon=True).start()
    written: list[tuple[float, float]] = []
    with recollect.open(Path(sys.argv[1]), embedding_backend="none") as rec:
        rec.ingest("The writer is ready.", project="writer")
        print("ready", flush=True)
        while not stop.is_set():
            began_at, started = time.time(), time.perf_counter()
            rec.ingest(f"Note {len(written)}: the water level is normal.", project="writer")
            took = time.perf_counter() - started
            written.append((began_at, 1000 * took))
            stop.wait(max(EVERY_S - took, 0.0))
    print(json.dumps(written))
    return 0


def _until_closed(stop: threading.Event) -> None:
    sys.stdin.read()
    stop.set()


if __name__ == "__main__":
    sys.exit(main())
