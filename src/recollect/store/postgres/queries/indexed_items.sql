-- memory_ids: of all memories, in the order of item ids
SELECT t.id FROM memories t LEFT JOIN items i ON i.id = t.id ORDER BY i.seq NULLS FIRST, t.id;

-- message_ids: of the messages with text; others are only tool calls
SELECT t.id FROM messages t LEFT JOIN items i ON i.id = t.id
 WHERE t.content <> '' OR strpos(coalesce(t.tool_calls, ''), '"send_message"') > 0
    OR strpos(coalesce(t.parts, ''), '"send_message"') > 0
 ORDER BY i.seq NULLS FIRST, t.id;

-- block_ids: of all blocks
SELECT t.id FROM blocks t LEFT JOIN items i ON i.id = t.id ORDER BY i.seq NULLS FIRST, t.id;

-- file_ids: of the files of projects; other files are not indexed
SELECT t.id FROM files t LEFT JOIN items i ON i.id = t.id WHERE t.project_id IS NOT NULL ORDER BY i.seq NULLS FIRST, t.id;

-- document_ids: of the documents with a text to search
SELECT t.id FROM documents t LEFT JOIN items i ON i.id = t.id WHERE t.text <> '' ORDER BY i.seq NULLS FIRST, t.id;

-- document_texts: namespace and text of documents
SELECT t.id, t.namespace, t.text FROM json_list(:ids) j JOIN documents t ON t.id = j.value WHERE t.text <> '' ORDER BY j.key;

-- memory_texts: what is embedded of memories: title, content and tags; and where a proposed statement stands in its
-- source, with text and turns of each source once
SELECT m.id, m.title, m.content, coalesce((SELECT string_agg(t.tag, ', ' ORDER BY t.tag) FROM memory_tags t WHERE t.memory_id = m.id), ''),
       e.source_id, e.start_char, e.end_char,
       CASE WHEN row_number() OVER source = 1 THEN s.content END, CASE WHEN row_number() OVER source = 1 THEN (s.metadata::json -> 'turns')::text END
  FROM json_list(:ids) j JOIN memories m ON m.id = j.value
  LEFT JOIN evidence e ON e.memory_id = m.id AND m.source_kind <> 'manual' AND m.status <> 'stated' AND m.type <> 'episode'
       AND e.id = (SELECT min(f.id) FROM evidence f WHERE f.memory_id = m.id)
  LEFT JOIN sources s ON s.id = e.source_id
WINDOW source AS (PARTITION BY e.source_id ORDER BY m.id)
 ORDER BY j.key;

-- message_texts: agent, conversation and text of messages
SELECT t.id, t.agent_id, t.conversation_id, t.content, t.tool_calls, t.parts FROM json_list(:ids) j JOIN messages t ON t.id = j.value
 ORDER BY j.key;

-- file_texts: project and text of files
SELECT t.id, t.project_id, t.path, t.content FROM json_list(:ids) j JOIN files t ON t.id = j.value
 WHERE t.project_id IS NOT NULL ORDER BY j.key;
