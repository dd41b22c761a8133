-- A worker claims a run of sleeptime with a lease before it works on it, so that two of them never pay for one run.
--
-- After a failure the same column says when the next attempt is due.
ALTER TABLE sleeptime_runs ADD COLUMN attempts INTEGER NOT NULL DEFAULT 0;
ALTER TABLE sleeptime_runs ADD COLUMN lease_until INTEGER;
