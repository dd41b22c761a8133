"""The command `skill`: find skills, load them into agents, and draft new ones."""

from collections.abc import Iterator
from typing import Any

import click

from recollect.app.local_recollect import LocalRecollect
from recollect.cli.options import (
    agent_option,
    limit_option,
    project_option,
    with_new_store,
    with_store,
)
from recollect.cli.output import Output, safe, warnings
from recollect.domain.skill import SkillReport

_skill_option = click.option("--skill", required=True, help="The name of the skill.")


@click.group()
def skill() -> None:
    """
    Find skills and load them into agents.

    A skill is a folder with a SKILL.md that teaches an agent to do something.
    """


@skill.command()
@project_option
@with_new_store
def discover(rec: LocalRecollect, *, project: str | None) -> Output:
    """List the bundled, global and project skills, and their problems."""
    report = rec.skills.list(project=project)
    return Output(report, _report_lines(report))


@skill.command()
@agent_option
@_skill_option
@project_option
@with_store
def load(rec: LocalRecollect, *, agent: str, skill: str, project: str | None) -> Output:
    """Load a skill into an agent."""
    loaded = rec.skills.load(agent, skill, project=project)
    return Output(loaded, f"Loaded {safe(loaded.skill.name)} into {safe(agent)}.")


@skill.command()
@agent_option
@_skill_option
@project_option
@with_store
def unload(rec: LocalRecollect, *, agent: str, skill: str, project: str | None) -> Output:
    """Unload a skill from an agent."""
    unloaded = rec.skills.unload(agent, skill, project=project)
    return Output(unloaded, f"Unloaded {safe(unloaded.skill.name)} from {safe(agent)}.")


@skill.command("list")
@agent_option
@with_store
def list_(rec: LocalRecollect, *, agent: str) -> Output:
    """List the skills an agent has loaded."""
    skills = rec.skills.loaded(agent)

    def lines() -> Iterator[str]:
        if not skills:
            yield "No skill is loaded."
        for item in skills:
            yield f"[bold]{safe(item.skill.name)}[/bold] {safe(item.skill.description)}"
            yield f"   [dim]{item.skill.origin}, loaded {item.loaded_at:%Y-%m-%d %H:%M}[/dim]"

    return Output(skills, lines())


@skill.command()
@agent_option
@project_option
@with_store
def refresh(rec: LocalRecollect, *, agent: str, project: str | None) -> Output:
    """Update an agent's list of skills and its loaded skills from disk."""
    report = rec.skills.refresh(agent, project=project)
    return Output(report, _report_lines(report))


@skill.command()
@click.argument("query")
@project_option
@limit_option(5)
@with_new_store
def search(rec: LocalRecollect, *, query: str, project: str | None, limit: int) -> Output:
    """Search skills by words and meaning."""
    hits = rec.skills.search(query, project=project, limit=limit)

    def lines() -> Iterator[str]:
        if not hits:
            yield "No skill was found."
        for hit in hits:
            yield f"[bold]{safe(hit.skill.name)}[/bold]  [cyan]{hit.score:.2f}[/cyan]"
            yield f"   [dim]{safe(hit.skill.description)}[/dim]"

    return Output(hits, lines())


@skill.command()
@click.argument("conversation", metavar="CONVERSATION")
@click.option("--name", required=True, help="The name: lower-case letters and hyphens.")
@click.option("--title", default="", help="The title.")
@click.option(
    "--save",
    type=click.Choice(["project", "global", "no"]),
    default="project",
    show_default=True,
    help="The folder of skills to write it to.",
)
@click.option("--overwrite", is_flag=True, help="Replace a skill of that name.")
@project_option
@with_store
def learn(rec: LocalRecollect, *, conversation: str, save: str, **settings: Any) -> Output:
    """Draft a skill from a conversation: goal, steps, commands, pitfalls."""
    learned = rec.skills.learn(conversation, save="" if save == "no" else save, **settings)

    def lines() -> Iterator[str]:
        yield safe(learned.content)
        if learned.path:
            yield f"[dim]saved to {safe(learned.path)}; read it before you load it[/dim]"

    return Output(learned, lines())


def _report_lines(report: SkillReport) -> Iterator[str]:
    for item in report.skills:
        yield f"[bold]{safe(item.name)}[/bold] [dim]{item.origin}[/dim] {safe(item.description)}"
        yield from warnings(f"   {problem}" for problem in item.problems)
    for item in report.overridden:
        yield f"[dim]{safe(item.name)} of {safe(item.path)} is overridden[/dim]"
    yield from warnings(report.problems)
