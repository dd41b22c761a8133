"""
A page of a vault: front matter, the words of a memory or block, and below a line what is not read.

Only the words between the front matter and the line `END` are edited; the reason and the quotes
below it are there for the reader. A page that a person wrote has no such line and is read whole.
"""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any

from recollect.lazy_dataclass import dataclass
from recollect.text.front_matter import parse_front_matter, render_front_matter

END = "<!-- recollect: edits above this line are proposed; below it nothing is read -->"
MAX_SLUG = 60


@dataclass(frozen=True)
class VaultPage:
    """What a page says: its fields and its words."""

    fields: Mapping[str, Any]
    words: str

    @property
    def id(self) -> str:
        """The id of the memory or block, '' if a person wrote the page."""
        value = self.fields.get("id")
        return value if isinstance(value, str) else ""


def render_page(
    fields: Mapping[str, Any], words: str, *, reason: str = "", quotes: Sequence[str] = ()
) -> str:
    """Return the text of a page."""
    parts = [render_front_matter(fields).rstrip("\n"), "", words.rstrip("\n"), "", END]
    if reason:
        parts += ["", "## Why", "", reason.strip()]
    if quotes:
        parts += ["", "## Evidence", ""]
        parts += ["\n".join(f"> {line}" for line in quote.splitlines()) + "\n" for quote in quotes]
    return "\n".join(parts).rstrip("\n") + "\n"


def parse_page(text: str) -> VaultPage:
    """Return what a page says, however it was edited."""
    text = text.replace("\r\n", "\n")
    if text.lstrip("\ufeff\n ").startswith("---"):
        matter = parse_front_matter(text.lstrip("\ufeff\n "))
        fields, body = matter.fields, matter.body
    else:
        fields, body = {}, text
    words, separator, _ = body.partition(END)
    if not separator:
        words = body
    return VaultPage(fields, words.strip("\n").rstrip())


def file_name(words: str, record_id: str) -> str:
    """Return the name of a page: a few of its words, and the end of its id."""
    return f"{slug(words) or 'page'}-{record_id[-8:]}.md"


def slug(words: str) -> str:
    """Return a few of *words* as part of a file name, '' if none can be."""
    plain = unicodedata.normalize("NFKD", words).encode("ascii", "ignore").decode().lower()
    return "-".join(re.findall(r"[a-z0-9]+", plain))[:MAX_SLUG].strip("-")
