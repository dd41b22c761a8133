"""
The entry point: a hook runs in its own small program, everything else in the commands.

A coding agent waits for every hook, and loading the commands takes longer than a hook may take. So
nothing is imported here before the arguments are read.
"""

import gc
import sys

# Loaded modules stay in memory; checking them for garbage at the usual rate costs a tenth of the
# start.
GC_THRESHOLD = (50_000, 20, 50)


def main() -> None:
    """Run the hook or the command that the arguments name."""
    gc.set_threshold(*GC_THRESHOLD)
    arguments = sys.argv[1:]
    hook_arguments = _hook_arguments(arguments)
    if hook_arguments is not None and not {"-h", "--help"} & set(arguments):
        # Imported here for the reason above.
        from recollect.hooks.hook_command import main as run_hook

        sys.exit(run_hook(hook_arguments))
    from recollect.cli.main import main as run_command

    run_command(prog_name="recollect" if sys.argv[0].endswith("__main__.py") else None)


def _hook_arguments(arguments: list[str]) -> list[str] | None:
    """Return the arguments of the hook, None if another command is meant."""
    # The database may be named before the command. Click would end a wrong line with exit code 2,
    # which makes Claude Code block the prompt.
    before = 0
    if arguments and arguments[0].partition("=")[0] == "--db":
        before = 1 if "=" in arguments[0] else 2
    if arguments[before : before + 1] != ["hook"]:
        return None
    return arguments[:before] + arguments[before + 1 :]
