-- model: by what makes its vectors comparable
SELECT id FROM models WHERE name = :name AND dimension = :dimension;

-- latest_model: the newest of a name, for those who do not know its dimension
SELECT id, dimension FROM models WHERE name = :name ORDER BY id DESC LIMIT 1;

-- add_model: known from now on
INSERT INTO models (name, dimension) VALUES (:name, :dimension)
ON CONFLICT (name, dimension) DO UPDATE SET name = excluded.name RETURNING id;

-- never_embedded: items that wait, newest first (what was just said is asked for first)
SELECT i.seq, i.id, s.kind FROM items i CROSS JOIN shelves s ON s.id = i.shelf_id
 WHERE i.embedded_by IS NULL ORDER BY i.seq DESC LIMIT :limit;

-- embedded_before: items whose vectors are those of a model known before this one
SELECT i.seq, i.id, s.kind FROM items i CROSS JOIN shelves s ON s.id = i.shelf_id
 WHERE i.embedded_by < :model_id ORDER BY i.embedded_by DESC, i.seq DESC LIMIT :limit;

-- embedded_after: … or of one known after it (two ranges of the index; an OR would read all of it)
SELECT i.seq, i.id, s.kind FROM items i CROSS JOIN shelves s ON s.id = i.shelf_id
 WHERE i.embedded_by > :model_id ORDER BY i.embedded_by DESC, i.seq DESC LIMIT :limit;

-- waiting_among: … of some items, given as a JSON list of ids
SELECT i.seq, i.id, s.kind FROM json_each(:ids) j CROSS JOIN items i ON i.id = j.value
 CROSS JOIN shelves s ON s.id = i.shelf_id WHERE i.embedded_by IS NULL OR i.embedded_by <> :model_id;

-- new_among: … that no model has embedded
SELECT i.seq, i.id, s.kind FROM json_each(:ids) j CROSS JOIN items i ON i.id = j.value
 CROSS JOIN shelves s ON s.id = i.shelf_id WHERE i.embedded_by IS NULL;

-- count_waiting: all three of these
SELECT (SELECT count(*) FROM items WHERE embedded_by IS NULL)
     + (SELECT count(*) FROM items WHERE embedded_by < :model_id)
     + (SELECT count(*) FROM items WHERE embedded_by > :model_id);

-- count_by_model: how many items each has embedded; '' counts those that wait
SELECT coalesce(m.name, ''), count(*) FROM items i LEFT JOIN models m ON m.id = i.embedded_by GROUP BY 1;

-- known: vectors of texts that were embedded before
SELECT hash, vector FROM embeddings WHERE model_id = :model_id AND hash = :hash LIMIT 1;

-- put: one chunk; content never changes, so whoever came first was right
INSERT INTO embeddings (seq, model_id, chunk, chunks, hash, vector)
SELECT :seq, :model_id, :chunk, :chunks, :hash, :vector WHERE EXISTS (SELECT 1 FROM items WHERE seq = :seq)
ON CONFLICT (seq, model_id, chunk) DO NOTHING;

-- mark: these items are embedded by this model
UPDATE items SET embedded_by = :model_id WHERE seq IN (SELECT value FROM json_each(:seqs));

-- in_use: which model is wanted, and whose vectors answer
SELECT e.wanted, w.name, w.dimension, e.serving, s.name, s.dimension
  FROM embedder e LEFT JOIN models w ON w.id = e.wanted LEFT JOIN models s ON s.id = e.serving;

-- want: chosen from now on
UPDATE embedder SET wanted = :model_id;

-- serve: its vectors answer from now on
UPDATE embedder SET serving = :model_id;

-- mark_back: items that were on their way to another model and have this one's vectors still
UPDATE items SET embedded_by = :model_id
 WHERE seq IN (SELECT seq FROM items WHERE embedded_by < :model_id
               UNION ALL SELECT seq FROM items WHERE embedded_by > :model_id)
   AND EXISTS (SELECT 1 FROM embeddings e WHERE e.seq = items.seq AND e.model_id = :model_id);

-- drop_others: some vectors of models that are neither wanted nor serving
DELETE FROM embeddings WHERE id IN (
    SELECT e.id FROM models m CROSS JOIN embeddings e ON e.model_id = m.id
     WHERE m.id NOT IN (SELECT wanted FROM embedder WHERE wanted IS NOT NULL)
       AND m.id NOT IN (SELECT serving FROM embedder WHERE serving IS NOT NULL) LIMIT :limit);

-- has_others: whether there are such
SELECT EXISTS (SELECT 1 FROM models m CROSS JOIN embeddings e ON e.model_id = m.id
     WHERE m.id NOT IN (SELECT wanted FROM embedder WHERE wanted IS NOT NULL)
       AND m.id NOT IN (SELECT serving FROM embedder WHERE serving IS NOT NULL));

-- count_vectors: of how many items each model has vectors (an item has a first piece, if any)
SELECT m.name, m.dimension, count(*) FROM embeddings e JOIN models m ON m.id = e.model_id
 WHERE e.chunk = 0 GROUP BY m.id;

-- last_id: up to where a cache has read
SELECT coalesce(max(id), 0) FROM embeddings;

-- of_shelf: every vector of a shelf
SELECT e.id, e.seq, e.chunks, e.vector FROM items i CROSS JOIN embeddings e ON e.seq = i.seq AND e.model_id = :model_id
 WHERE i.shelf_id = :shelf_id ORDER BY e.id;

-- since: vectors newer than a cache has read
SELECT e.id, i.shelf_id, e.seq, e.chunks, e.vector FROM embeddings e JOIN items i ON i.seq = e.seq
 WHERE e.id > :id AND e.model_id = :model_id ORDER BY e.id;

-- by_id: the vectors of some ids, given as a JSON list
SELECT e.seq, e.chunks, e.vector FROM json_each(:ids) j CROSS JOIN embeddings e ON e.id = j.value;

-- ids_of: the ids of the embeddings of some items, given as a JSON list
SELECT e.id FROM json_each(:seqs) j CROSS JOIN embeddings e ON e.seq = j.value AND e.model_id = :model_id;

-- first_pieces: the first vector of some items, given as a JSON list
SELECT e.seq, e.vector FROM json_each(:seqs) j
 CROSS JOIN embeddings e ON e.seq = j.value AND e.model_id = :model_id AND e.chunk = 0;

-- oldest: the first vectors of the oldest items of a shelf
SELECT e.vector FROM items i CROSS JOIN embeddings e ON e.seq = i.seq AND e.model_id = :model_id AND e.chunk = 0
 WHERE i.shelf_id = :shelf_id ORDER BY i.seq LIMIT :limit;

-- by_seq: the vectors of some items, given as a JSON list
SELECT e.seq, e.chunks, e.vector FROM json_each(:seqs) j CROSS JOIN embeddings e ON e.seq = j.value AND e.model_id = :model_id;

-- alive: which of some items still stand on those shelves, both given as JSON lists
SELECT i.seq FROM json_each(:seqs) j CROSS JOIN items i ON i.seq = j.value
 WHERE i.shelf_id IN (SELECT value FROM json_each(:shelves));

-- last_item: the newest there is; whatever has a higher number came later
SELECT coalesce(max(seq), 0) FROM items;
