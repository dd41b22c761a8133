-- add_message: at the end of its conversation
INSERT INTO messages (id, conversation_id, agent_id, position, role, content, parts, tool_calls, tool_call_id, name,
                      tokens, pinned, metadata, payload, created_at)
VALUES (:id, :conversation_id, :agent_id, :position, :role, :content, :parts, :tool_calls, :tool_call_id, :name,
        :tokens, :pinned, :metadata, :payload, :created_at);

-- next_position: after the last message of a conversation
SELECT coalesce(max(position) + 1, 0) FROM messages WHERE conversation_id = :conversation_id;

-- messages: by their ids, given as a JSON list
SELECT m.id, m.conversation_id, m.position, m.role, m.content, m.parts, m.tool_calls, m.tool_call_id, m.name, m.tokens,
       m.pinned, m.summary_id, m.metadata, m.payload, m.created_at
  FROM json_list(:ids) j JOIN messages m ON m.id = j.value
 WHERE m.conversation_id NOT IN (SELECT id FROM hidden_conversations) ORDER BY j.key;

-- page: of a conversation, in order, from a position on
SELECT id, conversation_id, position, role, content, parts, tool_calls, tool_call_id, name, tokens, pinned, summary_id,
       metadata, payload, created_at
  FROM messages WHERE conversation_id = :conversation_id AND position >= :start ORDER BY position LIMIT :limit;

-- openings: the first messages of some conversations, given as a JSON list of ids
SELECT m.id, m.conversation_id, m.position, m.role, m.content, m.parts, m.tool_calls, m.tool_call_id, m.name, m.tokens, m.pinned, m.summary_id, m.metadata, m.payload, m.created_at
  FROM json_list(:ids) j CROSS JOIN LATERAL (
       SELECT * FROM messages WHERE conversation_id = j.value ORDER BY position LIMIT :limit) m
 ORDER BY j.key, m.position;

-- page_back: of a conversation, before a position, the last first
SELECT id, conversation_id, position, role, content, parts, tool_calls, tool_call_id, name, tokens, pinned, summary_id,
       metadata, payload, created_at
  FROM messages WHERE conversation_id = :conversation_id AND position < :before ORDER BY position DESC LIMIT :limit;

-- in_context: of a conversation, in order: those that no summary replaces
SELECT id, conversation_id, position, role, content, parts, tool_calls, tool_call_id, name, tokens, pinned, summary_id,
       metadata, payload, created_at
  FROM messages WHERE conversation_id = :conversation_id AND summary_id IS NULL ORDER BY position;

-- in_context_from: the same, from a position on, up to a limit
SELECT id, conversation_id, position, role, content, parts, tool_calls, tool_call_id, name, tokens, pinned, summary_id,
       metadata, payload, created_at
  FROM messages WHERE conversation_id = :conversation_id AND summary_id IS NULL AND position >= :start
 ORDER BY position LIMIT :limit;

-- context_size: how many are in context, and the tokens of those that were counted
SELECT count(*), CAST(coalesce(sum(tokens), 0) AS bigint) FROM messages WHERE conversation_id = :conversation_id AND summary_id IS NULL;

-- uncounted_in_context: the contents of those whose tokens were not counted
SELECT content FROM messages WHERE conversation_id = :conversation_id AND summary_id IS NULL AND tokens = 0 ORDER BY position;

-- in_context_back: the same, the last first, up to a limit
SELECT id, conversation_id, position, role, content, parts, tool_calls, tool_call_id, name, tokens, pinned, summary_id,
       metadata, payload, created_at
  FROM messages WHERE conversation_id = :conversation_id AND summary_id IS NULL ORDER BY position DESC LIMIT :limit;

-- of_agent: in a time range, the latest first
SELECT id, conversation_id, position, role, content, parts, tool_calls, tool_call_id, name, tokens, pinned, summary_id,
       metadata, payload, created_at
  FROM messages
 WHERE agent_id = :agent_id AND created_at >= :since AND created_at <= :until
   AND conversation_id NOT IN (SELECT id FROM hidden_conversations)
   AND role IN (SELECT value FROM json_list(:roles))
   AND (content <> '' OR strpos(coalesce(tool_calls, ''), '"send_message"') > 0 OR strpos(coalesce(parts, ''), '"send_message"') > 0)
   AND (CAST(:besides AS text) IS NULL OR conversation_id <> :besides)
   AND (:call = '' OR tool_calls IS NULL OR strpos(tool_calls, :call) = 0)
   AND (:call = '' OR parts IS NULL OR strpos(parts, :call) = 0)
   AND (CAST(:project_id AS text) IS NULL OR EXISTS (SELECT 1 FROM conversations c WHERE c.id = conversation_id
        AND (c.project_id IS NULL OR c.project_id = :project_id
             OR c.project_id IN (SELECT project_id FROM project_links WHERE main_project_id = :project_id))))
 ORDER BY created_at DESC, position DESC LIMIT :limit OFFSET :offset;

-- of_conversation: in a time range, the latest first
SELECT id, conversation_id, position, role, content, parts, tool_calls, tool_call_id, name, tokens, pinned, summary_id,
       metadata, payload, created_at
  FROM messages
 WHERE conversation_id = :conversation_id AND created_at >= :since AND created_at <= :until
   AND role IN (SELECT value FROM json_list(:roles))
   AND (content <> '' OR strpos(coalesce(tool_calls, ''), '"send_message"') > 0 OR strpos(coalesce(parts, ''), '"send_message"') > 0)
   AND (CAST(:besides AS text) IS NULL OR conversation_id <> :besides)
   AND (:call = '' OR tool_calls IS NULL OR strpos(tool_calls, :call) = 0)
   AND (:call = '' OR parts IS NULL OR strpos(parts, :call) = 0)
   AND (CAST(:project_id AS text) IS NULL OR EXISTS (SELECT 1 FROM conversations c WHERE c.id = conversation_id
        AND (c.project_id IS NULL OR c.project_id = :project_id
             OR c.project_id IN (SELECT project_id FROM project_links WHERE main_project_id = :project_id))))
 ORDER BY position DESC LIMIT :limit OFFSET :offset;

-- set_pinned: pinned to the context or not
UPDATE messages SET pinned = :pinned WHERE id = :id;

-- restore_to_context: no summary replaces it any more
UPDATE messages SET summary_id = NULL WHERE id = :id;

-- mark_summarized: these messages, given as a JSON list of ids, are replaced by a summary
UPDATE messages SET summary_id = :summary_id WHERE id IN (SELECT value FROM json_list(:ids)) AND summary_id IS NULL;

-- count: of a conversation: all, and those in context
SELECT (SELECT count(*) FROM messages WHERE conversation_id = :conversation_id),
       (SELECT count(*) FROM messages WHERE conversation_id = :conversation_id AND summary_id IS NULL);

-- delete_message: one
DELETE FROM messages WHERE id = :id;

-- texts: of a conversation, to delete it and to remove it from the index
SELECT id, content, tool_calls, parts FROM messages WHERE conversation_id = :conversation_id ORDER BY position;

-- delete_messages: given as a JSON list of ids
DELETE FROM messages WHERE id IN (SELECT value FROM json_list(:ids));

-- speakers: id and role of the messages of an agent in a time range, and metadata if :with_metadata, in order
SELECT id, role, CASE WHEN :with_metadata <> 0 THEN metadata END FROM messages
 WHERE agent_id = :agent_id AND created_at >= :since AND created_at <= :until
   AND conversation_id NOT IN (SELECT id FROM hidden_conversations)
   AND role IN (SELECT value FROM json_list(:roles))
   AND (content <> '' OR strpos(coalesce(tool_calls, ''), '"send_message"') > 0 OR strpos(coalesce(parts, ''), '"send_message"') > 0)
   AND (CAST(:besides AS text) IS NULL OR conversation_id <> :besides)
   AND (:call = '' OR tool_calls IS NULL OR strpos(tool_calls, :call) = 0)
   AND (:call = '' OR parts IS NULL OR strpos(parts, :call) = 0)
   AND (CAST(:project_id AS text) IS NULL OR EXISTS (SELECT 1 FROM conversations c WHERE c.id = conversation_id
        AND (c.project_id IS NULL OR c.project_id = :project_id
             OR c.project_id IN (SELECT project_id FROM project_links WHERE main_project_id = :project_id))))
 ORDER BY created_at, position;

-- speakers_in: the same within a conversation
SELECT id, role, CASE WHEN :with_metadata <> 0 THEN metadata END FROM messages
 WHERE conversation_id = :conversation_id AND created_at >= :since AND created_at <= :until
   AND role IN (SELECT value FROM json_list(:roles))
   AND (content <> '' OR strpos(coalesce(tool_calls, ''), '"send_message"') > 0 OR strpos(coalesce(parts, ''), '"send_message"') > 0)
   AND (CAST(:besides AS text) IS NULL OR conversation_id <> :besides)
   AND (:call = '' OR tool_calls IS NULL OR strpos(tool_calls, :call) = 0)
   AND (:call = '' OR parts IS NULL OR strpos(parts, :call) = 0)
   AND (CAST(:project_id AS text) IS NULL OR EXISTS (SELECT 1 FROM conversations c WHERE c.id = conversation_id
        AND (c.project_id IS NULL OR c.project_id = :project_id
             OR c.project_id IN (SELECT project_id FROM project_links WHERE main_project_id = :project_id))))
 ORDER BY position;

-- stored_of_agent: of all its conversations, as they were stored, between two ids
SELECT id, conversation_id, position, role, content, parts, tool_calls, tool_call_id, name, tokens, pinned, summary_id,
       metadata, payload, created_at
  FROM messages
 WHERE agent_id = :agent_id AND id > :after AND id < :before AND conversation_id NOT IN (SELECT id FROM hidden_conversations)
 ORDER BY id LIMIT :limit;

-- stored_of_agent_back: the same, the last first
SELECT id, conversation_id, position, role, content, parts, tool_calls, tool_call_id, name, tokens, pinned, summary_id,
       metadata, payload, created_at
  FROM messages
 WHERE agent_id = :agent_id AND id > :after AND id < :before AND conversation_id NOT IN (SELECT id FROM hidden_conversations)
 ORDER BY id DESC LIMIT :limit;

-- stored: of everybody, as they were stored, between two ids
SELECT id, conversation_id, position, role, content, parts, tool_calls, tool_call_id, name, tokens, pinned, summary_id,
       metadata, payload, created_at
  FROM messages
 WHERE id > :after AND id < :before AND conversation_id NOT IN (SELECT id FROM hidden_conversations)
 ORDER BY id LIMIT :limit;

-- stored_back: the same, the last first
SELECT id, conversation_id, position, role, content, parts, tool_calls, tool_call_id, name, tokens, pinned, summary_id,
       metadata, payload, created_at
  FROM messages
 WHERE id > :after AND id < :before AND conversation_id NOT IN (SELECT id FROM hidden_conversations)
 ORDER BY id DESC LIMIT :limit;
