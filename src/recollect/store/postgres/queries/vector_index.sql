-- of_partition: every searched vector of a partition; those of chunk count 0 are only compared with other memories
SELECT e.id, e.seq, e.chunks, e.vector FROM items i JOIN embeddings e ON e.seq = i.seq AND e.model_id = :model_id
 WHERE i.shelf_id = :partition_id AND e.chunks > 0 ORDER BY e.id;

-- since: searched vectors that were added after an id
-- (they are few: OFFSET 0 keeps the planner from reading every item for them)
SELECT e.id, i.shelf_id, e.seq, e.chunks, e.vector
  FROM embeddings e JOIN LATERAL (SELECT shelf_id FROM items WHERE seq = e.seq OFFSET 0) i ON true
 WHERE e.id > :id AND e.model_id = :model_id AND e.chunks > 0 ORDER BY e.id;

-- by_id: the vectors of some ids, given as a JSON list
SELECT e.seq, e.chunks, e.vector FROM int_list(:ids) j JOIN embeddings e ON e.id = j.value ORDER BY j.key;

-- ids_of_items: the ids of the searched vectors of some items, given as a JSON list
SELECT e.id FROM int_list(:item_ids) j JOIN embeddings e ON e.seq = j.value AND e.model_id = :model_id AND e.chunks > 0
 ORDER BY j.key, e.chunk;

-- first_chunks: the first vector of some items, given as a JSON list
SELECT e.seq, e.vector FROM int_list(:item_ids) j
  JOIN embeddings e ON e.seq = j.value AND e.model_id = :model_id AND e.chunk = 0 ORDER BY j.key;

-- oldest: the ids of the first searched vectors of the oldest items of some partitions, given as a JSON list, so many of each
SELECT e.id FROM int_list(:partition_ids) p
 CROSS JOIN LATERAL (
       SELECT i.seq, f.chunks FROM items i JOIN embeddings f ON f.seq = i.seq AND f.model_id = :model_id AND f.chunk = 0
        WHERE i.shelf_id = p.value ORDER BY i.seq LIMIT :limit) o
  JOIN embeddings e ON e.seq = o.seq AND e.model_id = :model_id AND e.chunk = CASE WHEN o.chunks = 0 THEN 1 ELSE 0 END
 ORDER BY p.key, o.seq;

-- compared: the vectors of some items that are compared with other items: those of the text alone
SELECT e.seq, e.chunks, e.vector FROM int_list(:item_ids) j
  JOIN embeddings f ON f.seq = j.value AND f.model_id = :model_id AND f.chunk = 0
  JOIN embeddings e ON e.seq = j.value AND e.model_id = :model_id AND (e.chunk = 0 OR f.chunks > 0) ORDER BY j.key, e.chunk;

-- last_item: the id of the newest item
SELECT coalesce(max(seq), 0) FROM items;
