"""In which scope a statement is proposed, and in which it may become active by itself."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from recollect.domain.candidate import ExtractedStatement, NotProposed, StatementSubject, VoicedSpan
from recollect.domain.candidate_scope import (
    SessionPlace,
    may_change,
    may_compare,
    may_merge,
    narrow_scope,
    proposed_scope,
    scope_when_kept,
)
from recollect.domain.memory import Memory, MemoryType
from recollect.domain.provenance import Provenance, StatementFlag
from recollect.domain.scope import Owner, Scope
from recollect.domain.transcript import Voice
from support import active_memory
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
    assert proposed_scope(statement(PERSON, not_proposed=NotProposed.UNLIKELY), place) == "agent"
    assert proposed_scope(statement(PERSON, type=MemoryType.EPISODE), place) == "agent"


def memory_of(agent: str | None, **fields: Any) -> Memory:
    kind = fields.pop("type", MemoryType.PROFILE)
    captured = Provenance(event_id="event")
    fields = {"agent_id": agent, "provenance": captured} | fields
    return replace(active_memory("m", kind, "text"), **fields)


ONE, OTHER, NOBODY = memory_of("agent-1"), memory_of("agent-2"), memory_of(None)
IN_PROJECT: dict[str, Any] = {"scope": Scope.PROJECT, "project_id": "shop"}
WORK_OF_ONE = memory_of("agent-1", type=MemoryType.DECISION, **IN_PROJECT)
WORK_OF_OTHER = memory_of("agent-2", type=MemoryType.DECISION, **IN_PROJECT)
PERSONAL_IN_PROJECT = memory_of("agent-2", **IN_PROJECT)


@each_row(
    ("candidate", "other", "compared", "changed", "merged"),
    [
        (ONE, ONE, True, True, True),
        (ONE, OTHER, False, False, False),
        (ONE, NOBODY, True, False, False),  # everybody is shown it
        (NOBODY, ONE, False, True, True),  # not compared, so the others do not matter
        (ONE, WORK_OF_ONE, True, True, True),
        (ONE, WORK_OF_OTHER, False, False, False),
        (WORK_OF_ONE, OTHER, False, True, False),
        (WORK_OF_ONE, WORK_OF_OTHER, True, True, True),
        (WORK_OF_ONE, PERSONAL_IN_PROJECT, False, True, True),
        (WORK_OF_ONE, NOBODY, True, True, False),
        (NOBODY, NOBODY, True, True, True),
    ],
)
def test_what_is_about_the_user_of_an_agent_is_compared_with_what_that_agent_was_told(
    candidate: Memory, other: Memory, compared: bool, changed: bool, merged: bool
) -> None:
    assert may_compare(candidate, other, single_user=False) is compared
    assert may_change(candidate, other, single_user=False) is changed
    assert may_merge(candidate, other, single_user=False) is merged
    for rule in (may_compare, may_change, may_merge):
        assert rule(candidate, other, single_user=True)


@each_row(
    ("candidate", "single_user", "several", "scope"),
    [
        (ONE, False, True, "agent"),
        (ONE, False, False, "global"),  # the only agent of the store
        (ONE, True, True, "global"),
        (NOBODY, False, True, "global"),
        (WORK_OF_ONE, False, True, "project"),
        (replace(ONE, provenance=Provenance()), False, True, "global"),  # written, with its scope
    ],
)
def test_what_a_person_keeps_stays_with_its_agent_if_the_store_has_several(
    candidate: Memory, single_user: bool, several: bool, scope: str
) -> None:
    session = Owner(Scope.PROJECT, "shop")

    kept = scope_when_kept(candidate, session, single_user=single_user, has_several_agents=several)

    assert kept == scope


def test_what_a_caller_captured_as_global_is_kept_as_global() -> None:
    everywhere = Owner(Scope.GLOBAL, "")

    kept = scope_when_kept(ONE, everywhere, single_user=False, has_several_agents=True)

    assert kept is Scope.GLOBAL
