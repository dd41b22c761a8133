"""
Carry out each request of a team's user in the space where it belongs.

The rule of the verb (access_rules.py) says where: in the user's own space, or also in the space of
a project. Whether the user is a member of that project, and in which role, is read from the
directory for each such request. A verb without a rule is refused. Nothing else in this program
gives a user another space than its own.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from recollect.api.transport import Transport
from recollect.app.access_rules import ACCESS, AccessTarget, NamedRecord, Rule
from recollect.app.audit_log import AuditLog
from recollect.app.audited_transport import AuditedTransport
from recollect.app.merged_responses import MERGERS, OpenSpace
from recollect.app.project_stores import ProjectStores
from recollect.app.record_lookup import has_record
from recollect.calling_client import use_user
from recollect.domain.memory import MemoryType
from recollect.domain.scope import Scope
from recollect.domain.team import AuditEntry, AuditOutcome, Membership, User
from recollect.errors import InvalidInput, RequestRefused
from recollect.service.place_lookup import project_identity
from recollect.service.services import Services
from recollect.service.team import TeamDirectory
from recollect.wire.request import VerbRequest

Response = TypeVar("Response")
UNKNOWN = Rule(AccessTarget.ADMIN, writes=True)  # of a verb without a rule, in the audit log
# Fields of a request that mean something in the user's own space only.
_OWN_FIELDS = ("agent", "session", "conversation", "file")


class UserTransport:
    """The transport of one user of a team's server."""

    def __init__(
        self,
        own: Transport,
        services: Services,
        *,
        user: User,
        directory: TeamDirectory,
        projects: ProjectStores,
        audit: AuditLog | None,
    ) -> None:
        self._user = user
        self._directory = directory
        self.projects = projects
        self._audit = audit
        self.own = OpenSpace(
            services=services, transport=AuditedTransport(own, audit, user=user.name)
        )

    def send(self, request: VerbRequest[Response]) -> Response:
        """Carry out *request* in the space where it belongs."""
        rule = self._rule(request)
        if rule.target is AccessTarget.MERGED:
            return self._send_to_all(request)
        if isinstance(names := getattr(request, rule.field or "", None), list | tuple):
            return self._batch(request, rule, list(names))
        with self._space_of(request, rule) as (space, request):
            return space.transport.send(request)

    def stream(self, request: VerbRequest[Any]) -> Iterator[Any]:
        """Begin to carry out *request* where it belongs; return the events of its verb."""
        with ExitStack() as stack:
            opened = self._space_of(request, self._rule(request))
            space, request = stack.enter_context(opened)
            events = space.transport.stream(request)
            return _SpaceEvents(events, stack.pop_all())

    def download(self, request: VerbRequest[Response], path: Path) -> Response:
        """Carry out *request*, which writes the file *path*."""
        with self._space_of(request, self._rule(request)) as (space, request):
            return space.transport.download(request, path)

    def upload(self, request: VerbRequest[Response], path: Path) -> Response:
        """Carry out *request*, which reads the file *path*."""
        with self._space_of(request, self._rule(request)) as (space, request):
            return space.transport.upload(request, path)

    def close(self) -> None:
        """Close the user's own store."""
        self.own.transport.close()

    @property
    def user_id(self) -> str:
        """The id of the user."""
        return self._user.id

    def memberships(self) -> list[Membership]:
        """Return the projects of the user at this moment."""
        return self._directory.memberships(self._user.id)

    @contextmanager
    def using(self, membership: Membership, *, writes: bool) -> Iterator[OpenSpace]:
        """Return a context in which the space of a project may be read or, by writers, written."""
        project = membership.project
        if writes and not membership.role.can_write:
            raise RequestRefused(_role_refusal(membership))
        # What a read has to bring up to date is written as the space itself.
        acting = partial(use_user, self._user.id, writes_as=None if writes else project.id)
        with self.projects.using(project) as store:
            transport = AuditedTransport(
                store.rec.engine.transport,
                store.audit,
                user=self._user.name,
                space=project.name,
                acting=acting,
            )
            yield OpenSpace(
                services=store.rec.engine.services, transport=transport, membership=membership
            )

    def find_membership(self, reference: str | None) -> Membership | None:
        """Return the user's membership in the project that a request names, or None."""
        if reference is None:
            return None
        memberships = self.memberships()
        if not memberships:
            return None  # without looking at a folder
        name = reference.strip()
        for membership in memberships:
            if name in (membership.project.id, membership.project.identity):
                return membership
        try:
            identity = project_identity(name)
        except InvalidInput:
            return None  # the verb itself says what is wrong with it
        return next((m for m in memberships if m.project.identity == identity), None)

    def membership_with(self, kind: NamedRecord, name: str) -> Membership | None:
        """Return the membership in the project that has a record which the own space has not."""
        if has_record(self.own.services.store, kind, name):
            return None
        for membership in self.memberships():
            with self.using(membership, writes=False) as space, use_user(self._user.id):
                if has_record(space.services.store, kind, name):
                    return membership
        return None

    def _rule(self, request: VerbRequest[Any]) -> Rule:
        rule = ACCESS.get(request.verb())
        if rule is None:
            self._refuse(request, f"the verb {request.verb()} has no rule for users of a team")
        elif rule.target is AccessTarget.ADMIN and not self._user.is_admin:
            self._refuse(request, f"only an admin may do this: {request.verb()}")
        assert rule is not None
        return rule

    def _check_role(
        self, request: VerbRequest[Any], membership: Membership, *, writes: bool
    ) -> None:
        if writes and not membership.role.can_write:
            self._refuse(request, _role_refusal(membership), space=membership.project.name)

    def _refuse(self, request: VerbRequest[Any], reason: str, *, space: str = "") -> None:
        if self._audit is not None:
            entry: AuditEntry = self._audit.entry(
                request,
                user=self._user.name,
                space=space,
                is_write=ACCESS.get(request.verb(), UNKNOWN).writes,
            )
            self._audit.add(replace(entry, outcome=AuditOutcome.REFUSED))
        raise RequestRefused(reason)

    @contextmanager
    def _space_of(
        self, request: VerbRequest[Any], rule: Rule
    ) -> Iterator[tuple[OpenSpace, VerbRequest[Any]]]:
        """Return a context with the space of *request*, and the request as that space gets it."""
        membership = self._membership_of(request, rule)
        if membership is None:
            yield self.own, request
            return
        # A block of a project or agent is read without making one that is missing.
        writes = rule.writes and not (request.verb() == "get_block" and not _has(request, "agent"))
        self._check_role(request, membership, writes=writes)
        with self.using(membership, writes=writes) as space:
            yield space, in_project(request, membership, self.find_membership)

    def _membership_of(self, request: VerbRequest[Any], rule: Rule) -> Membership | None:
        values: Any = request
        match rule.target:
            case AccessTarget.RECORD:
                name = getattr(request, rule.field)
                assert rule.kind is not None
                membership = self._with_record(rule.kind, name)
                if membership is None and rule.field == "agent" and name is None:
                    # Messages and approvals may be asked for by their conversation alone.
                    conversation = getattr(request, "conversation", None)
                    membership = self._with_record(NamedRecord.CONVERSATION, conversation)
                return membership
            case AccessTarget.BLOCK:
                if _has(request, "agent"):
                    return self._with_record(NamedRecord.AGENT, values.agent)
                if _has(request, "conversation"):
                    return self._with_record(NamedRecord.CONVERSATION, values.conversation)
                if _has(request, "project"):
                    return self.find_membership(values.project)
                return self._with_record(NamedRecord.BLOCK, getattr(request, "label", None))
            case AccessTarget.MEMORY:
                return self._membership_of_memory(
                    values.project or values.repo,
                    values.scope,
                    values.agent,
                    values.session,
                    values.type,
                )
            case AccessTarget.MEMORIES:
                return self._membership_of_memories(values.items)
        return None

    def _with_record(self, kind: NamedRecord, name: str | None) -> Membership | None:
        return self.membership_with(kind, name) if name else None

    def _membership_of_memory(
        self,
        project: str | None,
        scope: Scope | str | None,
        agent: str | None,
        session: str | None,
        memory_type: MemoryType | str | None,
    ) -> Membership | None:
        if agent is not None and (shared := self._with_record(NamedRecord.AGENT, agent)):
            return shared
        if memory_type == MemoryType.PROFILE:
            return None  # it is about this user, not about every member
        is_of_agent = agent is not None or session is not None
        if scope in (Scope.PROJECT, Scope.REPO) or (scope is None and not is_of_agent):
            return self.find_membership(project)
        return None

    def _membership_of_memories(self, items: Sequence[Any]) -> Membership | None:
        fields = [item if isinstance(item, dict) else {} for item in items]
        memberships = [
            self._membership_of_memory(
                _text(item.get("project")) or _text(item.get("repo")),
                item.get("scope"),
                _text(item.get("agent")),
                _text(item.get("session")),
                _text(item.get("type")),
            )
            for item in fields
        ]
        ids = {membership.project.id if membership else "" for membership in memberships}
        if len(ids) > 1:
            raise InvalidInput(
                "these memories belong to different projects; send one request for each project"
            )
        return memberships[0] if memberships else None

    def _batch(self, request: VerbRequest[Response], rule: Rule, names: list[str]) -> Response:
        """Carry out a request about several records, in the space that has them."""
        assert rule.kind is not None
        by_space: dict[str, tuple[Membership | None, list[str]]] = {}
        for name in names:
            membership = self._with_record(rule.kind, name)
            key = membership.project.id if membership else ""
            by_space.setdefault(key, (membership, []))[1].append(name)
        if len(by_space) > 1 and rule.writes:
            raise InvalidInput(
                "these memories belong to different projects; send one request for each project"
            )
        if len(by_space) <= 1:
            membership = next(iter(by_space.values()))[0] if by_space else None
            return self._send_to(membership, request, rule)
        responses: list[Any] = []
        for membership, some in by_space.values():
            part = request.model_copy(update={rule.field: type(getattr(request, rule.field))(some)})
            responses += self._send_to(membership, part, rule)  # type: ignore[arg-type]
        return responses  # type: ignore[return-value]  # such a verb returns a list

    def _send_to(
        self, membership: Membership | None, request: VerbRequest[Response], rule: Rule
    ) -> Response:
        if membership is None:
            return self.own.transport.send(request)
        self._check_role(request, membership, writes=rule.writes)
        with self.using(membership, writes=rule.writes) as space:
            return space.transport.send(request)

    def _send_to_all(self, request: VerbRequest[Response]) -> Response:
        """Carry out a request that reads the user's space and those of the projects meant."""
        if _has(request, "agent"):
            shared = self._with_record(NamedRecord.AGENT, getattr(request, "agent", None))
            if shared is not None:  # an agent of a project knows what is there, and nothing else
                with self.using(shared, writes=False) as space:
                    return space.transport.send(in_project(request, shared, self.find_membership))
        memberships = self._projects_meant(request)
        if not memberships:
            return self.own.transport.send(request)
        with ExitStack() as stack:
            parts: list[tuple[OpenSpace, VerbRequest[Any]]] = []
            for membership in memberships:
                space = stack.enter_context(self.using(membership, writes=False))
                cleared = {name: None for name in _OWN_FIELDS if name in type(request).model_fields}
                part = request.model_copy(update=cleared)
                parts.append((space, in_project(part, membership, self.find_membership)))
            merge: Callable[..., Any] = MERGERS[request.verb()]
            response: Response = merge(self.own, request, parts)
            return response

    def _projects_meant(self, request: VerbRequest[Any]) -> list[Membership]:
        if request.verb() in ("list_agents", "list_projects", "review_order"):
            return self.memberships()
        reference = getattr(request, "project", None) or getattr(request, "repo", None)
        if reference is None and getattr(request, "everywhere", False):
            return self.memberships()
        membership = self.find_membership(reference)
        return [] if membership is None else [membership]


class _SpaceEvents(Iterator[Any]):
    """The events of a request in a space, which is in use until their end."""

    def __init__(self, events: Iterator[Any], space: ExitStack) -> None:
        self._events = events
        self._space = space

    def __next__(self) -> Any:
        try:
            return next(self._events)
        except BaseException:
            self._space.close()
            raise

    def close(self) -> None:
        """Stop what the verb does."""
        try:
            close = getattr(self._events, "close", None)
            if close is not None:
                close()
        finally:
            self._space.close()


def in_project(
    request: VerbRequest[Response],
    membership: Membership,
    find: Callable[[str | None], Membership | None],
) -> VerbRequest[Response]:
    """Return *request* with the project named as it is in its own space."""
    reference = getattr(request, "project", None)
    named = find(reference)
    if named is None or named.project.id != membership.project.id:
        return request
    return request.model_copy(update={"project": membership.project.identity})


def _role_refusal(membership: Membership) -> str:
    return (
        f"you are a {membership.role} of {membership.project.name!r} and cannot change it; "
        "ask an owner for the role writer"
    )


def _has(request: VerbRequest[Any], field: str) -> bool:
    return getattr(request, field, None) is not None


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None
