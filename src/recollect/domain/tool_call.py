"""
Commands that were run and files that were changed in captured sessions.

These are records of what happened, quoted from a source. They are never memories: nothing that a
tool wrote becomes active.
"""

from datetime import datetime
from enum import StrEnum

from recollect.domain.memory import Memory
from recollect.lazy_dataclass import dataclass


class ActionKind(StrEnum):
    """What a call does."""

    RUN = "run"
    CHANGE = "change"
    INSPECT = "look"
    PLAN = "plan"
    OTHER = "other"


class Outcome(StrEnum):
    """How a call ended, according to its result."""

    SUCCEEDED = "worked"
    UNCLEAR = "doubtful"  # the output mentions an error; later actions show whether it failed
    FAILED = "failed"
    DECLINED = "declined"  # by the user
    UNKNOWN = "untold"


@dataclass(frozen=True, kw_only=True)
class RecordedCall:
    """One tool call of a captured session. `subject` is the command, or the path of the file."""

    source_id: str
    session: str
    kind: ActionKind
    name: str  # by which it is looked up: the program, or the file without its folders
    subject: str
    outcome: Outcome
    error: str  # the line of the output that describes a failure, or ''
    start: int  # where the call stands in its source
    called_at: datetime


@dataclass(frozen=True, kw_only=True)
class RecordedFailure:
    """A command that failed, and what worked later in the same session, if anything did."""

    call: RecordedCall
    worked: RecordedCall | None = None


@dataclass(frozen=True, kw_only=True)
class FileHistory:
    """The edits of a file, latest first, the memories that name it, and what was decided then."""

    path: str
    edits: tuple[RecordedCall, ...] = ()
    memories: tuple[Memory, ...] = ()
    decisions: tuple[Memory, ...] = ()  # of the sessions that edited it, without `memories`


@dataclass(frozen=True, kw_only=True)
class ErrorHistory:
    """Commands that failed with a similar error, latest first, and the memories about it."""

    failures: tuple[RecordedFailure, ...] = ()
    memories: tuple[Memory, ...] = ()


@dataclass(frozen=True, kw_only=True)
class CommandHistory:
    """How a program was run, latest first: what worked, what failed, and the memories about it."""

    worked: tuple[RecordedCall, ...] = ()
    failures: tuple[RecordedFailure, ...] = ()
    memories: tuple[Memory, ...] = ()


@dataclass(frozen=True, kw_only=True)
class SessionFiles:
    """The files that a session changed, and what was decided in it."""

    session: str
    files: tuple[FileHistory, ...] = ()
    decisions: tuple[Memory, ...] = ()


class AdviceKind(StrEnum):
    """Why something is said about an action before it is taken."""

    RULE = "rule"  # a statement of the user forbids it, or is about its file
    COMMAND = "command"  # a statement of the user names another form of the command
    FAILURE = "failure"  # the command failed in this form, and another form worked
    DECLINED = "declined"  # the user declined the same command


@dataclass(frozen=True, kw_only=True)
class ActionAdvice:
    """One line about an action, from one memory or one recorded call."""

    kind: AdviceKind
    text: str
    id: str  # of the memory, or of the source of the call
    is_reviewed: bool = True
