-- add_block: at its first version
INSERT INTO blocks (id, label, description, value, char_limit, read_only, hidden, scope, owner_id, version,
                    metadata, unconfirmed_author, created_at, updated_at)
VALUES (:id, :label, :description, :value, :char_limit, :read_only, :hidden, :scope, :owner_id, :version,
        :metadata, :unconfirmed_author, :created_at, :updated_at);

-- set_block: its present fields
UPDATE blocks SET label = :label, description = :description, value = :value, char_limit = :char_limit,
                  read_only = :read_only, hidden = :hidden, scope = :scope, owner_id = :owner_id,
                  version = :version, metadata = :metadata,
                  unconfirmed_author = :unconfirmed_author, updated_at = :updated_at
 WHERE id = :id;

-- block: by id
SELECT id, label, description, value, char_limit, read_only, hidden, scope, owner_id, version, metadata,
       unconfirmed_author, created_at, updated_at
  FROM blocks WHERE id = :id;

-- blocks_of: of one owner, oldest first
SELECT id, label, description, value, char_limit, read_only, hidden, scope, owner_id, version, metadata,
       unconfirmed_author, created_at, updated_at
  FROM blocks WHERE scope = :scope AND owner_id = :owner_id ORDER BY created_at, id;

-- attached_to: the blocks of an agent, in its order
SELECT b.id, b.label, b.description, b.value, b.char_limit, b.read_only, b.hidden, b.scope, b.owner_id, b.version,
       b.metadata, b.unconfirmed_author, b.created_at, b.updated_at
  FROM agent_blocks a JOIN blocks b ON b.id = a.block_id
 WHERE a.agent_id = :agent_id ORDER BY a.position, b.created_at, b.id;

-- all_blocks: oldest first
SELECT id, label, description, value, char_limit, read_only, hidden, scope, owner_id, version, metadata,
       unconfirmed_author, created_at, updated_at
  FROM blocks ORDER BY created_at, id;

-- attach: to the end of the agent's list
INSERT INTO agent_blocks (agent_id, block_id, label, position)
SELECT :agent_id, :block_id, :label, coalesce(max(position) + 1, 0) FROM agent_blocks WHERE agent_id = :agent_id;

-- detach: the block stays
DELETE FROM agent_blocks WHERE agent_id = :agent_id AND block_id = :block_id;

-- relabel: in the list of every agent that has it
UPDATE agent_blocks SET label = :label WHERE block_id = :block_id;

-- agent_ids_of: the agents that have a block attached
SELECT agent_id FROM agent_blocks WHERE block_id = :block_id ORDER BY agent_id;

-- add_version: one value of a block
INSERT INTO block_history (block_id, version, value, changed_by, reason, changed_at, unconfirmed_author)
VALUES (:block_id, :version, :value, :changed_by, :reason, :changed_at, :unconfirmed_author);

-- versions: of a block, oldest first
SELECT block_id, version, value, changed_by, reason, changed_at, unconfirmed_author FROM block_history
 WHERE block_id = :block_id ORDER BY version;

-- version: one of them
SELECT block_id, version, value, changed_by, reason, changed_at, unconfirmed_author FROM block_history
 WHERE block_id = :block_id AND version = :version;

-- changes_since: of some blocks, given as a JSON list, oldest first
SELECT h.block_id, b.label, h.version, h.changed_by, h.changed_at
  FROM json_list(:ids) j JOIN block_history h ON h.block_id = j.value JOIN blocks b ON b.id = h.block_id
 WHERE h.changed_at > :since ORDER BY h.changed_at, h.block_id, h.version;

-- delete_block: with its history and attachments
DELETE FROM blocks WHERE id = :id;

-- add_proposal: an agent's edit that waits for a person
INSERT INTO block_proposals (id, block_id, author, base_version, value, reason, state, decision, accepted_version,
                             proposed_at, decided_at)
VALUES (:id, :block_id, :author, :base_version, :value, :reason, :state, :decision, :accepted_version,
        :proposed_at, :decided_at);

-- set_proposal: what became of it
UPDATE block_proposals SET state = :state, decision = :decision, accepted_version = :accepted_version,
                           decided_at = :decided_at
 WHERE id = :id;

-- proposal: by id, with the text its author saw and the text now
SELECT p.id, p.block_id, b.label, b.scope, b.owner_id, p.author, p.base_version, coalesce(h.value, ''), b.value,
       p.value, p.reason, p.state, p.decision, p.accepted_version, p.proposed_at, p.decided_at
  FROM block_proposals p JOIN blocks b ON b.id = p.block_id
  LEFT JOIN block_history h ON h.block_id = p.block_id AND h.version = p.base_version
 WHERE p.id = :id;

-- proposals: of one state, oldest first
SELECT p.id, p.block_id, b.label, b.scope, b.owner_id, p.author, p.base_version, coalesce(h.value, ''), b.value,
       p.value, p.reason, p.state, p.decision, p.accepted_version, p.proposed_at, p.decided_at
  FROM block_proposals p JOIN blocks b ON b.id = p.block_id
  LEFT JOIN block_history h ON h.block_id = p.block_id AND h.version = p.base_version
 WHERE p.state = :state ORDER BY p.proposed_at, p.id;

-- count_proposals: of one state
SELECT count(*) FROM block_proposals WHERE state = :state;

-- pending_proposals_of: of one block, oldest first
SELECT p.id, p.block_id, b.label, b.scope, b.owner_id, p.author, p.base_version, coalesce(h.value, ''), b.value,
       p.value, p.reason, p.state, p.decision, p.accepted_version, p.proposed_at, p.decided_at
  FROM block_proposals p JOIN blocks b ON b.id = p.block_id
  LEFT JOIN block_history h ON h.block_id = p.block_id AND h.version = p.base_version
 WHERE p.block_id = :block_id AND p.state = 'pending' ORDER BY p.proposed_at, p.id;
