-- model: by name and dimension
SELECT id FROM models WHERE name = :name AND dimension = :dimension;

-- latest_model: the newest of a name, for callers that do not know its dimension
SELECT id, dimension FROM models WHERE name = :name ORDER BY id DESC LIMIT 1;

-- add_model: register it, or return the id it has
INSERT INTO models (name, dimension) VALUES (:name, :dimension)
ON CONFLICT (name, dimension) DO UPDATE SET name = excluded.name RETURNING id;

-- set_profile: of a model that has none yet
UPDATE models SET profile = :profile WHERE id = :model_id AND profile IS NULL;

-- profile: of a model
SELECT profile FROM models WHERE id = :model_id;

-- has_vectors: whether the store has vectors of a model
SELECT EXISTS (SELECT 1 FROM embeddings WHERE model_id = :model_id);

-- never_embedded: pending items, newest first (recent items are queried first)
SELECT i.id, s.kind FROM items i CROSS JOIN shelves s ON s.id = i.shelf_id
 WHERE i.embedded_by IS NULL ORDER BY i.seq DESC LIMIT :limit;

-- embedded_by_others: items whose vectors are of a model registered before this one, then after it (two ranges of the
-- index; an OR would read all of it)
SELECT id, kind FROM (
    SELECT i.id, s.kind FROM items i CROSS JOIN shelves s ON s.id = i.shelf_id
     WHERE i.embedded_by < :model_id ORDER BY i.embedded_by DESC, i.seq DESC LIMIT :limit)
UNION ALL
SELECT id, kind FROM (
    SELECT i.id, s.kind FROM items i CROSS JOIN shelves s ON s.id = i.shelf_id
     WHERE i.embedded_by > :model_id ORDER BY i.embedded_by DESC, i.seq DESC LIMIT :limit)
LIMIT :limit;

-- pending: those that were never embedded first
SELECT id, kind FROM (
    SELECT i.id, s.kind FROM items i CROSS JOIN shelves s ON s.id = i.shelf_id
     WHERE i.embedded_by IS NULL ORDER BY i.seq DESC LIMIT :limit)
UNION ALL
SELECT id, kind FROM (
    SELECT i.id, s.kind FROM items i CROSS JOIN shelves s ON s.id = i.shelf_id
     WHERE i.embedded_by < :model_id ORDER BY i.embedded_by DESC, i.seq DESC LIMIT :limit)
UNION ALL
SELECT id, kind FROM (
    SELECT i.id, s.kind FROM items i CROSS JOIN shelves s ON s.id = i.shelf_id
     WHERE i.embedded_by > :model_id ORDER BY i.embedded_by DESC, i.seq DESC LIMIT :limit)
LIMIT :limit;

-- pending_among: those of some records, given as a JSON list of ids, that this model has not embedded
SELECT i.id, s.kind FROM json_each(:ids) j CROSS JOIN items i ON i.id = j.value
 CROSS JOIN shelves s ON s.id = i.shelf_id WHERE i.embedded_by IS NULL OR i.embedded_by <> :model_id;

-- never_embedded_among: those that no model has embedded
SELECT i.id, s.kind FROM json_each(:ids) j CROSS JOIN items i ON i.id = j.value
 CROSS JOIN shelves s ON s.id = i.shelf_id WHERE i.embedded_by IS NULL;

-- count_pending: items that this model has not embedded
SELECT (SELECT count(*) FROM items WHERE embedded_by IS NULL)
     + (SELECT count(*) FROM items WHERE embedded_by < :model_id)
     + (SELECT count(*) FROM items WHERE embedded_by > :model_id);

-- count_by_model: how many items each model has embedded; '' counts the pending ones
SELECT coalesce(m.name, ''), sum(i.items)
  FROM (SELECT embedded_by, count(*) AS items FROM items GROUP BY embedded_by) i
  LEFT JOIN models m ON m.id = i.embedded_by GROUP BY 1;

-- by_hash: the vectors of texts that were embedded before, by hashes given as a JSON list of hexadecimal texts
SELECT unhex(j.value), (SELECT vector FROM embeddings WHERE model_id = :model_id AND hash = unhex(j.value) LIMIT 1) AS v
  FROM json_each(:hashes) j WHERE v IS NOT NULL;

-- add_embeddings: chunks, as JSON [[record_id, chunk, chunks, hash, vector], …] with hexadecimal texts; content never
-- changes, so an existing row is kept
WITH r AS MATERIALIZED (SELECT key, jsonb(value) AS v FROM json_each(:rows))
INSERT INTO embeddings (seq, model_id, chunk, chunks, hash, vector)
SELECT i.seq, :model_id, v ->> 1, v ->> 2, unhex(v ->> 3), unhex(v ->> 4)
  FROM r CROSS JOIN items i ON i.id = v ->> 0 WHERE true ORDER BY r.key
ON CONFLICT (seq, model_id, chunk) DO NOTHING;

-- mark_embedded: these records, given as a JSON list of ids, are embedded by this model
UPDATE items SET embedded_by = :model_id WHERE id IN (SELECT value FROM json_each(:ids));

-- delete_vectors: of some records, given as a JSON list of ids
DELETE FROM embeddings WHERE seq IN (SELECT i.seq FROM items i WHERE i.id IN (SELECT value FROM json_each(:ids)));

-- mark_pending: these records, given as a JSON list of ids, wait to be embedded
UPDATE items SET embedded_by = NULL WHERE id IN (SELECT value FROM json_each(:ids));

-- models_in_use: the chosen model, and the one whose vectors answer queries
SELECT e.wanted, w.name, w.dimension, w.profile, e.serving, s.name, s.dimension, s.profile
  FROM embedder e LEFT JOIN models w ON w.id = e.wanted LEFT JOIN models s ON s.id = e.serving;

-- query_state: the same, and whether items wait to be embedded by the model that answers queries
SELECT e.wanted, w.name, w.dimension, w.profile, e.serving, s.name, s.dimension, s.profile,
       EXISTS (SELECT 1 FROM items WHERE embedded_by IS NULL)
       OR EXISTS (SELECT 1 FROM items WHERE embedded_by < e.serving)
       OR EXISTS (SELECT 1 FROM items WHERE embedded_by > e.serving)
  FROM embedder e LEFT JOIN models w ON w.id = e.wanted LEFT JOIN models s ON s.id = e.serving;

-- choose_model: for all programs whose settings name no model
UPDATE embedder SET wanted = :model_id;

-- set_serving_model: its vectors answer queries from now on
UPDATE embedder SET serving = :model_id;

-- mark_embedded_items: items marked for another model that still have this model's vectors
UPDATE items SET embedded_by = :model_id
 WHERE seq IN (SELECT seq FROM items WHERE embedded_by < :model_id
               UNION ALL SELECT seq FROM items WHERE embedded_by > :model_id)
   AND EXISTS (SELECT 1 FROM embeddings e WHERE e.seq = items.seq AND e.model_id = :model_id);

-- drop_unused_vectors: a batch of the vectors of models that are neither chosen nor serving
DELETE FROM embeddings WHERE id IN (
    SELECT e.id FROM models m CROSS JOIN embeddings e ON e.model_id = m.id
     WHERE m.id NOT IN (SELECT wanted FROM embedder WHERE wanted IS NOT NULL)
       AND m.id NOT IN (SELECT serving FROM embedder WHERE serving IS NOT NULL) LIMIT :limit);

-- has_unused_vectors: whether there are any
SELECT EXISTS (SELECT 1 FROM models m CROSS JOIN embeddings e ON e.model_id = m.id
     WHERE m.id NOT IN (SELECT wanted FROM embedder WHERE wanted IS NOT NULL)
       AND m.id NOT IN (SELECT serving FROM embedder WHERE serving IS NOT NULL));

-- count_vectors: how many items each model has vectors of (every embedded item has a chunk 0)
SELECT m.name, m.dimension, count(*) FROM embeddings e JOIN models m ON m.id = e.model_id
 WHERE e.chunk = 0 GROUP BY m.id;

-- all_models: every registered model, the oldest first
SELECT id, name, dimension, profile FROM models ORDER BY id;

-- vectors_of_model: every vector of a model, in the order in which they were made
SELECT i.id, e.chunk, e.chunks, e.hash, e.vector FROM embeddings e JOIN items i ON i.seq = e.seq
 WHERE e.model_id = :model_id ORDER BY e.id;

-- embedded_ids: the records that count as embedded by a model
SELECT id FROM items WHERE embedded_by = :model_id ORDER BY seq;
