"""The command group."""

import sys
from io import TextIOWrapper

import click

from recollect import __version__
from recollect.cli import reading, upkeep, writing


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
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(
                errors="replace"
            )  # a poor terminal gets question marks, no traceback


for command in (
    writing.add,
    reading.search,
    reading.context,
    reading.show,
    reading.explain,
    reading.why_not,
    reading.inbox,
    writing.link,
    writing.promote,
    writing.reject,
    writing.forget,
    reading.views,
    upkeep.export,
    upkeep.import_,
    upkeep.verify,
    upkeep.rebuild,
    upkeep.status,
    upkeep.doctor,
):
    main.add_command(command)
