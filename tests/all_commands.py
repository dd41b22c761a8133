"""Every command there is, by its full name."""

from click import Command, Context, Group

from recollect.cli.main import COMMANDS, main


def all_commands(group: Group = main, prefix: str = "") -> dict[str, Command]:
    """Return every command and sub-command of *group* by its full name, in the order of code."""
    found: dict[str, Command] = {}
    context = Context(group)
    for name in COMMANDS if group is main else group.commands:
        command = group.get_command(context, name)
        assert command is not None, name
        assert command.name == name
        found[f"{prefix}{name}"] = command
        if isinstance(command, Group):
            found |= all_commands(command, f"{prefix}{name} ")
    assert found
    return found
