-- of_partition: every searched vector of a partition; those of chunk count 0 are only compared with other memories
SELECT e.id, e.seq, e.chunks, e.vector FROM items i CROSS JOIN embeddings e ON e.seq = i.seq AND e.model_id = :model_id
 WHERE i.shelf_id = :partition_id AND e.chunks > 0 ORDER BY e.id;

-- since: searched vectors that were added after an id; the + keeps SQLite from reading all vectors of the model by their hash
SELECT e.id, i.shelf_id, e.seq, e.chunks, e.vector FROM embeddings e CROSS JOIN items i ON i.seq = e.seq
 WHERE e.id > :id AND +e.model_id = :model_id AND e.chunks > 0 ORDER BY e.id;

-- by_id: the vectors of some ids, given as a JSON list
SELECT e.seq, e.chunks, e.vector FROM json_each(:ids) j CROSS JOIN embeddings e ON e.id = j.value;

-- ids_of_items: the ids of the searched vectors of some items, given as a JSON list
SELECT e.id FROM json_each(:item_ids) j CROSS JOIN embeddings e ON e.seq = j.value AND e.model_id = :model_id AND e.chunks > 0;

-- first_chunks: the first vector of some items, given as a JSON list
SELECT e.seq, e.vector FROM json_each(:item_ids) j
 CROSS JOIN embeddings e ON e.seq = j.value AND e.model_id = :model_id AND e.chunk = 0;

-- oldest: the ids of the first searched vectors of the oldest items of some partitions, given as a JSON list, so many of each
SELECT (SELECT e.id FROM embeddings e WHERE e.seq = i.seq AND e.model_id = :model_id AND e.chunks > 0 ORDER BY e.chunk LIMIT 1)
  FROM json_each(:partition_ids) p
 CROSS JOIN items i ON i.seq IN (
       SELECT o.seq FROM items o CROSS JOIN embeddings f ON f.seq = o.seq AND f.model_id = :model_id AND f.chunk = 0
        WHERE o.shelf_id = p.value ORDER BY o.seq LIMIT :limit)
 ORDER BY p.key, i.seq;

-- compared: the vectors of some items that are compared with other items: those of the text alone
SELECT e.seq, e.chunks, e.vector FROM json_each(:item_ids) j
 CROSS JOIN embeddings f ON f.seq = j.value AND f.model_id = :model_id AND f.chunk = 0
 CROSS JOIN embeddings e ON e.seq = j.value AND e.model_id = :model_id AND (e.chunk = 0 OR f.chunks > 0);

-- last_item: the id of the newest item
SELECT coalesce(max(seq), 0) FROM items;
