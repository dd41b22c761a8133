"""Every command there is, by its full name."""

from click import Command, Context, Group

from recollect.cli.main import main


def all_commands(group: Group = main, prefix: str = "") -> dict[str, Command]:
    """Return every command and sub-command of *group* by its full name, without aliases."""
    commands: dict[str, Command] = {}
    context = Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None, name
        assert command.name == name
        commands[f"{prefix}{name}"] = command
        if isinstance(command, Group):
            commands |= all_commands(command, f"{prefix}{name} ")
    assert commands
    return commands
