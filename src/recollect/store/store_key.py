"""
The key of an encrypted store: its text form, and wrapping it with a passphrase.

A key is 32 random bytes. Its text form (`rk1-…`, base32 in groups, with a checksum) is what a key
file and the OS keyring hold, and what a person notes down as the recovery key: one form for all.

Wrapping: scrypt derives 64 bytes from the passphrase and a fresh random salt. The first 32 are
combined with the key by exclusive or (the salt is never used twice, so neither is this mask); the
last 32 authenticate salt and result with HMAC-SHA-256. So a wrong passphrase is recognised.
"""

import base64
import hashlib
import hmac
import re
import secrets
from collections.abc import Mapping
from dataclasses import field
from typing import Any

from recollect.errors import InvalidInput
from recollect.lazy_dataclass import dataclass

KEY_BYTES = 32
_CHECK_BYTES = 3
_PREFIX = "rk1-"
_GROUP = 7
_KEY_TEXT = re.compile(r"rk1(?:-[a-z2-7]{1,7})+", re.IGNORECASE)
_SCRYPT = {"n": 1 << 15, "r": 8, "p": 1}
_MAX_SCRYPT_N = 1 << 19  # a wrapped key from elsewhere must not use up the memory
_SCRYPT_MEMORY = 1 << 30


@dataclass(frozen=True)
class StoreKey:
    """A key of 32 bytes. Its value does not appear in its representation."""

    raw: bytes = field(repr=False)

    @classmethod
    def generate(cls) -> "StoreKey":
        """Return a new random key."""
        return cls(secrets.token_bytes(KEY_BYTES))

    @property
    def id(self) -> str:
        """A short name of the key that does not reveal it."""
        return hashlib.sha256(b"recollect key id\0" + self.raw).hexdigest()[:16]

    @property
    def text(self) -> str:
        """The key as a person writes it down."""
        check = hashlib.sha256(b"recollect key check\0" + self.raw).digest()[:_CHECK_BYTES]
        letters = base64.b32encode(self.raw + check).decode().rstrip("=").lower()
        groups = [letters[at : at + _GROUP] for at in range(0, len(letters), _GROUP)]
        return _PREFIX + "-".join(groups)

    def sign(self, content: bytes) -> str:
        """Return an HMAC of *content* that only a holder of the key can make."""
        mac_key = hashlib.sha256(b"recollect manifest\0" + self.raw).digest()
        return hmac.new(mac_key, content, hashlib.sha256).hexdigest()


def parse_key(text: str) -> StoreKey:
    """Return the key that *text* is the text form of."""
    letters = text.strip().lower().removeprefix(_PREFIX).replace("-", "").replace(" ", "")
    try:
        content = base64.b32decode(letters.upper() + "=" * (-len(letters) % 8))
    except ValueError as error:
        raise InvalidInput("this is not a key of Recollect; a key begins with rk1-") from error
    key = StoreKey(content[:KEY_BYTES])
    if len(content) != KEY_BYTES + _CHECK_BYTES or key.text.replace("-", "") != f"rk1{letters}":
        raise InvalidInput("the key has a typo (checksum mismatch). Compare it with your copy")
    return key


def parse_keys(text: str) -> list[StoreKey]:
    """Return the keys in the text of a key file, last first; other lines are comments."""
    keys = []
    for match in _KEY_TEXT.finditer(text):
        try:
            keys.append(parse_key(match[0]))
        except InvalidInput:
            continue  # the error of the caller says how many keys were read
    return keys[::-1]


def wrap_key(key: StoreKey, passphrase: str) -> Mapping[str, Any]:
    """Return *key* encrypted with a passphrase, as values for a JSON file."""
    if not passphrase:
        raise InvalidInput("the passphrase is empty")
    salt = secrets.token_bytes(16)
    derived = _derive(passphrase, salt, _SCRYPT)
    wrapped = bytes(a ^ b for a, b in zip(key.raw, derived[:KEY_BYTES], strict=True))
    tag = hmac.new(derived[KEY_BYTES:], salt + wrapped, hashlib.sha256).hexdigest()
    return {
        "id": key.id,
        "scrypt": dict(_SCRYPT),
        "salt": salt.hex(),
        "key": wrapped.hex(),
        "tag": tag,
    }


def unwrap_key(wrapped: Mapping[str, Any], passphrase: str) -> StoreKey | None:
    """Return the key that `wrap_key` wrapped, or None if the passphrase is not the right one."""
    try:
        salt, masked = bytes.fromhex(wrapped["salt"]), bytes.fromhex(wrapped["key"])
        cost = {name: int(wrapped["scrypt"][name]) for name in _SCRYPT}
        tag = str(wrapped["tag"])
    except (KeyError, TypeError, ValueError):
        return None
    if len(masked) != KEY_BYTES or not 1 < cost["n"] <= _MAX_SCRYPT_N or cost["r"] * cost["p"] > 64:
        return None
    derived = _derive(passphrase, salt, cost)
    expected = hmac.new(derived[KEY_BYTES:], salt + masked, hashlib.sha256).hexdigest()
    if not hmac.compare_digest(expected, tag):
        return None
    return StoreKey(bytes(a ^ b for a, b in zip(masked, derived[:KEY_BYTES], strict=True)))


def _derive(passphrase: str, salt: bytes, cost: Mapping[str, int]) -> bytes:
    return hashlib.scrypt(
        passphrase.encode(), salt=salt, dklen=2 * KEY_BYTES, maxmem=_SCRYPT_MEMORY, **cost
    )
