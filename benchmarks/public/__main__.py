"""
Make tasks of a public file: `python -m benchmarks.public locomo FILE --out FOLDER`.

The files are their authors' and not part of this repository; download them from where they are
published. `python -m benchmarks.quality --tasks FOLDER` measures what was made.
"""

import argparse
import sys
from pathlib import Path

from benchmarks.public.json_entries import UnexpectedFile
from benchmarks.public.locomo import write_locomo
from benchmarks.public.longmemeval import write_longmemeval

KINDS = {"locomo": write_locomo, "longmemeval": write_longmemeval}


def main(arguments: list[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    try:
        written = KINDS[options.kind](options.file, options.out)
    except UnexpectedFile as error:
        print(f"public: {error}", file=sys.stderr)
        return 2
    for task in written:
        print(f"{task.name}: {task.items:,} items, {task.queries:,} questions")
    print(f"Measure them: python -m benchmarks.quality --tasks {options.out}")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.public", description=__doc__)
    parser.add_argument("kind", choices=sorted(KINDS), help="whose format the file has")
    parser.add_argument("file", type=Path, help="the file as it was published")
    parser.add_argument("--out", type=Path, required=True, help="folder for the tasks")
    return parser


if __name__ == "__main__":
    sys.exit(main())
