"""
The policy: what may become active by itself, what is held for a person, what never may.

Read it as a table, top to bottom; the first row that applies decides.

    who said it, what it is                                        verdict
    ─────────────────────────────────────────────────────────────  ───────────────────────────────
    seems to command whoever reads it                              never by itself
    put into memory by an agent itself                             never by itself
    a tool, a web page, another agent or another person            never by itself
    brought in by an import, and not said in a session since       held
    the record that a session took place                           active
    the user, putting an active memory right                       active, in its place
    speaks against something known                                 held
    written by an agent about the user                             held
    the user, in two or more separate sessions                     active
    the extractor is unsure of it                                  held
    the user's decision, with its reason                           active
    anything else (profile facts above all)                        held

What a person writes by hand is active at once and does not come here. Nothing here reads or writes.
"""

from dataclasses import dataclass

from recollect.domain.candidate import BY_AGENT_FLAG, INSTRUCTION_FLAG
from recollect.domain.memory import Memory, MemoryType
from recollect.domain.source import SourceKind
from recollect.domain.transcript import Voice

MIN_SESSIONS = 2
MIN_CONFIDENCE = 0.6
TRUSTED_VOICES = frozenset({Voice.USER, Voice.ASSISTANT})


@dataclass(frozen=True)
class Promote:
    """It may become active now."""

    why: str


@dataclass(frozen=True)
class Hold:
    """It waits for a person, or for more evidence."""

    why: str


@dataclass(frozen=True)
class NeverPromote:
    """Only a person can make it active."""

    why: str


Verdict = Promote | Hold | NeverPromote


@dataclass(frozen=True, kw_only=True)
class PromotionFacts:
    """What the policy needs to know of a candidate besides itself."""

    sessions: int  # in how many separate sessions the user said so
    corrects_active: bool = False
    has_conflict: bool = False
    is_said_in_session: bool = False  # in a session captured as it was held, not only in imported ones


def judge(candidate: Memory, standing: PromotionFacts) -> Verdict:
    """Return what may become of *candidate* without a person."""
    voice = str(candidate.metadata.get("voice", ""))
    flags = candidate.metadata.get("flags", ())
    if INSTRUCTION_FLAG in flags:
        return NeverPromote("it reads like an instruction to whoever reads it")
    if BY_AGENT_FLAG in flags:
        return NeverPromote("an agent put it into memory itself")
    if voice not in TRUSTED_VOICES:
        return NeverPromote(f"it rests on the words of {voice or 'nobody we know'}")
    if candidate.source_kind is SourceKind.IMPORT and not standing.is_said_in_session:
        return Hold("it was imported, and no session since has confirmed it")
    if candidate.type is MemoryType.EPISODE:
        return Promote("a record of a session")
    by_user = voice == Voice.USER
    if by_user and standing.corrects_active:
        return Promote("the user put it right")
    if standing.has_conflict:
        return Hold("it speaks against something known")
    if not by_user:
        return Hold("an agent wrote it about the user")
    if standing.sessions >= MIN_SESSIONS:
        return Promote(f"the user said so in {standing.sessions} sessions")
    if candidate.confidence < MIN_CONFIDENCE:
        return Hold("the extractor is unsure of it")
    if candidate.type is MemoryType.DECISION and candidate.rationale:
        return Promote("a decision with its reason")
    if candidate.type is MemoryType.PROFILE:
        return Hold("a fact about the user waits for confirmation")
    return Hold("it was said once")
