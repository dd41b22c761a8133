-- A change that sync made by merging two revisions keeps the time of the later one. With a new time the result would win against what it lost
-- to elsewhere, and devices could exchange two values for ever.
ALTER TABLE sync_changes ADD COLUMN merged INTEGER NOT NULL DEFAULT 0;  -- `times` when a merge was the last change
