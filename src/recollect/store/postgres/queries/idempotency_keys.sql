-- claim: store a key, unless it is used already
INSERT INTO requests (key, fingerprint, created_at) VALUES (:key, :fingerprint, :created_at)
ON CONFLICT (key) DO NOTHING;

-- fingerprint: of the request that used a key
SELECT fingerprint FROM requests WHERE key = :key;

-- prune: delete old keys
DELETE FROM requests WHERE created_at < :before;
