-- add: something that a person deleted; the first deletion counts
INSERT INTO tombstones (kind, id, sha256, deleted_at) VALUES (:kind, :id, :sha256, :deleted_at)
ON CONFLICT (kind, id) DO NOTHING;

-- all: the oldest first
SELECT kind, id, sha256, deleted_at FROM tombstones ORDER BY deleted_at, kind, id;

-- still_here: what was deleted on another machine and is not deleted here yet
SELECT kind, id, sha256, deleted_at FROM tombstones t
 WHERE CASE kind WHEN 'memory' THEN EXISTS (SELECT 1 FROM memories m WHERE m.id = t.id)
                 WHEN 'conversation' THEN EXISTS (SELECT 1 FROM conversations c WHERE c.id = t.id)
                      AND t.id NOT IN (SELECT id FROM hidden_conversations)
                 WHEN 'block' THEN EXISTS (SELECT 1 FROM blocks b WHERE b.id = t.id)
                 WHEN 'agent' THEN EXISTS (SELECT 1 FROM agents a WHERE a.id = t.id)
                 WHEN 'message' THEN EXISTS (SELECT 1 FROM messages m WHERE m.id = t.id)
                 WHEN 'document' THEN EXISTS (SELECT 1 FROM documents d WHERE d.id = t.id)
                 ELSE false END
 ORDER BY kind, id;
