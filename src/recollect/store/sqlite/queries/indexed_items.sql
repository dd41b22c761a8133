-- memory_ids: of all memories, in the order of item ids
SELECT t.id FROM memories t LEFT JOIN items i ON i.id = t.id ORDER BY i.seq, t.id;

-- message_ids: of the messages with text; others are only tool calls
SELECT t.id FROM messages t LEFT JOIN items i ON i.id = t.id
 WHERE t.content <> '' OR instr(coalesce(t.tool_calls, ''), '"send_message"')
    OR instr(coalesce(t.parts, ''), '"send_message"')
 ORDER BY i.seq, t.id;

-- block_ids: of all blocks
SELECT t.id FROM blocks t LEFT JOIN items i ON i.id = t.id ORDER BY i.seq, t.id;

-- file_ids: of the files of projects; other files are not indexed
SELECT t.id FROM files t LEFT JOIN items i ON i.id = t.id WHERE t.project_id IS NOT NULL ORDER BY i.seq, t.id;

-- document_ids: of the documents with a text to search
SELECT t.id FROM documents t LEFT JOIN items i ON i.id = t.id WHERE t.text <> '' ORDER BY i.seq, t.id;

-- document_texts: namespace and text of documents
SELECT t.id, t.namespace, t.text FROM json_each(:ids) j CROSS JOIN documents t ON t.id = j.value WHERE t.text <> '';

-- memory_texts: what is embedded of memories: title, content and tags; and where a proposed statement stands in its
-- source, with text and turns of each source once
SELECT m.id, m.title, m.content, coalesce((SELECT group_concat(t.tag, ', ' ORDER BY t.tag) FROM memory_tags t WHERE t.memory_id = m.id), ''),
       e.source_id, e.start_char, e.end_char,
       CASE WHEN row_number() OVER source = 1 THEN s.content END, CASE WHEN row_number() OVER source = 1 THEN json_extract(s.metadata, '$.turns') END
  FROM json_each(:ids) j CROSS JOIN memories m ON m.id = j.value
  LEFT JOIN evidence e ON e.memory_id = m.id AND m.source_kind <> 'manual' AND m.status <> 'stated' AND m.type <> 'episode'
       AND e.id = (SELECT min(f.id) FROM evidence f WHERE f.memory_id = m.id)
  LEFT JOIN sources s ON s.id = e.source_id
WINDOW source AS (PARTITION BY e.source_id ORDER BY m.id);

-- message_texts: agent, conversation and text of messages
SELECT t.id, t.agent_id, t.conversation_id, t.content, t.tool_calls, t.parts FROM json_each(:ids) j CROSS JOIN messages t ON t.id = j.value;

-- file_texts: project and text of files
SELECT t.id, t.project_id, t.path, t.content FROM json_each(:ids) j CROSS JOIN files t ON t.id = j.value
 WHERE t.project_id IS NOT NULL;
