-- The share of extracted memories that a person rejected is on the first page, and was counted over all memories.
CREATE INDEX memories_extracted ON memories(status) WHERE source_kind <> 'manual' AND type <> 'episode';
