-- Agents that stay themselves: what their messages and prompts need beyond the ground.

-- Messages anew. Whose each one is, is repeated from its conversation: an agent's past is listed and
-- cut by time without a walk through all of its conversations. And with rowids: long texts in the
-- tree of the ids made it so deep that looking up 300 messages took 5.9 ms instead of 2.1.
CREATE TABLE messages_anew (
    id              TEXT PRIMARY KEY NOT NULL,
    conversation_id TEXT NOT NULL REFERENCES conversations(id) ON DELETE CASCADE,
    agent_id        TEXT REFERENCES agents(id) ON DELETE CASCADE,
    position        INTEGER NOT NULL,
    role            TEXT NOT NULL CHECK (role IN ('system', 'developer', 'user', 'assistant', 'tool')),
    tool_call_id    TEXT NOT NULL DEFAULT '',
    name            TEXT NOT NULL DEFAULT '',
    tokens          INTEGER NOT NULL DEFAULT 0,
    pinned          INTEGER NOT NULL DEFAULT 0 CHECK (pinned IN (0, 1)),
    summary_id      TEXT REFERENCES summaries(id) ON DELETE SET NULL,  -- set once compacted away
    created_at      INTEGER NOT NULL,
    metadata        TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(metadata)),
    content         TEXT NOT NULL,           -- the plain text, which is searched
    parts           TEXT CHECK (parts IS NULL OR json_valid(parts)),  -- the original, if multi-part
    tool_calls      TEXT CHECK (tool_calls IS NULL OR json_valid(tool_calls)),
    UNIQUE (conversation_id, position)
) STRICT;
INSERT INTO messages_anew (id, conversation_id, agent_id, position, role, tool_call_id, name, tokens, pinned,
                           summary_id, created_at, metadata, content, parts, tool_calls)
SELECT m.id, m.conversation_id, c.agent_id, m.position, m.role, m.tool_call_id, m.name, m.tokens, m.pinned,
       m.summary_id, m.created_at, m.metadata, m.content, m.parts, m.tool_calls
  FROM messages m JOIN conversations c ON c.id = m.conversation_id ORDER BY m.id;
DROP TABLE messages;
ALTER TABLE messages_anew RENAME TO messages;
CREATE INDEX messages_by_time ON messages(conversation_id, created_at);
CREATE INDEX messages_by_agent ON messages(agent_id, created_at, position) WHERE agent_id IS NOT NULL;
CREATE INDEX messages_in_context ON messages(conversation_id, position) WHERE summary_id IS NULL;
CREATE INDEX messages_by_summary ON messages(summary_id) WHERE summary_id IS NOT NULL;
CREATE TRIGGER a_message_is_its_conversations_agents BEFORE INSERT ON messages
WHEN NEW.agent_id IS NOT (SELECT agent_id FROM conversations WHERE id = NEW.conversation_id)
BEGIN
    SELECT RAISE(ABORT, 'a message belongs to the agent of its conversation');
END;

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

-- Deleting an agent or a conversation, and listing what was said lately, walk no whole table.
CREATE INDEX ingestion_events_by_owner ON ingestion_events(scope, owner_id);
CREATE INDEX model_calls_by_event ON model_calls(event_id) WHERE event_id IS NOT NULL;
CREATE INDEX agent_files_by_file ON agent_files(file_id);
CREATE INDEX conversations_by_start ON conversations(started_at);

-- Everything of an agent is taken off its shelves at once.
CREATE INDEX terms_by_shelf ON terms(shelf_id);
