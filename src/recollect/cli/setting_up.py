"""The command that sets up clients: it shows a diff, asks, and has the settings written."""

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from recollect.cli.options import Refused
from recollect.cli.render import print_json, say, shown, visible
from recollect.cli.server_files import state_folder
from recollect.config import expand_home
from recollect.errors import RecollectError
from recollect.setup.apply_changes import apply_changes, check_writable, missing_folders, read_records, read_text
from recollect.setup.supported_clients import BY_NAME, CLIENTS, SupportedClient
from recollect.setup.invocation import Invocation
from recollect.setup.text_diff import unified_diff
from recollect.setup.settings_paths import ClientEnvironment, is_installed, settings_path
from recollect.setup.plan_changes import FileChange, CurrentSettings, is_set_up, plan_removal, plan_setup, snippet
from recollect.setup.plugin_folder import plan_copy

PLUGIN = "plugin"


@click.command()
@click.argument("client", required=False)
@click.argument("folder", required=False)
@click.option("--dry-run", is_flag=True, help="Show what would change, and change nothing.")
@click.option("--remove", is_flag=True, help="Take everything of Recollect out again.")
@click.option("--print", "only_print", is_flag=True, help="Print the entries, to copy by hand.")
@click.option("--db", help="The store the client uses. Default: as everywhere, when it runs.")
@click.option(
    "--project-only/--user",
    "project",
    help="For the project in this folder only, or for everything you do (default).",
)
@click.option("--no-hooks", is_flag=True, help="Leave the hooks alone.")
@click.option("--no-mcp", is_flag=True, help="Leave the MCP server alone.")
@click.option("--yes", is_flag=True, help="Do not ask before writing.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of text.")
def setup(client: str | None, folder: str | None, **options: Any) -> None:
    """
    Give a coding agent this memory: its MCP server and its hooks, in the client's own settings.

    Without CLIENT, list the clients. With `plugin FOLDER`, write a copy of the plugin.

    \b
    Examples:
      recollect setup
      recollect setup claude-code --print
      recollect setup claude-code --dry-run
    """
    try:
        if client is None:
            _list(as_json=options["as_json"])
        elif client == PLUGIN:
            _copy_plugin(folder, **options)
        else:
            if folder is not None:
                raise click.UsageError(f"one client at a time; {folder!r} is one too many")
            _set_up(_named(client), **options)
    except RecollectError as error:
        raise Refused(visible(str(error))) from error
    except OSError as error:  # a folder on the way that may not be looked into
        raise Refused(visible(f"nothing was changed: {error}")) from error


def invocation(machine: ClientEnvironment, db: str | None) -> Invocation:
    """Return how a program without our environment starts Recollect: by absolute paths."""
    own = Path(sys.executable).absolute().parent / (
        "recollect.exe" if os.name == "nt" else "recollect"
    )
    # -P: a client starts it in its project, whose files must not stand in for modules.
    program = (str(own),) if own.is_file() else (sys.executable, "-P", "-m", "recollect")
    named = db or click.get_current_context().find_root().params.get("db")
    return Invocation(
        program=program,
        db=str(expand_home(named).absolute()) if named else None,
        is_windows=machine.is_windows,
    )


def _list(*, as_json: bool) -> None:
    machine = _machine()
    rows = [_standing(client, machine) for client in CLIENTS]
    if as_json:
        print_json(rows)
        return
    for row in rows:
        mark = (
            "[green]●[/green]" if row["set_up"] else "[yellow]○[/yellow]" if row["found"] else " "
        )
        told = shown(row["trouble"]) or _in_words(row)
        say(f"{mark} [bold]{row['client']:<15}[/bold] {row['title']:<15} [dim]{told}[/dim]")
    say("Set one up with: recollect setup CLIENT  [dim](--dry-run only shows the change)[/dim]")


def _in_words(row: dict[str, Any]) -> str:
    if row["set_up"]:
        return "set up"
    if row["parts"]:
        return f"only the {row['parts'][0]}"
    return "not set up" if row["found"] else "not found here"


def _standing(client: SupportedClient, machine: ClientEnvironment) -> dict[str, Any]:
    there: set[str] = set()
    trouble = ""
    for project in (False, True):
        try:
            found = _read(client, machine, project=project, only=("server", "hooks"))
            there |= {one.file.holds for one in found if is_set_up(one)}
        except RecollectError as error:
            trouble = trouble or str(error)
    return {
        "client": client.name,
        "title": client.title,
        "found": is_installed(client, machine),
        "set_up": there == {file.holds for file in client.files},
        "parts": sorted(there),
        "trouble": trouble,
    }


def _set_up(
    client: SupportedClient,
    *,
    dry_run: bool,
    remove: bool,
    only_print: bool,
    db: str | None,
    project: bool,
    no_hooks: bool,
    no_mcp: bool,
    yes: bool,
    as_json: bool,
) -> None:
    machine = _machine()
    only = tuple(what for what, left in (("server", no_mcp), ("hooks", no_hooks)) if not left)
    if not any(file.holds in only for file in client.files):
        raise click.UsageError(f"nothing of {client.title} is left to do; leave out an option")
    call = invocation(machine, db)
    if only_print:
        _print(client, machine, call, project=project, only=only)
        return
    found = _read(client, machine, project=project, only=only)
    if project and not found:
        settings_path(client.files[0], client, machine, project=True)  # says why there is nothing
    changes = plan_removal(found) if remove else plan_setup(found, client, call)
    for change in changes:
        check_writable(change.path)
    if not changes:
        said = "Nothing of Recollect is in" if remove else "Recollect is set up already in"
        _tell({"client": client.name, "changed": []}, f"{said} {client.title}.", as_json=as_json)
        return
    written = _make(changes, dry_run=dry_run, yes=yes, as_json=as_json)
    if as_json:
        print_json({"client": client.name, "written": written, "changed": _told(changes)})
    elif written:
        done = "Removed from" if remove else "Set up in"
        say(f"{done} {client.title}. {'' if remove else client.next_step}".rstrip())
        _advise(client, machine, call, remove=remove, project=project)


def _copy_plugin(folder: str | None, **options: Any) -> None:
    if folder is None:
        raise click.UsageError(
            "name the folder to write the plugin to: recollect setup plugin FOLDER"
        )
    if options["remove"]:
        raise click.UsageError(f"to remove a copy of the plugin, delete {folder}")
    target = expand_home(folder).absolute()
    changes = plan_copy(target)
    if over := [change for change in changes if change.before is not None]:
        # Somebody may have changed it.
        _ask(over, **{name: options[name] for name in ("dry_run", "yes", "as_json")})
    if changes and not options["dry_run"]:
        apply_changes(changes, state_folder(os.environ))
    if options["as_json"]:
        print_json({"folder": str(target), "changed": _told(changes)})
        return
    for change in changes:
        say(f"{'+' if change.before is None else '~'} {shown(str(change.path))}")
    done = "would be written" if options["dry_run"] else "is there"
    say(f"The plugin {done}: {shown(str(target))}")


def _make(changes: Sequence[FileChange], *, dry_run: bool, yes: bool, as_json: bool) -> bool:
    """Show *changes*, ask, and make them; return whether they were made."""
    _ask(changes, dry_run=dry_run, yes=yes, as_json=as_json)
    if not dry_run:
        apply_changes(changes, state_folder(os.environ))
    return not dry_run


def _ask(changes: Sequence[FileChange], *, dry_run: bool, yes: bool, as_json: bool) -> None:
    """Show *changes*, and refuse to go on where somebody has to say yes to them and does not."""
    if not as_json:
        for change in changes:
            _show(unified_diff(str(change.path), change.before, change.after))
    if dry_run:
        return
    if not yes:
        if as_json or not (sys.stdin.isatty() and sys.stdout.isatty()):
            raise Refused(
                "nothing was changed, because there is no terminal to ask in; add --yes to write "
                "it, or --dry-run to only look"
            )
        if not click.confirm("Write this?", default=True):
            raise Refused("nothing was changed")


def _show(diff: str) -> None:
    """Print a diff: for a terminal in colours and harmless, for a program as it is."""
    if not sys.stdout.isatty():
        click.echo(diff, nl=False)
        return
    colours = {"+": "green", "-": "red", "@": "cyan"}
    for line in diff.split("\n")[:-1]:
        click.secho(visible(line.rstrip("\r")), fg=colours.get(line[:1]))


def _advise(
    client: SupportedClient, machine: ClientEnvironment, call: Invocation, *, remove: bool, project: bool
) -> None:
    """Say what a user would otherwise find out late."""
    if remove:
        return
    if not is_installed(client, machine):
        say(f"[yellow]{client.title} was not found here; its settings wait for it.[/yellow]")
    if project:
        say(
            "[yellow]The files name a path of this machine; do not commit them for others.[/yellow]"
        )
    if call.db is None and (own := os.environ.get("RECOLLECT_DB")):
        say(
            f"[yellow]RECOLLECT_DB is set here ({shown(own)}), but a program started from a "
            "desktop does not see it; --db writes it down.[/yellow]"
        )


def _print(
    client: SupportedClient, machine: ClientEnvironment, call: Invocation, *, project: bool, only: tuple[str, ...]
) -> None:
    for file in client.files:
        if file.holds in only:
            path = settings_path(file, client, machine, project=project)
            click.echo(f"# {path}\n{snippet(file, client, call)}")


def _read(client: SupportedClient, machine: ClientEnvironment, *, project: bool, only: tuple[str, ...]) -> list[CurrentSettings]:
    """Return the settings files of a client as they are."""
    records = read_records(state_folder(machine.environ))
    found = []
    for file in client.files:
        if file.holds not in only or (project and not file.project_paths):
            continue
        path = settings_path(file, client, machine, project=project)
        text = read_text(path)
        record = records.get(str(path))
        if record is not None and not record.existed and path.is_symlink():
            record = None  # made for us, and then moved to where somebody keeps it: theirs now
        found.append(
            CurrentSettings(
                file=file,
                path=path,
                text=text,
                record=record,
                missing_folders=missing_folders(path) if text is None else (),
            )
        )
    return found


def _named(name: str) -> SupportedClient:
    if name not in BY_NAME:
        raise click.UsageError(
            f"unknown client {name!r}; known are {', '.join(BY_NAME)} and {PLUGIN}"
        )
    return BY_NAME[name]


def _machine() -> ClientEnvironment:
    return ClientEnvironment(home=expand_home("~"), environ=os.environ, project=Path.cwd())


def _told(changes: Sequence[FileChange]) -> list[dict[str, str]]:
    return [
        {
            "path": str(change.path),
            "action": "create"
            if change.before is None
            else "delete"
            if change.after is None
            else "change",
            "diff": unified_diff(str(change.path), change.before, change.after),
        }
        for change in changes
    ]


def _tell(value: object, text: str, *, as_json: bool) -> None:
    print_json(value) if as_json else say(text)
