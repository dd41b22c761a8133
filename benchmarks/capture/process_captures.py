"""
Process a store in a new process: `python -m benchmarks.capture.process_captures DB EMBEDDING`.

EMBEDDING is `none` or `local`. Prints, as JSON, the time and the growth of memory.
"""

import json
import sys
from pathlib import Path
from time import perf_counter

import recollect

STATUS = Path("/proc/self/status")


def main() -> int:
    path, embedding = Path(sys.argv[1]), sys.argv[2]
    with recollect.open(path, embedding_backend=embedding) as rec:
        rec.maintenance.status()  # opens and reads the store before the clock starts
        before = _mb("VmRSS")
        started = perf_counter()
        rec.drain()
        took = perf_counter() - started
        peak = _mb("VmHWM")
        status = rec.maintenance.status()
    grown = None if before is None or peak is None else peak - before
    memories = dict(status.memories_by_status)
    print(json.dumps({"drain_s": took, "grown_mb": grown, "memories": memories}))
    return 0


def _mb(field: str) -> float | None:
    """Return a field of this process's status; the kernel's own peak misses nothing."""
    if not STATUS.exists():
        return None  # not Linux: memory is not reported
    for line in STATUS.read_text().splitlines():
        if line.startswith(f"{field}:"):
            return float(line.split()[1]) / 1000
    return None


if __name__ == "__main__":
    sys.exit(main())
