"""The command `sync`: exchange changes with other devices through a shared folder."""

import os
import sys
from collections.abc import Iterator, Mapping, Sequence

import click

from recollect.app.local_recollect import LocalRecollect
from recollect.cli.options import DefaultGroup, with_new_store, with_store
from recollect.cli.output import Output, safe, warnings
from recollect.cli.progress import show_status
from recollect.domain.sync_report import (
    KeptVersion,
    SyncReport,
    SyncSetup,
    SyncStatus,
    record_name,
)
from recollect.errors import InvalidInput

PASSPHRASE = "RECOLLECT_SYNC_PASSPHRASE"
VALUE_CHARS = 100  # shown of a value; --json has all


@click.group(cls=DefaultGroup, default="now")
def sync() -> None:
    """
    Exchange changes with your other devices through a shared folder.

    Any folder that reaches all devices will do: Syncthing, a cloud folder, a network drive, a USB
    stick. Its files are encrypted. `recollect sync init FOLDER` sets a device up, `recollect sync`
    exchanges changes, and a running server does so by itself.
    """


@sync.command("now")
@with_store
def now_(rec: LocalRecollect) -> Output:
    """Exchange changes now. The default command."""
    with show_status("Syncing …"):
        report = rec.sync.run()
    return Output(report, _report_lines(report))


@sync.command()
@click.argument("folder")
@click.option(
    "--passphrase",
    "with_passphrase",
    is_flag=True,
    help=f"Share the key by a passphrase, which is asked for, or {PASSPHRASE}.",
)
@with_new_store
def init(rec: LocalRecollect, *, folder: str, with_passphrase: bool) -> Output:
    """
    Make this store a device of FOLDER.

    The first device makes the key of the folder. Another device needs its line in the key file, or
    the passphrase.
    """
    setup = rec.sync.init(folder, passphrase=_passphrase() if with_passphrase else "")
    return Output(setup, _setup_lines(setup, with_passphrase=with_passphrase))


@sync.command()
@click.option(
    "--passphrase",
    "with_passphrase",
    is_flag=True,
    help=f"Share the new key by a passphrase, which is asked for, or {PASSPHRASE}.",
)
@with_store
def rekey(rec: LocalRecollect, *, with_passphrase: bool) -> Output:
    """
    Give the shared folder a new key, for example after a device was lost.

    The files of this device are rewritten under the new key. Every other device needs the new
    key: until it has it, it does not sync, and says so.
    """
    passphrase = _passphrase() if with_passphrase else ""
    with show_status("Changing the key …"):
        setup = rec.sync.rekey(passphrase=passphrase)
    return Output(setup, _rekey_lines(setup, with_passphrase=with_passphrase))


@sync.command()
@with_store
def status(rec: LocalRecollect) -> Output:
    """Show the devices of the folder, and what was not exchanged yet."""
    report = rec.sync.status()
    return Output(report, _status_lines(report))


@sync.command()
@with_store
def versions(rec: LocalRecollect) -> Output:
    """List values that lost because two devices changed the same thing."""
    listed = rec.sync.versions()
    return Output(listed, _version_lines(listed))


@sync.command()
@click.argument("version_id")
@with_store
def restore(rec: LocalRecollect, *, version_id: str) -> Output:
    """
    Put the values of a version back.

    What they replace is kept as a version, so this can be undone.
    """
    replaced = rec.sync.restore_version(version_id)
    line = f"Restored {_version_title(replaced)}. What it had is version {replaced.id}."
    return Output(replaced, [line])


@sync.command()
@click.argument("version_id")
@with_store
def discard(rec: LocalRecollect, *, version_id: str) -> Output:
    """Delete a version, on the other devices too."""
    version = rec.sync.discard_version(version_id)
    return Output(version, [f"Deleted version {version.id} of {_version_title(version)}."])


def _passphrase() -> str:
    if entered := os.environ.get(PASSPHRASE):
        return entered
    if sys.stdin.isatty():
        entered = click.prompt("Passphrase of the folder", hide_input=True, err=True)
    if not entered:
        raise InvalidInput(f"no passphrase: set {PASSPHRASE}, or run this in a terminal")
    return entered


def _setup_lines(setup: SyncSetup, *, with_passphrase: bool) -> Iterator[str]:
    yield f"This store is device {setup.device} of {safe(setup.folder)}."
    yield f"Key {setup.key_id}: {safe(setup.key_place)}"
    if setup.is_new_folder and with_passphrase:
        yield "On other devices run `recollect sync init FOLDER --passphrase`."
    elif setup.is_new_folder:
        yield f"[bold]Key of the folder: {setup.recovery_key}[/bold]"
        yield "[yellow]Add this line to the key file of every other device (mode 600).[/yellow]"
    yield "[dim]Next: recollect sync[/dim]"


def _rekey_lines(setup: SyncSetup, *, with_passphrase: bool) -> Iterator[str]:
    yield f"{safe(setup.folder)} has the new key {setup.key_id}: {safe(setup.key_place)}"
    if with_passphrase:
        yield "Next, on every other device: recollect sync init FOLDER --passphrase"
    else:
        yield f"[bold]Key of the folder: {setup.recovery_key}[/bold]"
        yield "[yellow]Add this line to the key file of every other device (mode 600).[/yellow]"
    yield "[dim]The other devices rewrite their files at their next sync.[/dim]"


def _report_lines(report: SyncReport) -> Iterator[str]:
    yield f"Received: {_records(report.received) or 'nothing new'}."
    yield f"Sent: {_records(report.sent) or 'nothing new'}."
    if report.forgotten:
        yield f"Deleted here, as on another device: {report.forgotten}."
    if report.files_rewritten:
        files = _files(report.files_rewritten)
        yield f"[dim]{files} of this device rewritten without deleted or replaced text.[/dim]"
    if report.files_resent:
        files = _files(report.files_resent)
        yield f"{files} of this device missing in the folder; the records were sent again."
    yield from warnings([*report.conflicts, *report.waiting])


def _status_lines(report: SyncStatus) -> Iterator[str]:
    if not report.is_set_up:
        yield "Sync is not set up. Set it up with: recollect sync init FOLDER"
        return
    yield f"{safe(report.folder)}, key {report.key_id}"
    if report.synced_at is None:
        yield "Last sync: never"
    else:
        yield f"Last sync: {report.synced_at:%Y-%m-%d %H:%M} UTC"
    yield f"Not sent yet: {report.unsent} records"
    if report.versions:
        yield f"Kept versions: {report.versions} (recollect sync versions)"
    for peer in report.peers:
        written = "no files" if peer.written_at is None else f"{peer.written_at:%Y-%m-%d %H:%M}"
        name = f"{peer.device} (this device)" if peer.is_this else peer.device
        yield f"{name}  {_files(peer.files)}, {peer.bytes / 1e6:.1f} MB, {written}" + (
            f", {peer.unread} not read yet" if peer.unread else ""
        )
    yield from warnings(report.problems)


def _version_lines(listed: Sequence[KeptVersion]) -> Iterator[str]:
    if not listed:
        yield "No kept versions."
    for version in listed:
        yield f"{version.id}  {_version_title(version)}, {version.kept_at:%Y-%m-%d %H:%M} UTC"
        for name, value in version.values.items():
            yield f"  {name}: {safe(_shorten_value(value))}"
            if name in version.current:
                yield f"  [dim]  now: {safe(_shorten_value(version.current[name]))}[/dim]"
    if listed:
        yield "[dim]Next: recollect sync restore ID, or recollect sync discard ID[/dim]"


def _version_title(version: KeptVersion) -> str:
    return f"{record_name(version.kind)} {safe(version.name)}"


def _records(numbers: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {record_name(kind, count)}" for kind, count in numbers.items())


def _files(count: int) -> str:
    return "1 file" if count == 1 else f"{count} files"


def _shorten_value(value: object) -> str:
    text = " ".join(str(value).split())
    return text if len(text) <= VALUE_CHARS else f"{text[: VALUE_CHARS - 1]}…"
