"""
Check what a received record refers to: it is here, it was deleted, or it has not arrived.

References to what was deleted are removed, or the record is left out. A memory keeps only quotes
that stand in their sources: if none is left, what it says was forgotten on another device, and the
memory is forgotten as well.
"""

import apsw

from recollect.clock import Clock, to_micros
from recollect.store.sqlite.sync.record_rows import RecordRows, Rows
from recollect.store.sqlite.sync.sync_state import SyncState
from recollect.store.transfer.record_kinds import KINDS, LINKED_KINDS


class ReferenceCheck:
    """Checks references within one transaction."""

    def __init__(
        self, db: apsw.Connection, rows: RecordRows, state: SyncState, clock: Clock
    ) -> None:
        self._db = db
        self._rows = rows
        self._state = state
        self._clock = clock
        self.to_forget: list[str] = []

    def check(self, kind: str, rows: Rows) -> tuple[Rows | None, bool]:
        """
        Return the rows without references to what was deleted, and False.

        Return None if they cannot be stored, and whether that is because something is missing.
        """
        row = dict(rows[kind][0])
        references = dict(KINDS[kind].references)
        if kind == "memory_links":
            references["to_id"] = LINKED_KINDS[row["to_kind"]]
            references |= {"from_project_id": "projects", "to_project_id": "projects"}
        if kind == "blocks" and row["scope"] == "agent":
            references["owner_id"] = "agents"
        for column, parent in references.items():
            value = row[column]
            if value is None or self._rows.exists(parent, value):
                continue
            if not self._is_gone(parent, value):
                return None, True
            if column in KINDS[kind].owners:
                return None, False  # it goes with what it belongs to
            row[column] = None
        if kind == "messages":
            sql = "SELECT agent_id FROM conversations WHERE id = ?"
            row["agent_id"] = self._db.execute(sql, (row["conversation_id"],)).get
        checked = {**rows, kind: [row]}
        for table in KINDS[kind].shared_parts:
            part = rows[table][0]
            if (project_id := part["project_id"]) and not self._rows.exists("projects", project_id):
                if not self._is_gone("projects", project_id):
                    return None, True
                checked[table] = [{**part, "project_id": None}]
        if kind == "memories" and rows["evidence"]:
            return self._check_evidence(checked)
        return checked, False

    def check_quotes(self, source_id: str) -> None:
        """Drop quotes of a source that was blanked; forget the memories that have no other."""
        sql = """SELECT e.memory_id, e.id,
                        (SELECT count(*) FROM evidence o WHERE o.memory_id = e.memory_id)
                   FROM evidence e JOIN sources s ON s.id = e.source_id
                  WHERE e.source_id = ?
                    AND e.quote <> substr(s.content, e.start_char + 1, e.end_char - e.start_char)"""
        for memory_id, evidence_id, count in self._db.execute(sql, (source_id,)).fetchall():
            if count == 1:
                self.to_forget.append(str(memory_id))
            else:
                sql = "DELETE FROM evidence WHERE memory_id = ? AND id = ?"
                self._db.execute(sql, (memory_id, evidence_id))

    def _check_evidence(self, rows: Rows) -> tuple[Rows | None, bool]:
        evidence = []
        for quote in rows["evidence"]:
            sql = "SELECT substr(content, ?, ?) FROM sources WHERE id = ?"
            length = quote["end_char"] - quote["start_char"]
            values = (quote["start_char"] + 1, length, quote["source_id"])
            quoted = self._db.execute(sql, values).get
            if quoted is None and not self._is_gone("sources", quote["source_id"]):
                return None, True
            if quoted == quote["quote"]:
                evidence.append(quote)
        if evidence:
            return {**rows, "evidence": evidence}, False
        memory_id = rows["memories"][0]["id"]
        if self._rows.exists("memories", memory_id):
            self.to_forget.append(memory_id)
        else:
            at = to_micros(self._clock.now())
            sql = "INSERT OR IGNORE INTO tombstones (kind, id, deleted_at) VALUES ('memory', ?, ?)"
            self._db.execute(sql, (memory_id, at))
        return None, False

    def _is_gone(self, kind: str, record_id: str) -> bool:
        """Return whether a record was here, or is known to be deleted elsewhere."""
        return (
            self._state.is_deleted(kind, record_id)
            or self._state.revision(kind, record_id) is not None
        )
