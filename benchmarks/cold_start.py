"""
Measure a new process: `python -m benchmarks.cold_start SYSTEM FOLDER`, questions on stdin.

Opens an existing store, asks the questions (a JSON list) and prints, as JSON, the time to open it
(imports included), the time of the first answer and the resident memory at the end. Nothing is
imported before the clock starts that a user's program would not have imported.
"""

import json
import sys
from pathlib import Path
from time import perf_counter


def main() -> int:
    name, folder = sys.argv[1], Path(sys.argv[2])
    questions = json.load(sys.stdin)
    started = perf_counter()
    # Part of what is timed.
    from benchmarks.generated_sentences import ProjectQuestion
    from benchmarks.systems.system_registry import system_opener

    system = system_opener(name)(folder, None)
    opened = perf_counter()
    system.ask(ProjectQuestion(**questions[0]))
    answered = perf_counter()
    for question in questions[1:]:
        system.ask(ProjectQuestion(**question))
    figures = {
        "open_ms": 1000 * (opened - started),
        "first_ms": 1000 * (answered - opened),
        "rss_mb": _resident_mb(),
    }
    system.close()
    print(json.dumps(figures))
    return 0


def _resident_mb() -> float | None:
    try:
        # Optional: without it memory is not reported.
        import psutil
    except ImportError:
        return None
    return float(psutil.Process().memory_info().rss) / 1e6


if __name__ == "__main__":
    sys.exit(main())
