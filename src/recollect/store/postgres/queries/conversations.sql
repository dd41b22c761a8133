-- add_conversation: a new one
INSERT INTO conversations (id, agent_id, project_id, repo_id, title, key, revision, metadata, started_at, ended_at)
VALUES (:id, :agent_id, :project_id, :repo_id, :title, :key, :revision, :metadata, :started_at, :ended_at);

-- set_conversation: its title, metadata and end
UPDATE conversations SET title = :title, metadata = :metadata, ended_at = :ended_at WHERE id = :id;

-- advance_revision: its messages changed
UPDATE conversations SET revision = revision + 1 WHERE id = :id;

-- release_key: another one may have its key
UPDATE conversations SET key = '' WHERE id = :id;

-- with_key: the one that an agent, or nobody, has under that key
SELECT id, agent_id, project_id, repo_id, title, key, revision, metadata, started_at, ended_at FROM conversations
 WHERE md5(key) = md5(:key) AND key = :key AND coalesce(agent_id, '') = coalesce(:agent_id, '') AND key <> ''
   AND id NOT IN (SELECT id FROM hidden_conversations);

-- conversation: by id
SELECT id, agent_id, project_id, repo_id, title, key, revision, metadata, started_at, ended_at FROM conversations
 WHERE id = :id AND id NOT IN (SELECT id FROM hidden_conversations);

-- conversations_of_agent: the latest first, before a moment
SELECT id, agent_id, project_id, repo_id, title, key, revision, metadata, started_at, ended_at FROM conversations
 WHERE agent_id = :agent_id AND (CAST(:project_id AS text) IS NULL OR project_id = :project_id
        OR project_id IN (SELECT project_id FROM project_links WHERE main_project_id = :project_id)) AND started_at < :before
   AND key >= :first_key AND key <= :last_key AND id NOT IN (SELECT id FROM hidden_conversations)
 ORDER BY started_at DESC, id DESC LIMIT :limit OFFSET :offset;

-- conversations: of all agents, the latest first, before a moment
SELECT id, agent_id, project_id, repo_id, title, key, revision, metadata, started_at, ended_at FROM conversations
 WHERE (CAST(:project_id AS text) IS NULL OR project_id = :project_id
        OR project_id IN (SELECT project_id FROM project_links WHERE main_project_id = :project_id)) AND started_at < :before
   AND key >= :first_key AND key <= :last_key AND id NOT IN (SELECT id FROM hidden_conversations)
 ORDER BY started_at DESC, id DESC LIMIT :limit OFFSET :offset;

-- with_messages: of an agent, those with messages, the latest first, before a moment
SELECT id, agent_id, project_id, repo_id, title, key, revision, metadata, started_at, ended_at FROM conversations c
 WHERE agent_id = :agent_id AND started_at < :before AND id NOT IN (SELECT id FROM hidden_conversations)
   AND EXISTS (SELECT 1 FROM messages m WHERE m.conversation_id = c.id)
 ORDER BY started_at DESC, id DESC LIMIT :limit;

-- latest_open: the latest open one of an agent that was begun that way, and the time of its last message
SELECT id, agent_id, project_id, repo_id, title, key, revision, metadata, started_at, ended_at,
       (SELECT created_at FROM messages m WHERE m.conversation_id = c.id ORDER BY position DESC LIMIT 1)
  FROM conversations c
 WHERE agent_id = :agent_id AND ended_at IS NULL AND CAST(metadata AS json) ->> 'begun_by' = :begun_by
   AND id NOT IN (SELECT id FROM hidden_conversations)
 ORDER BY started_at DESC, id DESC LIMIT 1;

-- own_memory_ids: scoped to the conversation
SELECT id FROM memories WHERE scope = 'session' AND owner_id = :id;

-- own_events: captures made for it
SELECT id, source_id FROM ingestion_events WHERE scope = 'session' AND owner_id = :id;

-- delete_retrievals: the queries logged in it
DELETE FROM retrievals WHERE conversation_id = :id;

-- delete_conversation: with its messages, summaries and pins
DELETE FROM conversations WHERE id = :id;

-- add_summary: what compaction made of older messages
INSERT INTO summaries (id, conversation_id, mode, content, first_position, last_position, tokens, made_by, created_at)
VALUES (:id, :conversation_id, :mode, :content, :first_position, :last_position, :tokens, :made_by, :created_at);

-- summaries: of a conversation, oldest first
SELECT id, conversation_id, mode, content, first_position, last_position, tokens, made_by, created_at FROM summaries
 WHERE conversation_id = :conversation_id ORDER BY created_at, id;

-- last_summaries: the newest of each of some conversations, given as a JSON list
SELECT s.id, s.conversation_id, s.mode, s.content, s.first_position, s.last_position, s.tokens, s.made_by, s.created_at
  FROM json_list(:ids) j JOIN summaries s ON s.id = (
       SELECT id FROM summaries WHERE conversation_id = j.value ORDER BY created_at DESC, id DESC LIMIT 1)
 ORDER BY j.key;

-- add_pin: context fixed to a conversation
INSERT INTO pins (id, conversation_id, kind, content, active, pinned_at)
VALUES (:id, :conversation_id, :kind, :content, :active, :pinned_at);

-- set_pin: active or not
UPDATE pins SET active = :active WHERE id = :id;

-- pin: by id
SELECT id, conversation_id, kind, content, active, pinned_at FROM pins
 WHERE id = :id AND conversation_id NOT IN (SELECT id FROM hidden_conversations);

-- pins: of a conversation, oldest first
SELECT id, conversation_id, kind, content, active, pinned_at FROM pins
 WHERE conversation_id = :conversation_id ORDER BY pinned_at, id;
