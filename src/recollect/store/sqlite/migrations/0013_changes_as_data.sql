-- A change says what happened as data: its kind, and effects that `undo` replays. Where a memory comes from was a
-- handful of entries of `metadata`, which the promotion policy relied on; they are typed columns now.

-- ── where memories come from ────────────────────────────────────────────────────────────────────

ALTER TABLE memories ADD COLUMN voice TEXT
    CHECK (voice IN ('user', 'pasted', 'assistant', 'tool', 'system', 'other'));
ALTER TABLE memories ADD COLUMN flags TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(flags));
ALTER TABLE memories ADD COLUMN rule TEXT NOT NULL DEFAULT '';
ALTER TABLE memories ADD COLUMN event_id TEXT;             -- may have been deleted since
ALTER TABLE memories ADD COLUMN session TEXT NOT NULL DEFAULT '';
ALTER TABLE memories ADD COLUMN author TEXT NOT NULL DEFAULT '';
ALTER TABLE memories ADD COLUMN dates TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(dates));

UPDATE memories
   SET voice = CASE WHEN metadata ->> 'voice' IN ('user', 'pasted', 'assistant', 'tool', 'system', 'other')
                    THEN metadata ->> 'voice' WHEN coalesce(metadata ->> 'voice', '') <> '' THEN 'other' END,
       flags = (SELECT json_group_array(value) FROM json_each(metadata, '$.flags')
                 WHERE value IN ('instruction-like', 'correction', 'by-agent', 'update', 'explicit')),
       rule = coalesce(metadata ->> 'rule', ''),
       event_id = nullif(metadata ->> 'event', ''),
       session = coalesce(metadata ->> 'session', ''),
       author = coalesce(metadata ->> 'author', ''),
       dates = (SELECT json_group_array(json_array(value ->> 'text', value ->> 'from'))
                  FROM json_each(metadata, '$.dates') WHERE date(value ->> 'from') = value ->> 'from'),
       metadata = json_remove(metadata, '$.voice', '$.flags', '$.rule', '$.event', '$.session', '$.author', '$.dates')
 WHERE metadata <> '{}';

-- ── what changes did ────────────────────────────────────────────────────────────────────────────

ALTER TABLE memory_changes ADD COLUMN kind TEXT NOT NULL DEFAULT 'created'
    CHECK (kind IN ('created', 'held', 'promoted', 'rejected', 'merged', 'superseded', 'contradicted', 'archived',
                    'withdrawn', 'undone'));
UPDATE memory_changes
   SET kind = CASE
        WHEN before IS NULL THEN 'created'
        WHEN before = after THEN 'held'
        WHEN before = 'inbox' AND after = 'archived' THEN iif("by" = 'engine', 'merged', 'rejected')
        WHEN before = 'inbox' AND after = 'active' THEN 'promoted'
        WHEN after = 'archived' THEN 'archived'
        WHEN after = 'superseded' AND before <> 'archived' THEN 'superseded'
        WHEN after = 'contradicted' AND before = 'active' THEN 'contradicted'
        ELSE 'undone' END,
       reason = iif(before = after AND substr(reason, 1, 6) = 'held: ', substr(reason, 7), reason);

-- The duplicates that were decided with a memory were found through their links; now the decision names them.
CREATE TEMP TABLE duplicates AS
SELECT memory_id, id, duplicate_of, confidence_before,
       lead(confidence_before) OVER (PARTITION BY duplicate_of ORDER BY confidence_before IS NULL, id) AS confidence_after
  FROM (SELECT memory_id, id, effects ->> 'duplicate_of' AS duplicate_of,
               effects ->> 'confidence_before' AS confidence_before
          FROM memory_changes WHERE coalesce(effects ->> 'duplicate_of', '') <> '');
CREATE INDEX temp.duplicates_by_original ON duplicates(duplicate_of);

UPDATE memory_changes AS c
   SET effects = json_set(effects, '$.merged', (
       SELECT json_group_array(memory_id) FROM (SELECT memory_id FROM duplicates WHERE duplicate_of = c.memory_id
                                                 GROUP BY memory_id ORDER BY max(id))))
 WHERE kind IN ('promoted', 'rejected') AND memory_id IN (SELECT duplicate_of FROM duplicates);

-- The evidence that was copied is the same span of the same source.
UPDATE memory_changes AS c
   SET effects = json_remove(json_set(effects,
       '$.caused_by', d.duplicate_of,
       '$.evidence', (SELECT json_group_array(e.id) FROM evidence o JOIN evidence e
                          ON e.memory_id = d.duplicate_of AND e.source_id = o.source_id
                         AND e.start_char = o.start_char AND e.end_char = o.end_char
                       WHERE o.memory_id = c.memory_id AND c.kind = 'merged'),
       '$.confirmations', CASE WHEN d.confidence_before IS NULL THEN json_array() ELSE (
           SELECT json_array(json_array(s.id, d.confidence_before, coalesce(d.confidence_after, s.confidence),
                                        s.confirmed_at, s.confirmed_at))
             FROM memories s WHERE s.id = d.duplicate_of) END),
       '$.duplicate_of', '$.confidence_before')
  FROM duplicates d WHERE d.memory_id = c.memory_id AND d.id = c.id;
DROP TABLE temp.duplicates;

-- A superseded memory names the one that superseded it.
CREATE TEMP TABLE replacements AS
SELECT other.value AS memory_id, max(c.id) AS id, c.memory_id AS caused_by
  FROM memory_changes c, json_each(c.effects, '$.superseded') other GROUP BY other.value;
CREATE INDEX temp.replacements_by_memory ON replacements(memory_id);
UPDATE memory_changes AS c SET effects = json_set(effects, '$.caused_by', r.caused_by)
  FROM replacements r WHERE r.memory_id = c.memory_id AND c.kind = 'superseded';
DROP TABLE temp.replacements;

-- A memory that became active was confirmed by that. Before, it was last confirmed when it was last said or active.
UPDATE memory_changes AS c
   SET effects = json_set(effects, '$.confirmations', json_array(json_array(
           c.memory_id, m.confidence, m.confidence,
           max(iif(m.source_kind = 'manual', m.created_at, m.observed_at),
               coalesce((SELECT max(s.observed_at) FROM evidence e JOIN sources s ON s.id = e.source_id
                          WHERE e.memory_id = c.memory_id AND s.observed_at < c.at AND m.source_kind <> 'manual'), 0),
               coalesce((SELECT max(p.at) FROM memory_changes p WHERE p.memory_id = c.memory_id AND p.id < c.id
                            AND p.after = 'active'), 0)),
           c.at)))
  FROM memories m WHERE m.id = c.memory_id AND c.after = 'active' AND c.before IS NOT NULL AND c.kind <> 'undone';
