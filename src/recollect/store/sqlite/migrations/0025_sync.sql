-- Sync between devices. A record (a memory with its evidence, tags and changes; a block with its history; a row of another
-- table) has a version vector: how many revisions of each device it includes. No table here holds words.

-- This store as a device; no row: sync is not set up, and the triggers below do nothing.
CREATE TABLE sync_device (
    id      INTEGER PRIMARY KEY CHECK (id = 1),
    device  TEXT NOT NULL,
    place   TEXT NOT NULL,               -- a hash of machine and path: a copy elsewhere is another device
    folder  TEXT NOT NULL,               -- the shared folder
    key_id  TEXT NOT NULL,               -- of the key of the folder
    clock   INTEGER NOT NULL DEFAULT 0,  -- hybrid logical clock: the latest time that was issued or seen, in microseconds
    number  INTEGER NOT NULL DEFAULT 0,  -- of the last file that this device wrote
    head    TEXT NOT NULL DEFAULT '',    -- its SHA-256
    writing INTEGER NOT NULL DEFAULT 0,  -- of the file that is being written; it is ours if the process is killed
    synced_at INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE TABLE sync_records (
    kind   TEXT NOT NULL,                -- the table of the record
    id     TEXT NOT NULL,
    vector TEXT NOT NULL,                -- {device: number of its last revision that is included}
    clock  INTEGER NOT NULL,             -- when the revision was made
    origin TEXT NOT NULL,                -- the device that created the record
    PRIMARY KEY (kind, id)
) STRICT, WITHOUT ROWID;

-- Records that changed here since they were published: one row each, however often they changed.
CREATE TABLE sync_changes (
    kind     TEXT NOT NULL,
    id       TEXT NOT NULL,
    times    INTEGER NOT NULL,           -- 0: published, and only files have to be written anew
    redacted INTEGER NOT NULL,           -- text was deleted or rewritten: files that hold it are written anew
    PRIMARY KEY (kind, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX sync_changes_settled ON sync_changes(redacted) WHERE times = 0;

-- The files that this store has read or written, with their hashes.
CREATE TABLE sync_files (
    device TEXT NOT NULL,
    number INTEGER NOT NULL,
    sha256 TEXT NOT NULL,
    PRIMARY KEY (device, number)
) STRICT, WITHOUT ROWID;

-- Which files of this device hold a record.
CREATE TABLE sync_contents (
    kind   TEXT NOT NULL,
    id     TEXT NOT NULL,
    number INTEGER NOT NULL,
    PRIMARY KEY (kind, id, number)
) STRICT, WITHOUT ROWID;
CREATE INDEX sync_contents_by_number ON sync_contents(number);

-- Two devices may create the same project or source, each under an id of its own: the smaller id stays.
CREATE TABLE sync_aliases (
    kind    TEXT NOT NULL,
    id      TEXT NOT NULL,
    main_id TEXT NOT NULL,
    PRIMARY KEY (kind, id)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER sync_insert_of_projects AFTER INSERT ON projects WHEN EXISTS (SELECT 1 FROM sync_device) BEGIN
    INSERT INTO sync_changes (kind, id, times, redacted) VALUES ('projects', NEW.id, 1, 0)
    ON CONFLICT (kind, id) DO UPDATE SET times = times + 1, redacted = max(redacted, excluded.redacted);
END;
CREATE TRIGGER sync_update_of_projects AFTER UPDATE ON projects WHEN EXISTS (SELECT 1 FROM sync_device) BEGIN
    INSERT INTO sync_changes (kind, id, times, redacted) VALUES ('projects', NEW.id, 1, 0)
    ON CONFLICT (kind, id) DO UPDATE SET times = times + 1, redacted = max(redacted, excluded.redacted);
END;
CREATE TRIGGER sync_delete_of_projects AFTER DELETE ON projects WHEN EXISTS (SELECT 1 FROM sync_device) BEGIN
    INSERT INTO sync_changes (kind, id, times, redacted) VALUES ('projects', OLD.id, 1, 1)
    ON CONFLICT (kind, id) DO UPDATE SET times = times + 1, redacted = max(redacted, excluded.redacted);
END;
CREATE TRIGGER sync_insert_of_project_links AFTER INSERT ON project_links WHEN EXISTS (SELECT 1 FROM sync_device) BEGIN
    INSERT INTO sync_changes (kind, id, times, redacted) VALUES ('project_links', NEW.project_id, 1, 0)
    ON CONFLICT (kind, id) DO UPDATE SET times = times + 1, redacted = max(redacted, excluded.redacted);
END;
CREATE TRIGGER sync_update_of_project_links AFTER UPDATE ON project_links WHEN EXISTS (SELECT 1 FROM sync_device) BEGIN
    INSERT INTO sync_changes (kind, id, times, redacted) VALUES ('project_links', NEW.project_id, 1, 0)
    ON CONFLICT (kind, id) DO UPDATE SET times = times + 1, redacted = max(redacted, excluded.redacted);
END;
CREATE TRIGGER sync_delete_of_project_links AFTER DELETE ON project_links WHEN EXISTS (SELECT 1 FROM sync_device) BEGIN
    INSERT INTO sync_changes (kind, id, times, redacted) VALUES ('project_links', OLD.project_id, 1, 0)
    ON CONFLICT (kind, id) DO UPDATE SET times = times + 1, redacted = max(redacted, excluded.redacted);
END;
CREATE TRIGGER sync_insert_of_repos AFTER INSERT ON repos WHEN EXISTS (SELECT 1 FROM sync_device) BEGIN
    INSERT INTO sync_changes (kind, id, times, redacted) VALUES ('repos', NEW.id, 1, 0)
    ON CONFLICT (kind, id) DO UPDATE SET times = times + 1, redacted = max(redacted, excluded.redacted);
END;
CREATE TRIGGER sync_update_of_repos AFTER UPDATE OF project_id, name, remote, remote_is_exact ON repos WHEN EXISTS (SELECT 1 FROM sync_device) BEGIN
    INSERT INTO sync_changes (kind, id, times, redacted) VALUES ('repos', NEW.id, 1, 0)
    ON CONFLICT (kind, id) DO UPDATE SET times = times + 1, redacted = max(redacted, excluded.redacted);
END;
CREATE TRIGGER sync_delete_of_repos AFTER DELETE ON repos WHEN EXISTS (SELECT 1 FROM sync_device) BEGIN
    INSERT INTO sync_changes (kind, id, times, redacted) VALUES ('repos', OLD.id, 1, 0)
    ON CONFLICT (kind, id) DO UPDATE SET times = times + 1, redacted = max(redacted, excluded.redacted);
END;
CREATE TRIGGER sync_insert_of_agents AFTER INSERT ON agents WHEN EXISTS (SELECT 1 FROM sync_device) BEGIN
    INSERT INTO sync_changes (kind, id, times, redacted) VALUES ('agents', NEW.id, 1, 0)
    ON CONFLICT (kind, id) DO UPDATE SET times = times + 1, redacted = max(redacted, excluded.redacted);
END;
CREATE TRIGGER sync_update_of_agents AFTER UPDATE ON agents WHEN EXISTS (SELECT 1 FROM sync_device) BEGIN
    INSERT INTO sync_changes (kind, id, times, redacted) VALUES ('agents', NEW.id, 1, 0)
    ON CONFLICT (kind, id) DO UPDATE SET times = times + 1, redacted = max(redacted, excluded.redacted);
END;
CREATE TRIGGER sync_delete_of_agents AFTER DELETE ON agents WHEN EXISTS (SELECT 1 FROM sync_device) BEGIN
    INSERT INTO sync_changes (kind, id, times, redacted) VALUES ('agents', OLD.id, 1, 1)
    ON CONFLICT (kind, id) DO UPDATE SET times = times + 1, redacted = max(redacted, excluded.redacted);
END;
CREATE TRIGGER sync_insert_of_blocks AFTER INSERT ON blocks WHEN EXISTS (SELECT 1 FROM sync_device) BEGIN
    INSERT INTO sync_changes (kind, id, times, redacted) VALUES ('blocks', NEW.id, 1, 0)
    ON CONFLICT (kind, id) DO UPDATE SET times = times + 1, redacted = max(redacted, excluded.redacted);
END;
CREATE TRIGGER sync_update_of_blocks AFTER UPDATE ON blocks WHEN EXISTS (SELECT 1 FROM sync_device) BEGIN
    INSERT INTO sync_changes (kind, id, times, redacted) VALUES ('blocks', NEW.id, 1, 0)
    ON CONFLICT (kind, id) DO UPDATE SET times = times + 1, redacted = max(redacted, excluded.redacted);
END;
CREATE TRIGGER sync_delete_of_blocks AFTER DELETE ON blocks WHEN EXISTS (SELECT 1 FROM sync_device) BEGIN
    INSERT INTO sync_changes (kind, id, times, redacted) VALUES ('blocks', OLD.id, 1, 1)
    ON CONFLICT (kind, id) DO UPDATE SET times = times + 1, redacted = max(redacted, excluded.redacted);
END;
CREATE TRIGGER sync_insert_of_block_history AFTER INSERT ON block_history WHEN EXISTS (SELECT 1 FROM sync_device) BEGIN
    INSERT INTO sync_changes (kind, id, times, redacted) VALUES ('blocks', NEW.block_id, 1, 0)
    ON CONFLICT (kind, id) DO UPDATE SET times = times + 1, redacted = max(redacted, excluded.redacted);
END;
CREATE TRIGGER sync_update_of_block_history AFTER UPDATE ON block_history WHEN EXISTS (SELECT 1 FROM sync_device) BEGIN
    INSERT INTO sync_changes (kind, id, times, redacted) VALUES ('blocks', NEW.block_id, 1, 1)
    ON CONFLICT (kind, id) DO UPDATE SET times = times + 1, redacted = max(redacted, excluded.redacted);
END;
CREATE TRIGGER sync_delete_of_block_history AFTER DELETE ON block_history WHEN EXISTS (SELECT 1 FROM sync_device) BEGIN
    INSERT INTO sync_changes (kind, id, times, redacted) VALUES ('blocks', OLD.block_id, 1, 1)
    ON CONFLICT (kind, id) DO UPDATE SET times = times + 1, redacted = max(redacted, excluded.redacted);
END;
CREATE TRIGGER sync_insert_of_block_proposals AFTER INSERT ON block_proposals WHEN EXISTS (SELECT 1 FROM sync_device) BEGIN
    INSERT INTO sync_changes (kind, id, times, redacted) VALUES ('blocks', NEW.block_id, 1, 0)
    ON CONFLICT (kind, id) DO UPDATE SET times = times + 1, redacted = max(redacted, excluded.redacted);
END;
CREATE TRIGGER sync_update_of_block_proposals AFTER UPDATE ON block_proposals WHEN EXISTS (SELECT 1 FROM sync_device) BEGIN
    INSERT INTO sync_changes (kind, id, times, redacted) VALUES ('blocks', NEW.block_id, 1, NEW.value IS NOT OLD.value)
    ON CONFLICT (kind, id) DO UPDATE SET times = times + 1, redacted = max(redacted, excluded.redacted);
END;
CREATE TRIGGER sync_delete_of_block_proposals AFTER DELETE ON block_proposals WHEN EXISTS (SELECT 1 FROM sync_device) BEGIN
    INSERT INTO sync_changes (kind, id, times, redacted) VALUES ('blocks', OLD.block_id, 1, 1)
    ON CONFLICT (kind, id) DO UPDATE SET times = times + 1, redacted = max(redacted, excluded.redacted);
END;
CREATE TRIGGER sync_insert_of_agent_blocks AFTER INSERT ON agent_blocks WHEN EXISTS (SELECT 1 FROM sync_device) BEGIN
    INSERT INTO sync_changes (kind, id, times, redacted) VALUES ('agent_blocks', NEW.agent_id || ' ' || NEW.block_id, 1, 0)
    ON CONFLICT (kind, id) DO UPDATE SET times = times + 1, redacted = max(redacted, excluded.redacted);
END;
CREATE TRIGGER sync_update_of_agent_blocks AFTER UPDATE ON agent_blocks WHEN EXISTS (SELECT 1 FROM sync_device) BEGIN
    INSERT INTO sync_changes (kind, id, times, redacted) VALUES ('agent_blocks', NEW.agent_id || ' ' || NEW.block_id, 1, 0)
    ON CONFLICT (kind, id) DO UPDATE SET times = times + 1, redacted = max(redacted, excluded.redacted);
END;
CREATE TRIGGER sync_delete_of_agent_blocks AFTER DELETE ON agent_blocks WHEN EXISTS (SELECT 1 FROM sync_device) BEGIN
    INSERT INTO sync_changes (kind, id, times, redacted) VALUES ('agent_blocks', OLD.agent_id || ' ' || OLD.block_id, 1, 0)
    ON CONFLICT (kind, id) DO UPDATE SET times = times + 1, redacted = max(redacted, excluded.redacted);
END;
CREATE TRIGGER sync_insert_of_conversations AFTER INSERT ON conversations WHEN EXISTS (SELECT 1 FROM sync_device) BEGIN
    INSERT INTO sync_changes (kind, id, times, redacted) VALUES ('conversations', NEW.id, 1, 0)
    ON CONFLICT (kind, id) DO UPDATE SET times = times + 1, redacted = max(redacted, excluded.redacted);
END;
CREATE TRIGGER sync_update_of_conversations AFTER UPDATE ON conversations WHEN EXISTS (SELECT 1 FROM sync_device) BEGIN
    INSERT INTO sync_changes (kind, id, times, redacted) VALUES ('conversations', NEW.id, 1, 0)
    ON CONFLICT (kind, id) DO UPDATE SET times = times + 1, redacted = max(redacted, excluded.redacted);
END;
CREATE TRIGGER sync_delete_of_conversations AFTER DELETE ON conversations WHEN EXISTS (SELECT 1 FROM sync_device) BEGIN
    INSERT INTO sync_changes (kind, id, times, redacted) VALUES ('conversations', OLD.id, 1, 1)
    ON CONFLICT (kind, id) DO UPDATE SET times = times + 1, redacted = max(redacted, excluded.redacted);
END;
CREATE TRIGGER sync_insert_of_summaries AFTER INSERT ON summaries WHEN EXISTS (SELECT 1 FROM sync_device) BEGIN
    INSERT INTO sync_changes (kind, id, times, redacted) VALUES ('summaries', NEW.id, 1, 0)
    ON CONFLICT (kind, id) DO UPDATE SET times = times + 1, redacted = max(redacted, excluded.redacted);
END;
CREATE TRIGGER sync_update_of_summaries AFTER UPDATE ON summaries WHEN EXISTS (SELECT 1 FROM sync_device) BEGIN
    INSERT INTO sync_changes (kind, id, times, redacted) VALUES ('summaries', NEW.id, 1, NEW.content IS NOT OLD.content)
    ON CONFLICT (kind, id) DO UPDATE SET times = times + 1, redacted = max(redacted, excluded.redacted);
END;
CREATE TRIGGER sync_delete_of_summaries AFTER DELETE ON summaries WHEN EXISTS (SELECT 1 FROM sync_device) BEGIN
    INSERT INTO sync_changes (kind, id, times, redacted) VALUES ('summaries', OLD.id, 1, 1)
    ON CONFLICT (kind, id) DO UPDATE SET times = times + 1, redacted = max(redacted, excluded.redacted);
END;
CREATE TRIGGER sync_insert_of_messages AFTER INSERT ON messages WHEN EXISTS (SELECT 1 FROM sync_device) BEGIN
    INSERT INTO sync_changes (kind, id, times, redacted) VALUES ('messages', NEW.id, 1, 0)
    ON CONFLICT (kind, id) DO UPDATE SET times = times + 1, redacted = max(redacted, excluded.redacted);
END;
CREATE TRIGGER sync_update_of_messages AFTER UPDATE ON messages WHEN EXISTS (SELECT 1 FROM sync_device) BEGIN
    INSERT INTO sync_changes (kind, id, times, redacted) VALUES ('messages', NEW.id, 1, NEW.content IS NOT OLD.content)
    ON CONFLICT (kind, id) DO UPDATE SET times = times + 1, redacted = max(redacted, excluded.redacted);
END;
CREATE TRIGGER sync_delete_of_messages AFTER DELETE ON messages WHEN EXISTS (SELECT 1 FROM sync_device) BEGIN
    INSERT INTO sync_changes (kind, id, times, redacted) VALUES ('messages', OLD.id, 1, 1)
    ON CONFLICT (kind, id) DO UPDATE SET times = times + 1, redacted = max(redacted, excluded.redacted);
END;
CREATE TRIGGER sync_insert_of_pins AFTER INSERT ON pins WHEN EXISTS (SELECT 1 FROM sync_device) BEGIN
    INSERT INTO sync_changes (kind, id, times, redacted) VALUES ('pins', NEW.id, 1, 0)
    ON CONFLICT (kind, id) DO UPDATE SET times = times + 1, redacted = max(redacted, excluded.redacted);
END;
CREATE TRIGGER sync_update_of_pins AFTER UPDATE ON pins WHEN EXISTS (SELECT 1 FROM sync_device) BEGIN
    INSERT INTO sync_changes (kind, id, times, redacted) VALUES ('pins', NEW.id, 1, NEW.content IS NOT OLD.content)
    ON CONFLICT (kind, id) DO UPDATE SET times = times + 1, redacted = max(redacted, excluded.redacted);
END;
CREATE TRIGGER sync_delete_of_pins AFTER DELETE ON pins WHEN EXISTS (SELECT 1 FROM sync_device) BEGIN
    INSERT INTO sync_changes (kind, id, times, redacted) VALUES ('pins', OLD.id, 1, 1)
    ON CONFLICT (kind, id) DO UPDATE SET times = times + 1, redacted = max(redacted, excluded.redacted);
END;
CREATE TRIGGER sync_insert_of_sources AFTER INSERT ON sources WHEN EXISTS (SELECT 1 FROM sync_device) BEGIN
    INSERT INTO sync_changes (kind, id, times, redacted) VALUES ('sources', NEW.id, 1, 0)
    ON CONFLICT (kind, id) DO UPDATE SET times = times + 1, redacted = max(redacted, excluded.redacted);
END;
CREATE TRIGGER sync_update_of_sources AFTER UPDATE ON sources WHEN EXISTS (SELECT 1 FROM sync_device) BEGIN
    INSERT INTO sync_changes (kind, id, times, redacted) VALUES ('sources', NEW.id, 1, NEW.content IS NOT OLD.content)
    ON CONFLICT (kind, id) DO UPDATE SET times = times + 1, redacted = max(redacted, excluded.redacted);
END;
CREATE TRIGGER sync_delete_of_sources AFTER DELETE ON sources WHEN EXISTS (SELECT 1 FROM sync_device) BEGIN
    INSERT INTO sync_changes (kind, id, times, redacted) VALUES ('sources', OLD.id, 1, 1)
    ON CONFLICT (kind, id) DO UPDATE SET times = times + 1, redacted = max(redacted, excluded.redacted);
END;
CREATE TRIGGER sync_insert_of_memories AFTER INSERT ON memories WHEN EXISTS (SELECT 1 FROM sync_device) BEGIN
    INSERT INTO sync_changes (kind, id, times, redacted) VALUES ('memories', NEW.id, 1, 0)
    ON CONFLICT (kind, id) DO UPDATE SET times = times + 1, redacted = max(redacted, excluded.redacted);
END;
CREATE TRIGGER sync_update_of_memories AFTER UPDATE ON memories WHEN EXISTS (SELECT 1 FROM sync_device) BEGIN
    INSERT INTO sync_changes (kind, id, times, redacted) VALUES ('memories', NEW.id, 1, NEW.content IS NOT OLD.content)
    ON CONFLICT (kind, id) DO UPDATE SET times = times + 1, redacted = max(redacted, excluded.redacted);
END;
CREATE TRIGGER sync_delete_of_memories AFTER DELETE ON memories WHEN EXISTS (SELECT 1 FROM sync_device) BEGIN
    INSERT INTO sync_changes (kind, id, times, redacted) VALUES ('memories', OLD.id, 1, 1)
    ON CONFLICT (kind, id) DO UPDATE SET times = times + 1, redacted = max(redacted, excluded.redacted);
END;
CREATE TRIGGER sync_insert_of_evidence AFTER INSERT ON evidence WHEN EXISTS (SELECT 1 FROM sync_device) BEGIN
    INSERT INTO sync_changes (kind, id, times, redacted) VALUES ('memories', NEW.memory_id, 1, 0)
    ON CONFLICT (kind, id) DO UPDATE SET times = times + 1, redacted = max(redacted, excluded.redacted);
END;
CREATE TRIGGER sync_update_of_evidence AFTER UPDATE ON evidence WHEN EXISTS (SELECT 1 FROM sync_device) BEGIN
    INSERT INTO sync_changes (kind, id, times, redacted) VALUES ('memories', NEW.memory_id, 1, 0)
    ON CONFLICT (kind, id) DO UPDATE SET times = times + 1, redacted = max(redacted, excluded.redacted);
END;
CREATE TRIGGER sync_delete_of_evidence AFTER DELETE ON evidence WHEN EXISTS (SELECT 1 FROM sync_device) BEGIN
    INSERT INTO sync_changes (kind, id, times, redacted) VALUES ('memories', OLD.memory_id, 1, 1)
    ON CONFLICT (kind, id) DO UPDATE SET times = times + 1, redacted = max(redacted, excluded.redacted);
END;
CREATE TRIGGER sync_insert_of_memory_tags AFTER INSERT ON memory_tags WHEN EXISTS (SELECT 1 FROM sync_device) BEGIN
    INSERT INTO sync_changes (kind, id, times, redacted) VALUES ('memories', NEW.memory_id, 1, 0)
    ON CONFLICT (kind, id) DO UPDATE SET times = times + 1, redacted = max(redacted, excluded.redacted);
END;
CREATE TRIGGER sync_update_of_memory_tags AFTER UPDATE ON memory_tags WHEN EXISTS (SELECT 1 FROM sync_device) BEGIN
    INSERT INTO sync_changes (kind, id, times, redacted) VALUES ('memories', NEW.memory_id, 1, 0)
    ON CONFLICT (kind, id) DO UPDATE SET times = times + 1, redacted = max(redacted, excluded.redacted);
END;
CREATE TRIGGER sync_delete_of_memory_tags AFTER DELETE ON memory_tags WHEN EXISTS (SELECT 1 FROM sync_device) BEGIN
    INSERT INTO sync_changes (kind, id, times, redacted) VALUES ('memories', OLD.memory_id, 1, 0)
    ON CONFLICT (kind, id) DO UPDATE SET times = times + 1, redacted = max(redacted, excluded.redacted);
END;
CREATE TRIGGER sync_insert_of_memory_changes AFTER INSERT ON memory_changes WHEN EXISTS (SELECT 1 FROM sync_device) BEGIN
    INSERT INTO sync_changes (kind, id, times, redacted) VALUES ('memories', NEW.memory_id, 1, 0)
    ON CONFLICT (kind, id) DO UPDATE SET times = times + 1, redacted = max(redacted, excluded.redacted);
END;
CREATE TRIGGER sync_update_of_memory_changes AFTER UPDATE ON memory_changes WHEN EXISTS (SELECT 1 FROM sync_device) BEGIN
    INSERT INTO sync_changes (kind, id, times, redacted) VALUES ('memories', NEW.memory_id, 1, 1)
    ON CONFLICT (kind, id) DO UPDATE SET times = times + 1, redacted = max(redacted, excluded.redacted);
END;
CREATE TRIGGER sync_delete_of_memory_changes AFTER DELETE ON memory_changes WHEN EXISTS (SELECT 1 FROM sync_device) BEGIN
    INSERT INTO sync_changes (kind, id, times, redacted) VALUES ('memories', OLD.memory_id, 1, 1)
    ON CONFLICT (kind, id) DO UPDATE SET times = times + 1, redacted = max(redacted, excluded.redacted);
END;
CREATE TRIGGER sync_insert_of_memory_links AFTER INSERT ON memory_links WHEN EXISTS (SELECT 1 FROM sync_device) BEGIN
    INSERT INTO sync_changes (kind, id, times, redacted) VALUES ('memory_links', NEW.id, 1, 0)
    ON CONFLICT (kind, id) DO UPDATE SET times = times + 1, redacted = max(redacted, excluded.redacted);
END;
CREATE TRIGGER sync_update_of_memory_links AFTER UPDATE ON memory_links WHEN EXISTS (SELECT 1 FROM sync_device) BEGIN
    INSERT INTO sync_changes (kind, id, times, redacted) VALUES ('memory_links', NEW.id, 1, 0)
    ON CONFLICT (kind, id) DO UPDATE SET times = times + 1, redacted = max(redacted, excluded.redacted);
END;
CREATE TRIGGER sync_delete_of_memory_links AFTER DELETE ON memory_links WHEN EXISTS (SELECT 1 FROM sync_device) BEGIN
    INSERT INTO sync_changes (kind, id, times, redacted) VALUES ('memory_links', OLD.id, 1, 0)
    ON CONFLICT (kind, id) DO UPDATE SET times = times + 1, redacted = max(redacted, excluded.redacted);
END;
CREATE TRIGGER sync_insert_of_views AFTER INSERT ON views WHEN EXISTS (SELECT 1 FROM sync_device) BEGIN
    INSERT INTO sync_changes (kind, id, times, redacted) VALUES ('views', NEW.name, 1, 0)
    ON CONFLICT (kind, id) DO UPDATE SET times = times + 1, redacted = max(redacted, excluded.redacted);
END;
CREATE TRIGGER sync_update_of_views AFTER UPDATE ON views WHEN EXISTS (SELECT 1 FROM sync_device) BEGIN
    INSERT INTO sync_changes (kind, id, times, redacted) VALUES ('views', NEW.name, 1, 0)
    ON CONFLICT (kind, id) DO UPDATE SET times = times + 1, redacted = max(redacted, excluded.redacted);
END;
CREATE TRIGGER sync_delete_of_views AFTER DELETE ON views WHEN EXISTS (SELECT 1 FROM sync_device) BEGIN
    INSERT INTO sync_changes (kind, id, times, redacted) VALUES ('views', OLD.name, 1, 1)
    ON CONFLICT (kind, id) DO UPDATE SET times = times + 1, redacted = max(redacted, excluded.redacted);
END;
CREATE TRIGGER sync_insert_of_documents AFTER INSERT ON documents WHEN EXISTS (SELECT 1 FROM sync_device) BEGIN
    INSERT INTO sync_changes (kind, id, times, redacted) VALUES ('documents', NEW.id, 1, 0)
    ON CONFLICT (kind, id) DO UPDATE SET times = times + 1, redacted = max(redacted, excluded.redacted);
END;
CREATE TRIGGER sync_update_of_documents AFTER UPDATE ON documents WHEN EXISTS (SELECT 1 FROM sync_device) BEGIN
    INSERT INTO sync_changes (kind, id, times, redacted) VALUES ('documents', NEW.id, 1, 0)
    ON CONFLICT (kind, id) DO UPDATE SET times = times + 1, redacted = max(redacted, excluded.redacted);
END;
CREATE TRIGGER sync_delete_of_documents AFTER DELETE ON documents WHEN EXISTS (SELECT 1 FROM sync_device) BEGIN
    INSERT INTO sync_changes (kind, id, times, redacted) VALUES ('documents', OLD.id, 1, 1)
    ON CONFLICT (kind, id) DO UPDATE SET times = times + 1, redacted = max(redacted, excluded.redacted);
END;
CREATE TRIGGER sync_insert_of_tombstones AFTER INSERT ON tombstones WHEN EXISTS (SELECT 1 FROM sync_device) BEGIN
    INSERT INTO sync_changes (kind, id, times, redacted) VALUES ('tombstones', NEW.kind || ' ' || NEW.id, 1, 0)
    ON CONFLICT (kind, id) DO UPDATE SET times = times + 1, redacted = max(redacted, excluded.redacted);
END;
CREATE TRIGGER sync_update_of_tombstones AFTER UPDATE ON tombstones WHEN EXISTS (SELECT 1 FROM sync_device) BEGIN
    INSERT INTO sync_changes (kind, id, times, redacted) VALUES ('tombstones', NEW.kind || ' ' || NEW.id, 1, 0)
    ON CONFLICT (kind, id) DO UPDATE SET times = times + 1, redacted = max(redacted, excluded.redacted);
END;
CREATE TRIGGER sync_delete_of_tombstones AFTER DELETE ON tombstones WHEN EXISTS (SELECT 1 FROM sync_device) BEGIN
    INSERT INTO sync_changes (kind, id, times, redacted) VALUES ('tombstones', OLD.kind || ' ' || OLD.id, 1, 0)
    ON CONFLICT (kind, id) DO UPDATE SET times = times + 1, redacted = max(redacted, excluded.redacted);
END;
