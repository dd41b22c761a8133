"""
The triggers that note which records changed, for stores that sync. Other stores have none.

A change is noted with its kind and id, and whether text was deleted or replaced: files that hold
that text are rewritten. Triggers are made by `recollect sync init`, and again after migrations
and repairs, which may create tables again.
"""

import apsw

from recollect.store.sqlite.sync.kept_versions import NAMESPACE_TEXT
from recollect.store.transfer.record_kinds import KINDS, OMITTED

# A change of this column replaces text; with '' every update of the table does.
_REPLACED_TEXT = {
    **dict.fromkeys(("summaries", "messages", "pins", "sources", "memories"), "content"),
    "block_proposals": "value",
    "block_history": "",
    "memory_changes": "",
}
# What these rows say is in other rows too, or is no text of a person.
_WITHOUT_TEXT = frozenset(
    {
        *("project_links", "repos", "agent_blocks", "agent_skills"),
        *("memory_tags", "memory_links", "tombstones"),
    }
)


def create_triggers(db: apsw.Connection) -> None:
    """Let the database note changes from now on."""
    for kind, layout in KINDS.items():
        record_id = " || ' ' || ".join(f'{{row}}."{column}"' for column in layout.keys)
        _create(db, kind, kind, record_id)
        if layout.values:
            _delete_versions(db, kind, record_id.format(row="OLD"))
        for part, column in layout.parts.items():
            _create(db, part, kind, f'{{row}}."{column}"')


def _create(db: apsw.Connection, table: str, kind: str, record_id: str) -> None:
    replaced = _REPLACED_TEXT.get(table)
    updated = "0"
    if replaced is not None:
        updated = f'NEW."{replaced}" IS NOT OLD."{replaced}"' if replaced else "1"
    deleted = "0" if table in _WITHOUT_TEXT else "1"
    columns = ""
    if table in OMITTED:
        names = [row[1] for row in db.execute(f"PRAGMA table_info({table})")]
        listed = ", ".join(f'"{name}"' for name in names if name not in OMITTED[table])
        columns = f" OF {listed}"
    for event, columns_of_event, row, redacted in (
        ("insert", "", "NEW", "0"),
        ("update", columns, "NEW", updated),
        ("delete", "", "OLD", deleted),
    ):
        db.execute(
            f"""CREATE TRIGGER IF NOT EXISTS sync_{event}_of_{table}
                AFTER {event}{columns_of_event} ON {table} BEGIN
                    INSERT INTO sync_changes (kind, id, times, redacted)
                    VALUES ('{kind}', {record_id.format(row=row)}, 1, {redacted})
                    ON CONFLICT (kind, id) DO UPDATE
                       SET times = times + 1, redacted = max(redacted, excluded.redacted);
                END"""
        )


def _delete_versions(db: apsw.Connection, kind: str, record_id: str) -> None:
    db.execute(
        f"""CREATE TRIGGER IF NOT EXISTS sync_versions_of_{kind} AFTER DELETE ON {kind} BEGIN
                DELETE FROM documents
                 WHERE namespace = '{NAMESPACE_TEXT}' AND body ->> '$.kind' = '{kind}'
                   AND body ->> '$.id' = {record_id};
            END"""
    )
