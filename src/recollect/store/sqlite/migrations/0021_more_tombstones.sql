-- Deleted messages and documents have tombstones too: an older export must not bring them back.
CREATE TABLE tombstones_anew (
    kind       TEXT NOT NULL CHECK (kind IN ('memory', 'source', 'conversation', 'block', 'agent', 'message', 'document')),
    id         TEXT NOT NULL,
    sha256     TEXT NOT NULL DEFAULT '',     -- of a source: the same material under another id
    deleted_at INTEGER NOT NULL,
    PRIMARY KEY (kind, id)
) STRICT, WITHOUT ROWID;
INSERT INTO tombstones_anew (kind, id, sha256, deleted_at) SELECT kind, id, sha256, deleted_at FROM tombstones;
DROP TABLE tombstones;
ALTER TABLE tombstones_anew RENAME TO tombstones;
CREATE INDEX tombstones_by_hash ON tombstones(sha256) WHERE sha256 <> '';
