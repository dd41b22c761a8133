"""
The routes about the team itself, under /api/team: users, members, shared agents, the audit log.

They exist on a server whose store has users. The dispatcher has identified the caller. An admin may
do everything here, an owner of a project may change its members.
"""

from collections.abc import Callable
from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, FastAPI, Query, Request, Response
from pydantic import BaseModel, ConfigDict, Field
from starlette.concurrency import run_in_threadpool

from recollect.app.local_team import parse_role
from recollect.app.share_agent import share_agent
from recollect.config import Settings
from recollect.domain.team import AuditEntry, Member, MemberRole, NewToken, User
from recollect.errors import RequestRefused
from recollect.server import error_handlers
from recollect.server.client_names import ClientNameMiddleware
from recollect.server.path_decoding import PathDecodingMiddleware
from recollect.server.request_guard import GuardRules, RequestGuard
from recollect.service.team import TeamDirectory
from recollect.wire import path_segment
from recollect.wire.fields import parse_moment

MAX_NAME = 200


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid")


class UserBody(_Body):
    """A new user."""

    name: str = Field(max_length=MAX_NAME)
    admin: bool = False


class MemberBody(_Body):
    """A member of a project."""

    project: str = Field(max_length=4_096)
    user: str = Field(max_length=MAX_NAME)
    role: str = MemberRole.WRITER.value


class SharedAgentBody(_Body):
    """An agent to share, and the project."""

    agent: str = Field(max_length=MAX_NAME)
    project: str = Field(max_length=4_096)


def team_app(settings: Settings, *, clock: Callable[[], float]) -> FastAPI:
    """Return the application with the routes about the team."""
    app = FastAPI(openapi_url=None, docs_url=None, redoc_url=None, redirect_slashes=False)
    app.include_router(_router())
    error_handlers.add_error_handlers(app)
    app.add_middleware(error_handlers.UnexpectedErrorMiddleware)
    app.add_middleware(ClientNameMiddleware)
    app.add_middleware(PathDecodingMiddleware)
    rules = GuardRules.from_settings(settings).without_token()
    app.add_middleware(RequestGuard, rules=rules, clock=clock)
    return app


def _router() -> APIRouter:
    router = APIRouter(prefix="/api/team")

    @router.get("/me")
    def me(request: Request) -> dict[str, Any]:
        """Return who calls, and the projects with the role in each."""
        user = _caller(request)
        memberships = _directory(request).memberships(user.id)
        projects = [
            {"project": membership.project.identity, "role": membership.role}
            for membership in memberships
        ]
        return {"user": user, "projects": projects}

    _add_users(router)
    _add_members(router)

    @router.post("/agents")
    async def share(body: SharedAgentBody, request: Request) -> Any:
        """Copy an agent of the caller, with its blocks, to a project."""
        user_app = await request.state.dispatcher.app_of(_caller(request))
        return await run_in_threadpool(share_agent, user_app.rec, body.agent, project=body.project)

    @router.get("/audit")
    def audit(
        request: Request,
        user: str = "",
        since: str | None = None,
        verb: str = "",
        limit: Annotated[int, Query(ge=1, le=100_000)] = 100,
    ) -> list[AuditEntry]:
        """Return who read or changed what, the newest first."""
        _require_admin(request)
        moment: datetime | None = None if since is None else parse_moment("since", since)
        entries: list[AuditEntry] = request.state.dispatcher.team.audit(
            user=user, since=moment, verb=verb, limit=limit
        )
        return entries

    return router


def _add_users(router: APIRouter) -> None:
    @router.get("/users")
    def list_users(request: Request) -> list[User]:
        """Return every user."""
        _require_admin(request)
        return _directory(request).users()

    @router.post("/users")
    def add_user(body: UserBody, request: Request) -> NewToken:
        """Add a user; the response is the only place of the token."""
        _require_admin(request)
        by = _caller(request).name
        return _directory(request).add_user(body.name, is_admin=body.admin, by=by)

    @router.post("/users/{name}/rotate")
    def rotate_user(name: str, request: Request) -> NewToken:
        """Give a user a new token. An admin may do so for anybody, a user for themselves."""
        name = path_segment.decode_segment(name)
        if _caller(request).name != name:
            _require_admin(request)
        return _directory(request).rotate_user(name, by=_caller(request).name)

    @router.delete("/users/{name}")
    def revoke_user(name: str, request: Request) -> User:
        """Revoke a user."""
        name = path_segment.decode_segment(name)
        _require_admin(request)
        return _directory(request).revoke_user(name, by=_caller(request).name)


def _add_members(router: APIRouter) -> None:
    @router.get("/members")
    def list_members(request: Request, project: str) -> list[Member]:
        """Return the members of a project, to its members and to admins."""
        members = _directory(request).members(project)
        caller = _caller(request)
        if not caller.is_admin and all(member.user_id != caller.id for member in members):
            return []
        return members

    @router.put("/members")
    def set_member(body: MemberBody, request: Request) -> Member:
        """Add a member to a project, or change the role."""
        role = parse_role(body.role)
        _require_owner(request, body.project)
        by = _caller(request).name
        return _directory(request).set_member(body.project, body.user, role, by=by)

    @router.delete("/members", status_code=204)
    def remove_member(request: Request, project: str, user: str) -> Response:
        """Remove a member from a project; everybody may leave one."""
        if _caller(request).name != user:
            _require_owner(request, project)
        _directory(request).remove_member(project, user, by=_caller(request).name)
        return Response(status_code=204)


def _caller(request: Request) -> User:
    user: User = request.state.user
    return user


def _directory(request: Request) -> TeamDirectory:
    directory: TeamDirectory = request.state.dispatcher.directory
    return directory


def _require_admin(request: Request) -> None:
    if not _caller(request).is_admin:
        raise _refusal(request, "only an admin may do this")


def _require_owner(request: Request, project: str) -> None:
    caller = _caller(request)
    members = _directory(request).members(project)
    is_owner = any(m.user_id == caller.id and m.role is MemberRole.OWNER for m in members)
    if not is_owner and not caller.is_admin:
        reason = "only an owner of the project, or an admin, may change its members"
        raise _refusal(request, reason)


def _refusal(request: Request, reason: str) -> RequestRefused:
    _directory(request).log_refusal(request.scope["route"].name, _caller(request).name)
    return RequestRefused(reason)
