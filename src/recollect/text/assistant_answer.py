"""
The prompt that makes an assistant list what it remembers, and the parser of its answer.

ChatGPT, Claude and Gemini show only a part of their memories in their settings, and no file of it
can be downloaded everywhere. All of them answer this prompt. The answer is text by a model: nothing
in it is taken for true.
"""

import re
from collections.abc import Iterator
from datetime import UTC, datetime

from recollect.lazy_dataclass import dataclass

PROMPT = """\
I am moving to another tool and want to take along what you remember about me.
List every memory you have stored about me, and everything you know about me from our earlier
conversations. Use my own words where you can. Do not summarise, merge or leave out entries.

Write one entry per line, exactly like this:
- [YYYY-MM-DD] the entry        (the date you stored it; [unknown] if you do not know)

Sort the entries under these headings, and leave out a heading without entries:
## Instructions   (how I asked you to answer and behave)
## Preferences
## About me
## Projects
## Tools and languages

Put everything into one code block. After it, write whether there is more; I will then ask you to
continue."""

MAX_ENTRIES = 5_000
MAX_ENTRY = 2_000  # characters; a longer line is not an entry
_ENTRY = re.compile(
    r"^[ \t]*(?:[-*•]|\d{1,4}[.)])[ \t]+(?:\[(?P<date>[^\]\n]{1,40})\][ \t]*[-–—:]?[ \t]*)?"
    r"(?P<text>\S.*?)[ \t]*$",
    re.MULTILINE,
)
_HEADING = re.compile(r"^[ \t]*#{1,6}[ \t]+(?P<title>.+?)[ \t]*$", re.MULTILINE)
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")


@dataclass(frozen=True)
class AnswerEntry:
    """One entry of an answer: where its words are, its heading, and its date."""

    start: int
    end: int
    text: str
    heading: str
    stored_at: datetime | None


def parse_answer(text: str) -> Iterator[AnswerEntry]:
    """Yield the entries of an answer, in its order."""
    headings = [(match.start(), match["title"].lower()) for match in _HEADING.finditer(text)]
    count = 0
    for match in _ENTRY.finditer(text):
        if len(match["text"]) > MAX_ENTRY or count == MAX_ENTRIES:
            continue
        count += 1
        above = [title for start, title in headings if start < match.start()]
        yield AnswerEntry(
            start=match.start("text"),
            end=match.end("text"),
            text=match["text"],
            heading=above[-1] if above else "",
            stored_at=_parse_date(match["date"] or ""),
        )


def _parse_date(text: str) -> datetime | None:
    match = _DATE.search(text)
    if match is None:
        return None
    try:
        return datetime.fromisoformat(match[0]).replace(tzinfo=UTC)
    except ValueError:
        return None
