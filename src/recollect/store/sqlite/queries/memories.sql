-- add_evidence: before its memory, whose insert checks that it has evidence; rows as a JSON list of objects
WITH r AS MATERIALIZED (SELECT jsonb(value) AS v FROM json_each(:rows))
INSERT INTO evidence (id, memory_id, source_id, start_char, end_char, quote, voice, created_at)
SELECT v ->> 'id', v ->> 'memory_id', v ->> 'source_id', v ->> 'start', v ->> 'end',
       v ->> 'quote', v ->> 'voice', v ->> 'created_at' FROM r;

-- drop_evidence: what was copied from another memory, when the merge is undone
DELETE FROM evidence WHERE id IN (SELECT value FROM json_each(:ids));

-- add_memories: the records themselves, as a JSON list of objects
WITH r AS MATERIALIZED (SELECT jsonb(value) AS v FROM json_each(:rows))
INSERT INTO memories (id, type, scope, status, project_id, repo_id, agent_id, session_id, source_kind,
                      "key", title, content, summary, rationale, alternatives, confidence, fingerprint,
                      redactions, metadata, observed_at, confirmed_at, created_at, updated_at,
                      voice, flags, rule, event_id, session, author, dates)
SELECT v ->> 'id', v ->> 'type', v ->> 'scope', v ->> 'status', v ->> 'project_id',
       v ->> 'repo_id', v ->> 'agent_id', v ->> 'session_id', v ->> 'source_kind', v ->> 'key',
       v ->> 'title', v ->> 'content', v ->> 'summary', v ->> 'rationale', v ->> 'alternatives',
       v ->> 'confidence', v ->> 'fingerprint', v ->> 'redactions', v ->> 'metadata',
       v ->> 'observed_at', v ->> 'confirmed_at', v ->> 'created_at', v ->> 'updated_at',
       v ->> 'voice', v ->> 'flags', v ->> 'rule', v ->> 'event_id', v ->> 'session',
       v ->> 'author', v ->> 'dates' FROM r;

-- add_tags: labels of memories, as JSON [[memory_id, tag], …]
INSERT INTO memory_tags (memory_id, tag) SELECT value ->> 0, value ->> 1 FROM json_each(:rows);

-- stored_ids: which of some ids, given as a JSON list, are those of memories
SELECT m.id FROM json_each(:ids) j CROSS JOIN memories m ON m.id = j.value;

-- memories: by their ids, given as a JSON list
SELECT m.id, m.type, m.scope, m.status, m.project_id, m.repo_id, m.agent_id, m.session_id, m.source_kind, m."key",
       m.title, m.content, m.summary, m.rationale, m.alternatives, m.confidence, m.redactions, m.metadata,
       m.observed_at, m.confirmed_at, m.created_at, m.updated_at, m.voice, m.flags, m.rule, m.event_id, m.session,
       m.author, m.dates,
       (SELECT json_group_array(t.tag ORDER BY t.tag) FROM memory_tags t WHERE t.memory_id = m.id),
       (SELECT json_group_array(json_array(e.id, e.memory_id, e.source_id, e.start_char, e.end_char, e.quote,
                                           e.voice, e.created_at) ORDER BY e.id)
          FROM evidence e WHERE e.memory_id = m.id)
  FROM json_each(:ids) j CROSS JOIN memories m ON m.id = j.value;

-- with_key: the active profile fact of that key
SELECT id FROM memories WHERE "key" = :key AND "key" <> '' AND status = 'active' AND scope = :scope AND owner_id = :owner_id;

-- with_fingerprints: the memories of an owner with the same words, by position in JSON [[fingerprint, scope, owner_id], …]; the oldest few are enough
SELECT j.key, i.id
  FROM json_each(:rows) j CROSS JOIN items i ON i.id IN (
           SELECT m.id FROM memories m CROSS JOIN items o ON o.id = m.id
            WHERE m.fingerprint = j.value ->> 0 AND m.scope = j.value ->> 1 AND m.owner_id = j.value ->> 2
            ORDER BY o.seq LIMIT 20)
 ORDER BY j.key, i.seq;

-- update_mutable_fields: status and times change, content never does
UPDATE memories SET status = :status, confidence = :confidence, confirmed_at = :confirmed_at, updated_at = :updated_at
 WHERE id = :id;

-- add_changes: changes of memories, as a JSON list of objects; a clock that went back does not reorder them
WITH r AS MATERIALIZED (SELECT jsonb(value) AS v FROM json_each(:rows))
INSERT INTO memory_changes (id, memory_id, kind, before, after, "by", reason, at, effects)
SELECT v ->> 'id', v ->> 'memory_id', v ->> 'kind', v ->> 'before', v ->> 'after', v ->> 'by',
       v ->> 'reason',
       coalesce((SELECT max(c.at) + 1 FROM memory_changes c
                  WHERE c.memory_id = v ->> 'memory_id' HAVING max(c.at) > v ->> 'at'), v ->> 'at'),
       v ->> 'effects' FROM r;

-- remove_id_from_history: other memories keep their history, without the id of the forgotten memory
UPDATE memory_changes
   SET reason = replace(reason, :id, '(forgotten)'), effects = replace(effects, :id, '(forgotten)')
 WHERE memory_id IN (SELECT value FROM json_each(:ids)) AND (instr(reason, :id) OR instr(effects, :id));

-- changes: oldest first
SELECT id, memory_id, kind, before, after, "by", reason, at, effects FROM memory_changes
 WHERE memory_id = :memory_id ORDER BY at, id;

-- candidates_by_certainty: the most certain first (engine/inbox_duplicates.py has the same order for whole records), with
-- the group in which each is reviewed
SELECT m.id, m.type || m.scope || m.owner_id, m.type = 'episode' FROM memories m WHERE m.status = 'inbox'
 ORDER BY instr(m.flags, '"instruction-like"') > 0,
          coalesce(nullif(coalesce((SELECT coalesce(e.voice, '') FROM evidence e WHERE e.memory_id = m.id
                                     ORDER BY e.id LIMIT 1), m.voice), ''),
                   iif(m.source_kind = 'manual', 'user', '')) <> 'user',
          -- the number of sessions; most candidates have one quote, and then no source is read
          coalesce((SELECT iif(count(*) > 1, NULL, count(*)) FROM evidence e WHERE e.memory_id = m.id),
                   (SELECT count(DISTINCT coalesce(nullif(s.session, ''), s.id))
                      FROM evidence e CROSS JOIN sources s ON s.id = e.source_id WHERE e.memory_id = m.id)) DESC,
          m.confidence DESC, m.observed_at DESC, m.id;

-- candidate_texts: of one owner and type, what is compared to find duplicates
SELECT id, title, summary, content FROM memories
 WHERE scope = :scope AND owner_id = :owner_id AND type = :type AND status = 'inbox';

-- count_with_status: one status, without counting the others
SELECT count(*) FROM memories WHERE status = :status;

-- count_by_day: observed in each of some periods, as a JSON list of objects, in their order
SELECT (SELECT count(*) FROM json_each(:statuses) s CROSS JOIN memories m ON m.status = s.value
           AND m.observed_at >= d.value ->> 'start' AND m.observed_at < d.value ->> 'end')
  FROM json_each(:rows) d ORDER BY d.key;

-- count_by_status: by status
SELECT status, count(*) FROM memories GROUP BY status;

-- ids_with_status: in the order in which they were written
SELECT id FROM memories WHERE status = :status ORDER BY id;

-- unconfirmed: active ones of a type that were not confirmed since then, the oldest first
SELECT confirmed_at, id FROM memories WHERE status = 'active' AND type = :type AND confirmed_at < :since
 ORDER BY confirmed_at, id LIMIT :limit;

-- count_extracted: what the engine proposed, and what a person rejected of it
SELECT count(*), coalesce(sum(status = 'archived' AND EXISTS (
         SELECT 1 FROM memory_changes c WHERE c.memory_id = m.id AND c.kind = 'rejected')), 0)
  FROM memories m WHERE source_kind <> 'manual' AND type <> 'episode' AND status <> 'stated';

-- contents: of some ids, given as a JSON list
SELECT m.id, m.content FROM json_each(:ids) j CROSS JOIN memories m ON m.id = j.value;

-- newest: the latest of each owner, type and status that pass the other filters; owners are given as JSON [[scope, owner_id], …]
SELECT n.observed_at, n.id
  FROM json_each(:owners) o CROSS JOIN json_each(:types) k CROSS JOIN json_each(:statuses) s
  CROSS JOIN memories n ON n.id IN (
           SELECT m.id FROM memories m
            WHERE m.scope = o.value ->> 0 AND m.owner_id = o.value ->> 1 AND m.type = k.value AND m.status = s.value
              AND m.observed_at >= :since AND m.observed_at <= :until
              AND (:session_records OR m.rule <> 'episode')
              AND (NOT :only_said OR m.status NOT IN ('inbox', 'stated')
                   OR (m.voice IN ('user', 'pasted') AND instr(m.flags, '"instruction-like"') = 0
                       AND (:agent_projects IS NULL OR m.scope IN ('project', 'repo')
                            OR ((:agent_id IS NULL OR coalesce(m.agent_id, '') IN ('', :agent_id))
                                AND NOT EXISTS (SELECT 1 FROM ingestion_events e LEFT JOIN repos r ON e.scope = 'repo' AND r.id = e.owner_id
                                                 WHERE e.id = m.event_id AND e.scope IN ('project', 'repo')
                                                   AND coalesce(r.project_id, e.owner_id) NOT IN (
                                                       SELECT value FROM json_each(:agent_projects)))))))
              AND (m.scope <> 'global' OR m.status IN ('active', 'contradicted') OR :agent_id IS NULL OR coalesce(m.agent_id, '') IN ('', :agent_id))
              AND (m.scope <> 'agent' OR m.project_id IS NULL OR :agent_projects IS NULL
                   OR m.project_id IN (SELECT value FROM json_each(:agent_projects)))
              AND (:tags = '[]' OR NOT EXISTS (
                   SELECT 1 FROM json_each(:tags) t
                    WHERE NOT EXISTS (SELECT 1 FROM memory_tags g WHERE g.memory_id = m.id AND g.tag = t.value)))
              AND (:any_tags = '[]' OR EXISTS (
                   SELECT 1 FROM json_each(:any_tags) t JOIN memory_tags g ON g.memory_id = m.id AND g.tag = t.value))
            ORDER BY m.observed_at DESC, m.id DESC LIMIT :limit);

-- newest_anywhere: the same for every owner and type, one status at a time
SELECT m.observed_at, m.id FROM memories m
 WHERE m.status = :status AND m.type IN (SELECT value FROM json_each(:types))
   AND m.observed_at >= :since AND m.observed_at <= :until
   AND (:session_records OR m.rule <> 'episode')
   AND (NOT :only_said OR m.status NOT IN ('inbox', 'stated')
        OR (m.voice IN ('user', 'pasted') AND instr(m.flags, '"instruction-like"') = 0
            AND (:agent_projects IS NULL OR m.scope IN ('project', 'repo')
                 OR ((:agent_id IS NULL OR coalesce(m.agent_id, '') IN ('', :agent_id))
                     AND NOT EXISTS (SELECT 1 FROM ingestion_events e LEFT JOIN repos r ON e.scope = 'repo' AND r.id = e.owner_id
                                      WHERE e.id = m.event_id AND e.scope IN ('project', 'repo')
                                        AND coalesce(r.project_id, e.owner_id) NOT IN (
                                            SELECT value FROM json_each(:agent_projects)))))))
   AND (m.scope <> 'global' OR m.status IN ('active', 'contradicted') OR :agent_id IS NULL OR coalesce(m.agent_id, '') IN ('', :agent_id))
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
