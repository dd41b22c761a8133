-- add: one query; its bytes are added to those of all before it
INSERT INTO retrievals (id, verb, query, agent_id, conversation_id, logged_at, total, returned, others, content)
VALUES (:id, :verb, :query, :agent_id, :conversation_id, :logged_at,
        :size + coalesce((SELECT total FROM retrievals ORDER BY seq DESC LIMIT 1), 0), :returned, :others, :content)
ON CONFLICT DO NOTHING;

-- existing_among: which of some ids belong to a memory, message, block or file
SELECT j.value FROM json_list(:ids) j
 WHERE EXISTS (SELECT 1 FROM memories WHERE id = j.value) OR EXISTS (SELECT 1 FROM messages WHERE id = j.value)
    OR EXISTS (SELECT 1 FROM blocks WHERE id = j.value) OR EXISTS (SELECT 1 FROM files WHERE id = j.value)
 ORDER BY j.key;

-- retrieval: by id
SELECT id, verb, query, agent_id, conversation_id, returned, others, content FROM retrievals WHERE id = :id;

-- all: oldest first
SELECT id, verb, query, agent_id, conversation_id, returned, others, content FROM retrievals ORDER BY seq;

-- latest: newest first, of one agent or with one memory among the results, if given
SELECT id, verb, query, agent_id, conversation_id, returned, others, content FROM retrievals
 WHERE (CAST(:agent_id AS text) IS NULL OR agent_id = :agent_id)
   AND (CAST(:memory_id AS bytea) IS NULL OR position(CAST(:memory_id AS bytea) IN returned) > 0)
 ORDER BY seq DESC LIMIT :limit OFFSET :offset;

-- queries: their texts
SELECT id, query FROM retrievals WHERE query <> '' ORDER BY seq;

-- result_ids: the ids of their results
SELECT id, returned, others FROM retrievals ORDER BY seq;

-- count: how many queries the log has
SELECT count(*) FROM retrievals;

-- count_prunable: of the oldest :limit, those that were logged before a moment or exceed the size. Rows are in
-- the order of logging, so only the first ones are read.
SELECT count(*) FROM (SELECT logged_at, total FROM retrievals ORDER BY seq LIMIT :limit) r
 WHERE logged_at < :before
    OR total <= (SELECT total FROM retrievals ORDER BY seq DESC LIMIT 1) - :max_bytes;

-- prune: delete these
DELETE FROM retrievals WHERE seq IN (
    SELECT seq FROM (SELECT seq, logged_at, total FROM retrievals ORDER BY seq LIMIT :limit) r
     WHERE logged_at < :before
        OR total <= (SELECT total FROM retrievals ORDER BY seq DESC LIMIT 1) - :max_bytes);

-- times_returned: how often a memory was returned, as far as the log goes back
SELECT count(*) FROM retrievals WHERE position(CAST(:id AS bytea) IN returned) > 0;

-- overwrite: with less in it
UPDATE retrievals SET query = :query, returned = :returned, others = :others, content = :content WHERE id = :id;

-- save_view: create, or replace the one of that name
INSERT INTO views (name, query, asking, created_at, updated_at) VALUES (:name, :query, :asking, :created_at, :updated_at)
ON CONFLICT (name) DO UPDATE SET query = excluded.query, asking = excluded.asking, updated_at = excluded.updated_at;

-- view: by name
SELECT name, query, asking, created_at, updated_at FROM views WHERE name = :name;

-- views: by name
SELECT name, query, asking, created_at, updated_at FROM views ORDER BY name;

-- delete_view: by name
DELETE FROM views WHERE name = :name;
