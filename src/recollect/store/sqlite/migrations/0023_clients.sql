-- The programs that store and ask: coding agents, SDKs, MCP clients. A person sees which of them are connected, and when
-- each was active last. They are counted here because the retrieval log is pruned, and to count it takes long.
CREATE TABLE clients (
    name              TEXT PRIMARY KEY NOT NULL,  -- as the program calls itself
    first_seen_at     INTEGER NOT NULL,
    last_seen_at      INTEGER NOT NULL,
    writes            INTEGER NOT NULL DEFAULT 0, -- captures, memories and messages
    last_write_at     INTEGER,
    retrievals        INTEGER NOT NULL DEFAULT 0,
    last_retrieval_at INTEGER
) STRICT, WITHOUT ROWID;
