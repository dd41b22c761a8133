"""Commands about skills: what there is, what an agent has loaded, what it learnt."""

from typing import Any

import click

from recollect.app.local import LocalRecollect
from recollect.cli.options import creating_store_options, given_filters, store_options
from recollect.cli.render import print_json, say, shown
from recollect.domain.skill import SkillReport

_PROJECT = click.option("--project", help="The project's folder ('.' is here), or its name.")
_AGENT = click.option("--agent", required=True, help="The agent, by name or id.")


@click.group()
def skills() -> None:
    """
    Skills: folders with a SKILL.md that teach an agent to do something.

    \b
    Examples:
      recollect skills discover --project .
      recollect skills load --agent coder --skill remember-well
      recollect skills list --agent coder
    """


@skills.command()
@_PROJECT
@creating_store_options
def discover(memory: LocalRecollect, *, as_json: bool, project: str | None) -> None:
    """List the bundled, global and project's skills, and what is wrong with any."""
    report = memory.skills.list(project=project)
    print_json(report) if as_json else _print_report(report)


@skills.command()
@_AGENT
@click.option("--skill", required=True, help="Its name.")
@_PROJECT
@store_options
def load(memory: LocalRecollect, *, as_json: bool, agent: str, skill: str, project: str | None) -> None:
    """Give a skill to an agent."""
    loaded = memory.skills.load(agent, skill, project=project)
    print_json(loaded) if as_json else say(f"{shown(agent)} has {shown(loaded.skill.name)} now.")


@skills.command()
@_AGENT
@click.option("--skill", required=True, help="Its name.")
@_PROJECT
@store_options
def unload(
    memory: LocalRecollect, *, as_json: bool, agent: str, skill: str, project: str | None
) -> None:
    """
    Take a skill from an agent.

    \b
    Example:
      recollect skills unload --agent coder --skill remember-well
    """
    gone = memory.skills.unload(agent, skill, project=project)
    print_json(gone) if as_json else say(f"{shown(agent)} no longer has {shown(gone.skill.name)}.")


@skills.command("list")
@_AGENT
@store_options
def list_(memory: LocalRecollect, *, as_json: bool, agent: str) -> None:
    """List the skills an agent has loaded."""
    found = memory.skills.loaded(agent)
    if as_json:
        print_json(found)
        return
    if not found:
        say("No skill is loaded.")
    for one in found:
        say(f"[bold]{shown(one.skill.name)}[/bold] {shown(one.skill.description)}")
        say(f"   [dim]{one.skill.origin}, loaded {one.loaded_at:%Y-%m-%d %H:%M}[/dim]")


@skills.command()
@_AGENT
@_PROJECT
@store_options
def refresh(memory: LocalRecollect, *, as_json: bool, agent: str, project: str | None) -> None:
    """
    Write an agent's catalogue of skills anew, and take loaded ones as they stand now.

    \b
    Example:
      recollect skills refresh --agent coder --project .
    """
    report = memory.skills.refresh(agent, project=project)
    print_json(report) if as_json else _print_report(report)


@skills.command()
@click.argument("query")
@_PROJECT
@click.option("-n", "--limit", default=5, show_default=True, help="How many at most.")
@creating_store_options
def search(
    memory: LocalRecollect, *, as_json: bool, query: str, project: str | None, limit: int
) -> None:
    """
    Find skills by words and by meaning.

    \b
    Example:
      recollect skills search "go through pending memories"
    """
    hits = memory.skills.search(query, project=project, limit=limit)
    if as_json:
        print_json(hits)
        return
    if not hits:
        say("No skill answers that.")
    for hit in hits:
        say(f"[bold]{shown(hit.skill.name)}[/bold]  [cyan]{hit.score:.2f}[/cyan]")
        say(f"   [dim]{shown(hit.skill.description)}[/dim]")


@skills.command()
@click.argument("conversation", metavar="CONVERSATION")
@click.option("--name", required=True, help="The skill's name: small letters and hyphens.")
@click.option("--title", default="", help="Its title.")
@click.option(
    "--save",
    type=click.Choice(["project", "global", "no"]),
    default="project",
    show_default=True,
    help="Into which folder of skills it is written.",
)
@click.option("--overwrite", is_flag=True, help="In place of a skill of that name.")
@_PROJECT
@store_options
def learn(memory: LocalRecollect, *, as_json: bool, conversation: str, save: str, **given: Any) -> None:
    """Draft a skill from a conversation: goal, steps, commands, pitfalls."""
    where = "" if save == "no" else save
    learnt = memory.skills.learn(conversation, save=where, **given_filters(given))
    if as_json:
        print_json(learnt)
        return
    say(shown(learnt.content))
    if learnt.path:
        say(f"[dim]saved to {shown(learnt.path)}; read it before you load it[/dim]")


def _print_report(report: SkillReport) -> None:
    for one in report.skills:
        say(f"[bold]{shown(one.name)}[/bold] [dim]{one.origin}[/dim] {shown(one.description)}")
        for problem in one.problems:
            say(f"   [yellow]{shown(problem)}[/yellow]")
    for one in report.overridden:
        say(f"[dim]{shown(one.name)} of {shown(one.path)} is overridden[/dim]")
    for problem in report.problems:
        say(f"[yellow]{shown(problem)}[/yellow]")
