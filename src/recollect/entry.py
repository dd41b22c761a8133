"""
Where the command begins: a hook goes straight to its own process, all else to the commands.

A coding agent waits for every hook, and loading the commands takes longer than a hook may take. So
nothing is imported here before it is known what is wanted.
"""

import gc
import sys

# What is loaded stays: to look for garbage among it as often as usual is a tenth of the start.
RARELY = (50_000, 20, 50)


def main() -> None:
    """Run what the arguments ask for."""
    gc.set_threshold(*RARELY)
    arguments = sys.argv[1:]
    for_hook = _for_hook(arguments)
    if for_hook is not None and not {"-h", "--help"} & set(arguments):
        # As above.
        from recollect.hooks.hook_command import main as hook

        sys.exit(hook(for_hook))
    from recollect.cli.main import main as command

    command(prog_name="recollect" if sys.argv[0].endswith("__main__.py") else None)


def _for_hook(arguments: list[str]) -> list[str] | None:
    """Return the arguments of the hook, None where another command is meant."""
    # The store may be named before the command. The commands would end a wrong line with 2, and by
    # that Claude Code holds a prompt back.
    before = 0
    if arguments and arguments[0].partition("=")[0] == "--db":
        before = 1 if "=" in arguments[0] else 2
    if arguments[before : before + 1] != ["hook"]:
        return None
    return arguments[:before] + arguments[before + 1 :]
