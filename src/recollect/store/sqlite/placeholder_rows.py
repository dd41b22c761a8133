"""
Stand-ins for lost rows that other rows refer to, so that those are not lost as well.

A stand-in is made of what the other rows still say: the quotes of a source at their places, the
history of a block, the evidence of a memory. What nobody says is empty or named "rescued".
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from recollect.text.fingerprint import fingerprint, sha256_hex

BLANK = "█"  # what `forget` writes over words too

RowMap = dict[str, Any]
ReadRows = Callable[[str], Iterable[RowMap]]
Place = tuple[str, str]  # scope and owner


class PlaceholderRows:
    """Makes rows to stand in for lost ones. *read_rows* returns the readable rows of a table."""

    def __init__(self, read_rows: ReadRows, now: int) -> None:
        self._read_rows = read_rows
        self._now = now
        self._places: dict[str, Place] | None = None
        self._makers: Mapping[str, Callable[[str, RowMap], RowMap | None]] = {
            "projects": self._project,
            "repos": self._repo,
            "agents": self._agent,
            "conversations": self._conversation,
            "sources": self._source,
            "blocks": self._block,
            "memories": self._memory,
        }

    def make(self, table: str, lost_id: str, child: RowMap) -> RowMap | None:
        """Return a row for *table* with this id, which *child* refers to; None if impossible."""
        maker = self._makers.get(table)
        return maker(lost_id, child) if maker else None

    def _project(self, lost_id: str, child: RowMap) -> RowMap:
        name = f"rescued {lost_id[-6:]}"
        return {"id": lost_id, "identity": name, "name": name, "created_at": self._now}

    def _repo(self, lost_id: str, child: RowMap) -> RowMap | None:
        project_id = child.get("project_id")
        if not project_id:
            return None
        row = self._project(lost_id, child)
        return row | {"project_id": project_id}

    def _agent(self, lost_id: str, child: RowMap) -> RowMap:
        row = self._project(lost_id, child)
        return row | {"name": f"rescued-{lost_id[-6:]}", "updated_at": self._now}

    def _conversation(self, lost_id: str, child: RowMap) -> RowMap:
        started_at = child.get("created_at") or self._now
        return {
            "id": lost_id,
            "agent_id": child.get("agent_id"),
            "title": "rescued",
            "started_at": started_at,
        }

    def _source(self, lost_id: str, child: RowMap) -> RowMap | None:
        """Return a source with the quotes at their places and blanks between them."""
        quotes = [row for row in self._read_rows("evidence") if row["source_id"] == lost_id]
        if not quotes:
            return None
        length = max(row["start_char"] + len(row["quote"]) for row in quotes)
        content = [BLANK] * min(length, 10_000_000)
        for row in quotes:
            content[row["start_char"] : row["start_char"] + len(row["quote"])] = row["quote"]
        text = "".join(content)
        moment = quotes[0]["created_at"]
        return {
            "id": lost_id,
            "kind": "import",
            "content": text,
            "sha256": sha256_hex(text),
            "title": "rescued",
            "captured_at": moment,
            "observed_at": moment,
        }

    def _block(self, lost_id: str, child: RowMap) -> RowMap | None:
        versions = [row for row in self._read_rows("block_history") if row["block_id"] == lost_id]
        attached = [row for row in self._read_rows("agent_blocks") if row["block_id"] == lost_id]
        if not versions:
            return None
        newest = max(versions, key=lambda row: row["version"])
        place = self._place(lost_id) or (("agent", attached[0]["agent_id"]) if attached else None)
        if place is None:
            return None
        return {
            "id": lost_id,
            "label": attached[0]["label"] if attached else f"rescued-{lost_id[-6:]}",
            "value": newest["value"],
            "version": newest["version"],
            "scope": place[0],
            "owner_id": place[1],
            "created_at": newest["changed_at"],
            "updated_at": newest["changed_at"],
        }

    def _memory(self, lost_id: str, child: RowMap) -> RowMap | None:
        """Return a candidate with the quote of a lost memory, at its place."""
        quotes = [row for row in self._read_rows("evidence") if row["memory_id"] == lost_id]
        place = self._place(lost_id)
        if not quotes or place is None:
            return None
        scope, owner_id = place
        quote, moment = quotes[0]["quote"], quotes[0]["created_at"]
        owner_column = {} if scope == "global" else {f"{scope}_id": owner_id}
        return {
            "id": lost_id,
            "type": "episode" if scope == "session" else "project",
            "scope": scope,
            "status": "inbox",
            "source_kind": "import",
            "content": quote,
            "fingerprint": fingerprint(quote),
            "observed_at": moment,
            "confirmed_at": moment,
            "created_at": moment,
            "updated_at": moment,
            **owner_column,
        }

    def _place(self, item_id: str) -> Place | None:
        """Return the scope and owner of an item, which the index still knows."""
        if self._places is None:
            shelves = {
                row["id"]: (row["scope"], row["owner_id"]) for row in self._read_rows("shelves")
            }
            self._places = {
                row["id"]: shelves[row["shelf_id"]]
                for row in self._read_rows("items")
                if row["shelf_id"] in shelves
            }
        return self._places.get(item_id)
