"""
The scope of what is extracted from a session: as proposed to a person, and if nobody decides.

A candidate is proposed with the scope that fits its subject. What becomes active without a person
stays in the narrowest place of its session, because agents may serve different users:

    what it is                          proposed to a person           active without a person
    ──────────────────────────────────  ─────────────────────────────  ───────────────────────────
    about the work, in a project        the project                    the project
    how the assistant should behave,    the agent                      the agent
    or told in confidence
    about the person, and the agent     global                         the agent if one is named,
    works for the owner of the store                                   else the project
    about the person, other agents      the agent                      the agent

An agent works for the owner of the store if none is named, if the store has a single user, or if
the agent has worked in a project. Without a project nothing is about the work. A caller may set the
scope of a capture.

Whether two agents serve one user is not known unless the setting `single_user` says so. Until then
what is about the person is never compared with what another agent was told, and in a store with
several agents it is kept for that agent, unless the person names a scope (`scope_when_kept`).
Nothing here reads or writes the store.
"""

from recollect.domain.candidate import ExtractedStatement, StatementSubject
from recollect.domain.memory import Memory, MemoryType
from recollect.domain.provenance import StatementFlag
from recollect.domain.scope import Owner, Scope
from recollect.domain.transcript import Voice
from recollect.lazy_dataclass import dataclass

PLACES_OF_WORK = frozenset({Scope.PROJECT, Scope.REPO})


@dataclass(frozen=True, kw_only=True)
class SessionPlace:
    """Where a session was held, as far as it decides the scope of what was said in it."""

    scope: Scope  # the narrowest of the session, or the one that the caller set
    is_set_by_caller: bool = False
    has_agent: bool = False
    has_project: bool = False
    single_user: bool = False  # all agents of the store serve one user
    agent_works_in_projects: bool = False

    @property
    def is_private_to_agent(self) -> bool:
        """Whether facts about the user must not reach other agents by themselves."""
        return self.has_agent and not self.single_user and not self.is_set_by_caller

    @property
    def serves_owner(self) -> bool:
        """Whether the user of this session is the owner of the store."""
        return not self.has_agent or self.single_user or self.agent_works_in_projects


def proposed_scope(statement: ExtractedStatement, place: SessionPlace) -> Scope:
    """Return the scope in which a person is asked to keep *statement*."""
    if place.is_set_by_caller or statement.subject is None or statement.voice is not Voice.USER:
        return narrow_scope(statement.type, statement.flags, place)
    if statement.type is MemoryType.EPISODE or not statement.is_proposed:
        return narrow_scope(statement.type, statement.flags, place)
    is_confidential = StatementFlag.CONFIDENTIAL in statement.flags
    if place.has_agent and (is_confidential or statement.subject is StatementSubject.ASSISTANT):
        return Scope.AGENT
    if is_confidential:
        return place.scope
    is_for_all = StatementFlag.EVERYWHERE in statement.flags
    is_work = statement.subject is StatementSubject.WORK and place.has_project
    if is_work and not is_for_all:
        return place.scope
    return Scope.GLOBAL if place.serves_owner else Scope.AGENT


def narrow_scope(kind: MemoryType, flags: tuple[StatementFlag, ...], place: SessionPlace) -> Scope:
    """Return the scope of a statement that nobody reviewed: that of its session."""
    if place.is_set_by_caller:
        return place.scope
    is_personal = kind in (MemoryType.PROFILE, MemoryType.EPISODE)
    if place.is_private_to_agent:
        return Scope.AGENT if is_personal or not place.has_project else place.scope
    if kind is MemoryType.PROFILE and place.scope is Scope.AGENT:
        return Scope.GLOBAL  # all agents serve one user
    if StatementFlag.EVERYWHERE in flags and kind is not MemoryType.EPISODE:
        return Scope.GLOBAL
    return place.scope


def automatic_scope(candidate: Memory, session: Owner | None, *, single_user: bool) -> Scope:
    """Return the scope in which *candidate* may become active without a person."""
    if session is not None and session.scope is Scope.GLOBAL:
        return candidate.scope  # of a session without a place, or as the caller set it
    is_private = candidate.agent_id is not None and not single_user
    if is_private and (candidate.scope is Scope.GLOBAL or candidate.type is MemoryType.PROFILE):
        return Scope.AGENT
    if (
        candidate.scope is not Scope.GLOBAL
        or StatementFlag.EVERYWHERE in candidate.provenance.flags
    ):
        return candidate.scope
    is_of_work = session is not None and session.scope in PLACES_OF_WORK
    return session.scope if session is not None and is_of_work else candidate.scope


def scope_when_kept(
    candidate: Memory, session: Owner | None, *, single_user: bool, has_several_agents: bool
) -> Scope:
    """Return the scope in which a person keeps *candidate* without naming one."""
    is_from_session = candidate.provenance.event_id is not None
    if candidate.scope is not Scope.GLOBAL or not is_from_session or not has_several_agents:
        return candidate.scope
    scope = automatic_scope(candidate, session, single_user=single_user)
    return scope if scope is Scope.AGENT else candidate.scope


def is_of_one_user(memory: Memory, *, single_user: bool) -> bool:
    """Return whether a memory is about the person who talks to one agent, and to no other one."""
    is_about_person = memory.scope is Scope.GLOBAL or memory.type is MemoryType.PROFILE
    return is_about_person and memory.agent_id is not None and not single_user


def may_compare(candidate: Memory, other: Memory, *, single_user: bool) -> bool:
    """
    Return whether consolidation may compare *candidate* with *other*.

    What one agent was told about its user is compared with what that agent was told, and with what
    no agent was told; what is about a project, with everything about the project.
    """
    if candidate.agent_id == other.agent_id:
        return True
    if is_of_one_user(other, single_user=single_user):
        return False
    return other.agent_id is None or not is_of_one_user(candidate, single_user=single_user)


def may_change(candidate: Memory, other: Memory, *, single_user: bool) -> bool:
    """Return whether *candidate* may supersede, extend or move to the place of *other*."""
    is_shared = not is_of_one_user(candidate, single_user=single_user)
    return candidate.agent_id == other.agent_id or is_shared


def may_merge(candidate: Memory, other: Memory, *, single_user: bool) -> bool:
    """Return whether *other* may get the quotes of *candidate*: its readers see them then."""
    is_told_to_agent = candidate.agent_id is not None and not single_user
    is_wider = other.scope is Scope.GLOBAL and other.agent_id != candidate.agent_id
    return not (is_told_to_agent and is_wider) and may_change(
        candidate, other, single_user=single_user
    )
