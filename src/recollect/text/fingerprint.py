"""Hashes of text: exact ones that address content, and loose ones that know it again."""

import hashlib
import re
import unicodedata

# Form, not meaning: "C++" and "C#", "< 5" and "> 5" stay apart.
_NOT_WORD = re.compile(r"(?:[\s.,;:!?…\"'’‘“”«»()\[\]{}*_`~]|(?<=\s)[-–—]+(?=\s))+")


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
