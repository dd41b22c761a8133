-- add: work that has begun; the first start counts
INSERT INTO unfinished_work (kind, subject, detail, started_at) VALUES (:kind, :subject, :detail, :started_at)
ON CONFLICT (kind, subject) DO NOTHING;

-- remove: it is finished
DELETE FROM unfinished_work WHERE kind = :kind AND subject = :subject;

-- of_kind: all of a kind, the oldest first
SELECT kind, subject, detail, started_at FROM unfinished_work WHERE kind = :kind ORDER BY started_at, subject;

-- all: of every kind, the oldest first
SELECT kind, subject, detail, started_at FROM unfinished_work ORDER BY started_at, kind, subject;

-- is_any_left: unfinished work, a source whose tool calls are not stored yet, an open run of sleeptime, or a written memory to compare
SELECT EXISTS (SELECT 1 FROM unfinished_work) OR EXISTS (SELECT 1 FROM unread_sources)
       OR EXISTS (SELECT 1 FROM sleeptime_runs WHERE state IN ('due', 'reading'))
       OR EXISTS (SELECT 1 FROM unsettled u JOIN memories m ON m.id = u.memory_id AND m.source_kind = 'manual' AND m.status <> 'inbox');

-- add_export: the checksum of an export that this store wrote
INSERT INTO exports_written (sha256, written_at) VALUES (:sha256, :written_at)
ON CONFLICT (sha256) DO UPDATE SET written_at = excluded.written_at;

-- prune_exports: the oldest checksums beyond a number
DELETE FROM exports_written WHERE sha256 IN (
    SELECT sha256 FROM exports_written ORDER BY written_at DESC, sha256 OFFSET :keep);

-- has_export: whether this store wrote an export with that checksum
SELECT 1 FROM exports_written WHERE sha256 = :sha256;
