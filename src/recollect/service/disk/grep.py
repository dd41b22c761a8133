"""
Search files by a regular expression, within limits.

A search that reaches a limit returns the matches so far and says which limit it was. Files come in
one fixed order, so a page continues the one before as long as the files stay as they are. Lines are
shown without secrets, and a line that matches only inside a secret does not match.
"""

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import field
from pathlib import Path

from recollect.domain.file import GrepMatch, GrepPage
from recollect.errors import InvalidInput, NotFound
from recollect.lazy_dataclass import dataclass
from recollect.service.disk.allowed_roots import AllowedPath, locate
from recollect.service.disk.file_walk import (
    FileToSearch,
    SkippedEntry,
    SkipReason,
    walk,
    walk_folder,
)
from recollect.service.disk.safe_read import (
    MAX_FILE_BYTES,
    FileText,
    UnreadFile,
    UnreadReason,
    read_file,
)
from recollect.service.disk.safe_regex import SafeRegex
from recollect.text.glob_matcher import glob_matcher
from recollect.text.line_windows import split_lines, trim_line
from recollect.text.redact import redact, remove_multiline_secrets
from recollect.wire.fields import parse_count

MAX_TOTAL_BYTES = 200 * 1024 * 1024
MAX_SECONDS = 30.0
MAX_MATCHES = 1_000
MATCHES_PER_PAGE = 20
MAX_CONTEXT_LINES = 20
SHOWN_CHARS = 500  # of a line
SEARCHED_CHARS = 100_000  # of a line; longer ones are not text and would outlast the time limit
NAMES_SHOWN = 3


@dataclass(frozen=True, kw_only=True)
class GrepLimits:
    """How much one search may do."""

    file_bytes: int = MAX_FILE_BYTES
    total_bytes: int = MAX_TOTAL_BYTES
    seconds: float = MAX_SECONDS
    matches: int = MAX_MATCHES
    per_page: int = MATCHES_PER_PAGE


_SKIP_TEXT = {
    UnreadReason.MISSING: "files that went away meanwhile",
    UnreadReason.NO_FILE: SkipReason.SPECIAL.value,
    UnreadReason.BINARY: "binary files",
    UnreadReason.CHANGED: "files that became links meanwhile",
    UnreadReason.UNREADABLE: SkipReason.UNREADABLE.value,
}


def grep(
    pattern: str,
    *,
    roots: Sequence[Path],
    paths: Sequence[str | Path] | None = None,
    include: str | None = None,
    context_lines: int = 0,
    offset: int = 0,
    limits: GrepLimits | None = None,
    timer: Callable[[], float] = time.monotonic,
) -> GrepPage:
    """
    Return a page of the lines that match *pattern*, below *roots* or only in the *paths* in them.

    *include*: a glob such as `*.py` or `src/**/*.ts`. *timer*: seconds, for the time limit.
    """
    limits = limits or GrepLimits()
    expression = SafeRegex(pattern)
    is_included = glob_matcher(include)
    context_lines = parse_count(
        "context_lines", context_lines, minimum=0, maximum=MAX_CONTEXT_LINES
    )
    offset = parse_count("offset", offset, minimum=0, maximum=limits.matches)
    search = _GrepRun(expression, context_lines, limits, timer)
    for entry in walk(roots) if paths is None else _files_at(paths, roots):
        if search.has_ended():
            break
        if isinstance(entry, str):
            search.refused.append(entry)
        elif (isinstance(entry, SkippedEntry) and entry.is_folder) or is_included(entry.name):
            search.visit(entry)
    end = offset + limits.per_page
    return GrepPage(
        matches=tuple(search.matches[offset:end]),
        total=len(search.matches),
        offset=offset,
        next_offset=end if end < len(search.matches) else None,
        stopped=search.stopped,
        skipped=search.skipped(),
        files_scanned=search.files,
        bytes_scanned=search.bytes,
    )


def _files_at(
    paths: Sequence[str | Path], roots: Sequence[Path]
) -> Iterator[FileToSearch | SkippedEntry | str]:
    """Return the files at *paths*, in order, each once; an error message for a path without one."""
    places: dict[Path, AllowedPath] = {}
    for path in paths:
        try:
            place = locate(path, roots)
        except (InvalidInput, NotFound) as error:
            yield str(error)
        else:
            places[place.path] = place
    visited: set[Path] = set()
    for _, place in sorted(places.items()):
        for entry in _entries_at(place):
            if isinstance(entry, SkippedEntry) or entry.path not in visited:
                yield entry
            if isinstance(entry, FileToSearch):
                visited.add(entry.path)


def _entries_at(place: AllowedPath) -> Iterator[FileToSearch | SkippedEntry]:
    is_folder = place.path.is_dir()
    name = place.path.relative_to(place.root).as_posix()
    if place.secret_reason:
        yield SkippedEntry(name, SkipReason.SECRET, is_folder)
    elif is_folder:
        yield from walk_folder(place.path, place.root)
    else:
        yield FileToSearch(place.path, place.root, name)


@dataclass
class _GrepRun:
    """A running search: its matches, the entries it skipped, and whether it has ended."""

    expression: SafeRegex
    context_lines: int
    limits: GrepLimits
    timer: Callable[[], float]
    matches: list[GrepMatch] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    skip_counts: Counter[str] = field(default_factory=Counter)
    examples: dict[str, list[str]] = field(default_factory=dict)
    cut_lines: int = 0
    files: int = 0
    bytes: int = 0
    stopped: str = ""

    def __post_init__(self) -> None:
        self.deadline = self.timer() + self.limits.seconds

    def has_ended(self) -> bool:
        """Return whether a limit was met, looking at the clock."""
        if not self.stopped and self.timer() >= self.deadline:
            self.stopped = (
                f"the search was stopped after {self.limits.seconds:g} s; "
                "choose fewer files with include, or name them"
            )
        return bool(self.stopped)

    def visit(self, entry: FileToSearch | SkippedEntry) -> None:
        """Search a file, or note why it is not searched."""
        if isinstance(entry, SkippedEntry):
            self._skip(entry.reason, entry.name)
            return
        text = read_file(entry.path, entry.root, max_bytes=self.limits.file_bytes)
        if isinstance(text, UnreadFile):
            large = f"files of more than {_megabytes(self.limits.file_bytes)}"
            self._skip(_SKIP_TEXT.get(text.reason, large), entry.name)
        elif self.bytes + text.size > self.limits.total_bytes:
            self.stopped = (
                f"the search was stopped before it had read {_megabytes(self.limits.total_bytes)}, "
                "the most for one; choose fewer files with include, or name them"
            )
        else:
            self._search_file(text)

    def skipped(self) -> tuple[str, ...]:
        """Return what was not searched, in sentences."""
        sentences = [
            f"not searched, {reason}: {count:,} ({', '.join(self.examples[reason])}"
            f"{', …' if count > NAMES_SHOWN else ''})"
            for reason, count in sorted(self.skip_counts.items())
        ]
        if self.cut_lines:
            sentences.append(
                f"{self.cut_lines:,} long lines were searched only to character {SEARCHED_CHARS:,}"
            )
        return (*self.refused, *sentences)

    def _skip(self, reason: str, name: str) -> None:
        self.skip_counts[reason] += 1
        if self.skip_counts[reason] <= NAMES_SHOWN:
            self.examples.setdefault(reason, []).append(name)

    def _search_file(self, file: FileText) -> None:
        self.files += 1
        self.bytes += file.size
        lines = split_lines(remove_multiline_secrets(file.text))
        for at, line in enumerate(lines):
            if len(line) > SEARCHED_CHARS:
                lines[at] = line[:SEARCHED_CHARS]
                self.cut_lines += 1
        for line_index in self.expression.matching_lines(lines):
            if self.has_ended():
                return
            match = None if line_index is None else self._match(file, lines, line_index)
            if match is None:
                continue
            if len(self.matches) == self.limits.matches:
                self.stopped = (
                    f"{len(self.matches):,} matches were found, the most that are collected; "
                    "write a narrower pattern, or choose fewer files with include"
                )
                return
            self.matches.append(match)

    def _match(self, file: FileText, lines: list[str], at: int) -> GrepMatch | None:
        """Return the line *at* as it is shown, if it still matches so."""
        first = max(0, at - self.context_lines)
        # With one more line on each side: a name and its secret may stand on two.
        start = max(0, first - 1)
        around = lines[start : at + self.context_lines + 2]
        lines = redact("\n".join(around), keep_lines=True).text.split("\n")
        line = lines[at - start]
        span = self.expression.span(line)
        if span is None:
            return None
        before, after = lines[first - start : at - start], lines[at - start + 1 :]
        return GrepMatch(
            path=str(file.path),
            line=at + 1,
            text=trim_line(line, *span, max_chars=SHOWN_CHARS),
            before=tuple(map(_trim, before)),
            after=tuple(map(_trim, after[: self.context_lines])),
        )


def _trim(line: str) -> str:
    return trim_line(line, 0, 0, max_chars=SHOWN_CHARS)


def _megabytes(size: int) -> str:
    return f"{size / 1024 / 1024:g} MB"
