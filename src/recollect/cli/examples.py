"""
The examples in the help of every command, from examples.txt.

The file holds sessions: `= NAME` starts one with an empty store. A line that starts with `$` is
typed, the lines below it are printed; `…` is any text. The help of a command shows the steps that
run it. A line that starts with `%` prepares the next steps and is shown nowhere. In a line that is
typed, `ID` is the first id in the last output that had one, `ID2` the second. A test runs all
sessions.
"""

import re
from collections.abc import Mapping, Sequence
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
        of_subs = {step for sub_path in sub_paths.values() for step in _steps_of(sub_path)}
        own = [step for step in steps if step not in of_subs]
        for name, sub_path in sub_paths.items():
            add_examples(command.commands[name], sub_path, own if name == default else ())
        steps = [step.partition("\n")[0] for step in steps[:4]]
    # A command that is in two places (`promote`, `inbox promote`) has its examples once.
    steps = steps or list(inherited) or _steps_of(path.split()[-1])
    lines = "\n".join(steps).replace("\n", "\n  ")
    command.epilog = f"\b\nExamples:\n  {lines}"  # \b: click does not join the lines


def _steps_of(path: str) -> list[str]:
    return _steps_by_path().get(path, [])


@cache
def _steps_by_path() -> Mapping[str, list[str]]:
    """Return the steps that run each command; a step of `inbox list` is also one of `inbox`."""
    steps_by_path: dict[str, list[str]] = {}
    for step in re.split(r"\n(?=[$%=] )", FILE.read_text(encoding="utf-8")):
        typed = step.partition("\n")[0]
        if not typed.startswith("$ "):
            continue
        paths: set[str] = set()
        for piped in typed.removeprefix("$ ").split("| "):
            program, *words = piped.split(" ")
            if program == "recollect":
                paths |= {" ".join(words[:length]) for length in range(1, len(words) + 1)}
        for path in paths:
            steps_by_path.setdefault(path, []).append(step.rstrip("\n"))
    return steps_by_path
