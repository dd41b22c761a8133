"""
Measure extraction by rules: `python -m benchmarks.extraction`.

Two measures: hand-written sentences (handwritten.py) and, with `--realmem`, the sessions of RealMem
compared with its records (realmem.py). No language model is used. The texts of the test splits are
never shown.
"""

import argparse
import platform
import shlex
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import TypeVar

import recollect
from benchmarks.cached_embedder import CachedEmbedder
from benchmarks.extraction import handwritten, realmem
from benchmarks.extraction.extraction_report import render_handwritten, render_realmem
from benchmarks.quality import CACHE, RESULTS
from benchmarks.tasks import TasksMissing, default_folder
from recollect.config import load_settings
from recollect.models.model_factory import create_embedder

OUT = RESULTS / "extraction.md"
SPLITS = ("dev", "test")
SEED = 7

T = TypeVar("T")


def main(arguments: list[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    parts = [*_introduction(sys.argv[1:] if arguments is None else arguments)]
    parts += _handwritten(options.split, options.show)
    if options.realmem:
        try:
            parts += _realmem(options.tasks, options.split, options.show, options.seed)
        except TasksMissing as missing:
            print(f"extraction: {missing}", file=sys.stderr)
            return 2
    report = "\n".join(parts).rstrip() + "\n"
    print(report)
    if options.write:
        OUT.write_text(report, encoding="utf-8")
    return 0


def _handwritten(split: str, show: int) -> list[str]:
    reads = [handwritten.extract_candidates(text) for text in handwritten.read_texts(split)]
    for fault in handwritten.faults(reads)[:show]:
        print(fault)
    of_split = _by_split(reads, lambda result: result.text.split)
    return render_handwritten({name: handwritten.score(of) for name, of in of_split.items()})


def _realmem(tasks: Path, split: str, show: int, seed: int) -> list[str]:
    sessions = realmem.read_sessions(tasks, split)
    captured = realmem.capture(sessions)
    embedder = CachedEmbedder(create_embedder(load_settings()), CACHE)
    try:
        judged = realmem.judge(sessions, captured.findings, embedder)
        sentences = realmem.every_user_sentence(sessions)
        everything = realmem.judge(sessions, sentences, embedder)
    finally:
        embedder.close()
    if show:
        _show(judged, everything, show, Random(seed))
    ours, theirs = (
        _by_split(results, lambda session: session.session.split)
        for results in (judged, everything)
    )
    return render_realmem(
        {name: realmem.score(of) for name, of in ours.items()},
        {name: realmem.score(of) for name, of in theirs.items()},
        captured,
        sum(len(session.messages) for session in sessions),
    )


def _show(
    judged: Sequence[realmem.JudgedSession],
    everything: Sequence[realmem.JudgedSession],
    count: int,
    random: Random,
) -> None:
    """Print candidates at random, and records of the user that were said and missed."""
    candidates = [
        f"{'+' if hit else ' ' if session.session.records else '?'} {finding.rule}: {finding.text}"
        for session in judged
        if session.session.split == handwritten.SHOWN_SPLIT
        for finding, hit in zip(session.findings, session.covers, strict=True)
    ]
    missed = [
        f"{sentence.text}\n    in {session.session.id}: {record.text}"
        for session, other in zip(judged, everything, strict=True)
        if session.session.split == handwritten.SHOWN_SPLIT
        for record, finding, sentence in zip(
            session.session.records, session.covered_by, other.covered_by, strict=True
        )
        if sentence and not finding and record.speaker == realmem.USER
    ]
    print("Candidates (+ covers a record, ? there are no records):")
    print("\n".join(random.sample(candidates, min(count, len(candidates)))))
    print("\nSentences that cover a record of the user that no candidate covers:")
    print("\n".join(random.sample(missed, min(count, len(missed)))), end="\n\n")


def _by_split(items: Iterable[T], split_of: Callable[[T], str]) -> Mapping[str, list[T]]:
    by_split: dict[str, list[T]] = {split: [] for split in SPLITS}
    for item in items:
        by_split[split_of(item)].append(item)
    return {split: of for split, of in by_split.items() if of}


def _introduction(arguments: Sequence[str]) -> list[str]:
    return [
        "# Extraction without a language model",
        "",
        f"`{shlex.join(['python', '-m', 'benchmarks.extraction', *arguments])}`, Recollect "
        f"{recollect.__version__}, Python {platform.python_version()}.",
        "",
    ]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.extraction", description=__doc__)
    parser.add_argument("--split", choices=[*SPLITS, "all"], default="dev")
    parser.add_argument("--realmem", action="store_true", help="also the sessions of RealMem")
    parser.add_argument("--tasks", type=Path, default=default_folder(), help="folder of the tasks")
    parser.add_argument("--show", type=int, default=0, help="print so many texts, of dev only")
    parser.add_argument("--seed", type=int, default=SEED, help="of what --show draws")
    parser.add_argument("--write", action="store_true", help=f"write {OUT.name} as well")
    return parser


if __name__ == "__main__":
    sys.exit(main())
