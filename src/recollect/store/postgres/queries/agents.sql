-- add_agent: an agent with a unique name
INSERT INTO agents (id, name, description, model, system_prompt, pinned, metadata, created_at, updated_at)
VALUES (:id, :name, :description, :model, :system_prompt, :pinned, :metadata, :created_at, :updated_at);

-- set_agent: everything but its id and its creation time may change
UPDATE agents SET name = :name, description = :description, model = :model, system_prompt = :system_prompt,
                  pinned = :pinned, metadata = :metadata, updated_at = :updated_at
 WHERE id = :id;

-- agent: by id
SELECT id, name, description, model, system_prompt, pinned, metadata, created_at, updated_at FROM agents WHERE id = :id;

-- agent_by_name: by name
SELECT id, name, description, model, system_prompt, pinned, metadata, created_at, updated_at FROM agents WHERE name = :name;

-- agents: all, by name
SELECT id, name, description, model, system_prompt, pinned, metadata, created_at, updated_at FROM agents ORDER BY name, id;

-- count_related_rows: the rows that are deleted with an agent by cascade
SELECT 'agent_blocks', count(*) FROM agent_blocks WHERE agent_id = :id
UNION ALL SELECT 'conversations', count(*) FROM conversations WHERE agent_id = :id
UNION ALL SELECT 'messages', count(*) FROM messages WHERE agent_id = :id
UNION ALL SELECT 'summaries', count(*) FROM summaries s JOIN conversations c ON c.id = s.conversation_id WHERE c.agent_id = :id
UNION ALL SELECT 'pins', count(*) FROM pins p JOIN conversations c ON c.id = p.conversation_id WHERE c.agent_id = :id
UNION ALL SELECT 'runs', count(*) FROM runs r JOIN conversations c ON c.id = r.conversation_id WHERE c.agent_id = :id
UNION ALL SELECT 'agent_skills', count(*) FROM agent_skills WHERE agent_id = :id
UNION ALL SELECT 'agent_files', count(*) FROM agent_files WHERE agent_id = :id
UNION ALL SELECT 'retrievals', count(*) FROM retrievals r WHERE r.agent_id = :id;

-- disown: what an agent wrote for a project or globally stays, without an agent
UPDATE memories SET agent_id = NULL WHERE agent_id = :id AND scope <> 'agent';

-- disown_jobs: a pending capture stays, without an agent
UPDATE jobs SET payload = json_without(payload, 'agent_id') WHERE CAST(payload AS json) ->> 'agent_id' = :id;

-- own_memory_ids: those of agent scope, and those of its conversations
SELECT m.id FROM memories m WHERE m.agent_id = :id AND m.scope = 'agent'
 UNION
SELECT m.id FROM conversations c JOIN memories m ON m.scope = 'session' AND m.owner_id = c.id WHERE c.agent_id = :id;

-- own_events: captures made for the agent or for its conversations
SELECT e.id, e.source_id FROM ingestion_events e WHERE e.scope = 'agent' AND e.owner_id = :id
 UNION
SELECT e.id, e.source_id FROM conversations c JOIN ingestion_events e ON e.scope = 'session' AND e.owner_id = c.id
 WHERE c.agent_id = :id;

-- delete_event: with its jobs
DELETE FROM ingestion_events WHERE id = :id;

-- delete_retrievals: the logged queries of the agent
DELETE FROM retrievals WHERE agent_id = :id;

-- delete_agent: the other rows are deleted by cascade
DELETE FROM agents WHERE id = :id;

-- archive_summary: how many messages with text an agent has, how many active memories, and a few of their tags, each once
SELECT (SELECT CAST(coalesce(sum(items), 0) AS bigint) FROM shelves WHERE kind = 'message' AND scope = 'agent' AND md5(owner_id) = md5(:id)),
       (SELECT count(*) FROM memories WHERE scope = 'agent' AND owner_id = :id AND status = 'active'),
       (SELECT CAST(coalesce(json_agg(tag), '[]') AS text) FROM (
        SELECT DISTINCT g.tag FROM memories m JOIN memory_tags g ON g.memory_id = m.id
         WHERE m.scope = 'agent' AND m.owner_id = :id AND m.status = 'active' ORDER BY g.tag LIMIT :limit) t);

-- works_in_projects: whether an agent was told something, or held a conversation, in a project
SELECT EXISTS (SELECT 1 FROM memories WHERE agent_id = :id AND project_id IS NOT NULL)
    OR EXISTS (SELECT 1 FROM conversations WHERE agent_id = :id AND project_id IS NOT NULL);
