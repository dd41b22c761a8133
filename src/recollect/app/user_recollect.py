"""
The memory of one user of a team's server: the user's own space, and the projects of the user.

It is a `LocalRecollect`, so every route, page and tool of a server for one person works on it; its
transport (user_transport.py) chooses the space of each request.
"""

from collections.abc import Callable, Hashable
from contextlib import ExitStack
from dataclasses import replace
from functools import cached_property
from typing import Any, TypeVar

from recollect.api.arguments import AgentLike, Place
from recollect.app.access_rules import NamedRecord
from recollect.app.engine_control import EngineControl
from recollect.app.local_recollect import LocalRecollect
from recollect.app.project_stores import ProjectStores, space_audit
from recollect.app.team_space import FIRST_SPACE, TeamSpace, directory_schema, space_settings
from recollect.app.user_transport import UserTransport
from recollect.calling_client import use_user
from recollect.clock import Clock, SystemClock
from recollect.config import Settings
from recollect.domain.memory import Memory
from recollect.domain.retrieval import Hit, WhyNot
from recollect.domain.scope import Viewer
from recollect.domain.team import Membership, User
from recollect.service import review
from recollect.service.idempotency import run_once
from recollect.service.place_lookup import RequestPlace, find_viewer, place_of
from recollect.service.services import Services
from recollect.service.team import TeamDirectory
from recollect.wire.requests.memories import GetMemoryRequest
from recollect.wire.requests.recollect import SearchRequest
from recollect.wire.requests.shared import PlaceFields

Result = TypeVar("Result")


class UserRecollect(LocalRecollect):
    """What one user of a team may read and write."""

    def __init__(
        self,
        settings: Settings,
        user: User,
        *,
        directory: TeamDirectory,
        projects: ProjectStores,
        models_of: LocalRecollect,
        clock: Clock | None = None,
    ) -> None:
        clock = clock or SystemClock()
        space = None
        if not user.has_first_store:
            space = TeamSpace(
                id=user.id, directory_schema=directory_schema(settings), default_user=user.id
            )
            settings = space_settings(settings, user.id)
        # Files on the disk of the server are for its admins.
        folders = settings.file_root_paths if user.is_admin else ()
        super().__init__(
            # The transport below logs: each request once, with the user.
            replace(
                settings,
                token="",
                audit="team" if settings.audit == "always" else settings.audit,
                backup_every_hours=0,  # the worker of the server backs up all stores
            ),
            clock=clock,
            readable_folders=folders,
            reads_home_skills=user.is_admin,
            # Not even of an admin: the code could read the stores of all users.
            runs_agent_file_code=False,
            space=space,
            models_of=models_of,
        )
        audit = space_audit(self._store, settings, clock, FIRST_SPACE if space is None else user.id)
        self.user_transport = UserTransport(
            self._transport,
            self._services,
            user=user,
            directory=directory,
            projects=projects,
            audit=audit,
        )
        self._transport = self.user_transport

    @cached_property
    def engine(self) -> "UserEngine":
        """Single steps of the engine in the user's own space, and what pages and tools ask."""
        return UserEngine(self._services, self.user_transport)


class UserEngine(EngineControl):
    """The engine of a user's own space; what it says about a project includes its own space."""

    def __init__(self, services: Services, transport: UserTransport) -> None:
        super().__init__(services, transport)
        self.user_transport = transport

    def viewer(self, *, project: Place = None, agent: AgentLike | None = None) -> Viewer:
        """Return the ids of the project, its repos and the agent, in all spaces that are read."""
        own = super().viewer(project=project, agent=agent)
        transport = self.user_transport
        place = place_of(PlaceFields.model_validate({"project": project, "agent": agent}))
        if place.agent is not None:
            shared = transport.membership_with(NamedRecord.AGENT, place.agent)
            if shared is not None:
                return self._viewer_in(shared, place)
        membership = transport.find_membership(place.project)
        if membership is None:
            return own
        there = self._viewer_in(membership, replace(place, agent=None))
        linked = (*own.linked_project_ids, there.project_id or "", *there.linked_project_ids)
        repo_ids = (*own.repo_ids, *there.repo_ids)
        return replace(own, linked_project_ids=tuple(filter(None, linked)), repo_ids=repo_ids)

    def _viewer_in(self, membership: Membership, place: RequestPlace) -> Viewer:
        transport = self.user_transport
        with (
            transport.using(membership, writes=False) as space,
            use_user(transport.user_id),
            space.services.store.read() as tables,
        ):
            return find_viewer(tables, replace(place, project=membership.project.identity))

    def search_or_explain(self, query: str, **options: Any) -> tuple[list[Hit], WhyNot | None]:
        """Return what `search` returns; if that is nothing, what the own space says about it."""
        hits = self.transport.send(SearchRequest.of({"query": query, **options}))
        if hits:
            return hits, None
        return [], super().search_or_explain(query, **options)[1]

    def duplicates_of(self, memory_id: str) -> list[Memory]:
        """Return the duplicates that `inbox.decide` would change together with a candidate."""
        transport = self.user_transport
        request = GetMemoryRequest.of({"memory_id": memory_id})  # in the audit log
        membership = transport.membership_with(NamedRecord.MEMORY, memory_id)
        if membership is None:
            own = transport.own
            return own.transport.run(
                request, lambda: review.list_duplicates(own.services, memory_id)
            )
        with transport.using(membership, writes=False) as space:
            return space.transport.run(
                request, lambda: review.list_duplicates(space.services, memory_id)
            )

    def replay_condition(self) -> Hashable:
        """Return the projects of this moment, and whether a member has deleted something."""
        transport = self.user_transport
        projects = tuple((item.project.id, item.role) for item in transport.memberships())
        return (projects, transport.projects.deletions)

    def record_deletion(self) -> None:
        """Record that something was deleted: responses to other members may quote it."""
        self.user_transport.projects.deletions += 1

    def run_once(self, key: str, fingerprint: str, call: Callable[[], Result]) -> Result:
        """Return the result of *call*; the key is claimed in the space that it writes first."""
        transport = self.user_transport
        with ExitStack() as stack:
            run = call
            for membership in transport.memberships():
                if membership.role.can_write:
                    space = stack.enter_context(transport.using(membership, writes=True))
                    run = _bind_to_space(space.services, transport.user_id, key, fingerprint, run)
            return run_once(self.services, key, fingerprint, run)


def _bind_to_space(
    services: Services, user_id: str, key: str, fingerprint: str, run: Callable[[], Result]
) -> Callable[[], Result]:
    def run_in_space() -> Result:
        with use_user(user_id):
            return run_once(services, key, fingerprint, run, user=user_id)

    return run_in_space
