"""The skills that come with Recollect say nothing that Recollect cannot do."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from recollect.cli.main import main
from recollect.cli.options import DefaultGroup
from recollect.domain.memory import MemoryType
from recollect.domain.skill import SkillOrigin
from recollect.text.skill_file import parse_skill
from tables import each_row

PACKAGE = Path(__file__).parent.parent / "src" / "recollect"
BY_COMMAND = sorted((PACKAGE / "skills").iterdir())
BY_TOOL = PACKAGE / "plugin" / "skills" / "recollect-memory"
MOST_LINES = 120
TOOLS = {"search", "context", "remember", "explain", "review", "edit_block", "forget", "status"}

_INLINE = re.compile(r"`(recollect [^`\n]+)`")


def commands_in(text: str) -> Iterator[str]:
    """Yield every command line of Recollect in a skill."""
    yield from (line for line in text.splitlines() if line.startswith("recollect "))
    yield from _INLINE.findall(text)


def check(line: str) -> None:
    """Raise where *line* names a command, option or choice that does not exist."""
    words = shlex.split(line.partition("<<")[0])[1:]
    command: click.Command = main
    context = click.Context(main, info_name="recollect", **main.context_settings)
    while isinstance(command, click.Group):
        if isinstance(command, DefaultGroup) and (not words or words[0] not in command.commands):
            words.insert(0, command.default)
        name = words.pop(0)
        found = command.get_command(context, name)
        assert found is not None, f"there is no command {name}: {line}"
        command = found
        context = click.Context(command, info_name=name, parent=context)
        if not words and not isinstance(command, DefaultGroup):
            break
    command.parse_args(context, words)


@each_row("folder", [*BY_COMMAND, BY_TOOL], ids=lambda folder: folder.name)
def test_a_bundled_skill_reads_without_problems(folder: Path) -> None:
    content = (folder / "SKILL.md").read_text(encoding="utf-8")

    skill = parse_skill(
        content, folder=folder.name, origin=SkillOrigin.BUNDLED, path=str(folder / "SKILL.md")
    )

    assert skill.problems == ()
    assert skill.category
    assert skill.tags
    assert len(content.splitlines()) <= MOST_LINES


@each_row("folder", BY_COMMAND, ids=lambda folder: folder.name)
def test_every_command_in_a_bundled_skill_exists_with_its_options(folder: Path) -> None:
    lines = list(commands_in((folder / "SKILL.md").read_text(encoding="utf-8")))

    assert len(lines) >= 5
    for line in lines:
        check(line)


@each_row(
    "line",
    [
        "recollect remember this",
        "recollect search",
        "recollect search x --colour red",
        "recollect add x --type rumour",
        "recollect link A replaces B",
    ],
)
def test_the_check_notices_what_does_not_exist(line: str) -> None:
    with pytest.raises((AssertionError, click.UsageError)):
        check(line)


def test_the_skill_of_the_plugin_teaches_every_tool_and_no_other() -> None:
    text = (BY_TOOL / "SKILL.md").read_text(encoding="utf-8")
    types = {one.value for one in MemoryType}

    named = set(re.findall(r"`([a-z_]+)`", text))

    assert named == TOOLS | (named & types)


def test_there_is_one_copy_of_each_skill() -> None:
    names = [file.parent.name for file in PACKAGE.rglob("SKILL.md")]

    assert sorted(names) == sorted(set(names))
