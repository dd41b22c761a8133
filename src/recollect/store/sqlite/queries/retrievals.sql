-- add_retrieval: one query
INSERT INTO retrievals (id, verb, query, asking, notes, asked_at) VALUES (:id, :verb, :query, :asking, :notes, :asked_at);

-- add_hit: one result of it; a memory that was forgotten meanwhile gets no row
INSERT INTO retrieval_hits (retrieval_id, rank, memory_id, score, parts, explanation, outcome)
SELECT :retrieval_id, :rank, :memory_id, :score, :parts, :explanation, :outcome
 WHERE EXISTS (SELECT 1 FROM memories WHERE id = :memory_id);

-- retrieval: by id
SELECT id, verb, query, asking, notes, asked_at FROM retrievals WHERE id = :id;

-- hits: in rank order
SELECT rank, memory_id, score, parts, explanation, outcome FROM retrieval_hits
 WHERE retrieval_id = :id ORDER BY rank;

-- count: how many queries the log has
SELECT count(*) FROM retrievals;

-- prune: the oldest beyond the newest :keep, :limit at once (ids are in order of creation, asked_at may be
-- set by the caller); their hits and items are deleted by cascade
DELETE FROM retrievals WHERE id IN (
    SELECT id FROM retrievals ORDER BY id
     LIMIT max(0, min(:limit, (SELECT count(*) FROM retrievals) - :keep)));

-- times_returned: how often a memory was returned, as far as the log goes back
SELECT count(*) FROM retrieval_hits WHERE memory_id = :memory_id AND outcome = 'returned';

-- mentioning: the queries that returned a memory, or that quote it
SELECT DISTINCT retrieval_id FROM retrieval_hits WHERE memory_id = :memory_id
UNION
SELECT id FROM retrievals WHERE length(:content) >= 8 AND instr(lower(query), lower(:content)) > 0;

-- scrub: blank queries, given as a JSON list
UPDATE retrievals SET query = '', asking = '{}', notes = '["query removed: a memory it met was forgotten"]'
 WHERE id IN (SELECT value FROM json_each(:ids));

-- scrub_hits: and the explanations of their results, which repeat words of the query
UPDATE retrieval_hits SET explanation = '' WHERE retrieval_id IN (SELECT value FROM json_each(:ids));

-- scrub_views: saved searches that quote it
UPDATE views SET query = '' WHERE length(:content) >= 8 AND instr(lower(query), lower(:content)) > 0;

-- save_view: create, or replace the one of that name
INSERT INTO views (name, query, asking, created_at, updated_at) VALUES (:name, :query, :asking, :created_at, :updated_at)
ON CONFLICT (name) DO UPDATE SET query = excluded.query, asking = excluded.asking, updated_at = excluded.updated_at;

-- view: by name
SELECT name, query, asking, created_at, updated_at FROM views WHERE name = :name;

-- views: by name
SELECT name, query, asking, created_at, updated_at FROM views ORDER BY name;

-- delete_view: by name
DELETE FROM views WHERE name = :name RETURNING name;

-- add_item: what else a bundle contained
INSERT INTO retrieval_context (retrieval_id, place, kind, item_id, tokens, outcome)
VALUES (:retrieval_id, :place, :kind, :item_id, :tokens, :outcome);

-- items: in their order
SELECT kind, item_id, tokens, outcome FROM retrieval_context WHERE retrieval_id = :id ORDER BY place;
