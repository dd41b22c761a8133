"""The commands `encrypt`, `rekey` and `decrypt`."""

import os
import sys
from collections.abc import Iterator

import click

from recollect.app.store_encryption import decrypt_store, encrypt_store, rekey_store
from recollect.cli.options import settings_with_passphrase, yes_option
from recollect.cli.output import Callback, Output, ask, database, safe, with_output
from recollect.cli.progress import show_status
from recollect.config import Settings, load_settings
from recollect.domain.encryption_report import EncryptionReport
from recollect.errors import InvalidInput
from recollect.store.key_places import KeyPlace

NEW_PASSPHRASE = "RECOLLECT_NEW_PASSPHRASE"
_db_option = click.option(
    "--db", help="The database file. Default: RECOLLECT_DB, the configuration file."
)


def _key_options(command: Callback) -> Callback:
    command = click.option(
        "--keyring", is_flag=True, help="Keep the key in the OS keyring, not in the key file."
    )(command)
    return click.option(
        "--passphrase",
        is_flag=True,
        help=f"Keep the key wrapped by a passphrase, which is asked for, or {NEW_PASSPHRASE}.",
    )(command)


@click.command()
@_db_option
@_key_options
@with_output
def encrypt(db: str | None, *, passphrase: bool, keyring: bool) -> Output:
    """
    Encrypt the store and its snapshots.

    Every other program that uses the store must be stopped. The key is added to the key file; the
    recovery key is printed once: note it down.
    """
    place = _place(passphrase=passphrase, keyring=keyring)
    settings = load_settings(db=database(db))
    new = _new_passphrase(settings) if place is KeyPlace.PASSPHRASE else ""
    with show_status("Encrypting …"):
        report = encrypt_store(settings, place, new_passphrase=new)
    return Output(report, _lines(report))


@click.command()
@_db_option
@_key_options
@with_output
def rekey(db: str | None, *, passphrase: bool, keyring: bool) -> Output:
    """
    Give an encrypted store a new key, or keep its key in another place.

    Backups and exports that were written before still need the old key. It stays in the key file or
    the keyring; one that a passphrase wraps is added to the new place, or wrapped by the new
    passphrase.
    """
    place = _place(passphrase=passphrase, keyring=keyring)
    settings = settings_with_passphrase(database(db))
    new = _new_passphrase(settings) if place is KeyPlace.PASSPHRASE else ""
    with show_status("Changing the key …"):
        report = rekey_store(settings, place, new_passphrase=new)
    return Output(report, _lines(report))


@click.command()
@_db_option
@yes_option
@with_output
def decrypt(db: str | None, *, yes: bool) -> Output:
    """
    Write the store and its snapshots without encryption.

    Backups and exports that were written before stay encrypted. The wrapped keys of a passphrase
    are removed: keep the recovery key for older exports.
    """
    settings = settings_with_passphrase(database(db))
    ask(f"Remove the encryption of {settings.db_path}?", yes=yes)
    with show_status("Decrypting …"):
        report = decrypt_store(settings)
    return Output(report, f"{safe(report.path)} is not encrypted any more.")


def _place(*, passphrase: bool, keyring: bool) -> KeyPlace:
    if passphrase and keyring:
        raise InvalidInput("choose one place for the key: --passphrase or --keyring")
    if keyring:
        return KeyPlace.KEYRING
    return KeyPlace.PASSPHRASE if passphrase else KeyPlace.FILE


def _new_passphrase(settings: Settings) -> str:
    """Return the passphrase for a new key: from the environment, or from the person."""
    if entered := os.environ.get(NEW_PASSPHRASE):
        return entered
    if sys.stdin.isatty():
        entered = click.prompt(
            "New passphrase", hide_input=True, confirmation_prompt=True, err=True
        )
    entered = entered or settings.passphrase
    if not entered:
        raise InvalidInput(
            f"no passphrase: set {NEW_PASSPHRASE} or RECOLLECT_PASSPHRASE, "
            "or run this in a terminal"
        )
    return entered


def _lines(report: EncryptionReport) -> Iterator[str]:
    copies = f" and {report.snapshots} snapshots" if report.snapshots else ""
    yield f"{safe(report.path)}{copies}: encrypted (AEGIS-256), key {report.key_id}."
    yield f"Key: {safe(report.key_place)}"
    yield f"[bold]Recovery key: {report.recovery_key}[/bold]"
    yield "[yellow]It is shown only now. Without it and without the key nobody can read[/yellow]"
    yield "[yellow]the store. Note it down and keep it in another place.[/yellow]"
