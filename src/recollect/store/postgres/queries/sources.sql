-- add_source: the same content of the same kind is stored once
INSERT INTO sources (id, kind, content, sha256, uri, title, session, redactions, metadata, captured_at, observed_at)
VALUES (:id, :kind, :content, :sha256, :uri, :title, :session, :redactions, :metadata, :captured_at, :observed_at);

-- source: by id
SELECT id, kind, content, sha256, uri, title, session, redactions, metadata, captured_at, observed_at
  FROM sources WHERE id = :id;

-- source_with_hash: by content
SELECT id, kind, content, sha256, uri, title, session, redactions, metadata, captured_at, observed_at
  FROM sources WHERE sha256 = :sha256 AND kind = :kind;

-- sources_of_memory: the sources of its evidence
SELECT DISTINCT s.id, s.kind, s.content, s.sha256, s.uri, s.title, s.session, s.redactions, s.metadata,
       s.captured_at, s.observed_at
  FROM sources s JOIN evidence e ON e.source_id = s.id
 WHERE e.memory_id = :memory_id ORDER BY s.id;

-- session_of: the session of a source, or its own id if it has none
SELECT coalesce(nullif(session, ''), id) FROM sources WHERE id = :id;

-- around: the text before and after some spans, given as JSON [[source_id, start, end], …], in their order
SELECT coalesce(substr(s.content, greatest(CAST(j.value ->> 1 AS integer) - CAST(:margin AS integer), 0) + 1,
                       least(CAST(j.value ->> 1 AS integer), CAST(:margin AS integer))), ''),
       coalesce(substr(s.content, CAST(j.value ->> 2 AS integer) + 1, CAST(:margin AS integer)), '')
  FROM json_rows(:rows) j LEFT JOIN sources s ON s.id = j.value ->> 0
 ORDER BY j.key;

-- kind_of: the kind of a source
SELECT kind FROM sources WHERE id = :id;

-- said_at: when the message that contains a character was written; null if unknown
SELECT CAST(turn.value ->> 4 AS bigint)
  FROM sources s CROSS JOIN json_rows(CAST(CAST(s.metadata AS json) -> 'turns' AS text)) turn
 WHERE s.id = :id AND CAST(turn.value ->> 0 AS bigint) <= :position AND :position < CAST(turn.value ->> 1 AS bigint)
 ORDER BY turn.key;

-- ids_of_session: the sources of one session
SELECT id FROM sources WHERE session = :session AND session <> '' ORDER BY id;

-- with_session_prefix: those whose session is in a range
SELECT session, content FROM sources WHERE session >= :from AND session < :to ORDER BY id;

-- overwrite_source: overwrite forgotten spans; the length stays
UPDATE sources SET content = :content, sha256 = :sha256 WHERE id = :id;

-- delete_source: when no evidence refers to it
DELETE FROM sources WHERE id = :id;

-- evidence_in_source: every quote taken from it
SELECT id, memory_id, source_id, start_char, end_char, quote, voice, created_at
  FROM evidence WHERE source_id = :source_id ORDER BY id;

-- add_event: the audit row of a capture
INSERT INTO ingestion_events (id, "trigger", source_id, scope, owner_id, state, outcome, retries, error, title, uri, created_at, updated_at)
VALUES (:id, :trigger, :source_id, :scope, :owner_id, :state, :outcome, :retries, :error, :title, :uri, :created_at, :updated_at);

-- update_event: its present state
UPDATE ingestion_events SET state = :state, outcome = :outcome, retries = retries + :retried, error = :error, updated_at = :at
 WHERE id = :id;

-- event: by id
SELECT id, "trigger", source_id, scope, owner_id, state, outcome, retries, error, title, uri, created_at, updated_at
  FROM ingestion_events WHERE id = :id;

-- events_of_source: the captures of a source, oldest first
SELECT id, "trigger", source_id, scope, owner_id, state, outcome, retries, error, title, uri, created_at, updated_at
  FROM ingestion_events WHERE source_id = :source_id ORDER BY id;

-- events: oldest first
SELECT id, "trigger", source_id, scope, owner_id, state, outcome, retries, error, title, uri, created_at, updated_at
  FROM ingestion_events ORDER BY id;

-- uris_without_source: of events without a source: an import skips what it took in completely
SELECT uri FROM ingestion_events WHERE source_id IS NULL AND uri <> '' AND "trigger" = :trigger;

-- start_event: it is in work
UPDATE ingestion_events SET state = 'working', updated_at = :at WHERE id = :id AND state <> 'working';

-- set_outcome: what it has come to so far
UPDATE ingestion_events SET outcome = :outcome, updated_at = :at WHERE id = :id;

-- event_owners: of events given as a JSON list of ids
SELECT e.id, e.scope, e.owner_id FROM json_list(:ids) j JOIN ingestion_events e ON e.id = j.value ORDER BY j.key;
