"""The address of a store on a PostgreSQL server, and what a setting with one means elsewhere."""

import pytest

from recollect import InvalidInput
from recollect.config import Settings, without_password
from recollect.hooks.target_store import find_target_store
from recollect.store.postgres.server_address import parse_address
from tables import each_row


def test_the_schema_is_not_given_to_the_driver() -> None:
    address = parse_address("postgresql://anna@db.example:5433/team?sslmode=require&schema=anna")

    assert address.conninfo == "postgresql://anna@db.example:5433/team?sslmode=require"
    assert address.schema == "anna"


def test_a_store_without_a_schema_in_its_address_has_the_default_one() -> None:
    assert parse_address("postgresql:///team").schema == "recollect"
    assert parse_address("postgres://db/team").conninfo == "postgresql://db/team"


def test_special_characters_reach_the_driver_as_they_are() -> None:
    address = parse_address("postgresql:///team?host=%2Ftmp%2Fmy%20folder&options=-c%20a%3Db")

    assert address.conninfo == "postgresql:///team?host=%2Ftmp%2Fmy%20folder&options=-c%20a%3Db"


@each_row("schema", ["Anna", "a-b", "a;b", "1a", "a" * 64, "%22x"])
def test_a_schema_must_be_a_plain_name(schema: str) -> None:
    with pytest.raises(InvalidInput, match="lower-case letters"):
        parse_address(f"postgresql://db/team?schema={schema}")


def test_an_address_that_cannot_be_read_is_refused_without_its_password() -> None:
    with pytest.raises(InvalidInput, match="cannot be read") as raised:
        parse_address("postgresql://anna:secret@[db/team")

    assert "secret" not in str(raised.value)


def test_each_schema_has_a_lock_of_its_own() -> None:
    keys = {parse_address(f"postgresql://db/team?schema={name}").lock_key for name in "abc"}

    assert len(keys) == 3
    assert all(-(2**63) <= key < 2**63 for key in keys)


def test_no_password_is_shown() -> None:
    address = "postgresql://anna:p%40ss@db/team?password=a&sslpassword=b&schema=x"

    assert without_password(address) == "postgresql://anna@db/team?schema=x"
    assert without_password("postgresql://db/team?password=a") == "postgresql://db/team"
    assert parse_address(address).location == "postgresql://anna@db/team?schema=x"
    assert "p%40ss" not in repr(parse_address(address))


def test_what_needs_a_file_says_so_for_a_store_on_a_server() -> None:
    settings = Settings(db="postgresql://anna:secret@db/team")

    with pytest.raises(InvalidInput, match="needs a store in a file") as raised:
        _ = settings.db_path

    assert "secret" not in str(raised.value)
    assert settings.location == "postgresql://anna@db/team"


def test_hooks_use_a_server_instead_of_an_address_with_a_password() -> None:
    target = find_target_store({"RECOLLECT_DB": "postgresql://anna:secret@db/team"})
    named = find_target_store(
        {"RECOLLECT_DB": "postgresql://db/team", "RECOLLECT_SERVER_URL": "https://memory.example"}
    )

    assert target.is_remote
    assert target.server_url == "http://127.0.0.1:8283"
    assert "secret" not in target.db
    assert (named.is_remote, named.server_url) == (True, "https://memory.example")


def test_a_pooler_is_told_to_us_and_not_to_the_driver() -> None:
    address = parse_address("postgresql://db/team?pooler=transaction&sslmode=require")

    assert address.has_pooler
    assert address.conninfo == "postgresql://db/team?sslmode=require"
    assert not parse_address("postgresql://db/team").has_pooler


def test_an_unknown_kind_of_pooler_is_refused() -> None:
    with pytest.raises(InvalidInput, match="use pooler=transaction"):
        parse_address("postgresql://db/team?pooler=session")
