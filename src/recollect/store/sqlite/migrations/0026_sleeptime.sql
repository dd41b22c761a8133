-- Sleeptime: what a background agent read of a conversation, and which edits of blocks it made.
--
-- A run is requested in the transaction that makes it due, so it survives a kill; a conversation has at most one
-- open run. Its edits are stored with it, so that undoing it restores what was there before.
CREATE TABLE sleeptime_runs (
    id              TEXT PRIMARY KEY NOT NULL,
    agent_id        TEXT NOT NULL REFERENCES agents(id) ON DELETE CASCADE,
    conversation_id TEXT NOT NULL REFERENCES conversations(id) ON DELETE CASCADE,
    state           TEXT NOT NULL CHECK (state IN ('due', 'reading', 'done', 'undone')),
    reason          TEXT NOT NULL CHECK (reason IN ('turns', 'end', 'request')),
    event_id        TEXT,
    first_position  INTEGER NOT NULL DEFAULT 0,
    last_position   INTEGER NOT NULL DEFAULT -1,
    made_by         TEXT NOT NULL DEFAULT '',
    note            TEXT NOT NULL DEFAULT '',
    requested_at    INTEGER NOT NULL,
    ended_at        INTEGER
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX sleeptime_runs_open ON sleeptime_runs(conversation_id) WHERE state IN ('due', 'reading');
CREATE INDEX sleeptime_runs_by_conversation ON sleeptime_runs(conversation_id, last_position);
CREATE INDEX sleeptime_runs_by_agent ON sleeptime_runs(agent_id, requested_at);

CREATE TABLE sleeptime_edits (
    run_id               TEXT NOT NULL REFERENCES sleeptime_runs(id) ON DELETE CASCADE,
    place                INTEGER NOT NULL,
    block_id             TEXT NOT NULL REFERENCES blocks(id) ON DELETE CASCADE,
    label                TEXT NOT NULL,
    version_before       INTEGER NOT NULL,
    version_after        INTEGER,
    proposal_id          TEXT NOT NULL DEFAULT '',
    replaced_proposal_id TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (run_id, place)
) STRICT, WITHOUT ROWID;
CREATE INDEX sleeptime_edits_by_block ON sleeptime_edits(block_id);
