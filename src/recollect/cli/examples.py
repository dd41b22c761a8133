"""
The examples in the help of every command, from examples.txt.

The file holds sessions: `= NAME` starts one with an empty store. A line that starts with `$` is
typed, the lines below it are printed; `…` is any text. The help of a command shows the steps that
run it. A line that starts with `%` prepares the next steps and is shown nowhere. In a line that is
typed, `ID` is the first id in the last output that had one. A test runs all sessions.
"""

import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import click

FILE = Path(__file__).with_name("examples.txt")


def add_examples(command: click.Command, path: str, inherited: Sequence[str] = ()) -> None:
    """Add an Examples section to the help of *command* and of its sub-commands."""
    steps = _steps_of(path)
    if isinstance(command, click.Group):
        sub_paths = {name: f"{path} {name}" for name in command.commands}
        default = getattr(command, "default", None)
        own = [step for step in steps if not any(_runs(step, sub) for sub in sub_paths.values())]
        for name, sub_path in sub_paths.items():
            add_examples(command.commands[name], sub_path, own if name == default else ())
        steps = [step.partition("\n")[0] for step in steps[:4]]
    # A command that is in two places (`promote`, `inbox promote`) has its examples once.
    steps = steps or list(inherited) or _steps_of(path.split()[-1])
    lines = "\n".join(steps).replace("\n", "\n  ")
    command.epilog = f"\b\nExamples:\n  {lines}"  # \b: click does not join the lines


def _steps_of(path: str) -> list[str]:
    return [step for step in _steps() if _runs(step, path)]


def _runs(step: str, path: str) -> bool:
    return re.match(rf"\$ (.*\| )?recollect {re.escape(path)}( |\n|$)", step) is not None


@cache
def _steps() -> list[str]:
    text = FILE.read_text(encoding="utf-8")
    return [step.rstrip("\n") for step in re.split(r"\n(?=[$%=] )", text)]
