-- claim: take a key, unless somebody has
INSERT INTO requests (key, fingerprint, created_at) VALUES (:key, :fingerprint, :created_at)
ON CONFLICT (key) DO NOTHING
RETURNING key;

-- fingerprint: what a key was used for
SELECT fingerprint FROM requests WHERE key = :key;

-- prune: forget keys that nobody will send again
DELETE FROM requests WHERE created_at < :before;
