-- Long work goes in bounded steps, so that other writers pass between them. What has begun and is not finished is
-- kept here: it is resumed after a kill. A conversation that is being deleted is hidden from the first step on.
CREATE TABLE unfinished_work (
    kind       TEXT NOT NULL CHECK (kind IN ('delete_conversation', 'import', 'truncate_wal')),
    subject    TEXT NOT NULL DEFAULT '',     -- the id of the conversation, or the checksum of the imported file
    detail     TEXT NOT NULL DEFAULT '',     -- for people: the name of the file
    started_at INTEGER NOT NULL,
    PRIMARY KEY (kind, subject)
) STRICT, WITHOUT ROWID;

CREATE VIEW hidden_conversations AS SELECT subject AS id FROM unfinished_work WHERE kind = 'delete_conversation';

-- The checksums of the exports this store wrote. One of them is imported as it is; what others wrote is only a
-- proposal, unless the person says that it is trusted.
CREATE TABLE exports_written (
    sha256     TEXT PRIMARY KEY NOT NULL,
    written_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
