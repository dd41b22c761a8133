-- SQLite remembers which devices a store was in a sync. Stores on a server are not synced, so nothing changes here: exports carry
-- the number of the newest schema, and both databases must have the same one.
SELECT 1;
