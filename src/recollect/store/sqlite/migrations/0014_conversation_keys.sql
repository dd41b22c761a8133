-- A conversation has the key by which its caller knows it (a thread, a session of another program), and a revision for
-- writers that must not overwrite each other. A message has a payload: any JSON, returned as it was given.
ALTER TABLE conversations ADD COLUMN key TEXT NOT NULL DEFAULT '';
ALTER TABLE conversations ADD COLUMN revision INTEGER NOT NULL DEFAULT 0;
CREATE UNIQUE INDEX conversations_by_key ON conversations(key, coalesce(agent_id, '')) WHERE key <> '';

ALTER TABLE messages ADD COLUMN payload TEXT CHECK (payload IS NULL OR json_valid(payload));
