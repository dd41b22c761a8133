-- What a change of status did besides: the memories it superseded, the memory it duplicates, the confidence
-- it raised. `undo` read this from the English text of `reason`, so a reason that a person wrote could change
-- other memories. It is data now. Changes made before this migration have no effects: undoing one restores
-- the status of that memory and nothing else.
ALTER TABLE memory_changes ADD COLUMN effects TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(effects));
