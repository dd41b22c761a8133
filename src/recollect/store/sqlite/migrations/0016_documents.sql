-- Documents: JSON values that a program stores under a key of its own and changes in place (namespaces of a framework,
-- files of a memory tool). They are searched by their text, within a namespace.
CREATE TABLE documents (
    id         TEXT PRIMARY KEY NOT NULL,
    namespace  TEXT NOT NULL CHECK (json_type(namespace) IS 'array'),
    key        TEXT NOT NULL CHECK (key <> ''),
    body       TEXT NOT NULL CHECK (json_valid(body)),
    text       TEXT NOT NULL,            -- what is indexed, without secrets; '' if it is not searched
    revision   INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    lifetime_s REAL,
    expires_at INTEGER,
    UNIQUE (namespace, key)
) STRICT;
CREATE INDEX documents_by_expiry ON documents(expires_at) WHERE expires_at IS NOT NULL;

-- A partition may be of documents. Its rows are put back under their ids, so what refers to them is right again at the end.
PRAGMA defer_foreign_keys = ON;
CREATE TABLE former_shelves AS SELECT id, kind, scope, owner_id, items, words FROM shelves;
DROP TABLE shelves;
CREATE TABLE shelves (
    id       INTEGER PRIMARY KEY,
    kind     TEXT NOT NULL CHECK (kind IN ('memory', 'message', 'block', 'file', 'document')),
    scope    TEXT NOT NULL CHECK (scope IN ('global', 'project', 'repo', 'agent', 'session')),
    owner_id TEXT NOT NULL,
    items    INTEGER NOT NULL DEFAULT 0,
    words    INTEGER NOT NULL DEFAULT 0,
    UNIQUE (kind, scope, owner_id)
) STRICT;
INSERT INTO shelves (id, kind, scope, owner_id, items, words)
SELECT id, kind, scope, owner_id, items, words FROM former_shelves ORDER BY id;
DROP TABLE former_shelves;
