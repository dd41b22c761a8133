"""The command group. A command is loaded when it is used: nobody waits for the others."""

import sys
from collections.abc import Mapping
from importlib import import_module
from io import TextIOWrapper

import click

from recollect import __version__

# Where each command is: a file of this folder, and its name there.
COMMANDS: Mapping[str, str] = {
    "add": "writing.add",
    "agent": "agents.agent",
    "memory": "blocks.memory",
    "conversation": "conversations.conversation",
    "archive": "conversations.archive",
    "skills": "skills.skills",
    "files": "files.files",
    "search": "searching.search",
    "context": "reading.context",
    "window": "window.window",
    "tokens": "window.tokens",
    "show": "reading.show",
    "explain": "reading.explain",
    "why-not": "reading.why_not",
    "capture": "capturing.capture",
    "work": "capturing.work",
    "jobs": "capturing.jobs",
    "inbox": "review.inbox",
    "promote": "review.promote",
    "reject": "review.reject",
    "undo": "review.undo",
    "consolidate": "review.consolidate",
    "maintain": "review.maintain",
    "confirm": "review.confirm",
    "link": "writing.link",
    "forget": "writing.forget",
    "views": "reading.views",
    "models": "models.models",
    "export": "upkeep.export",
    "import": "importing.import_",
    "verify": "upkeep.verify",
    "rebuild": "upkeep.rebuild",
    "status": "upkeep.status",
    "doctor": "upkeep.doctor",
    "serve": "serving.serve",
    "mcp": "mcp.mcp",
    "stop": "serving.stop",
    "hook": "hooks.hook",
    "setup": "setting_up.setup",
}


class _Commands(click.Group):
    """The commands of the table."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        # Where there is no such command, one of all is suggested.
        for name in [cmd_name] if cmd_name in COMMANDS else COMMANDS:
            file, _, known_as = COMMANDS[name].partition(".")
            self.add_command(getattr(import_module(f"recollect.cli.{file}"), known_as))
        return self.commands.get(cmd_name)


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="recollect")
@click.option("--db", help="The database file, for every command after it.")
def main(db: str | None) -> None:
    """
    Local-first, evidence-backed memory for AI agents.

    \b
    Examples:
      recollect add "Answers should be short."
      recollect search "how long should answers be?"
      recollect context "write the release notes"
      recollect capture session.jsonl --work
      recollect inbox
      recollect agent create --name helper
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(
                errors="replace"
            )  # a poor terminal gets question marks, no traceback
