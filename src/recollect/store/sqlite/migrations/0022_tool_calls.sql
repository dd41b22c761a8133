-- The commands and edits in captured sessions, read from the text of their sources. Both tables are derived:
-- `rebuild` empties the first and queues every source again.
CREATE TABLE tool_calls (
    source_id  TEXT NOT NULL REFERENCES sources(id) ON DELETE CASCADE,
    start_char INTEGER NOT NULL,         -- where the call stands in its source
    kind       TEXT NOT NULL CHECK (kind IN ('run', 'change')),
    name       TEXT NOT NULL,            -- by which it is looked up: the program, or the file without its folders
    subject    TEXT NOT NULL,            -- the command, or the path of the file
    outcome    TEXT NOT NULL,
    error      TEXT NOT NULL DEFAULT '', -- the line of the output that describes a failure
    called_at  INTEGER NOT NULL,
    PRIMARY KEY (source_id, start_char, subject)
) STRICT, WITHOUT ROWID;
CREATE INDEX tool_calls_by_name ON tool_calls(kind, name, called_at);
CREATE INDEX tool_calls_failed ON tool_calls(called_at) WHERE error <> '';

-- Sources with tool calls that are not stored yet.
CREATE TABLE unread_sources (
    source_id TEXT PRIMARY KEY NOT NULL REFERENCES sources(id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
INSERT INTO unread_sources SELECT id FROM sources WHERE instr(metadata, '"tool"');

CREATE TRIGGER queue_new_source AFTER INSERT ON sources WHEN instr(new.metadata, '"tool"') BEGIN
    INSERT OR IGNORE INTO unread_sources VALUES (new.id);
END;

-- The content of a source changes only if words in it are forgotten: they must not stay in a copy.
CREATE TRIGGER queue_changed_source AFTER UPDATE OF content ON sources WHEN instr(new.metadata, '"tool"') BEGIN
    DELETE FROM tool_calls WHERE source_id = new.id;
    INSERT OR IGNORE INTO unread_sources VALUES (new.id);
END;
