-- partitions: of a kind and of owners, by position in JSON [[scope, owner_id], …]
SELECT j.key, s.id FROM json_each(:owners) j
 CROSS JOIN shelves s ON s.kind = :kind AND s.scope = j.value ->> 0 AND s.owner_id = j.value ->> 1;

-- add_partition: created when first needed
INSERT INTO shelves (kind, scope, owner_id) VALUES (:kind, :scope, :owner_id) RETURNING id;

-- add_items: new searchable records in this order, as JSON [[partition, id, words], …]
INSERT INTO items (shelf_id, id, words)
SELECT value ->> 0, value ->> 1, value ->> 2 FROM json_each(:rows) ORDER BY key RETURNING id, seq;

-- grow_partitions: count more items, given as JSON [[partition, words], …]
UPDATE shelves SET items = shelves.items + g.items, words = shelves.words + g.words
  FROM (SELECT value ->> 0 AS id, count(*) AS items, sum(value ->> 1) AS words FROM json_each(:rows) GROUP BY 1) g
 WHERE shelves.id = g.id;

-- count_terms: the words of items, given as JSON [[partition, item, words, {word: times}], …]
WITH r AS MATERIALIZED (SELECT value ->> 0 AS shelf_id, value -> 3 AS words FROM json_each(:rows))
INSERT INTO terms (shelf_id, term, items) SELECT r.shelf_id, j.key, 1 FROM r CROSS JOIN json_each(r.words) j WHERE true
ON CONFLICT (term, shelf_id) DO UPDATE SET items = items + 1;

-- add_postings: where those words occur, given in the same form
WITH r AS MATERIALIZED (
    SELECT value ->> 0 AS shelf_id, value ->> 1 AS seq, value ->> 2 AS length, value -> 3 AS words FROM json_each(:rows))
INSERT INTO postings (term_id, seq, times, words)
SELECT t.id, r.seq, j.value, r.length
  FROM r CROSS JOIN json_each(r.words) j CROSS JOIN terms t ON t.term = j.key AND t.shelf_id = r.shelf_id;

-- items_of: by the ids of their records, given as a JSON list
SELECT i.id, i.seq, i.shelf_id, i.words FROM json_each(:ids) j CROSS JOIN items i ON i.id = j.value;

-- remove_postings: of items of a partition, given as JSON [[item, word], …]
DELETE FROM postings WHERE (term_id, seq) IN (
    SELECT t.id, j.value ->> 0 FROM json_each(:pairs) j CROSS JOIN terms t ON t.term = j.value ->> 1 AND t.shelf_id = :partition_id)
RETURNING term_id;

-- uncount_terms: fewer items for some words, given as JSON [[term_id, items], …]
UPDATE terms SET items = terms.items - (j.value ->> 1) FROM json_each(:counts) j WHERE terms.id = j.value ->> 0;

-- drop_unused_terms: words that no longer occur, among those given as JSON [[term_id, items], …]
DELETE FROM terms WHERE items <= 0 AND id IN (SELECT value ->> 0 FROM json_each(:counts));

-- remove_items: given as a JSON list; their embeddings are deleted by cascade
DELETE FROM items WHERE seq IN (SELECT value FROM json_each(:item_ids));

-- remove_embeddings: of items whose text changes, given as a JSON list
DELETE FROM embeddings WHERE seq IN (SELECT value FROM json_each(:item_ids));

-- mark_unembedded: items whose text changes, given as a JSON list
UPDATE items SET embedded_by = NULL WHERE seq IN (SELECT value FROM json_each(:item_ids));

-- shrink_partition: count some items less
UPDATE shelves SET items = items - :items, words = words - :words WHERE id = :partition_id;

-- find_terms: the ids of words in partitions, both given as JSON lists
SELECT t.term, t.id, t.items, t.shelf_id
  FROM json_each(:words) w
  CROSS JOIN json_each(:partition_ids) s
  CROSS JOIN terms t ON t.term = w.value AND t.shelf_id = s.value;

-- find_terms_anywhere: the ids of words in every partition
SELECT t.term, t.id, t.items, t.shelf_id FROM json_each(:words) w CROSS JOIN terms t ON t.term = w.value;

-- terms_with_prefix: the words that begin with one of some prefixes, in partitions, both given as JSON lists, up to a limit
SELECT t.term, t.id, t.items, t.shelf_id
  FROM json_each(:prefixes) p CROSS JOIN terms t ON t.term >= p.value AND t.term < p.value || char(1114111)
 WHERE t.shelf_id IN (SELECT value FROM json_each(:partition_ids))
 ORDER BY t.term, t.shelf_id LIMIT :most;

-- texts_of_terms: the newest text of a memory or a message in which each word occurs, by ids given as a JSON list
SELECT t.id, t.term,
       (SELECT coalesce((SELECT m.title || ' ' || m.content FROM memories m WHERE m.id = i.id),
                        (SELECT g.content FROM messages g WHERE g.id = i.id))
          FROM postings p CROSS JOIN items i ON i.seq = p.seq WHERE p.term_id = t.id ORDER BY p.seq DESC LIMIT 1)
  FROM json_each(:term_ids) j CROSS JOIN terms t ON t.id = j.value;

-- postings: the items in which a word occurs, newest first, up to a limit
SELECT term_id, seq, times, words FROM postings WHERE term_id = :term_id ORDER BY seq DESC LIMIT :most;

-- postings_between: the same for a range of item ids
SELECT term_id, seq, times, words FROM postings WHERE term_id = :term_id AND seq BETWEEN :first AND :last
 ORDER BY seq DESC LIMIT :most;

-- postings_of_many: the same for a word with an id in each of many partitions, given as a JSON list
SELECT p.term_id, p.seq, p.times, p.words FROM json_each(:term_ids) j CROSS JOIN postings p ON p.term_id = j.value
 ORDER BY p.seq DESC LIMIT :most;

-- postings_of_terms: every posting of some terms, given as a JSON list, term by term
SELECT p.term_id, p.seq, p.times, p.words FROM json_each(:term_ids) j CROSS JOIN postings p ON p.term_id = j.value;

-- postings_among: the same, for items given as a JSON list
SELECT p.term_id, p.seq, p.times, p.words FROM json_each(:term_ids) t CROSS JOIN json_each(:item_ids) j
 CROSS JOIN postings p ON p.term_id = t.value AND p.seq = j.value;

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
