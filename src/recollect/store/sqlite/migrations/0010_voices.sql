-- Whose words a quote is has one more value: 'pasted', text in a message of the user that the user may
-- not have typed. Until now such text counted as the user's. What became active stays as it is; of
-- candidates nobody can tell any more whether the user typed them, so a person decides.
ALTER TABLE evidence ADD COLUMN told_by TEXT NOT NULL DEFAULT ''
    CHECK (told_by IN ('', 'user', 'pasted', 'assistant', 'tool', 'system', 'other'));
UPDATE evidence SET told_by = voice;
UPDATE evidence SET told_by = 'pasted'
 WHERE voice = 'user' AND memory_id IN (SELECT id FROM memories WHERE status = 'inbox');
UPDATE memories SET metadata = json_set(metadata, '$.voice', 'pasted')
 WHERE status = 'inbox' AND json_extract(metadata, '$.voice') = 'user';
ALTER TABLE evidence DROP COLUMN voice;
ALTER TABLE evidence RENAME COLUMN told_by TO voice;
