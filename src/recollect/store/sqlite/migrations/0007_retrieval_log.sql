-- The retrieval log, one packed row for each query. Until now each result was a row of its own with its score
-- parts as JSON: 5 kB for a search, 18 kB for a context, three quarters of a busy file. A packed row has about
-- 600 bytes for a search (see retrieval_packing.py). SQL cannot compress, so the rows that exist are converted to a
-- format that is JSON. The newest 50,000 are kept; the default limits of the log keep about as many.
CREATE TABLE packed_retrievals (
    seq             INTEGER PRIMARY KEY,
    id              TEXT NOT NULL UNIQUE,
    verb            TEXT NOT NULL,
    query           TEXT NOT NULL,
    agent_id        TEXT,                    -- who asked and where: the row is deleted with them
    conversation_id TEXT,
    logged_at       INTEGER NOT NULL,
    total           INTEGER NOT NULL,        -- bytes of this row and all before it: the log's size is one subtraction
    returned        BLOB NOT NULL,           -- ids of the memories that were returned
    others          BLOB NOT NULL,           -- ids of memories that were dropped, and of other items
    content         BLOB NOT NULL            -- the rest
) STRICT;

INSERT INTO packed_retrievals (id, verb, query, agent_id, conversation_id, logged_at, total, returned, others, content)
SELECT id, verb, query, agent_id, conversation_id, asked_at,
       sum(length(query) + length(content) + 200) OVER (ORDER BY id), returned, others, content
  FROM (SELECT r.id, r.verb, r.query, r.asking ->> 'agent_id' AS agent_id,
               r.asking ->> 'conversation_id' AS conversation_id, r.asked_at,
               coalesce((SELECT unhex(group_concat(replace(memory_id, '-', ''), '')) FROM retrieval_hits h
                          WHERE h.retrieval_id = r.id AND outcome = 'returned'), x'') AS returned,
               coalesce((SELECT unhex(group_concat(replace(id, '-', ''), '')) FROM (
                          SELECT memory_id AS id FROM retrieval_hits h
                           WHERE h.retrieval_id = r.id AND outcome <> 'returned'
                           UNION ALL
                          SELECT item_id FROM retrieval_context c WHERE c.retrieval_id = r.id)), x'') AS others,
               CAST(char(0) || json_array(
                   r.asked_at, json_remove(r.asking, '$.agent_id', '$.conversation_id'), json(r.notes),
                   (SELECT json_group_array(json_array(rank, memory_id, score, json(parts), explanation, outcome))
                      FROM (SELECT * FROM retrieval_hits h WHERE h.retrieval_id = r.id ORDER BY rank)),
                   (SELECT json_group_array(json_array(kind, item_id, tokens, outcome))
                      FROM (SELECT * FROM retrieval_context c WHERE c.retrieval_id = r.id ORDER BY place))) AS BLOB)
                   AS content
          FROM (SELECT * FROM retrievals ORDER BY id DESC LIMIT 50000) r)
 ORDER BY id;

DROP TABLE retrieval_context;
DROP TABLE retrieval_hits;
DROP TABLE retrievals;
ALTER TABLE packed_retrievals RENAME TO retrievals;
