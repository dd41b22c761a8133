"""The file of an encrypted store: its key, its signature, and the files that it encrypts."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from recollect.store.key_places import write_wrapped_keys
from recollect.store.protocol import StoreFile
from recollect.store.store_key import StoreKey, wrap_key
from store_backends import ENCRYPTED_BACKENDS
from support import FakeClock

KEY = StoreKey(bytes(range(32)))


@pytest.fixture(params=ENCRYPTED_BACKENDS)
def encrypted(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[StoreFile]:
    """The file of a store with KEY."""
    store = ENCRYPTED_BACKENDS[request.param](tmp_path, FakeClock(), KEY)
    assert store.file is not None
    yield store.file
    store.close()


def test_an_encrypted_store_names_its_key(encrypted: StoreFile) -> None:
    assert encrypted.is_encrypted is True
    assert encrypted.key_id == KEY.id


def test_the_signature_of_a_content_is_made_with_the_key_of_the_store(encrypted: StoreFile) -> None:
    assert encrypted.sign(b"content") == KEY.sign(b"content")
    assert encrypted.sign(b"other content") != encrypted.sign(b"content")


def test_the_keys_for_a_passphrase_are_those_beside_the_store(encrypted: StoreFile) -> None:
    wrapped = wrap_key(KEY, "open sesame")
    write_wrapped_keys(encrypted.path, [wrapped])

    assert encrypted.wrapped_keys() == [wrapped]


def test_an_encrypted_file_is_read_back_and_its_bytes_do_not_tell_it(
    encrypted: StoreFile, tmp_path: Path
) -> None:
    path = tmp_path / "export.jsonl"

    with encrypted.write_encrypted(path) as written:
        written.write(b"unrepeatable walrus")

    content = encrypted.read_encrypted(path)
    assert content is not None
    with content as readable:
        assert readable.read() == b"unrepeatable walrus"
    assert b"walrus" not in path.read_bytes()
