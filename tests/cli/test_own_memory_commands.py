"""Encrypt, sync, back up and keep a vault by commands, and what `doctor` says of them."""

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from command_results import error_of, json_of, output_of
from recollect.cli.main import main

pytestmark = pytest.mark.door


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str | None]:
    (tmp_path / "store").mkdir()
    return {
        "RECOLLECT_DB": str(tmp_path / "store" / "memory.db"),
        "RECOLLECT_EMBEDDING_BACKEND": "none",
        "RECOLLECT_KEY_FILE": str(tmp_path / "store.key"),
        "RECOLLECT_KEYRING": "false",
        "RECOLLECT_BACKUP_FOLDER": str(tmp_path / "backups"),
        "RECOLLECT_PASSPHRASE": None,
    }


def run(env: dict[str, str | None], *arguments: str) -> Result:
    return CliRunner().invoke(main, list(arguments), env=env)


def checks_of(env: dict[str, str | None]) -> dict[str, dict[str, object]]:
    result = run(env, "doctor", "--json")
    return {check["check"]: check for check in json_of(result, result.exit_code)}


def test_doctor_says_what_is_encrypted_synced_and_backed_up(
    env: dict[str, str | None], tmp_path: Path
) -> None:
    output_of(run(env, "add", "Deploys happen on Fridays.", "--scope", "global"))
    before = checks_of(env)
    key = output_of(run(env, "encrypt"))
    output_of(run(env, "sync", "init", str(tmp_path / "shared")))
    output_of(run(env, "sync"))
    output_of(run(env, "backup"))
    after = checks_of(env)
    (tmp_path / "shared" / "recollect-sync.json").unlink()
    error_of(run(env, "sync"))
    (tmp_path / "store" / "memory.db.before-test").write_bytes(b"SQLite format 3\0" + bytes(100))
    broken = checks_of(env)

    assert "not encrypted" in str(before["encryption"]["detail"])
    assert "sync" not in before
    assert "rk1-" in key
    assert "are encrypted" in str(after["encryption"]["detail"])
    assert "0 records not sent" in str(after["sync"]["detail"])
    assert "1, newest" in str(after["backups"]["detail"])
    assert "memory.db.before-test" in str(broken["encryption"]["detail"])
    assert "not a shared folder" in str(broken["sync"]["detail"])
    assert not broken["sync"]["ok"]


def test_without_its_key_every_command_names_the_three_places(env: dict[str, str | None]) -> None:
    output_of(run(env, "add", "Deploys happen on Fridays.", "--scope", "global"))
    output_of(run(env, "encrypt"))
    lost = {**env, "RECOLLECT_KEY_FILE": f"{env['RECOLLECT_KEY_FILE']}.gone"}

    for command in (["search", "deploys"], ["backup"], ["sync", "status"], ["rekey"], ["status"]):
        message = error_of(run(lost, *command))
        assert all(place in message for place in ("(1)", "(2)", "(3)")), command
        assert "rk1-" not in message.replace("rk1-…", "")


def test_the_pages_of_a_vault_are_named_however_strange_their_names(
    env: dict[str, str | None], tmp_path: Path
) -> None:
    vault = tmp_path / "vault"
    output_of(run(env, "vault", str(vault)))
    name = b"/memories/\xff\x1b[31m\n.md"
    Path(str(vault) + name.decode("utf-8", "surrogateescape")).write_text("A page of mine.\n")

    output = output_of(run(env, "vault", str(vault)))

    assert "edit proposed" in output
    assert "\x1b" not in output
