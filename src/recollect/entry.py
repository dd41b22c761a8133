"""
Where the command begins: a hook goes straight to its own process, all else to the commands.

A coding agent waits for every hook, and loading the commands takes longer than a hook may take. So
nothing is imported here before it is known what is wanted.
"""

import sys


def main() -> None:
    """Run what the arguments ask for."""
    arguments = sys.argv[1:]
    if arguments[:1] == ["hook"] and not {"-h", "--help"} & set(arguments):
        # As above.
        from recollect.hooks.run import main as hook

        sys.exit(hook(arguments[1:]))
    from recollect.cli.main import main as command

    command(prog_name="recollect" if sys.argv[0].endswith("__main__.py") else None)
