"""What repositories need of the search index: they keep it in step with the rows they write."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from recollect.domain.scope import ItemKind, Owner

ASSISTANT_PREFIX = "~"  # of a word said by the assistant; no word of the tokenizer begins with it


class ItemIndex(Protocol):
    """The words of all searchable records (items). A removed item loses its vectors too."""

    def add(self, kind: ItemKind, owner: Owner, record_id: str, text: str) -> None:
        """Add a new item."""

    def add_many(self, kind: ItemKind, items: Sequence[tuple[Owner, str, str]]) -> None:
        """Add new items of one kind: the owner, the record id and the text of each."""

    def remove(self, record_id: str, text: str) -> int:
        """Remove an item, given with its text; return how many words it had."""

    def remove_many(self, texts: Mapping[str, str]) -> int:
        """Remove items, given as texts by record id; return how many words they had."""

    def replace(
        self, kind: ItemKind, owner: Owner, record_id: str, *, former_text: str, text: str
    ) -> None:
        """Index another text of an item, which waits to be embedded again."""

    def terms(self, text: str) -> list[str]:
        """Return the words of *text* in the form in which the index has them."""
