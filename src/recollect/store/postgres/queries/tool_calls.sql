-- add_calls: of one source
INSERT INTO tool_calls (source_id, start_char, kind, name, subject, outcome, error, called_at)
SELECT source_id, start, kind, name, subject, outcome, error, called_at
  FROM json_to_recordset(CAST(:rows AS json)) AS r(
       source_id text, start bigint, kind text, name text, subject text, outcome text, error text, called_at bigint)
ON CONFLICT DO NOTHING;

-- delete_repeated: calls of earlier captures of the same session for the same owner, which the rows contain again
DELETE FROM tool_calls
 WHERE source_id IN (SELECT old.id FROM sources new JOIN sources old ON old.session = new.session
                      WHERE new.id = :source_id AND new.session <> '' AND old.id <> new.id
                        AND EXISTS (SELECT 1 FROM ingestion_events a JOIN ingestion_events b USING (scope, owner_id)
                                     WHERE a.source_id = old.id AND b.source_id = new.id))
   AND (start_char, subject) IN (SELECT CAST(value ->> 'start' AS bigint), value ->> 'subject' FROM json_rows(:rows));

-- remove_unread: a source whose calls are stored
DELETE FROM unread_sources WHERE source_id = :source_id;

-- unread_sources: whose calls are not stored yet, oldest first
SELECT source_id FROM unread_sources ORDER BY source_id LIMIT :limit;

-- calls_named: of one kind by their names, the latest first; owners are given as JSON [[scope, owner_id], …]
SELECT t.source_id, s.session, t.kind, t.name, t.subject, t.outcome, t.error, t.start_char, t.called_at
  FROM tool_calls t JOIN sources s ON s.id = t.source_id
 WHERE t.kind = :kind AND left(t.name, 200) IN (SELECT left(value, 200) FROM json_list(:names))
   AND t.name IN (SELECT value FROM json_list(:names))
   AND EXISTS (SELECT 1 FROM ingestion_events e WHERE e.source_id = t.source_id AND (e.scope, e.owner_id)
               IN (SELECT value ->> 0, value ->> 1 FROM json_rows(:owners)))
 ORDER BY t.called_at DESC, t.source_id DESC, t.start_char DESC LIMIT :limit;

-- failures: calls with an error, of some owners, the latest first
SELECT t.source_id, s.session, t.kind, t.name, t.subject, t.outcome, t.error, t.start_char, t.called_at
  FROM tool_calls t JOIN sources s ON s.id = t.source_id
 WHERE t.error <> ''
   AND EXISTS (SELECT 1 FROM ingestion_events e WHERE e.source_id = t.source_id AND (e.scope, e.owner_id)
               IN (SELECT value ->> 0, value ->> 1 FROM json_rows(:owners)))
 ORDER BY t.called_at DESC, t.source_id DESC, t.start_char DESC LIMIT :limit;

-- of_sources: the calls of some sources, in order
SELECT t.source_id, s.session, t.kind, t.name, t.subject, t.outcome, t.error, t.start_char, t.called_at
  FROM tool_calls t JOIN sources s ON s.id = t.source_id
 WHERE t.source_id IN (SELECT value FROM json_list(:source_ids))
 ORDER BY t.called_at, t.source_id, t.start_char, t.subject;

-- latest_session: the session captured last for some owners that has calls
SELECT s.session FROM ingestion_events e JOIN sources s ON s.id = e.source_id
 WHERE (e.scope, e.owner_id) IN (SELECT value ->> 0, value ->> 1 FROM json_rows(:owners)) AND s.session <> ''
   AND EXISTS (SELECT 1 FROM tool_calls t WHERE t.source_id = e.source_id)
 ORDER BY e.created_at DESC, e.id DESC LIMIT 1;

-- sources_of_sessions: of some owners, oldest first
SELECT DISTINCT s.id FROM sources s JOIN ingestion_events e ON e.source_id = s.id
 WHERE s.session IN (SELECT value FROM json_list(:sessions)) AND s.session <> ''
   AND (e.scope, e.owner_id) IN (SELECT value ->> 0, value ->> 1 FROM json_rows(:owners))
 ORDER BY s.id;
