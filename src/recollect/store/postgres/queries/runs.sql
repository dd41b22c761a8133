-- add_run: a new one; a conversation has at most one open run
INSERT INTO runs (id, conversation_id, state, stop_reason, model, max_steps, steps, input_tokens, output_tokens,
                  cost_usd, first_position, error, started_at, updated_at)
VALUES (:id, :conversation_id, :state, :stop_reason, :model, :max_steps, :steps, :input_tokens, :output_tokens,
        :cost_usd, :first_position, :error, :started_at, :updated_at);

-- set_run: what changes while it runs
UPDATE runs SET state = :state, stop_reason = :stop_reason, model = :model, steps = :steps,
       input_tokens = :input_tokens, output_tokens = :output_tokens, cost_usd = :cost_usd, error = :error,
       updated_at = :updated_at
 WHERE id = :id;

-- run: by id
SELECT id, conversation_id, state, stop_reason, model, max_steps, steps, input_tokens, output_tokens, cost_usd,
       first_position, error, started_at, updated_at
  FROM runs WHERE id = :id AND conversation_id NOT IN (SELECT id FROM hidden_conversations);

-- open_run: the one of a conversation that has not ended
SELECT id, conversation_id, state, stop_reason, model, max_steps, steps, input_tokens, output_tokens, cost_usd,
       first_position, error, started_at, updated_at
  FROM runs WHERE conversation_id = :conversation_id AND state <> 'ended';

-- runs: of a conversation, the latest first
SELECT id, conversation_id, state, stop_reason, model, max_steps, steps, input_tokens, output_tokens, cost_usd,
       first_position, error, started_at, updated_at
  FROM runs WHERE conversation_id = :conversation_id ORDER BY started_at DESC, id DESC LIMIT :limit;

-- add_call: a tool call that the model made
INSERT INTO run_calls (id, run_id, conversation_id, step, place, message_id, call_id, tool, state, expires_at, updated_at)
VALUES (:id, :run_id, :conversation_id, :step, :place, :message_id, :call_id, :tool, :state, :expires_at, :updated_at);

-- set_call: how far it is
UPDATE run_calls SET state = :state, updated_at = :updated_at WHERE id = :id;

-- call: by id
SELECT id, run_id, conversation_id, step, place, message_id, call_id, tool, state, expires_at, updated_at
  FROM run_calls WHERE id = :id AND conversation_id NOT IN (SELECT id FROM hidden_conversations);

-- calls: of a run, in order
SELECT id, run_id, conversation_id, step, place, message_id, call_id, tool, state, expires_at, updated_at
  FROM run_calls WHERE run_id = :run_id ORDER BY step, place;

-- awaiting: the calls of all runs that wait for a decision and expire in a time range, the first to expire first
SELECT id, run_id, conversation_id, step, place, message_id, call_id, tool, state, expires_at, updated_at
  FROM run_calls
 WHERE state = 'awaiting' AND expires_at > :after AND expires_at <= :until
   AND conversation_id NOT IN (SELECT id FROM hidden_conversations)
 ORDER BY expires_at, id LIMIT :limit;
