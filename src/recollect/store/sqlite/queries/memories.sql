-- add_evidence: before its memory, whose insert checks that it has evidence
INSERT INTO evidence (id, memory_id, source_id, start_char, end_char, quote, voice, created_at)
VALUES (:id, :memory_id, :source_id, :start, :end, :quote, :voice, :created_at);

-- drop_evidence: what was copied from another memory, when the merge is undone
DELETE FROM evidence WHERE id IN (SELECT value FROM json_each(:ids));

-- add_memory: the record itself
INSERT INTO memories (id, type, scope, status, project_id, repo_id, agent_id, session_id, source_kind,
                      "key", title, content, summary, rationale, alternatives, confidence, fingerprint,
                      redactions, metadata, observed_at, confirmed_at, created_at, updated_at,
                      voice, flags, rule, event_id, session, author, dates)
VALUES (:id, :type, :scope, :status, :project_id, :repo_id, :agent_id, :session_id, :source_kind,
        :key, :title, :content, :summary, :rationale, :alternatives, :confidence, :fingerprint,
        :redactions, :metadata, :observed_at, :confirmed_at, :created_at, :updated_at,
        :voice, :flags, :rule, :event_id, :session, :author, :dates);

-- add_tag: one label of a memory
INSERT INTO memory_tags (memory_id, tag) VALUES (:memory_id, :tag);

-- memories: by their ids, given as a JSON list
SELECT id, type, scope, status, project_id, repo_id, agent_id, session_id, source_kind, "key", title,
       content, summary, rationale, alternatives, confidence, redactions, metadata, observed_at, confirmed_at,
       created_at, updated_at, voice, flags, rule, event_id, session, author, dates
  FROM memories WHERE id IN (SELECT value FROM json_each(:ids));

-- tags_of: of many memories at once
SELECT memory_id, tag FROM memory_tags
 WHERE memory_id IN (SELECT value FROM json_each(:ids)) ORDER BY memory_id, tag;

-- evidence_of: of many memories at once
SELECT id, memory_id, source_id, start_char, end_char, quote, voice, created_at FROM evidence
 WHERE memory_id IN (SELECT value FROM json_each(:ids)) ORDER BY memory_id, id;

-- with_key: the active profile fact of that key
SELECT id FROM memories WHERE "key" = :key AND "key" <> '' AND status = 'active' AND scope = :scope AND owner_id = :owner_id;

-- with_fingerprint: the memories of an owner with the same words; the oldest few are enough
SELECT m.id FROM memories m CROSS JOIN items i ON i.id = m.id
 WHERE m.fingerprint = :fingerprint AND m.scope = :scope AND m.owner_id = :owner_id ORDER BY i.seq LIMIT 20;

-- update_status: status and times change, content never does
UPDATE memories SET status = :status, confidence = :confidence, confirmed_at = :confirmed_at, updated_at = :updated_at
 WHERE id = :id;

-- add_change: one change of status
INSERT INTO memory_changes (id, memory_id, kind, before, after, "by", reason, at, effects)
VALUES (:id, :memory_id, :kind, :before, :after, :by, :reason, :at, :effects);

-- remove_id_from_history: other memories keep their history, without the id of the forgotten memory
UPDATE memory_changes
   SET reason = replace(reason, :id, '(forgotten)'), effects = replace(effects, :id, '(forgotten)')
 WHERE memory_id IN (SELECT value FROM json_each(:ids)) AND (instr(reason, :id) OR instr(effects, :id));

-- changes: oldest first
SELECT id, memory_id, kind, before, after, "by", reason, at, effects FROM memory_changes
 WHERE memory_id = :memory_id ORDER BY id;

-- count_by_status: by status
SELECT status, count(*) FROM memories GROUP BY status;

-- ids_with_status: in the order in which they were written
SELECT id FROM memories WHERE status = :status ORDER BY id;

-- unconfirmed: active ones of a type that were not confirmed since then, the oldest first
SELECT confirmed_at, id FROM memories WHERE status = 'active' AND type = :type AND confirmed_at < :since
 ORDER BY confirmed_at, id LIMIT :limit;

-- count_extracted: what the engine extracted, and what a person rejected of it
SELECT count(*), coalesce(sum(status = 'archived' AND EXISTS (
         SELECT 1 FROM memory_changes c WHERE c.memory_id = m.id AND c.kind = 'rejected')), 0)
  FROM memories m WHERE source_kind <> 'manual' AND type <> 'episode';

-- contents: of some ids, given as a JSON list
SELECT m.id, m.content FROM json_each(:ids) j CROSS JOIN memories m ON m.id = j.value;

-- newest: the latest of one owner, type and status that pass the other filters
SELECT m.observed_at, m.id FROM memories m
 WHERE m.scope = :scope AND m.owner_id = :owner_id AND m.type = :type AND m.status = :status
   AND m.observed_at >= :since AND m.observed_at <= :until
   AND (m.scope <> 'agent' OR m.project_id IS NULL OR :agent_projects IS NULL
        OR m.project_id IN (SELECT value FROM json_each(:agent_projects)))
   AND (:tags = '[]' OR NOT EXISTS (
        SELECT 1 FROM json_each(:tags) t
         WHERE NOT EXISTS (SELECT 1 FROM memory_tags g WHERE g.memory_id = m.id AND g.tag = t.value)))
   AND (:any_tags = '[]' OR EXISTS (
        SELECT 1 FROM json_each(:any_tags) t JOIN memory_tags g ON g.memory_id = m.id AND g.tag = t.value))
 ORDER BY m.observed_at DESC, m.id DESC LIMIT :limit;

-- newest_anywhere: the same for every owner and type, one status at a time
SELECT m.observed_at, m.id FROM memories m
 WHERE m.status = :status AND m.type IN (SELECT value FROM json_each(:types))
   AND m.observed_at >= :since AND m.observed_at <= :until
   AND (m.scope <> 'agent' OR m.project_id IS NULL OR :agent_projects IS NULL
        OR m.project_id IN (SELECT value FROM json_each(:agent_projects)))
   AND (:tags = '[]' OR NOT EXISTS (
        SELECT 1 FROM json_each(:tags) t
         WHERE NOT EXISTS (SELECT 1 FROM memory_tags g WHERE g.memory_id = m.id AND g.tag = t.value)))
   AND (:any_tags = '[]' OR EXISTS (
        SELECT 1 FROM json_each(:any_tags) t JOIN memory_tags g ON g.memory_id = m.id AND g.tag = t.value))
 ORDER BY m.observed_at DESC, m.id DESC LIMIT :limit;

-- delete_memory: tags, changes, links, evidence and log rows are deleted by cascade
DELETE FROM memories WHERE id = :id;

-- count_related_rows: the rows that are deleted with a memory
SELECT 'memory_tags', count(*) FROM memory_tags WHERE memory_id = :id
UNION ALL SELECT 'memory_changes', count(*) FROM memory_changes WHERE memory_id = :id
UNION ALL SELECT 'memory_links', count(*) FROM memory_links WHERE from_id = :id OR (to_kind = 'memory' AND to_id = :id)
UNION ALL SELECT 'evidence', count(*) FROM evidence WHERE memory_id = :id
UNION ALL SELECT 'embeddings', count(*) FROM embeddings e JOIN items i USING (seq) WHERE i.id = :id;
