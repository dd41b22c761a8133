"""
Read a stored summary back as lines, so that the next one carries them on.

A summary that a language model wrote is read in the same way. A line keeps its heading, its mark
and what it supersedes; its weight is computed again from its text.
"""

import re
from dataclasses import replace

from recollect.context.decision_detection import is_decision
from recollect.context.summary import summary_lines
from recollect.context.summary.statement_weight import statement_weight
from recollect.context.summary.summary_lines import DECISION_WEIGHT, Heading, SummaryLine
from recollect.text.sentence_classifier import lead_in_length, normalize_sentence

STATED_AGAIN = 1.2  # factor for a statement: it was selected before
# The weight of a line under another heading.
WEIGHTS: dict[Heading, float] = {
    Heading.ASKED: 1.4,
    Heading.STATED: 1.5,  # a statement of the assistant
    Heading.FOUND: 0.8,
    Heading.DONE: 1.1,
    Heading.OPEN: 2.0,
}

_NAMES = {section.value.lower(): section for section in Heading}
_NAMES |= {"decided": Heading.STATED, "told by the user": Heading.STATED}  # of older summaries
_HEADING = re.compile(rf"^#* ?\**({'|'.join(_NAMES)})\**:?\**\s*$", re.IGNORECASE)
_MARKED = re.compile(r"^(?:[-*•] )?(?P<text>.*?) ?(?:\[(?P<mark>\d+(?:[–, ]+\d+)*)\])?$")
_NOTES = re.compile(
    r"^(?P<text>.*?)(?: \(previously: (?P<previous>.*?)\))?"
    r"(?: \(superseded by \[(?P<superseded_by>\d{1,9})\]\))?$"
)


def lines_of_summary(summary: str) -> list[SummaryLine]:
    """Parse any summary into lines; a line without a heading goes under "Found and answered"."""
    section = Heading.FOUND
    lines: list[SummaryLine] = []
    for row in summary.splitlines():
        row = " ".join(row.split())
        if heading := _HEADING.match(row):
            section = _NAMES[heading[1].lower()]
            continue
        match = _MARKED.match(row)
        text, mark = (match["text"], match["mark"] or "") if match else (row, "")
        if mark:  # a line with a mark is short already
            pieces = [text]
        else:
            pieces = [summary_lines.shorten(part) for part in summary_lines.spoken_sentences(text)]
        substantial = filter(summary_lines.has_substance, pieces)
        lines.extend(_line(section, piece, mark) for piece in substantial)
    return lines


def _line(section: Heading, text: str, mark: str) -> SummaryLine:
    notes = _NOTES.match(text)
    superseded_by = notes["superseded_by"] if notes else None
    line = SummaryLine(
        section,
        notes["text"] if notes else text,
        int(re.split(r"\D", mark)[0]) if mark else -1,
        WEIGHTS[section],
        reference=mark,
        previous=(notes["previous"] or "") if notes else "",
        superseded_by=int(superseded_by) if superseded_by else -1,
    )
    if section is not Heading.STATED or line.is_assistants:
        return line
    plain_text = normalize_sentence(line.text)
    weight = statement_weight(line.text, plain_text[lead_in_length(plain_text) :])
    decision = is_decision(line.text)
    weight = max(weight, DECISION_WEIGHT) if decision else weight
    return replace(line, weight=STATED_AGAIN * weight, decision=decision)
