-- count_write: one more write of a client that is known
UPDATE clients SET writes = writes + 1, last_write_at = greatest(coalesce(last_write_at, :at), :at),
                   last_seen_at = greatest(last_seen_at, :at)
 WHERE name = :name;

-- count_retrieval: one more retrieval of a client that is known
UPDATE clients SET retrievals = retrievals + 1, last_retrieval_at = greatest(coalesce(last_retrieval_at, :at), :at),
                   last_seen_at = greatest(last_seen_at, :at)
 WHERE name = :name;

-- add: a client that was not seen before
INSERT INTO clients (name, first_seen_at, last_seen_at) VALUES (:name, :at, :at);

-- prune: keep the clients that were seen last; a program may give another name each time
DELETE FROM clients WHERE name NOT IN (SELECT name FROM clients ORDER BY last_seen_at DESC, name LIMIT :keep);

-- latest: the client that was seen last first
SELECT name, first_seen_at, last_seen_at, writes, last_write_at, retrievals, last_retrieval_at
  FROM clients ORDER BY last_seen_at DESC, name LIMIT :limit;
