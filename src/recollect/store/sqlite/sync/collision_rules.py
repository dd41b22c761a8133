"""
Let a received record fit beside the others, where the database allows only one.

Two memories that replace one memory, each on another device, are linked as a conflict.

One active value of a fact, one message at a position, one block of a label per agent, one repo and
one agent of a name. Which one gives way depends on ids and devices only, so every device decides
alike.
"""

from typing import Any

from recollect.clock import derived_id, from_micros
from recollect.domain.link import Link, LinkEnd, Relation
from recollect.store.open_tables import OpenTables
from recollect.store.sqlite.sqlite_connection import SqliteConnection
from recollect.store.sqlite.sync.record_rows import RecordRows, Row, Rows
from recollect.store.sqlite.sync.sync_state import SyncState

_RENAME_ALIKE = """
UPDATE {0} AS o SET "{1}" = "{1}" || ' ' || substr(id, -6)
 WHERE {2} = :old AND "{1}" <> ''
   AND EXISTS (SELECT 1 FROM {0} n WHERE n.{2} = :new AND n."{1}" = o."{1}")
"""


class CollisionRules:
    """Decides which of two records gives way, within one transaction."""

    def __init__(
        self, tables: OpenTables[SqliteConnection], rows: RecordRows, state: SyncState
    ) -> None:
        self._tables = tables
        self._db = tables.connection.db
        self._rows = rows
        self._state = state
        self._rivals: list[tuple[str, str, str]] = []  # the older, the newer, and why
        self.conflicts: list[str] = []

    def resolve(self, kind: str, rows: Rows, origin: str) -> Rows | None:
        """Return rows that fit beside the others; None if another record has their place."""
        row = rows[kind][0]
        if kind == "memories" and row["key"] and row["status"] == "active":
            return {**rows, kind: [self._mark_older_value(row)]}
        if kind == "messages":
            return {kind: [self._at_free_position(row, origin)]}
        if kind == "agents":
            return {**rows, kind: [self._with_agent_name(row)]}
        if kind == "agent_blocks":
            return rows if self._keep_block_with_smaller_id(row) else None
        if kind == "agent_skills":
            return rows if self._keep_latest_skill(rows) else None
        return rows

    def link_rivals(self) -> None:
        """Link the values of a fact, or of a memory, that met, after both are stored."""
        rivals, self._rivals = self._rivals, []
        for older, newer, note in rivals:
            sql = "SELECT max(created_at) FROM memories WHERE id IN (?, ?)"
            created_at = int(self._db.execute(sql, (older, newer)).get)
            self._tables.links.add(
                Link(
                    id=derived_id(older, f"rival of {newer}", 0),
                    from_id=older,
                    relation=Relation.CONTRADICTS,
                    to_kind=LinkEnd.MEMORY,
                    to_id=newer,
                    note=note,
                    created_at=from_micros(created_at),
                )
            )

    def note_replacement(self, link: Row, origin: str) -> None:
        """Record the active memories with which other devices replaced the same one as *link*."""
        if link["relation"] != "supersedes":
            return
        sql = """SELECT l.id, o.id FROM memory_links l
                   JOIN memories n ON n.id = :from_id AND n.status = 'active'
                   JOIN memories o ON o.id = l.from_id AND o.status = 'active'
                        AND o.fingerprint <> n.fingerprint
                  WHERE l.to_id = :to_id AND l.relation = 'supersedes' AND o.id <> n.id"""
        names = {name: link[name] for name in ("from_id", "to_id")}
        others: list[tuple[Any, ...]] = self._db.execute(sql, names).fetchall()
        for link_id, other_id in others:
            stored = self._state.revision("memory_links", link_id)
            if origin != (stored.origin if stored else self._own_device()):
                older, newer = sorted((link["from_id"], other_id))
                self._rivals.append((older, newer, "both replace one memory, on two devices"))
                self.conflicts.append(
                    f"memory {older}: {newer} replaces the same memory on another device; both "
                    "stay (recollect conflicts)"
                )

    def make_room(self, kind: str, record_id: str, main_id: str) -> None:
        """Change what *record_id* owns so that it fits beside what *main_id* owns."""
        ids = {"old": record_id, "new": main_id}
        sql = """SELECT m.id, o.id, m."key" FROM memories m
                   JOIN memories o ON o."key" = m."key" AND o.scope = m.scope
                  WHERE m.owner_id = :old AND o.owner_id = :new AND m."key" <> ''
                    AND m.status = 'active' AND o.status = 'active'"""
        facts: list[tuple[Any, ...]] = self._db.execute(sql, ids).fetchall()
        for memory_id, other, key in facts:
            older, newer = sorted((memory_id, other))
            self._add_rivals(older, newer, key)
            self._db.execute("UPDATE memories SET status = 'contradicted' WHERE id = ?", (older,))
        if kind == "projects":
            self._db.execute(_RENAME_ALIKE.format("repos", "name", "project_id"), ids)
        if kind == "agents":
            self._db.execute(_RENAME_ALIKE.format("conversations", "key", "agent_id"), ids)
            self._detach_alike(record_id, main_id)
            self._unload_older_skills(record_id, main_id)
        if kind == "conversations":
            sql = """UPDATE messages SET position = position + 1 +
                            (SELECT max(position) FROM messages
                              WHERE conversation_id IN (:old, :new))
                      WHERE conversation_id = :old AND EXISTS (
                            SELECT 1 FROM messages WHERE conversation_id = :new)"""
            self._db.execute(sql, ids)

    def with_repo_name(self, rows: Rows, other_id: str) -> Rows:
        """Return a repo with a name of its own, if another remote has the same name here."""
        row = rows["repos"][0]
        sql = "SELECT name, remote FROM repos WHERE id = ?"
        [(name, remote)] = self._db.execute(sql, (other_id,)).fetchall()
        if not remote or not row["remote"] or remote == row["remote"]:
            return rows
        if row["id"] > other_id:
            return {"repos": [{**row, "name": f"{row['name']} {row['id'][-6:]}"}]}
        sql = "UPDATE repos SET name = ? WHERE id = ?"
        self._db.execute(sql, (f"{name} {other_id[-6:]}", other_id))
        return rows

    def _with_agent_name(self, row: Row) -> Row:
        """Let the agent with the smaller id have the name; return the row as it is stored."""
        name = row["name"]
        sql = "SELECT id FROM agents WHERE name = ? AND id <> ?"
        other_id = self._db.execute(sql, (name, row["id"])).get
        if other_id is None:
            return row
        renamed = max(row["id"], other_id)
        new_name = f"{name} {renamed[-6:]}"
        self.conflicts.append(
            f"agent {name}: two agents got this name on two devices; {renamed} is {new_name!r} now"
        )
        if renamed == row["id"]:
            return {**row, "name": new_name}
        was_changed = self._state.is_changed("agents", other_id)
        self._db.execute("UPDATE agents SET name = ? WHERE id = ?", (new_name, other_id))
        if not was_changed:
            self._state.mark_merged("agents", other_id)
        return row

    def _mark_older_value(self, row: Row) -> Row:
        """Let the newer of two values of a fact be the active one."""
        sql = """SELECT id FROM memories
                  WHERE "key" = :key AND status = 'active' AND id <> :id AND scope = :scope
                    AND project_id IS :project_id AND repo_id IS :repo_id
                    AND agent_id IS :agent_id AND session_id IS :session_id"""
        names = ("key", "id", "scope", "project_id", "repo_id", "agent_id", "session_id")
        other = self._db.execute(sql, {name: row[name] for name in names}).get
        if other is None:
            return row
        older, newer = sorted((row["id"], other))
        self._add_rivals(older, newer, row["key"])
        if other == older:
            self._db.execute("UPDATE memories SET status = 'contradicted' WHERE id = ?", (other,))
            return row
        return {**row, "status": "contradicted"}

    def _add_rivals(self, older: str, newer: str, key: str) -> None:
        note = "another value of this fact was active on another device"
        self._rivals.append((older, newer, note))
        self.conflicts.append(
            f"memory {older}: the fact {key!r} has another value, {newer}; both stay"
        )

    def _detach_alike(self, agent_id: str, main_id: str) -> None:
        """Of two blocks with one label, let the one with the smaller id stay attached."""
        sql = """SELECT o.block_id, n.block_id, o.label FROM agent_blocks o
                   JOIN agent_blocks n ON n.label = o.label AND n.block_id <> o.block_id
                  WHERE o.agent_id = ? AND n.agent_id = ?"""
        alike: list[tuple[Any, ...]] = self._db.execute(sql, (agent_id, main_id)).fetchall()
        for block_id, other, label in alike:
            owner = agent_id if block_id > other else main_id
            self._rows.delete("agent_blocks", f"{owner} {max(block_id, other)}")
            self.conflicts.append(
                f"block {label}: two agents that became one had it; {max(block_id, other)} is "
                "stored, but not attached any more"
            )

    def _at_free_position(self, row: Row, origin: str) -> Row:
        """Move a message to the end if two devices used its position; one device's keep theirs."""
        sql = "SELECT id FROM messages WHERE conversation_id = ? AND position = ? AND id <> ?"
        values = (row["conversation_id"], row["position"], row["id"])
        other_id = self._db.execute(sql, values).get
        if other_id is None:
            return row
        stored = self._state.revision("messages", other_id)
        other_origin = stored.origin if stored else self._own_device()
        sql = "SELECT max(position) + 1 FROM messages WHERE conversation_id = ?"
        position = int(self._db.execute(sql, (row["conversation_id"],)).get)
        position = max(position, row["position"] + 1)
        if (origin, row["id"]) > (other_origin, other_id):
            return {**row, "position": position}
        self._db.execute("UPDATE messages SET position = ? WHERE id = ?", (position, other_id))
        return row

    def _keep_block_with_smaller_id(self, row: Row) -> bool:
        """Of blocks with one label keep that with the smaller id; return whether it is this one."""
        sql = """SELECT block_id FROM agent_blocks
                  WHERE agent_id = ? AND label = ? AND block_id <> ?"""
        values = (row["agent_id"], row["label"], row["block_id"])
        other = self._db.execute(sql, values).get
        if other is None or row["block_id"] < other:
            if other is not None:
                self._rows.delete("agent_blocks", f"{row['agent_id']} {other}")
            return True
        return False

    def _keep_latest_skill(self, rows: Rows) -> bool:
        """Of skills with one name keep the one loaded last; return whether it is this one."""
        row, skill = rows["agent_skills"][0], rows["skills"][0]
        sql = """SELECT a.loaded_at, a.skill_id
                   FROM agent_skills a JOIN skills s ON s.id = a.skill_id
                  WHERE a.agent_id = ? AND s.name = ? AND a.skill_id <> ?"""
        values = (row["agent_id"], skill["name"], row["skill_id"])
        others: list[tuple[Any, ...]] = self._db.execute(sql, values).fetchall()
        if any(other > (row["loaded_at"], row["skill_id"]) for other in others):
            return False
        for _, skill_id in others:
            self._rows.delete("agent_skills", f"{row['agent_id']} {skill_id}")
        return True

    def _unload_older_skills(self, agent_id: str, main_id: str) -> None:
        """Of two skills with one name, let the one that was loaded last stay loaded."""
        sql = """SELECT o.agent_id, o.skill_id FROM agent_skills o
                   JOIN skills os ON os.id = o.skill_id
                   JOIN skills ns ON ns.name = os.name AND ns.id <> os.id
                   JOIN agent_skills n ON n.skill_id = ns.id
                  WHERE o.agent_id IN (:old, :new) AND n.agent_id IN (:old, :new)
                    AND (n.loaded_at, n.skill_id) > (o.loaded_at, o.skill_id)"""
        alike = self._db.execute(sql, {"old": agent_id, "new": main_id}).fetchall()
        for owner, skill_id in alike:
            self._rows.delete("agent_skills", f"{owner} {skill_id}")

    def _own_device(self) -> str:
        device = self._state.device()
        return device.device if device else ""
