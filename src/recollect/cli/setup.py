"""The command `setup`: show the change of a client's settings, ask, and write it."""

import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import click

from recollect.cli.output import Output, database, safe, wants_json, with_output
from recollect.cli.server_files import state_folder
from recollect.config import expand_home, is_postgres_address
from recollect.errors import PackageMissing, RecollectError
from recollect.runtime.mcp_package import require_mcp_package
from recollect.setup.apply_changes import (
    apply_changes,
    check_writable,
    missing_folders,
    read_records,
    read_text,
)
from recollect.setup.invocation import Invocation
from recollect.setup.plan_changes import (
    CurrentSettings,
    FileChange,
    parts_set_up,
    plan_removal,
    plan_setup,
    snippet,
)
from recollect.setup.plugin_folder import plan_copy
from recollect.setup.settings_paths import ClientEnvironment, is_installed, settings_path
from recollect.setup.supported_clients import BY_NAME, CLIENTS, SettingsFile, SupportedClient
from recollect.setup.text_diff import unified_diff
from recollect.text.visible_text import visible

PLUGIN = "plugin"


@click.command()
@click.argument("client", required=False)
@click.argument("folder", required=False)
@click.option("--dry-run", is_flag=True, help="Show what would change, and change nothing.")
@click.option("--remove", is_flag=True, help="Remove everything of Recollect again.")
@click.option("--print", "only_print", is_flag=True, help="Print the entries, to copy by hand.")
@click.option("--db", help="The database the client uses. Default: the one in use when it runs.")
@click.option(
    "--project-only/--user",
    "project",
    help="For the project in this folder only, or for everything you do (default).",
)
@click.option("--no-hooks", is_flag=True, help="Do not change the hooks.")
@click.option("--no-mcp", is_flag=True, help="Do not change the MCP server.")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@with_output
def setup(client: str | None, folder: str | None, **options: Any) -> Output | None:
    """
    Connect a coding agent: write the MCP server and the hooks into its settings.

    Without CLIENT, list the clients. With `plugin FOLDER`, write a copy of the plugin. The change
    is shown first, and nothing is written before you agree.
    """
    try:
        if client is None:
            return _list_clients()
        if client == PLUGIN:
            return _copy_plugin(folder, **options)
        if folder is not None:
            raise click.UsageError(f"one client at a time; {folder!r} is one too many")
        if client not in BY_NAME:
            names = ", ".join(BY_NAME)
            raise click.UsageError(f"unknown client {client!r}; known are {names} and {PLUGIN}")
        return _set_up(BY_NAME[client], **options)
    except OSError as error:  # for example a folder without permission to read
        raise click.ClickException(visible(f"nothing was changed: {error}")) from error


def invocation(environment: ClientEnvironment, db: str | None) -> Invocation:
    """Return how a program without our environment starts Recollect: by absolute paths."""
    own = Path(sys.executable).absolute().parent / (
        "recollect.exe" if os.name == "nt" else "recollect"
    )
    # -P: a client starts it in its project, whose files must not be imported as modules.
    program = (str(own),) if own.is_file() else (sys.executable, "-P", "-m", "recollect")
    path = database(db)
    if path and is_postgres_address(path):
        raise click.ClickException(
            "a store on a database server is used through `recollect serve`: run it there, and set "
            "RECOLLECT_SERVER_URL for the client instead of --db"
        )
    return Invocation(
        program=program,
        db=str(expand_home(path).absolute()) if path else None,
        is_windows=environment.is_windows,
    )


def _list_clients() -> Output:
    environment = _environment()
    rows = [_client_row(client, environment) for client in CLIENTS]

    def lines() -> Iterator[str]:
        for row in rows:
            mark = "[yellow]○[/yellow]" if row["found"] else " "
            mark = "[green]●[/green]" if row["set_up"] else mark
            state = "not set up" if row["found"] else "not found here"
            state = f"only the {row['parts'][0]}" if row["parts"] else state
            state = safe(row["trouble"]) or ("set up" if row["set_up"] else state)
            yield f"{mark} [bold]{row['client']:<15}[/bold] {row['title']:<15} [dim]{state}[/dim]"
        yield "Set one up with: recollect setup CLIENT  [dim](--dry-run shows the change)[/dim]"

    return Output(rows, lines())


def _client_row(client: SupportedClient, environment: ClientEnvironment) -> dict[str, Any]:
    parts: set[str] = set()
    trouble = ""
    for project in (False, True):
        try:
            settings = _read_settings(client, environment, project=project)
            parts |= {part for current in settings for part in parts_set_up(current)}
        except RecollectError as error:
            trouble = trouble or str(error)
    return {
        "client": client.name,
        "title": client.title,
        "found": is_installed(client, environment),
        "set_up": parts == {file.holds for file in client.files},
        "parts": sorted(parts),
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
) -> Output | None:
    environment = _environment()
    parts = tuple(part for part, skip in (("server", no_mcp), ("hooks", no_hooks)) if not skip)
    if not any(file.holds in parts for file in client.files):
        raise click.UsageError(f"nothing of {client.title} is left to do; leave out an option")
    call = invocation(environment, db)
    if only_print:
        for file in client.files:
            if file.holds in parts:
                path = settings_path(file, client, environment, project=project)
                click.echo(f"# {path}\n{snippet(file, client, call)}")
        return None
    settings = _read_settings(client, environment, project=project, parts=parts)
    if project and not settings:
        settings_path(client.files[0], client, environment, project=True)  # raises the reason
    changes = plan_removal(settings) if remove else plan_setup(settings, client, call)
    for change in changes:
        check_writable(change.path)
    if not changes:
        state = "Nothing of Recollect is in" if remove else "Recollect is set up already in"
        return Output({"client": client.name, "changed": []}, f"{state} {client.title}.")
    if not remove and not dry_run and "server" in parts:
        _require_mcp_package()
    _confirm(changes, dry_run=dry_run, yes=yes)
    if not dry_run:
        apply_changes(changes, state_folder(os.environ))

    def lines() -> Iterator[str]:
        if remove and not dry_run:
            yield f"Removed from {client.title}."
        elif not dry_run:
            yield f"Set up in {client.title}. {client.next_step}".rstrip()
            yield from _advice(client, environment, call, project=project)

    value = {"client": client.name, "written": not dry_run, "changed": _change_rows(changes)}
    return Output(value, lines())


def _require_mcp_package() -> None:
    try:
        require_mcp_package()
    except PackageMissing as error:
        message = f"nothing was changed: {error} (or add --no-mcp, for the hooks alone)"
        raise click.ClickException(message) from error


def _copy_plugin(folder: str | None, **options: Any) -> Output:
    if folder is None:
        raise click.UsageError(
            "name the folder to write the plugin to: recollect setup plugin FOLDER"
        )
    if options["remove"]:
        raise click.UsageError(f"to remove a copy of the plugin, delete {folder}")
    dry_run = options["dry_run"]
    target = expand_home(folder).absolute()
    changes = plan_copy(target)
    # Somebody may have edited a file that exists.
    if overwritten := [change for change in changes if change.before is not None]:
        _confirm(overwritten, dry_run=dry_run, yes=options["yes"])
    if changes and not dry_run:
        apply_changes(changes, state_folder(os.environ))

    def lines() -> Iterator[str]:
        for change in changes:
            yield f"{'+' if change.before is None else '~'} {safe(change.path)}"
        yield f"The plugin {'would be written' if dry_run else 'is there'}: {safe(target)}"

    return Output({"folder": str(target), "changed": _change_rows(changes)}, lines())


def _confirm(changes: Sequence[FileChange], *, dry_run: bool, yes: bool) -> None:
    """Show *changes*, and fail unless the user agrees to them."""
    if not wants_json():
        for change in changes:
            _print_diff(unified_diff(str(change.path), change.before, change.after))
    if dry_run or yes:
        return
    if wants_json() or not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise click.ClickException(
            "nothing was changed, because there is no terminal to ask in; add --yes to write the "
            "change, or --dry-run to see it only"
        )
    if not click.confirm("Write this?", default=True):
        raise click.ClickException("nothing was changed")


def _print_diff(diff: str) -> None:
    """Print a diff: for a terminal coloured and without control characters, else unchanged."""
    if not sys.stdout.isatty():
        click.echo(diff, nl=False)
        return
    colours = {"+": "green", "-": "red", "@": "cyan"}
    for line in diff.split("\n")[:-1]:
        click.secho(visible(line.rstrip("\r")), fg=colours.get(line[:1]))


def _advice(
    client: SupportedClient, environment: ClientEnvironment, call: Invocation, *, project: bool
) -> Iterator[str]:
    if not is_installed(client, environment):
        yield f"[yellow]{client.title} was not found here; it uses the settings later.[/yellow]"
    if project:
        yield "[yellow]The files name a path of this machine; do not commit them.[/yellow]"
    if call.db is None and (path := os.environ.get("RECOLLECT_DB")):
        yield (
            f"[yellow]RECOLLECT_DB is set here ({safe(path)}), but a program started from a "
            "desktop does not see it; --db writes it into the settings.[/yellow]"
        )


def _read_settings(
    client: SupportedClient,
    environment: ClientEnvironment,
    *,
    project: bool,
    parts: tuple[str, ...] = ("server", "hooks"),
) -> list[CurrentSettings]:
    """Return the settings files of a client as they are now."""
    records = read_records(state_folder(environment.environ))
    files_by_path: dict[Path, list[SettingsFile]] = {}
    for file in client.files:
        if not project or file.project_paths:
            path = settings_path(file, client, environment, project=project)
            files_by_path.setdefault(path, []).append(file)
    settings = []
    for path, files in files_by_path.items():
        if not any(file.holds in parts for file in files):
            continue
        text = read_text(path)
        record = records.get(str(path))
        if record is not None and not record.existed and path.is_symlink():
            record = None  # we created it, and the user moved it elsewhere: theirs now
        settings.append(
            CurrentSettings(
                files=tuple(files),
                parts=parts,
                path=path,
                text=text,
                record=record,
                missing_folders=missing_folders(path) if text is None else (),
            )
        )
    return settings


def _environment() -> ClientEnvironment:
    return ClientEnvironment(home=expand_home("~"), environ=os.environ, project=Path.cwd())


def _change_rows(changes: Sequence[FileChange]) -> list[dict[str, str]]:
    rows = []
    for change in changes:
        action = "delete" if change.after is None else "change"
        action = "create" if change.before is None else action
        diff = unified_diff(str(change.path), change.before, change.after)
        rows.append({"path": str(change.path), "action": action, "diff": diff})
    return rows
