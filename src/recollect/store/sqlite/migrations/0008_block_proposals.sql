-- An agent's edit of a shared block waits for a person as a proposal, because the text is told to other agents
-- and clients. What an agent wrote into a block itself is marked with its name until a person confirms it.
--
-- `unconfirmed_author` is the agent whose words are in the value; '' if a person wrote or confirmed all of it.
-- The history does not say which words a person replaced, so every value since the first edit by an agent is
-- marked; `recollect block confirm` removes the mark.
ALTER TABLE blocks ADD COLUMN unconfirmed_author TEXT NOT NULL DEFAULT '';
ALTER TABLE block_history ADD COLUMN unconfirmed_author TEXT NOT NULL DEFAULT '';

UPDATE block_history AS h
   SET unconfirmed_author = coalesce(
       (SELECT a.name FROM blocks b JOIN agents a ON a.id = b.owner_id WHERE b.id = h.block_id AND b.scope = 'agent'),
       'unknown')
 WHERE h.value <> ''
   AND EXISTS (SELECT 1 FROM block_history e
                WHERE e.block_id = h.block_id AND e.version <= h.version AND e.changed_by = 'agent');

UPDATE blocks AS b
   SET unconfirmed_author = coalesce(
       (SELECT h.unconfirmed_author FROM block_history h WHERE h.block_id = b.id AND h.version = b.version), '');

CREATE TABLE block_proposals (
    id               TEXT PRIMARY KEY NOT NULL,
    block_id         TEXT NOT NULL REFERENCES blocks(id) ON DELETE CASCADE,
    author           TEXT NOT NULL,
    base_version     INTEGER NOT NULL,           -- of the block that the author saw
    value            TEXT NOT NULL,              -- the whole text that the author wants
    reason           TEXT NOT NULL DEFAULT '',
    state            TEXT NOT NULL CHECK (state IN ('pending', 'accepted', 'rejected', 'replaced')),
    decision         TEXT NOT NULL DEFAULT '',   -- why it was accepted or rejected
    accepted_version INTEGER,                    -- the version of the block that accepting it made
    proposed_at      INTEGER NOT NULL,
    decided_at       INTEGER,
    CHECK (accepted_version IS NULL OR state = 'accepted')
) STRICT, WITHOUT ROWID;
CREATE INDEX block_proposals_by_block ON block_proposals(block_id, state);
CREATE INDEX block_proposals_by_state ON block_proposals(state, proposed_at);
