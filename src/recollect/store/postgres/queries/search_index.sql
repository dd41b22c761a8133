-- memory_records: items, given as a JSON list: each with its partition, whether it has vectors, and what ranking needs if it passes the filters
-- (an embedded item with words has vectors, and its row says that without another search; OFFSET 0 keeps the planner
-- from reading every memory that passes the filters instead of those few)
SELECT i.seq, i.shelf_id, i.words > 0 AND i.embedded_by IS NOT NULL OR EXISTS (SELECT 1 FROM embeddings e WHERE e.seq = i.seq),
       m.id, m.scope, m.owner_id, m.type, m.confidence, m.observed_at, m.session_id, m.status, m.voice,
       strpos(m.flags, '"past"') > 0
  FROM int_list(:item_ids) j
  JOIN items i ON i.seq = j.value
  LEFT JOIN LATERAL (SELECT * FROM memories WHERE id = i.id OFFSET 0) m
    ON m.status = ANY (ARRAY(SELECT value FROM json_list(:statuses)))
   AND m.type = ANY (ARRAY(SELECT value FROM json_list(:types)))
   AND m.observed_at >= :since AND m.observed_at <= :until
   AND (:session_records <> 0 OR m.rule <> 'episode')
   AND (:only_said = 0 OR m.status NOT IN ('inbox', 'stated')
        OR (m.voice IN ('user', 'pasted') AND strpos(m.flags, '"instruction-like"') = 0
            AND (CAST(:agent_projects AS text) IS NULL OR m.scope IN ('project', 'repo')
                 OR ((CAST(:agent_id AS text) IS NULL OR coalesce(m.agent_id, '') IN ('', :agent_id))
                     AND NOT EXISTS (SELECT 1 FROM ingestion_events e LEFT JOIN repos r ON e.scope = 'repo' AND r.id = e.owner_id
                                      WHERE e.id = m.event_id AND e.scope IN ('project', 'repo')
                                        AND coalesce(r.project_id, e.owner_id) NOT IN (
                                            SELECT value FROM json_list(:agent_projects)))))))
   AND (m.scope <> 'global' OR m.status IN ('active', 'contradicted') OR CAST(:agent_id AS text) IS NULL OR coalesce(m.agent_id, '') IN ('', :agent_id))
   AND (m.scope <> 'agent' OR m.project_id IS NULL OR CAST(:agent_projects AS text) IS NULL
        OR m.project_id IN (SELECT value FROM json_list(:agent_projects)))
   AND (:tags = '[]' OR NOT EXISTS (
        SELECT 1 FROM json_list(:tags) t
         WHERE NOT EXISTS (SELECT 1 FROM memory_tags g WHERE g.memory_id = m.id AND g.tag = t.value)))
   AND (:any_tags = '[]' OR EXISTS (
        SELECT 1 FROM json_list(:any_tags) t JOIN memory_tags g ON g.memory_id = m.id AND g.tag = t.value))
 ORDER BY j.key;

-- message_records: the same for messages, their metadata if :with_metadata, and the item of the message before it in its conversation if :preceding
SELECT i.seq, i.shelf_id, i.words > 0 AND i.embedded_by IS NOT NULL OR EXISTS (SELECT 1 FROM embeddings e WHERE e.seq = i.seq),
       m.id, m.created_at, m.role, CASE WHEN :with_metadata <> 0 THEN m.metadata END, b.seq, b.id
  FROM int_list(:item_ids) j
  JOIN items i ON i.seq = j.value
  LEFT JOIN LATERAL (SELECT * FROM messages WHERE id = i.id OFFSET 0) m
    ON m.created_at >= :since AND m.created_at <= :until
   AND m.conversation_id NOT IN (SELECT id FROM hidden_conversations)
   AND m.role = ANY (ARRAY(SELECT value FROM json_list(:roles)))
   AND (CAST(:conversation_id AS text) IS NULL OR m.conversation_id = :conversation_id)
   AND (CAST(:besides AS text) IS NULL OR m.conversation_id <> :besides)
   AND (:call = '' OR m.tool_calls IS NULL OR strpos(m.tool_calls, :call) = 0)
   AND (:call = '' OR m.parts IS NULL OR strpos(m.parts, :call) = 0)
   AND (CAST(:project_id AS text) IS NULL OR EXISTS (SELECT 1 FROM conversations c WHERE c.id = m.conversation_id
        AND (c.project_id IS NULL OR c.project_id = :project_id
             OR c.project_id IN (SELECT project_id FROM project_links WHERE main_project_id = :project_id))))
  LEFT JOIN messages p ON :preceding <> 0 AND p.conversation_id = m.conversation_id AND p.position = m.position - 1
  LEFT JOIN items b ON b.id = p.id
 ORDER BY j.key;

-- text_records: the same for blocks, files and documents, which have no filters but a JSON list of ids, or NULL for all
SELECT i.seq, i.shelf_id, i.words > 0 AND i.embedded_by IS NOT NULL OR EXISTS (SELECT 1 FROM embeddings e WHERE e.seq = i.seq),
       CASE WHEN CAST(:ids AS text) IS NULL OR i.id IN (SELECT value FROM json_list(:ids)) THEN i.id END
  FROM int_list(:item_ids) j JOIN items i ON i.seq = j.value ORDER BY j.key;

-- memory_preceding: by item, given as a JSON list: the item written just before it in the same session
SELECT i.seq, b.seq, b.id
  FROM int_list(:item_ids) j JOIN items i ON i.seq = j.value JOIN memories m ON m.id = i.id
  JOIN items b ON b.seq = (SELECT max(seq) FROM items WHERE shelf_id = i.shelf_id AND seq < i.seq)
  JOIN memories p ON p.id = b.id
 WHERE p.session_id = m.session_id AND p.status = m.status ORDER BY j.key;

-- few_of_agent: the messages of a time range; other filters are applied later
SELECT i.seq FROM messages m JOIN items i ON i.id = m.id
 WHERE m.agent_id = :agent_id AND m.created_at >= :since AND m.created_at <= :until
 ORDER BY m.created_at, m.position LIMIT :limit;

-- few_of_conversation: the same of one conversation
SELECT i.seq FROM messages m JOIN items i ON i.id = m.id
 WHERE m.conversation_id = :conversation_id AND m.created_at >= :since AND m.created_at <= :until
 ORDER BY m.created_at, m.position LIMIT :limit;

-- timeline: when memories that pass the filters were observed; owners are given as JSON [[scope, owner_id], …]
SELECT m.observed_at, i.seq, m.id
  FROM json_rows(:owners) o CROSS JOIN json_list(:types) k CROSS JOIN json_list(:statuses) s
  JOIN memories m ON m.scope = o.value ->> 0 AND m.owner_id = o.value ->> 1 AND m.type = k.value
   AND m.status = s.value AND m.observed_at >= :since AND m.observed_at <= :until
  JOIN items i ON i.id = m.id
 WHERE (m.scope <> 'global' OR m.status IN ('active', 'contradicted') OR CAST(:agent_id AS text) IS NULL OR coalesce(m.agent_id, '') IN ('', :agent_id))
   AND (m.scope <> 'agent' OR m.project_id IS NULL OR CAST(:agent_projects AS text) IS NULL
        OR m.project_id IN (SELECT value FROM json_list(:agent_projects)))
   AND (:session_records <> 0 OR m.rule <> 'episode')
   AND (:only_said = 0 OR m.status NOT IN ('inbox', 'stated')
        OR (m.voice IN ('user', 'pasted') AND strpos(m.flags, '"instruction-like"') = 0
            AND (CAST(:agent_projects AS text) IS NULL OR m.scope IN ('project', 'repo')
                 OR ((CAST(:agent_id AS text) IS NULL OR coalesce(m.agent_id, '') IN ('', :agent_id))
                     AND NOT EXISTS (SELECT 1 FROM ingestion_events e LEFT JOIN repos r ON e.scope = 'repo' AND r.id = e.owner_id
                                      WHERE e.id = m.event_id AND e.scope IN ('project', 'repo')
                                        AND coalesce(r.project_id, e.owner_id) NOT IN (
                                            SELECT value FROM json_list(:agent_projects)))))))
   AND (:tags = '[]' OR NOT EXISTS (
        SELECT 1 FROM json_list(:tags) t
         WHERE NOT EXISTS (SELECT 1 FROM memory_tags g WHERE g.memory_id = m.id AND g.tag = t.value)))
   AND (:any_tags = '[]' OR EXISTS (
        SELECT 1 FROM json_list(:any_tags) t JOIN memory_tags g ON g.memory_id = m.id AND g.tag = t.value))
 LIMIT :limit;

-- items_of: the items of some records, given as a JSON list of ids
SELECT i.id, i.seq FROM json_list(:ids) j JOIN items i ON i.id = j.value ORDER BY j.key;

-- all_partitions: of a kind, each with the id of the newest embedding of the store
SELECT id, scope, owner_id, items, words, (SELECT coalesce(max(id), 0) FROM embeddings)
  FROM shelves WHERE kind = :kind AND items > 0 ORDER BY id;

-- partitions_of_owners: the same for owners given as JSON [[scope, owner_id], …]
SELECT s.id, s.scope, s.owner_id, s.items, s.words, (SELECT coalesce(max(id), 0) FROM embeddings)
  FROM json_rows(:owners) j
  JOIN shelves s ON s.kind = :kind AND s.scope = j.value ->> 0 AND md5(s.owner_id) = md5(j.value ->> 1)
   AND s.owner_id = j.value ->> 1
 WHERE s.items > 0 ORDER BY s.id;
