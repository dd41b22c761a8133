"""The policy as a table: what may become active by itself, what waits, what never may."""

from dataclasses import replace
from itertools import product

from recollect.domain.memory import Memory, MemoryType, Status
from recollect.domain.promotion_policy import (
    MIN_CONFIDENCE,
    MIN_SESSIONS,
    Hold,
    NeverPromote,
    PolicyRule,
    Promote,
    PromotionFacts,
    Verdict,
    judge,
)
from recollect.domain.provenance import MODEL_RULE, NO_PROVENANCE, Provenance, StatementFlag
from recollect.domain.scope import Scope
from recollect.domain.source import SourceKind
from recollect.domain.transcript import Voice
from support import START
from tables import each_row

ONCE = PromotionFacts(sessions=1)
TWICE = PromotionFacts(sessions=MIN_SESSIONS)
AGAINST = PromotionFacts(sessions=1, has_conflict=True)
TWICE_AGAINST = PromotionFacts(sessions=MIN_SESSIONS, has_conflict=True)
CORRECTS = PromotionFacts(sessions=1, corrects_active=True)

PROFILE, PROJECT, DECISION = MemoryType.PROFILE, MemoryType.PROJECT, MemoryType.DECISION
EPISODE, HINT, ARTIFACT = MemoryType.EPISODE, MemoryType.TASK_HINT, MemoryType.ARTIFACT
USER, ASSISTANT, OTHER = Voice.USER, Voice.ASSISTANT, Voice.OTHER
TOOL, SYSTEM, PASTED = Voice.TOOL, Voice.SYSTEM, Voice.PASTED


def candidate(
    kind: MemoryType,
    voice: Voice,
    *,
    confidence: float = 0.8,
    rationale: str = "",
    flags: tuple[StatementFlag, ...] = (),
) -> Memory:
    return Memory(
        id="m1",
        type=kind,
        scope=Scope.GLOBAL,
        status=Status.INBOX,
        content="abc",
        confidence=confidence,
        rationale=rationale,
        observed_at=START,
        confirmed_at=START,
        created_at=START,
        updated_at=START,
        provenance=Provenance(voice=voice, flags=flags),
    )


@each_row("voice", [USER, ASSISTANT])
@each_row("kind", list(MemoryType))
@each_row("standing", [ONCE, TWICE, CORRECTS, AGAINST])
def test_what_was_imported_waits_until_it_is_said_again(
    voice: Voice, kind: MemoryType, standing: PromotionFacts
) -> None:
    imported = replace(
        candidate(kind, voice, rationale="it is quick"), source_kind=SourceKind.IMPORT
    )

    assert isinstance(judge(imported, standing), Hold)
    confirmed = replace(standing, is_from_captured_session=True)
    assert judge(imported, confirmed) == judge(
        replace(imported, source_kind=SourceKind.RUN), confirmed
    )


# who, what, how it stands, verdict
POLICY = [
    # the record that a session took place
    (USER, EPISODE, ONCE, Promote),
    (ASSISTANT, EPISODE, ONCE, Hold),
    (PASTED, EPISODE, ONCE, NeverPromote),
    (TOOL, EPISODE, ONCE, NeverPromote),
    (SYSTEM, EPISODE, ONCE, NeverPromote),
    (OTHER, EPISODE, ONCE, NeverPromote),
    # the user, once
    (USER, PROFILE, ONCE, Hold),
    (USER, PROJECT, ONCE, Hold),
    (USER, DECISION, ONCE, Hold),
    (USER, ARTIFACT, ONCE, Hold),
    (USER, HINT, ONCE, Hold),
    # the user, in separate sessions
    (USER, PROFILE, TWICE, Promote),
    (USER, PROJECT, TWICE, Promote),
    (USER, DECISION, TWICE, Promote),
    (USER, ARTIFACT, TWICE, Promote),
    (USER, HINT, TWICE, Promote),
    # against an active memory, but without a word that corrects it; with one, see below
    (USER, PROFILE, CORRECTS, Hold),
    (USER, PROJECT, CORRECTS, Hold),
    # against something known
    (USER, PROFILE, AGAINST, Hold),
    (USER, DECISION, AGAINST, Hold),
    (USER, PROJECT, TWICE_AGAINST, Hold),
    # written by an agent about the user
    (ASSISTANT, PROFILE, ONCE, Hold),
    (ASSISTANT, PROFILE, TWICE, Hold),
    (ASSISTANT, PROFILE, CORRECTS, Hold),
    (ASSISTANT, DECISION, AGAINST, Hold),
    # anybody else
    *((voice, kind, standing, NeverPromote)
      for voice in (TOOL, SYSTEM, OTHER, PASTED)
      for kind in (PROFILE, PROJECT, DECISION, ARTIFACT, HINT)
      for standing in (ONCE, TWICE, CORRECTS, AGAINST)),
]  # fmt: skip


@each_row(("voice", "kind", "standing", "verdict"), POLICY)
def test_who_said_what_decides(
    voice: Voice, kind: MemoryType, standing: PromotionFacts, verdict: type[Verdict]
) -> None:
    judged = judge(candidate(kind, voice), standing)

    assert isinstance(judged, verdict)
    assert judged.why


@each_row("kind", [PROFILE, PROJECT, DECISION, ARTIFACT, HINT])
@each_row(
    ("voice", "standing", "confidence", "verdict"),
    [
        (USER, ONCE, 0.8, Promote),
        (USER, ONCE, MIN_CONFIDENCE, Promote),
        (USER, ONCE, MIN_CONFIDENCE - 0.01, Hold),  # the extractor is unsure
        (USER, TWICE, MIN_CONFIDENCE - 0.01, Promote),  # said twice outweighs that
        (USER, AGAINST, 0.8, Hold),
        (USER, CORRECTS, 0.8, Promote),
        (ASSISTANT, ONCE, 0.8, Hold),
        *((voice, ONCE, 0.8, NeverPromote) for voice in (TOOL, SYSTEM, OTHER, PASTED)),
    ],
)
def test_what_the_user_asks_to_remember_becomes_active(
    kind: MemoryType,
    voice: Voice,
    standing: PromotionFacts,
    confidence: float,
    verdict: type[Verdict],
) -> None:
    asked = candidate(kind, voice, confidence=confidence, flags=(StatementFlag.EXPLICIT,))

    assert isinstance(judge(asked, standing), verdict)


@each_row(
    ("voice", "flag", "verdict"),
    [
        (USER, StatementFlag.CORRECTION, Promote),
        (USER, StatementFlag.UPDATE, Hold),
        (ASSISTANT, StatementFlag.CORRECTION, Hold),
        (PASTED, StatementFlag.CORRECTION, NeverPromote),
    ],
)
def test_only_an_explicit_correction_takes_the_place_of_an_active_memory(
    voice: Voice, flag: StatementFlag, verdict: type[Verdict]
) -> None:
    assert isinstance(judge(candidate(PROJECT, voice, flags=(flag,)), CORRECTS), verdict)


@each_row("standing", [ONCE, TWICE])
def test_what_a_model_worded_waits_for_a_person(standing: PromotionFacts) -> None:
    worded = replace(candidate(PROJECT, USER), provenance=Provenance(voice=USER, rule=MODEL_RULE))

    assert isinstance(judge(worded, standing), Hold)


@each_row("rationale", ["", "it keeps history"])
def test_a_decision_that_was_said_once_waits_for_a_person(rationale: str) -> None:
    assert isinstance(judge(candidate(DECISION, USER, rationale=rationale), ONCE), Hold)


@each_row("kind", [PROFILE, PROJECT, ARTIFACT, HINT])
def test_a_reason_makes_nothing_else_active(kind: MemoryType) -> None:
    assert isinstance(judge(candidate(kind, USER, rationale="it keeps history"), ONCE), Hold)


@each_row(
    ("kind", "voice", "standing"),
    list(product(MemoryType, Voice, [ONCE, TWICE, CORRECTS, AGAINST])),
)
def test_what_commands_its_reader_never_becomes_active_by_itself(
    kind: MemoryType, voice: Voice, standing: PromotionFacts
) -> None:
    flags = (StatementFlag.INSTRUCTION,)
    commands = candidate(kind, voice, rationale="because I say so", flags=flags)

    assert isinstance(judge(commands, standing), NeverPromote)


def test_a_candidate_that_does_not_say_whose_words_it_rests_on_is_not_trusted() -> None:
    unknown = replace(candidate(PROJECT, USER), provenance=NO_PROVENANCE)

    assert judge(unknown, TWICE) == NeverPromote(
        "the user did not say it: its source is unknown", PolicyRule.UNTRUSTED_VOICE
    )


@each_row("sessions", [0, 1, MIN_SESSIONS, MIN_SESSIONS + 1, 100])
def test_it_takes_two_sessions(sessions: int) -> None:
    judged = judge(candidate(PROFILE, USER), PromotionFacts(sessions=sessions))

    assert isinstance(judged, Promote) is (sessions >= 2)


def test_a_verdict_names_its_reason() -> None:
    assert [
        judge(candidate(PROFILE, USER), ONCE).why,
        judge(candidate(PROFILE, USER), AGAINST).why,
        judge(candidate(PROFILE, USER), TWICE).why,
        judge(candidate(PROJECT, USER, confidence=0.1), ONCE).why,
        judge(candidate(PROJECT, TOOL), ONCE).why,
    ] == [
        "a fact about the user waits for confirmation",
        "it contradicts an existing memory",
        "the user said so in 2 sessions",
        "the confidence of the extractor is low",
        "the user did not say it: its source is tool",
    ]


@each_row("standing", [ONCE, TWICE, AGAINST, CORRECTS], ids=str)
@each_row(("voice", "kind"), list(product(Voice, MemoryType)), ids=str)
def test_what_an_agent_put_into_memory_never_becomes_active_by_itself(
    voice: Voice, kind: MemoryType, standing: PromotionFacts
) -> None:
    told = candidate(kind, voice, confidence=1.0, rationale="so", flags=(StatementFlag.BY_AGENT,))

    assert isinstance(judge(told, standing), NeverPromote)
