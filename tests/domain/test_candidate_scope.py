"""In which scope a statement is proposed, and in which it may become active by itself."""

from datetime import UTC, datetime
from typing import Any

from recollect.domain.candidate import ExtractedStatement, StatementSubject, VoicedSpan
from recollect.domain.candidate_scope import SessionPlace, narrow_scope, proposed_scope
from recollect.domain.memory import MemoryType
from recollect.domain.provenance import StatementFlag
from recollect.domain.scope import Scope
from recollect.domain.transcript import Voice
from tables import each_row

PERSON, WORK, ASSISTANT = StatementSubject
AT_WORK: dict[str, Any] = {"scope": Scope.PROJECT, "has_project": True}
CODER = AT_WORK | {"has_agent": True, "agent_works_in_projects": True}
PRIVATE_CHAT: dict[str, Any] = {"scope": Scope.AGENT, "has_agent": True}


def statement(
    subject: StatementSubject | None, flags: tuple[StatementFlag, ...] = (), **fields: Any
) -> ExtractedStatement:
    return ExtractedStatement(
        type=fields.pop("type", MemoryType.PROFILE),
        content="text",
        rule="durable",
        confidence=0.8,
        observed_at=datetime(2026, 1, 1, tzinfo=UTC),
        spans=(VoicedSpan(0, 4, fields.pop("voice", Voice.USER)),),
        flags=flags,
        subject=subject,
        **fields,
    )


@each_row(
    ("subject", "place", "proposed", "narrow"),
    [
        (WORK, AT_WORK, "project", "project"),
        (PERSON, AT_WORK, "global", "project"),
        (ASSISTANT, AT_WORK, "global", "project"),
        (WORK, CODER, "project", "agent"),  # a profile fact, whatever it is about
        (PERSON, CODER, "global", "agent"),
        (ASSISTANT, CODER, "agent", "agent"),
        (WORK, PRIVATE_CHAT, "agent", "agent"),  # without a project nothing is about the work
        (PERSON, PRIVATE_CHAT, "agent", "agent"),
        (PERSON, PRIVATE_CHAT | {"agent_works_in_projects": True}, "global", "agent"),
        (WORK, PRIVATE_CHAT | {"agent_works_in_projects": True}, "global", "agent"),
        (PERSON, PRIVATE_CHAT | {"single_user": True}, "global", "global"),
        (PERSON, CODER | {"single_user": True}, "global", "project"),
        (PERSON, CODER | {"is_set_by_caller": True}, "project", "project"),
        (PERSON, {"scope": Scope.GLOBAL}, "global", "global"),
        (None, CODER, "agent", "agent"),
    ],
)
def test_the_subject_and_the_session_decide_the_scope(
    subject: StatementSubject | None, place: dict[str, Any], proposed: str, narrow: str
) -> None:
    session = SessionPlace(**place)

    assert proposed_scope(statement(subject), session) == proposed
    assert narrow_scope(MemoryType.PROFILE, (), session) == narrow


def test_what_is_told_in_confidence_stays_with_the_agent_or_in_its_project() -> None:
    secret = (StatementFlag.CONFIDENTIAL,)

    for place, scope in ((CODER, "agent"), (PRIVATE_CHAT, "agent"), (AT_WORK, "project")):
        assert proposed_scope(statement(PERSON, secret), SessionPlace(**place)) == scope


def test_what_is_asked_for_in_all_projects_leaves_its_project_but_not_an_agent_by_itself() -> None:
    flags = (StatementFlag.EVERYWHERE,)

    assert proposed_scope(statement(WORK, flags), SessionPlace(**CODER)) == "global"
    assert narrow_scope(MemoryType.PROFILE, flags, SessionPlace(**CODER)) == "agent"
    assert narrow_scope(MemoryType.PROFILE, flags, SessionPlace(**AT_WORK)) == "global"


def test_what_the_user_did_not_type_or_nobody_proposes_keeps_the_narrow_scope() -> None:
    place = SessionPlace(**CODER)

    assert proposed_scope(statement(PERSON, voice=Voice.PASTED), place) == "agent"
    assert proposed_scope(statement(PERSON, is_proposed=False), place) == "agent"
    assert proposed_scope(statement(PERSON, type=MemoryType.EPISODE), place) == "agent"
