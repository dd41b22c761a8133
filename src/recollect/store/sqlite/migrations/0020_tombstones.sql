-- What a person deleted: ids, and the hash of a source, never words. An import of an older copy must not bring it back,
-- and an export carries it to other machines, which delete it as well.
CREATE TABLE tombstones (
    kind       TEXT NOT NULL CHECK (kind IN ('memory', 'source', 'conversation', 'block', 'agent')),
    id         TEXT NOT NULL,
    sha256     TEXT NOT NULL DEFAULT '',     -- of a source: the same material under another id
    deleted_at INTEGER NOT NULL,
    PRIMARY KEY (kind, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX tombstones_by_hash ON tombstones(sha256) WHERE sha256 <> '';
