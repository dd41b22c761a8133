-- Sleeptime: what a background agent read of a conversation, and which edits of blocks it made.
--
-- A run is requested in the transaction that makes it due, so it survives a kill; a conversation has at most one
-- open run. Its edits are stored with it, so that undoing it restores what was there before.
CREATE TABLE sleeptime_runs (
    id              text COLLATE "C" PRIMARY KEY,
    agent_id        text COLLATE "C" NOT NULL REFERENCES agents(id) ON DELETE CASCADE,
    conversation_id text COLLATE "C" NOT NULL REFERENCES conversations(id) ON DELETE CASCADE,
    state           text COLLATE "C" NOT NULL CHECK (state IN ('due', 'reading', 'done', 'undone')),
    reason          text COLLATE "C" NOT NULL CHECK (reason IN ('turns', 'end', 'request')),
    event_id        text COLLATE "C",
    first_position  bigint NOT NULL DEFAULT 0,
    last_position   bigint NOT NULL DEFAULT -1,
    made_by         text COLLATE "C" NOT NULL DEFAULT '',
    note            text COLLATE "C" NOT NULL DEFAULT '',
    requested_at    bigint NOT NULL,
    ended_at        bigint
);
CREATE UNIQUE INDEX sleeptime_runs_open ON sleeptime_runs(conversation_id) WHERE state IN ('due', 'reading');
CREATE INDEX sleeptime_runs_by_conversation ON sleeptime_runs(conversation_id, last_position);
CREATE INDEX sleeptime_runs_by_agent ON sleeptime_runs(agent_id, requested_at);

CREATE TABLE sleeptime_edits (
    run_id               text COLLATE "C" NOT NULL REFERENCES sleeptime_runs(id) ON DELETE CASCADE,
    place                bigint NOT NULL,
    block_id             text COLLATE "C" NOT NULL REFERENCES blocks(id) ON DELETE CASCADE,
    label                text COLLATE "C" NOT NULL,
    version_before       bigint NOT NULL,
    version_after        bigint,
    proposal_id          text COLLATE "C" NOT NULL DEFAULT '',
    replaced_proposal_id text COLLATE "C" NOT NULL DEFAULT '',
    PRIMARY KEY (run_id, place)
);
CREATE INDEX sleeptime_edits_by_block ON sleeptime_edits(block_id);
