-- add_run: one that is due
INSERT INTO sleeptime_runs (id, agent_id, conversation_id, state, reason, event_id, first_position, last_position,
                            made_by, note, requested_at, ended_at, attempts, lease_until)
VALUES (:id, :agent_id, :conversation_id, :state, :trigger, :event_id, :first_position, :last_position,
        :made_by, :note, :requested_at, :ended_at, :attempts, :lease_until);

-- set_run: how far it is
UPDATE sleeptime_runs SET state = :state, event_id = :event_id, first_position = :first_position,
       last_position = :last_position, made_by = :made_by, note = :note, ended_at = :ended_at,
       attempts = :attempts, lease_until = :lease_until
 WHERE id = :id;

-- run: by id
SELECT id, agent_id, conversation_id, state, reason, event_id, first_position, last_position, made_by, note,
       requested_at, ended_at, attempts, lease_until
  FROM sleeptime_runs WHERE id = :id AND conversation_id NOT IN (SELECT id FROM hidden_conversations);

-- claimable_runs: of all conversations, the first requested first; a lease that only a wrong clock can have set does not count
SELECT id, agent_id, conversation_id, state, reason, event_id, first_position, last_position, made_by, note,
       requested_at, ended_at, attempts, lease_until
  FROM sleeptime_runs WHERE state IN ('due', 'reading') AND conversation_id NOT IN (SELECT id FROM hidden_conversations)
   AND (lease_until IS NULL OR lease_until <= :now OR lease_until > :longest_lease)
 ORDER BY requested_at, id LIMIT :limit;

-- open_run: of one conversation
SELECT id, agent_id, conversation_id, state, reason, event_id, first_position, last_position, made_by, note,
       requested_at, ended_at, attempts, lease_until
  FROM sleeptime_runs WHERE conversation_id = :conversation_id AND state IN ('due', 'reading');

-- runs: of an agent, the latest first
SELECT id, agent_id, conversation_id, state, reason, event_id, first_position, last_position, made_by, note,
       requested_at, ended_at, attempts, lease_until
  FROM sleeptime_runs WHERE agent_id = :agent_id AND conversation_id NOT IN (SELECT id FROM hidden_conversations)
 ORDER BY requested_at DESC, id DESC LIMIT :limit;

-- read_to: the position of the last message of a conversation that was read; -1 if none was
SELECT coalesce(max(last_position), -1) FROM sleeptime_runs WHERE conversation_id = :conversation_id;

-- unread_turns: how many messages of the user come after a position
SELECT count(*) FROM messages WHERE conversation_id = :conversation_id AND position > :after AND role = 'user';

-- add_edit: of a block
INSERT INTO sleeptime_edits (run_id, place, block_id, label, version_before, version_after, proposal_id,
                             replaced_proposal_id)
VALUES (:run_id, :place, :block_id, :label, :version_before, :version_after, :proposal_id, :replaced_proposal_id);

-- edits: of a run, in order
SELECT run_id, place, block_id, label, version_before, version_after, proposal_id, replaced_proposal_id
  FROM sleeptime_edits WHERE run_id = :run_id ORDER BY place;
