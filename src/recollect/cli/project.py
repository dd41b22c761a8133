"""The command `project`: list projects, and link those that are one."""

from collections.abc import Iterator

import click

from recollect.app.local_recollect import LocalRecollect
from recollect.cli.options import DefaultGroup, with_store
from recollect.cli.output import Output, safe
from recollect.domain.project import Project, project_labels


@click.group(cls=DefaultGroup, default="list")
def project() -> None:
    """
    List projects, and link a name to a repository or folder.

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
        for item in projects:
            linked = f"  part of {safe(names[item.linked_to])}" if item.linked_to else ""
            name = f"[bold]{safe(names[item.id])}[/bold]"
            yield f"{name}  [dim]{safe(_identity_label(item))}[/dim]{linked}"
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


def _identity_label(item: Project) -> str:
    return "given name" if item.identity == item.name else item.identity
