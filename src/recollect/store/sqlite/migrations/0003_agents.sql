-- Agents that stay themselves: what their messages and prompts need beyond the ground.

-- Whose message it is, repeated from its conversation: an agent's past is listed and cut by time
-- without a walk through all of its conversations.
ALTER TABLE messages ADD COLUMN agent_id TEXT REFERENCES agents(id) ON DELETE CASCADE;
CREATE INDEX messages_by_agent ON messages(agent_id, created_at, position) WHERE agent_id IS NOT NULL;
CREATE INDEX messages_in_context ON messages(conversation_id, position) WHERE summary_id IS NULL;
CREATE INDEX messages_by_summary ON messages(summary_id) WHERE summary_id IS NOT NULL;
CREATE TRIGGER a_message_is_its_conversations_agents BEFORE INSERT ON messages
WHEN NEW.agent_id IS NOT (SELECT agent_id FROM conversations WHERE id = NEW.conversation_id)
BEGIN
    SELECT RAISE(ABORT, 'a message belongs to the agent of its conversation');
END;

-- The feed of changes, by which a compiled prompt learns that it is stale.
CREATE INDEX block_history_by_time ON block_history(changed_at);

-- What a bundle was made of besides memories (blocks, messages, summaries, pins, files), and what
-- was left out of it and why. By name only: what was deleted since is simply no longer found.
CREATE TABLE retrieval_context (
    retrieval_id TEXT NOT NULL REFERENCES retrievals(id) ON DELETE CASCADE,
    place        INTEGER NOT NULL,
    kind         TEXT NOT NULL,
    item_id      TEXT NOT NULL,
    tokens       INTEGER NOT NULL DEFAULT 0,
    outcome      TEXT NOT NULL,
    PRIMARY KEY (retrieval_id, place)
) STRICT, WITHOUT ROWID;

-- What an agent loaded stays as it was, whatever others load: a skill is known by its content too.
DROP INDEX skills_by_name;
CREATE UNIQUE INDEX skills_by_content ON skills(name, origin, coalesce(project_id, ''), path, sha256);

-- The folder an open file was read in: it is shown again only while it lies there.
ALTER TABLE agent_files ADD COLUMN root TEXT NOT NULL DEFAULT '';

-- Everything of an agent is taken off its shelves at once.
CREATE INDEX terms_by_shelf ON terms(shelf_id);
