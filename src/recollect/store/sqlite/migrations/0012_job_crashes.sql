-- How many of the attempts at a job ended without a result: its worker was killed, or the machine was switched
-- off. They counted as failures, so a computer that was shut down a few times gave up a capture that nothing
-- was wrong with. They have a bound of their own now.
ALTER TABLE jobs ADD COLUMN crashes INTEGER NOT NULL DEFAULT 0;
