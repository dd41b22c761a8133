-- add_document: a new one
INSERT INTO documents (id, namespace, key, body, text, revision, created_at, updated_at, lifetime_s, expires_at)
VALUES (:id, :namespace, :key, :value, :text, :revision, :created_at, :updated_at, :lifetime_s, :expires_at);

-- set_document: another value under the same key
UPDATE documents SET body = :value, text = :text, revision = :revision, updated_at = :updated_at,
       lifetime_s = :lifetime_s, expires_at = :expires_at
 WHERE id = :id;

-- set_expiry: when it expires
UPDATE documents SET expires_at = :expires_at WHERE id = :id;

-- delete_document: one
DELETE FROM documents WHERE id = :id;

-- document: by namespace and key
SELECT id, namespace, key, body, text, revision, created_at, updated_at, lifetime_s, expires_at FROM documents
 WHERE md5(namespace) = md5(:namespace) AND md5(key) = md5(:key) AND namespace = :namespace AND key = :key;

-- documents: by their ids, given as a JSON list
SELECT d.id, d.namespace, d.key, d.body, d.text, d.revision, d.created_at, d.updated_at, d.lifetime_s, d.expires_at
  FROM json_list(:ids) j JOIN documents d ON d.id = j.value ORDER BY j.key;

-- under_prefix: in a namespace and those below it, not expired, the latest first
SELECT id, namespace, key, body, text, revision, created_at, updated_at, lifetime_s, expires_at FROM documents
 WHERE ((left(namespace, 400) = left(:exact, 400) AND namespace = :exact)
        OR (left(namespace, 400) >= left(:first, 400) AND left(namespace, 400) <= left(:after, 400)
            AND namespace >= :first AND namespace < :after))
   AND (expires_at IS NULL OR expires_at > :now)
 ORDER BY updated_at DESC, id DESC LIMIT :limit OFFSET :offset;

-- namespaces: a namespace and those below it, of documents that have not expired
SELECT DISTINCT namespace FROM documents
 WHERE ((left(namespace, 400) = left(:exact, 400) AND namespace = :exact)
        OR (left(namespace, 400) >= left(:first, 400) AND left(namespace, 400) <= left(:after, 400)
            AND namespace >= :first AND namespace < :after))
   AND (expires_at IS NULL OR expires_at > :now)
 ORDER BY namespace;

-- expired: those whose time is over, the earliest first
SELECT id, namespace, key, body, text, revision, created_at, updated_at, lifetime_s, expires_at FROM documents
 WHERE expires_at <= :now ORDER BY expires_at, id LIMIT :limit;
