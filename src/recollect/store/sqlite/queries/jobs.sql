-- add_job: one step of an event; the same step is stored once
INSERT INTO jobs (id, event_id, kind, payload, state, attempts, crashes, run_at, lease_until, worker, error, created_at, updated_at)
VALUES (:id, :event_id, :kind, :payload, :state, :attempts, :crashes, :run_at, :lease_until, :worker, :error, :created_at, :updated_at)
ON CONFLICT (id) DO NOTHING;

-- claim: the oldest due job, or one whose lease has expired; times that only a wrong clock can have set are not waited for
UPDATE jobs
   SET state = 'doing', attempts = attempts + 1, crashes = crashes + (state = 'doing'), worker = :worker, lease_until = :lease_until, updated_at = :now
 WHERE id = (SELECT id FROM (
               SELECT id, run_at FROM (SELECT id, run_at FROM jobs
                                        WHERE state = 'todo' AND (run_at <= :now OR updated_at > :future)
                                        ORDER BY run_at, id LIMIT 1)
               UNION ALL
               SELECT id, run_at FROM (SELECT id, run_at FROM jobs
                                        WHERE state = 'doing' AND (lease_until < :now OR lease_until > :longest_lease)
                                        ORDER BY run_at, id LIMIT 1))
              ORDER BY run_at, id LIMIT 1)
RETURNING id, event_id, kind, payload, state, attempts, crashes, run_at, lease_until, worker, error, created_at, updated_at;

-- renew_lease: only by the worker that holds it
UPDATE jobs SET lease_until = :lease_until, payload = :payload
 WHERE id = :id AND state = 'doing' AND worker = :worker AND attempts = :attempts;

-- release: the worker ends its lease
UPDATE jobs SET state = :state, run_at = :run_at, attempts = :left, lease_until = NULL, worker = '', error = :error,
       payload = coalesce(:payload, payload), updated_at = :now
 WHERE id = :id AND state = 'doing' AND worker = :worker AND attempts = :attempts;

-- requeue: a parked or waiting job is due now, with all its attempts
UPDATE jobs SET state = 'todo', run_at = :now, attempts = 0, crashes = 0, updated_at = :now
 WHERE id = :id AND state IN ('parked', 'todo');

-- job: by id
SELECT id, event_id, kind, payload, state, attempts, crashes, run_at, lease_until, worker, error, created_at, updated_at
  FROM jobs WHERE id = :id;

-- jobs: in some states, in the order in which they are due
SELECT id, event_id, kind, payload, state, attempts, crashes, run_at, lease_until, worker, error, created_at, updated_at
  FROM jobs WHERE state IN (SELECT value FROM json_each(:states)) ORDER BY run_at, id LIMIT :limit;

-- jobs_of: every job of an event
SELECT id, event_id, kind, payload, state, attempts, crashes, run_at, lease_until, worker, error, created_at, updated_at
  FROM jobs WHERE event_id = :event_id ORDER BY created_at, id;

-- count_jobs: by state
SELECT state, count(*) FROM jobs GROUP BY state;

-- count_open: jobs that are not done; parked ones are found through their events, which stay open with them
SELECT state, count(*) FROM jobs WHERE state IN ('todo', 'doing') GROUP BY state
UNION ALL
SELECT j.state, count(*) FROM ingestion_events e CROSS JOIN jobs j ON j.event_id = e.id
 WHERE e.state <> 'done' AND j.state = 'parked' GROUP BY j.state;

-- count_due: how many can be claimed now
SELECT (SELECT count(*) FROM jobs WHERE state = 'todo' AND (run_at <= :now OR updated_at > :future))
     + (SELECT count(*) FROM jobs WHERE state = 'doing' AND (lease_until < :now OR lease_until > :longest_lease));

-- count_expired_leases: claimed under a lease that has expired, or that is longer than any
SELECT count(*) FROM jobs WHERE state = 'doing' AND (lease_until < :now OR lease_until > :longest_lease);

-- next_run_at: when the next one is due
SELECT min(run_at) FROM jobs WHERE state = 'todo';

-- add_unconsolidated: candidates that wait for consolidation, given as a JSON list
INSERT INTO unsettled (memory_id, event_id) SELECT value, :event_id FROM json_each(:memory_ids) WHERE true
ON CONFLICT DO NOTHING;

-- unconsolidated: the first candidates of an event that wait for consolidation, with their contents
SELECT u.memory_id, coalesce(m.content, '') FROM unsettled u LEFT JOIN memories m ON m.id = u.memory_id
 WHERE u.event_id = :event_id ORDER BY u.memory_id LIMIT :limit;

-- unconsolidated_among: which of some memories wait for consolidation
SELECT memory_id FROM unsettled WHERE memory_id IN (SELECT value FROM json_each(:ids));

-- unconsolidated_candidates_among: which of some memories are candidates that wait for consolidation
SELECT u.memory_id FROM unsettled u CROSS JOIN memories m ON m.id = u.memory_id AND m.status = 'inbox'
 WHERE u.memory_id IN (SELECT value FROM json_each(:ids));

-- unconsolidated_writings: the first memories that were written directly and wait, with their contents
SELECT u.memory_id, m.content FROM unsettled u CROSS JOIN memories m ON m.id = u.memory_id AND m.source_kind = 'manual' AND m.status <> 'inbox'
 ORDER BY u.memory_id LIMIT :limit;

-- mark_consolidated: they no longer wait, given as a JSON list
DELETE FROM unsettled WHERE memory_id IN (SELECT value FROM json_each(:memory_ids));

-- add_call: one entry of the ledger
INSERT INTO model_calls (id, event_id, model, purpose, input_tokens, output_tokens, cost_usd, error, asked_at)
VALUES (:id, :event_id, :model, :purpose, :input_tokens, :output_tokens, :cost_usd, :error, :asked_at);

-- calls: the newest first
SELECT id, event_id, model, purpose, input_tokens, output_tokens, cost_usd, error, asked_at
  FROM model_calls ORDER BY asked_at DESC, id DESC LIMIT :limit;

-- spent: calls and tokens since a moment
SELECT count(*), coalesce(sum(input_tokens + output_tokens), 0) FROM model_calls WHERE asked_at >= :since;
