-- The engine: what capture, extraction and consolidation need beyond the ground.

-- Whose words a quote is (user, assistant, tool, system, other; '' where nobody told). Trust and
-- repetition are decided by it.
ALTER TABLE evidence ADD COLUMN voice TEXT NOT NULL DEFAULT ''
    CHECK (voice IN ('', 'user', 'assistant', 'tool', 'system', 'other'));

-- Which session a source is of, as its capture named it; '' where it had no name. A session that is
-- captured twice, longer the second time, is still one.
ALTER TABLE sources ADD COLUMN session TEXT NOT NULL DEFAULT '';
CREATE INDEX sources_by_session ON sources(session) WHERE session <> '';

-- What a capture was called and where it came from belongs to the capture: two owners may hand over
-- the same material, and neither learns what the other calls it.
ALTER TABLE ingestion_events ADD COLUMN title TEXT NOT NULL DEFAULT '';
ALTER TABLE ingestion_events ADD COLUMN uri TEXT NOT NULL DEFAULT '';

-- Candidates that were extracted and wait to be consolidated, in the order in which they were said.
CREATE TABLE unsettled (
    memory_id TEXT PRIMARY KEY NOT NULL REFERENCES memories(id) ON DELETE CASCADE,
    event_id  TEXT NOT NULL REFERENCES ingestion_events(id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX unsettled_by_event ON unsettled(event_id, memory_id);

-- The ledger of what language models were asked, for daily budgets.
CREATE TABLE model_calls (
    id            TEXT PRIMARY KEY NOT NULL,
    event_id      TEXT REFERENCES ingestion_events(id) ON DELETE SET NULL,
    model         TEXT NOT NULL,
    purpose       TEXT NOT NULL,
    input_tokens  INTEGER NOT NULL DEFAULT 0,
    output_tokens INTEGER NOT NULL DEFAULT 0,
    error         TEXT NOT NULL DEFAULT '',
    asked_at      INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX model_calls_by_time ON model_calls(asked_at);
