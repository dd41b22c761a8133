"""Hashes of text: exact hashes, and a fingerprint that ignores case, spacing and punctuation."""

import hashlib
import re
import unicodedata

# Characters that do not change the meaning: "C++" and "C#", "< 5" and "> 5" must stay different.
_NOT_WORD = re.compile(r"(?:[\s.,;:!?…\"'’‘“”«»()\[\]{}*_`~]|(?<=\s)[-–—]+(?=\s))+")


def sha256_hex(text: str) -> str:
    """Return the SHA-256 of *text* as UTF-8, in hex."""
    return hashlib.sha256(text.encode()).hexdigest()


def short_hash(text: str) -> bytes:
    """Return 16 bytes that identify *text* exactly."""
    return hashlib.blake2b(text.encode(), digest_size=16).digest()


def fingerprint(text: str) -> str:
    """Return a hash that is equal for texts that differ only in case, spacing or punctuation."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return short_hash(_NOT_WORD.sub(" ", folded).strip()).hex()
