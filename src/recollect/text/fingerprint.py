"""Hashes of text: exact ones that address content, and loose ones that know it again."""

import hashlib
import re
import unicodedata

_NOT_WORD = re.compile(r"[\W_]+")


def sha256_hex(text: str) -> str:
    """Return the SHA-256 of *text* as UTF-8, in hex."""
    return hashlib.sha256(text.encode()).hexdigest()


def short_hash(text: str) -> bytes:
    """Return 16 bytes that identify *text* exactly."""
    return hashlib.blake2b(text.encode(), digest_size=16).digest()


def fingerprint(text: str) -> str:
    """Return a hash that is the same for texts that differ only in case, spacing and marks."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return short_hash(_NOT_WORD.sub(" ", folded).strip()).hex()
