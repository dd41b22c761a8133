"""
The entry point: a hook runs in its own small program, everything else in the commands.

A coding agent waits for every hook, and loading the commands takes longer than a hook may take. So
nothing is imported here before the arguments are read.
"""

import atexit
import gc
import os
import sys

# Loaded modules stay in memory: looking for garbage among them costs a tenth of the start. Most
# commands end before they have this many objects; those that may run long look more often.
START_GC_THRESHOLD = (500_000, 20, 50)
LONG_GC_THRESHOLD = (50_000, 20, 50)
LONG_COMMANDS = ("serve", "mcp", "open", "chat", "import", "work", "capture", "rebuild", "repair")

# Commands that embed a query: their model loads on another core while they load their own modules.
EMBEDDING_COMMANDS = ("search", "context")
SWITCH_INTERVAL_S = 0.0005
_HELP = {"-h", "--help"}


def main() -> None:
    """Run the hook or the command that the arguments name."""
    arguments = sys.argv[1:]
    may_run_long = _command(arguments) in LONG_COMMANDS
    gc.set_threshold(*(LONG_GC_THRESHOLD if may_run_long else START_GC_THRESHOLD))
    # At the end the interpreter would look for garbage once more, for 40 ms: the process is over.
    atexit.register(gc.freeze)
    # Pydantic would read the metadata of all installed packages to find plugins.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    # NumPy multiplies a few vectors here: a thread for each core would only keep the cores busy.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    hook_arguments = _hook_arguments(arguments)
    if hook_arguments is not None and not _HELP & set(arguments):
        # Imported here for the reason above.
        from recollect.hooks.hook_command import main as run_hook

        sys.exit(run_hook(hook_arguments))
    if not _HELP & set(arguments) and _command(arguments) in EMBEDDING_COMMANDS:
        _load_default_model(arguments)
    from recollect.cli.main import main as run_command

    run_command(prog_name="recollect" if sys.argv[0].endswith("__main__.py") else None)


def _hook_arguments(arguments: list[str]) -> list[str] | None:
    """Return the arguments of the hook, None if another command is meant."""
    # Click would end a wrong line with exit code 2, which makes Claude Code block the prompt.
    if _command(arguments) != "hook":
        return None
    before = _place_of_command(arguments)
    return arguments[:before] + arguments[before + 1 :]


def _command(arguments: list[str]) -> str:
    return "".join(arguments[(before := _place_of_command(arguments)) : before + 1])


def _place_of_command(arguments: list[str]) -> int:
    # The database may be named before the command.
    if not arguments or arguments[0].partition("=")[0] != "--db":
        return 0
    return 1 if "=" in arguments[0] else 2


def _load_default_model(arguments: list[str]) -> None:
    """Begin to load the model, unless a server of the store has it."""
    # Imported here for the reason above.
    from recollect.config import load_settings
    from recollect.errors import RecollectError
    from recollect.hooks.state_files import state_folder
    from recollect.hooks.target_store import find_target_store, local_server_address
    from recollect.models.local_embedder import load_early
    from recollect.models.packaged_models import default_manifest

    environ = dict(os.environ)
    try:
        target = find_target_store(environ, _database(arguments))
    except (OSError, ValueError):
        return  # the command reports the configuration file
    if local_server_address(state_folder(environ), target.db) is not None:
        return
    try:
        if not load_settings().has_explicit_embedder:
            # The thread needs the interpreter a few times for a moment, and then long not at all:
            # it must not wait each time until this thread has run for 5 ms.
            sys.setswitchinterval(SWITCH_INTERVAL_S)
            load_early(default_manifest())
    except RecollectError:
        return  # the command reports it


def _database(arguments: list[str]) -> str:
    """Return the value of `--db`, which may be at any place, or ''."""
    for place, argument in enumerate(arguments):
        name, equals, value = argument.partition("=")
        if name == "--db":
            return value if equals else "".join(arguments[place + 1 : place + 2])
    return ""
