-- shelf: the shelf of an owner
SELECT id FROM shelves WHERE kind = :kind AND scope = :scope AND owner_id = :owner_id;

-- add_shelf: made when first needed
INSERT INTO shelves (kind, scope, owner_id) VALUES (:kind, :scope, :owner_id) RETURNING id;

-- add_item: a new findable thing
INSERT INTO items (shelf_id, id, words) VALUES (:shelf_id, :id, :words) RETURNING seq;

-- grow_shelf: one more item on it
UPDATE shelves SET items = items + 1, words = words + :words WHERE id = :shelf_id;

-- count_terms: the words of an item, given as JSON {word: times}
INSERT INTO terms (shelf_id, term, items) SELECT :shelf_id, key, 1 FROM json_each(:words) WHERE true
ON CONFLICT (term, shelf_id) DO UPDATE SET items = items + 1;

-- add_postings: where those words occur
INSERT INTO postings (term_id, seq, times, words)
SELECT t.id, :seq, j.value, :length FROM json_each(:words) j CROSS JOIN terms t ON t.term = j.key AND t.shelf_id = :shelf_id;

-- item: what is known of an item
SELECT i.seq, i.shelf_id, i.words FROM items i WHERE i.id = :id;

-- remove_postings: of an item whose words are given as JSON {word: times}
DELETE FROM postings WHERE seq = :seq AND term_id IN (
    SELECT t.id FROM json_each(:words) j CROSS JOIN terms t ON t.term = j.key AND t.shelf_id = :shelf_id);

-- uncount_terms: one item less for each word that is entered for it
UPDATE terms SET items = items - 1 WHERE shelf_id = :shelf_id AND term IN (SELECT key FROM json_each(:words))
   AND EXISTS (SELECT 1 FROM postings p WHERE p.term_id = terms.id AND p.seq = :seq);

-- drop_unused_terms: a word that occurs nowhere any more is forgotten too
DELETE FROM terms WHERE shelf_id = :shelf_id AND items <= 0 AND term IN (SELECT key FROM json_each(:words));

-- remove_item: its embeddings go by cascade
DELETE FROM items WHERE seq = :seq;

-- shrink_shelf: one item less on it
UPDATE shelves SET items = items - 1, words = words - :words WHERE id = :shelf_id;

-- all_shelves: of a kind
SELECT id, scope, owner_id, items, words FROM shelves WHERE kind = :kind AND items > 0 ORDER BY id;

-- some_shelves: of a kind, for owners given as JSON [[scope, owner_id], …]
SELECT s.id, s.scope, s.owner_id, s.items, s.words
  FROM json_each(:owners) j
  CROSS JOIN shelves s ON s.kind = :kind AND s.scope = j.value ->> 0 AND s.owner_id = j.value ->> 1
 WHERE s.items > 0 ORDER BY s.id;

-- find_terms: the ids of words on shelves, both given as JSON lists
SELECT t.term, t.id, t.items
  FROM json_each(:words) w
  CROSS JOIN json_each(:shelves) s
  CROSS JOIN terms t ON t.term = w.value AND t.shelf_id = s.value;

-- find_terms_anywhere: the ids of words on every shelf
SELECT t.term, t.id, t.items, t.shelf_id FROM json_each(:words) w CROSS JOIN terms t ON t.term = w.value;

-- postings: the items in which a word occurs, newest first, up to a bound
SELECT seq, times, words FROM postings WHERE term_id = :term_id ORDER BY seq DESC LIMIT :most;

-- postings_between: the same among items of a stretch
SELECT seq, times, words FROM postings WHERE term_id = :term_id AND seq BETWEEN :first AND :last
 ORDER BY seq DESC LIMIT :most;

-- postings_of_many: the same for a word that has an id on each of many shelves, given as a JSON list
SELECT p.seq, p.times, p.words FROM json_each(:term_ids) j CROSS JOIN postings p ON p.term_id = j.value
 ORDER BY p.seq DESC LIMIT :most;

-- every_posting_of_many: the same without a bound, in any order
SELECT p.seq, p.times, p.words FROM json_each(:term_ids) j CROSS JOIN postings p ON p.term_id = j.value;

-- postings_among: the same, for items given as a JSON list
SELECT p.seq, p.times, p.words FROM json_each(:term_ids) t CROSS JOIN json_each(:seqs) j
 CROSS JOIN postings p ON p.term_id = t.value AND p.seq = j.value;

-- set_length: of an item that is indexed again, and where it stands
UPDATE items SET words = :words, shelf_id = :shelf_id WHERE seq = :seq;

-- count_items: on a shelf
SELECT count(*) FROM items WHERE shelf_id = :shelf_id;

-- drop_postings: of every word of a shelf
DELETE FROM postings WHERE term_id IN (SELECT id FROM terms WHERE shelf_id = :shelf_id);

-- drop_terms: of a shelf
DELETE FROM terms WHERE shelf_id = :shelf_id;

-- drop_items: of a shelf; their embeddings go by cascade
DELETE FROM items WHERE shelf_id = :shelf_id;

-- drop_shelf: empty by now
DELETE FROM shelves WHERE id = :shelf_id;
