"""
Where a memory comes from: whose words it is, how it was found, when and by whom.

The promotion policy and the consolidation rely on these values, so they are typed fields, not
entries of `metadata`.
"""

from datetime import date
from enum import StrEnum

from recollect.domain.transcript import Voice
from recollect.lazy_dataclass import dataclass

WEEKDAY_NAMES = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
MODEL_RULE = "model"  # the rule of a statement that a language model worded
REVISION_RULE = "revision"  # of one that only gives another value for an earlier one


class StatementFlag(StrEnum):
    """What is known about a statement besides its content."""

    INSTRUCTION = "instruction-like"  # the text looks like a prompt injection
    CORRECTION = "correction"  # the text says that an earlier statement is wrong
    BY_AGENT = "by-agent"  # an agent wrote the memory itself
    UPDATE = "update"  # the text says that something has changed
    EXPLICIT = "explicit"  # the user asked to remember it: "remember that …", "from now on …"
    EVERYWHERE = "everywhere"  # the user asked for it in all projects
    CONFIDENTIAL = "confidential"  # told to this agent alone: "this stays between us"
    PAST = "past"  # it tells of an earlier day, which is its date: "I moved last month"


@dataclass(frozen=True)
class MentionedDate:
    """A relative date in a statement, and the day it meant when it was said."""

    text: str
    day: date

    @property
    def label(self) -> str:
        """The day with its name if the words name a weekday, else with the words."""
        weekday = WEEKDAY_NAMES[self.day.weekday()]
        if weekday.lower() in self.text.lower():
            return f"{weekday} {self.day.isoformat()}"
        return f"{self.text} = {self.day.isoformat()}"


@dataclass(frozen=True, kw_only=True)
class Provenance:
    """The origin of a memory. A memory that a person wrote has none of it."""

    voice: Voice | None = None  # whose words it is
    flags: tuple[StatementFlag, ...] = ()
    rule: str = ""  # the extraction rule that found it
    event_id: str | None = None  # the capture it was extracted from
    session: str = ""  # the session it was extracted from
    author: str = ""  # the agent that wrote it itself, if it gave a name
    dates: tuple[MentionedDate, ...] = ()

    @property
    def days(self) -> frozenset[date]:
        """The days that its relative dates meant."""
        return frozenset(mentioned.day for mentioned in self.dates)

    @property
    def author_note(self) -> str:
        """How a memory that an agent wrote itself is marked; '' for any other."""
        if StatementFlag.BY_AGENT not in self.flags:
            return ""
        return f"written by agent {self.author}" if self.author else "written by an agent"


NO_PROVENANCE = Provenance()


def agent_provenance(author: str) -> Provenance:
    """Return the provenance of a memory that the agent *author* writes itself; '' if unnamed."""
    return Provenance(voice=Voice.ASSISTANT, flags=(StatementFlag.BY_AGENT,), author=author)
