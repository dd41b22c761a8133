"""The command `project`: list projects, link those that are one, and manage members."""

from collections.abc import Iterator
from pathlib import Path

import click

from recollect.app.local_recollect import LocalRecollect
from recollect.cli.options import DefaultGroup, with_store
from recollect.cli.output import Output, safe
from recollect.domain.project import Project, link_command, project_labels
from recollect.domain.team import MemberRole


@click.group(cls=DefaultGroup, default="list")
def project() -> None:
    """
    List projects, link a name to a repository or folder, and manage members.

    A git remote, a folder without one and a name that you gave are different projects, so that a
    clone cannot take over a name. Link them if they are one.
    """


@project.command("list")
@with_store
def list_(rec: LocalRecollect) -> Output:
    """List projects with their identity: a URL, a folder or a name."""
    projects = rec.projects.list()

    def lines() -> Iterator[str]:
        names = project_labels(projects)
        linked_ids = {item.linked_to for item in projects}
        gone_ids = {item.id for item in projects if item.id not in linked_ids and _is_gone(item)}
        for item in projects:
            linked = f"  part of {safe(names[item.linked_to])}" if item.linked_to else ""
            name = f"[bold]{safe(names[item.id])}[/bold]"
            missing_note = "  [dim]no such folder here[/dim]" if item.id in gone_ids else ""
            yield f"{name}  [dim]{safe(_identity_label(item))}[/dim]{linked}{missing_note}"
        if gone_ids:
            yield f"If a folder was renamed or moved: {safe(link_command('OLD', 'NEW'))}"
        if not projects:
            yield "No projects yet. Store a memory with: recollect add TEXT --project ."

    return Output(projects, lines())


@project.command()
@click.argument("project")
@click.argument("other")
@with_store
def link(rec: LocalRecollect, *, project: str, other: str) -> Output:
    """
    Make OTHER part of PROJECT, so that both mean the same.

    Each is a name, a git remote or a path. Their memories are read together from now on, and new
    ones belong to PROJECT. Undo it with `recollect project unlink OTHER`.
    """
    main = rec.projects.link(project, other)
    return Output(main, f"{safe(other)} is now part of {safe(main.identity)}.")


@project.command()
@click.argument("project")
@with_store
def unlink(rec: LocalRecollect, *, project: str) -> Output:
    """Unlink PROJECT; it keeps the memories that were stored in it."""
    separate = rec.projects.unlink(project)
    return Output(separate, f"{safe(separate.identity)} is a project of its own again.")


@project.group(cls=DefaultGroup, default="list")
def member() -> None:
    """
    Let users of a team's server share a project.

    The members of a project see its memories: readers read, writers also write, owners also manage
    members.
    """


@member.command("add")
@click.argument("project")
@click.argument("user")
@click.option(
    "--role",
    type=click.Choice([role.value for role in MemberRole]),
    default=MemberRole.WRITER.value,
    show_default=True,
    help="What the member may do.",
)
@with_store
def add_member(rec: LocalRecollect, *, project: str, user: str, role: str) -> Output:
    """Add USER to PROJECT (a name, a git remote or a path), or change the role."""
    added = rec.engine.team.set_member(project, user, role)
    return Output(
        added, f"{safe(added.user)} now has the role {added.role} in {safe(added.project)}."
    )


@member.command("remove")
@click.argument("project")
@click.argument("user")
@with_store
def remove_member(rec: LocalRecollect, *, project: str, user: str) -> Output:
    """Remove USER from PROJECT: the user no longer sees it; memories written there stay."""
    rec.engine.team.remove_member(project, user)
    value = {"project": project, "user": user}
    return Output(value, f"Removed {safe(user)} from {safe(project)}.")


@member.command("list")
@click.argument("project", required=False)
@with_store
def list_members(rec: LocalRecollect, *, project: str | None) -> Output:
    """List the members of PROJECT, or of all projects."""
    members = rec.engine.team.list_members(project)

    def lines() -> Iterator[str]:
        for item in members:
            yield f"[bold]{safe(item.project)}[/bold]  {safe(item.user)}  [dim]{item.role}[/dim]"
        if not members:
            yield "No members. Add one with: recollect project member add PROJECT USER"

    return Output(members, lines())


def _is_gone(item: Project) -> bool:
    """Return whether a project is known by a folder that is not on this machine."""
    folder = Path(item.identity)
    return folder.is_absolute() and not item.linked_to and not folder.exists()


def _identity_label(item: Project) -> str:
    return "given name" if item.identity == item.name else item.identity
