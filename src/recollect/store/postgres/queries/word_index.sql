-- partitions: of a kind and of owners, by position in JSON [[scope, owner_id], …]
SELECT j.key, s.id FROM json_rows(:owners) j
  JOIN shelves s ON s.kind = :kind AND s.scope = j.value ->> 0 AND md5(s.owner_id) = md5(j.value ->> 1)
   AND s.owner_id = j.value ->> 1
 ORDER BY j.key;

-- add_partition: created when first needed
INSERT INTO shelves (kind, scope, owner_id) VALUES (:kind, :scope, :owner_id) RETURNING id;

-- add_items: new searchable records in this order, as JSON [[partition, id, words], …]
INSERT INTO items (shelf_id, id, words)
SELECT CAST(value ->> 0 AS bigint), value ->> 1, CAST(value ->> 2 AS integer) FROM json_rows(:rows) ORDER BY key RETURNING id, seq;

-- grow_partitions: count more items, given as JSON [[partition, words], …]
UPDATE shelves SET items = shelves.items + g.items, words = shelves.words + g.words
  FROM (SELECT CAST(value ->> 0 AS bigint) AS id, count(*) AS items, sum(CAST(value ->> 1 AS bigint)) AS words
          FROM json_rows(:rows) GROUP BY 1) g
 WHERE shelves.id = g.id;

-- count_terms: the words of items, given as JSON [[partition, item, words, {word: times}], …]
INSERT INTO terms (shelf_id, term, items)
SELECT CAST(r.value ->> 0 AS bigint), j.key, count(*)
  FROM json_rows(:rows) r CROSS JOIN json_each_text(r.value -> 3) j GROUP BY 1, 2 ORDER BY 1, 2
ON CONFLICT (term, shelf_id) DO UPDATE SET items = terms.items + excluded.items;

-- add_postings: where those words occur, given in the same form
INSERT INTO postings (term_id, seq, times, words)
SELECT t.id, CAST(r.value ->> 1 AS bigint), CAST(j.value AS integer), CAST(r.value ->> 2 AS integer)
  FROM json_rows(:rows) r CROSS JOIN json_each_text(r.value -> 3) j
  JOIN terms t ON t.term = j.key AND t.shelf_id = CAST(r.value ->> 0 AS bigint);

-- items_of: by the ids of their records, given as a JSON list
SELECT i.id, i.seq, i.shelf_id, i.words FROM json_list(:ids) j JOIN items i ON i.id = j.value ORDER BY j.key;

-- remove_postings: of items of a partition, given as JSON [[item, word], …]
DELETE FROM postings WHERE (term_id, seq) IN (
    SELECT t.id, CAST(j.value ->> 0 AS bigint)
      FROM json_rows(:pairs) j JOIN terms t ON t.term = j.value ->> 1 AND t.shelf_id = :partition_id)
RETURNING term_id;

-- uncount_terms: fewer items for some words, given as JSON [[term_id, items], …]
UPDATE terms SET items = terms.items - CAST(j.value ->> 1 AS integer)
  FROM json_rows(:counts) j WHERE terms.id = CAST(j.value ->> 0 AS bigint);

-- drop_unused_terms: words that no longer occur, among those given as JSON [[term_id, items], …]
DELETE FROM terms WHERE items <= 0 AND id IN (SELECT CAST(value ->> 0 AS bigint) FROM json_rows(:counts));

-- remove_items: given as a JSON list; their embeddings are deleted by cascade
DELETE FROM items WHERE seq IN (SELECT value FROM int_list(:item_ids));

-- remove_embeddings: of items whose text changes, given as a JSON list
DELETE FROM embeddings WHERE seq IN (SELECT value FROM int_list(:item_ids));

-- mark_unembedded: items whose text changes, given as a JSON list
UPDATE items SET embedded_by = NULL WHERE seq IN (SELECT value FROM int_list(:item_ids));

-- shrink_partition: count some items less
UPDATE shelves SET items = items - :items, words = words - :words WHERE id = :partition_id;

-- find_terms: the ids of words in partitions, both given as JSON lists
SELECT t.term, t.id, t.items, t.shelf_id
  FROM json_list(:words) w CROSS JOIN int_list(:partition_ids) s JOIN terms t ON t.term = w.value AND t.shelf_id = s.value
 ORDER BY w.key, s.key;

-- find_terms_anywhere: the ids of words in every partition
SELECT t.term, t.id, t.items, t.shelf_id FROM json_list(:words) w JOIN terms t ON t.term = w.value ORDER BY w.key, t.shelf_id;

-- terms_with_prefix: the words that begin with one of some prefixes, in partitions, both given as JSON lists, up to a limit
SELECT t.term, t.id, t.items, t.shelf_id
  FROM json_list(:prefixes) p JOIN terms t ON t.term >= p.value AND t.term < p.value || chr(1114111)
 WHERE t.shelf_id IN (SELECT value FROM int_list(:partition_ids))
 ORDER BY t.term, t.shelf_id LIMIT :most;

-- texts_of_terms: the newest text of a memory or a message in which each word occurs, by ids given as a JSON list
SELECT t.id, t.term,
       (SELECT coalesce((SELECT m.title || ' ' || m.content FROM memories m WHERE m.id = i.id),
                        (SELECT g.content FROM messages g WHERE g.id = i.id))
          FROM postings p JOIN items i ON i.seq = p.seq WHERE p.term_id = t.id ORDER BY p.seq DESC LIMIT 1)
  FROM int_list(:term_ids) j JOIN terms t ON t.id = j.value;

-- postings: the items in which a word occurs, newest first, up to a limit
SELECT term_id, seq, times, words FROM postings WHERE term_id = :term_id ORDER BY seq DESC LIMIT :most;

-- postings_between: the same for a range of item ids
SELECT term_id, seq, times, words FROM postings WHERE term_id = :term_id AND seq BETWEEN :first AND :last
 ORDER BY seq DESC LIMIT :most;

-- postings_of_many: the same for a word with an id in each of many partitions, given as a JSON list
SELECT p.term_id, p.seq, p.times, p.words FROM int_list(:term_ids) j JOIN postings p ON p.term_id = j.value
 ORDER BY p.seq DESC LIMIT :most;

-- postings_of_terms: every posting of some terms, given as a JSON list, term by term
SELECT p.term_id, p.seq, p.times, p.words FROM int_list(:term_ids) j JOIN postings p ON p.term_id = j.value ORDER BY j.key, p.seq;

-- postings_among: the same, for items given as a JSON list
SELECT p.term_id, p.seq, p.times, p.words FROM int_list(:term_ids) t CROSS JOIN int_list(:item_ids) j
  JOIN postings p ON p.term_id = t.value AND p.seq = j.value ORDER BY t.key, j.key;

-- set_length: of an item that is indexed again, and its partition
UPDATE items SET words = :words, shelf_id = :partition_id WHERE seq = :item_id;

-- count_items: of a partition
SELECT count(*) FROM items WHERE shelf_id = :partition_id;

-- drop_postings: of every word of a partition
DELETE FROM postings WHERE term_id IN (SELECT id FROM terms WHERE shelf_id = :partition_id);

-- drop_terms: of a partition
DELETE FROM terms WHERE shelf_id = :partition_id;

-- drop_items: of a partition; their embeddings are deleted by cascade
DELETE FROM items WHERE shelf_id = :partition_id;

-- drop_partition: after its items
DELETE FROM shelves WHERE id = :partition_id;
