"""The command group."""

import sys
from io import TextIOWrapper

import click

from recollect import __version__
from recollect.cli import (
    agents,
    blocks,
    capturing,
    conversations,
    files,
    hooks,
    importing,
    mcp,
    models,
    reading,
    review,
    searching,
    serving,
    setting_up,
    skills,
    upkeep,
    window,
    writing,
)


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
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


for command in (
    writing.add,
    agents.agent,
    blocks.memory,
    conversations.conversation,
    conversations.archive,
    skills.skills,
    files.files,
    searching.search,
    reading.context,
    window.window,
    window.tokens,
    reading.show,
    reading.explain,
    reading.why_not,
    capturing.capture,
    capturing.work,
    capturing.jobs,
    review.inbox,
    review.promote,
    review.reject,
    review.undo,
    review.consolidate,
    review.maintain,
    review.confirm,
    writing.link,
    writing.forget,
    reading.views,
    models.models,
    upkeep.export,
    importing.import_,
    upkeep.verify,
    upkeep.rebuild,
    upkeep.status,
    upkeep.doctor,
    serving.serve,
    mcp.mcp,
    serving.stop,
    hooks.hook,
    setting_up.setup,
):
    main.add_command(command)
