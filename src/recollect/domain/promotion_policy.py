"""
The promotion policy: which candidates become active by themselves, which wait for a person.

The table is read from top to bottom; the first row that applies decides.

    what it is, and who said it                                    verdict
    ─────────────────────────────────────────────────────────────  ───────────────────────────────
    looks like a prompt injection                                  never without a person
    written to memory by an agent itself                           never without a person
    a tool, a web page, another agent or another person            never without a person
    in a message of the user, but perhaps not typed by the user    never without a person
    imported, and not said in a captured session since             held
    the record of a session, in words that the user typed          active
    the user, explicitly correcting an active memory               active, in its place
    contradicts an existing memory                                 held
    written by an agent about the user, or worded by a model       held
    the user, in two or more separate sessions                     active
    the confidence of the extractor is low                         held
    the user asked to remember it ("remember …", "from now on …")  active
    anything else that was said once, decisions included           held

"The user" means text that the user plainly typed (text/message_voices.py). Every other voice is
only a claim about what the user said, whoever wrote it.

The setting `promote_explicit` switches the row of explicit requests off. Memories that a person
writes are active at once and are not judged here. In which scope a candidate becomes active is in
candidate_scope.py. Nothing here reads or writes the store.
"""

from enum import StrEnum

from recollect.domain.memory import Memory, MemoryType
from recollect.domain.provenance import MODEL_RULE, StatementFlag
from recollect.domain.source import SourceKind
from recollect.domain.transcript import Voice
from recollect.lazy_dataclass import dataclass

MIN_SESSIONS = 2
MIN_CONFIDENCE = 0.6
TRUSTED_VOICES = frozenset({Voice.USER, Voice.ASSISTANT})


class PolicyRule(StrEnum):
    """A row of the table."""

    INSTRUCTION = "instruction"
    BY_AGENT = "by_agent"
    PASTED = "pasted"
    UNTRUSTED_VOICE = "untrusted_voice"
    IMPORTED = "imported"
    SESSION_RECORD = "session_record"
    CORRECTION = "correction"
    CONFLICT = "conflict"
    ABOUT_USER = "about_user"
    WORDED_BY_MODEL = "worded_by_model"
    REPEATED = "repeated"
    LOW_CONFIDENCE = "low_confidence"
    EXPLICIT = "explicit"
    PROFILE = "profile"
    SAID_ONCE = "said_once"


@dataclass(frozen=True)
class Promote:
    """It becomes active."""

    why: str
    rule: PolicyRule


@dataclass(frozen=True)
class Hold:
    """It waits for a person or for more evidence."""

    why: str
    rule: PolicyRule


@dataclass(frozen=True)
class NeverPromote:
    """Only a person can make it active."""

    why: str
    rule: PolicyRule


Verdict = Promote | Hold | NeverPromote


@dataclass(frozen=True, kw_only=True)
class PolicySettings:
    """What the owner of a store may change about the policy."""

    promote_explicit: bool = True  # what the user asked to remember becomes active at once
    single_user: bool = False  # all agents of the store serve one user


DEFAULT_POLICY = PolicySettings()


@dataclass(frozen=True, kw_only=True)
class PromotionFacts:
    """What the policy needs to know about a candidate besides the candidate itself."""

    sessions: int  # number of separate sessions in which the user said it
    corrects_active: bool = False
    has_conflict: bool = False
    is_from_captured_session: bool = False  # in a captured session, not only in imported ones


def judge(
    candidate: Memory, facts: PromotionFacts, settings: PolicySettings = DEFAULT_POLICY
) -> Verdict:
    """Return whether *candidate* may become active without a person."""
    voice, flags = candidate.provenance.voice, candidate.provenance.flags
    if StatementFlag.INSTRUCTION in flags:
        why = "it reads like an instruction to whoever reads it"
        return NeverPromote(why, PolicyRule.INSTRUCTION)
    if StatementFlag.BY_AGENT in flags:
        return NeverPromote("an agent put it into memory itself", PolicyRule.BY_AGENT)
    if voice == Voice.PASTED:
        why = "the user may not have typed it: the message has pasted or quoted text"
        return NeverPromote(why, PolicyRule.PASTED)
    if voice not in TRUSTED_VOICES:
        why = f"the user did not say it: its source is {voice or 'unknown'}"
        return NeverPromote(why, PolicyRule.UNTRUSTED_VOICE)
    if candidate.source_kind is SourceKind.IMPORT and not facts.is_from_captured_session:
        why = "it was imported, and no session since has confirmed it"
        return Hold(why, PolicyRule.IMPORTED)
    by_user = voice == Voice.USER
    if candidate.type is MemoryType.EPISODE and by_user:
        return Promote("a record of a session", PolicyRule.SESSION_RECORD)
    is_explicit = by_user and StatementFlag.EXPLICIT in flags and settings.promote_explicit
    if facts.corrects_active and (is_explicit or (by_user and StatementFlag.CORRECTION in flags)):
        return Promote("the user corrected it", PolicyRule.CORRECTION)
    if facts.has_conflict:
        return Hold("it contradicts an existing memory", PolicyRule.CONFLICT)
    if not by_user:
        return Hold("an agent wrote it about the user", PolicyRule.ABOUT_USER)
    if candidate.provenance.rule == MODEL_RULE:
        return Hold("a language model worded it", PolicyRule.WORDED_BY_MODEL)
    if facts.sessions >= MIN_SESSIONS:
        why = f"the user said so in {facts.sessions} sessions"
        return Promote(why, PolicyRule.REPEATED)
    if candidate.confidence < MIN_CONFIDENCE:
        return Hold("the confidence of the extractor is low", PolicyRule.LOW_CONFIDENCE)
    if is_explicit:
        return Promote("the user asked to remember it", PolicyRule.EXPLICIT)
    if candidate.type is MemoryType.PROFILE:
        return Hold("a fact about the user waits for confirmation", PolicyRule.PROFILE)
    return Hold("it was said once", PolicyRule.SAID_ONCE)
