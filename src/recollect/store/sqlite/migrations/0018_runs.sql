-- Runs of an agent, and the tool calls of each run.
--
-- A run is stored before the model is called, and a tool call before the tool runs: after a crash it is known
-- which calls may have had an effect, so that none is made twice and each is answered once. A call that waits
-- for a person is a row with an expiry, not a state of a process. The partial index lets a conversation have
-- one open run. The arguments of a call are in the message that made it and nowhere else.
CREATE TABLE runs (
    id              TEXT PRIMARY KEY NOT NULL,
    conversation_id TEXT NOT NULL REFERENCES conversations(id) ON DELETE CASCADE,
    state           TEXT NOT NULL CHECK (state IN ('running', 'waiting', 'ended')),
    stop_reason     TEXT,
    model           TEXT NOT NULL DEFAULT '',
    max_steps       INTEGER NOT NULL,
    steps           INTEGER NOT NULL DEFAULT 0,
    input_tokens    INTEGER NOT NULL DEFAULT 0,
    output_tokens   INTEGER NOT NULL DEFAULT 0,
    first_position  INTEGER NOT NULL,           -- of the message that started it
    error           TEXT NOT NULL DEFAULT '',
    started_at      INTEGER NOT NULL,
    updated_at      INTEGER NOT NULL,
    CHECK (state <> 'ended' OR stop_reason IS NOT NULL)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX runs_open ON runs(conversation_id) WHERE state <> 'ended';
CREATE INDEX runs_by_conversation ON runs(conversation_id, started_at);

CREATE TABLE run_calls (
    id              TEXT PRIMARY KEY NOT NULL,
    run_id          TEXT NOT NULL REFERENCES runs(id) ON DELETE CASCADE,
    conversation_id TEXT NOT NULL REFERENCES conversations(id) ON DELETE CASCADE,
    step            INTEGER NOT NULL,
    place           INTEGER NOT NULL,           -- among the calls of its message
    message_id      TEXT NOT NULL,
    call_id         TEXT NOT NULL,              -- the model's id of the call
    tool            TEXT NOT NULL,
    state           TEXT NOT NULL CHECK (state IN ('planned', 'awaiting', 'approved', 'denied', 'started', 'answered')),
    expires_at      INTEGER,                    -- of an approval
    updated_at      INTEGER NOT NULL,
    UNIQUE (run_id, step, place),
    CHECK (state <> 'awaiting' OR expires_at IS NOT NULL)
) STRICT, WITHOUT ROWID;
CREATE INDEX run_calls_by_conversation ON run_calls(conversation_id);
CREATE INDEX run_calls_awaiting ON run_calls(expires_at) WHERE state = 'awaiting';
