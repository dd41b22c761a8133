-- of_partition: every vector of a partition
SELECT e.id, e.seq, e.chunks, e.vector FROM items i JOIN embeddings e ON e.seq = i.seq AND e.model_id = :model_id
 WHERE i.shelf_id = :partition_id ORDER BY e.id;

-- since: vectors that were added after an id
SELECT e.id, i.shelf_id, e.seq, e.chunks, e.vector FROM embeddings e JOIN items i ON i.seq = e.seq
 WHERE e.id > :id AND e.model_id = :model_id ORDER BY e.id;

-- by_id: the vectors of some ids, given as a JSON list
SELECT e.seq, e.chunks, e.vector FROM int_list(:ids) j JOIN embeddings e ON e.id = j.value ORDER BY j.key;

-- ids_of_items: the ids of the embeddings of some items, given as a JSON list
SELECT e.id FROM int_list(:item_ids) j JOIN embeddings e ON e.seq = j.value AND e.model_id = :model_id ORDER BY j.key, e.chunk;

-- first_chunks: the first vector of some items, given as a JSON list
SELECT e.seq, e.vector FROM int_list(:item_ids) j
  JOIN embeddings e ON e.seq = j.value AND e.model_id = :model_id AND e.chunk = 0 ORDER BY j.key;

-- oldest: the ids of the first vectors of the oldest items of some partitions, given as a JSON list, so many of each
SELECT f.id FROM int_list(:partition_ids) p
 CROSS JOIN LATERAL (
       SELECT i.seq, e.id FROM items i JOIN embeddings e ON e.seq = i.seq AND e.model_id = :model_id AND e.chunk = 0
        WHERE i.shelf_id = p.value ORDER BY i.seq LIMIT :limit) f
 ORDER BY p.key, f.seq;

-- by_item: the vectors of some items, given as a JSON list
SELECT e.seq, e.chunks, e.vector FROM int_list(:item_ids) j JOIN embeddings e ON e.seq = j.value AND e.model_id = :model_id
 ORDER BY j.key, e.chunk;

-- last_item: the id of the newest item
SELECT coalesce(max(seq), 0) FROM items;
