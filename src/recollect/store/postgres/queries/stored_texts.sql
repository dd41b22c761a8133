-- source_contents: the raw material
SELECT id, content FROM sources ORDER BY id;

-- items_with_terms: items that have all terms, each as a word of the user or, with :prefix, of the assistant
SELECT s.kind, i.id, m.conversation_id
  FROM (SELECT p.seq FROM json_list(:terms) j
          JOIN terms t ON t.term IN (j.value, :prefix || j.value)
          JOIN postings p ON p.term_id = t.id
         GROUP BY p.seq HAVING count(DISTINCT j.value) = :count) x
  JOIN items i ON i.seq = x.seq JOIN shelves s ON s.id = i.shelf_id LEFT JOIN messages m ON m.id = i.id
 ORDER BY i.seq LIMIT :limit;

-- messages_among: those of some ids that are messages of some conversations
SELECT id FROM messages WHERE id IN (SELECT value FROM json_list(:ids))
   AND conversation_id IN (SELECT value FROM json_list(:conversation_ids));

-- messages: keys and texts of all rows
SELECT id, content, parts, tool_calls, metadata, payload FROM messages;

-- messages_row: the texts of one row
SELECT content, parts, tool_calls, metadata, payload FROM messages WHERE id = :id;

-- set_messages: other texts in one row; NULL: the text stays
UPDATE messages SET content = coalesce(:content, content), parts = coalesce(:parts, parts),
       tool_calls = coalesce(:tool_calls, tool_calls), metadata = coalesce(:metadata, metadata),
       payload = coalesce(:payload, payload)
 WHERE id = :id;

-- summaries: keys and texts of all rows
SELECT id, content FROM summaries;

-- summaries_row: the texts of one row
SELECT content FROM summaries WHERE id = :id;

-- set_summaries: other texts in one row; NULL: the text stays
UPDATE summaries SET content = coalesce(:content, content)
 WHERE id = :id;

-- pins: keys and texts of all rows
SELECT id, content FROM pins;

-- pins_row: the texts of one row
SELECT content FROM pins WHERE id = :id;

-- set_pins: other texts in one row; NULL: the text stays
UPDATE pins SET content = coalesce(:content, content)
 WHERE id = :id;

-- conversations: keys and texts of all rows
SELECT id, title, metadata FROM conversations;

-- conversations_row: the texts of one row
SELECT title, metadata FROM conversations WHERE id = :id;

-- set_conversations: other texts in one row; NULL: the text stays
UPDATE conversations SET title = coalesce(:title, title), metadata = coalesce(:metadata, metadata)
 WHERE id = :id;

-- blocks: keys and texts of all rows
SELECT id, value, description, metadata FROM blocks;

-- blocks_row: the texts of one row
SELECT value, description, metadata FROM blocks WHERE id = :id;

-- set_blocks: other texts in one row; NULL: the text stays
UPDATE blocks SET value = coalesce(:value, value), description = coalesce(:description, description),
       metadata = coalesce(:metadata, metadata)
 WHERE id = :id;

-- block_history: keys and texts of all rows
SELECT block_id, version, value, reason FROM block_history;

-- block_history_row: the texts of one row
SELECT value, reason FROM block_history WHERE block_id = :block_id AND version = :version;

-- set_block_history: other texts in one row; NULL: the text stays
UPDATE block_history SET value = coalesce(:value, value), reason = coalesce(:reason, reason)
 WHERE block_id = :block_id AND version = :version;

-- block_proposals: keys and texts of all rows
SELECT id, value, reason, decision FROM block_proposals;

-- block_proposals_row: the texts of one row
SELECT value, reason, decision FROM block_proposals WHERE id = :id;

-- set_block_proposals: other texts in one row; NULL: the text stays
UPDATE block_proposals SET value = coalesce(:value, value), reason = coalesce(:reason, reason),
       decision = coalesce(:decision, decision)
 WHERE id = :id;

-- memories: keys and texts of all rows
SELECT id, content, title, summary, rationale, alternatives, metadata, author, dates FROM memories;

-- memories_row: the texts of one row
SELECT content, title, summary, rationale, alternatives, metadata, author, dates FROM memories WHERE id = :id;

-- set_memories: other texts in one row; NULL: the text stays
UPDATE memories SET content = coalesce(:content, content), title = coalesce(:title, title),
       summary = coalesce(:summary, summary), rationale = coalesce(:rationale, rationale),
       alternatives = coalesce(:alternatives, alternatives), metadata = coalesce(:metadata, metadata),
       author = coalesce(:author, author), dates = coalesce(:dates, dates),
       fingerprint = coalesce(:fingerprint, fingerprint)
 WHERE id = :id;

-- memory_changes: keys and texts of all rows
SELECT memory_id, id, reason FROM memory_changes;

-- memory_changes_row: the texts of one row
SELECT reason FROM memory_changes WHERE memory_id = :memory_id AND id = :id;

-- set_memory_changes: other texts in one row; NULL: the text stays
UPDATE memory_changes SET reason = coalesce(:reason, reason)
 WHERE memory_id = :memory_id AND id = :id;

-- memory_links: keys and texts of all rows
SELECT id, note FROM memory_links;

-- memory_links_row: the texts of one row
SELECT note FROM memory_links WHERE id = :id;

-- set_memory_links: other texts in one row; NULL: the text stays
UPDATE memory_links SET note = coalesce(:note, note)
 WHERE id = :id;

-- sources: keys and texts of all rows
SELECT id, title, uri, metadata FROM sources;

-- sources_row: the texts of one row
SELECT title, uri, metadata FROM sources WHERE id = :id;

-- set_sources: other texts in one row; NULL: the text stays
UPDATE sources SET title = coalesce(:title, title), uri = coalesce(:uri, uri), metadata = coalesce(:metadata, metadata)
 WHERE id = :id;

-- ingestion_events: keys and texts of all rows
SELECT id, title, uri, outcome, error FROM ingestion_events;

-- ingestion_events_row: the texts of one row
SELECT title, uri, outcome, error FROM ingestion_events WHERE id = :id;

-- set_ingestion_events: other texts in one row; NULL: the text stays
UPDATE ingestion_events SET title = coalesce(:title, title), uri = coalesce(:uri, uri), outcome = coalesce(:outcome, outcome),
       error = coalesce(:error, error)
 WHERE id = :id;

-- jobs: keys and texts of all rows
SELECT id, payload, error FROM jobs;

-- jobs_row: the texts of one row
SELECT payload, error FROM jobs WHERE id = :id;

-- set_jobs: other texts in one row; NULL: the text stays
UPDATE jobs SET payload = coalesce(:payload, payload), error = coalesce(:error, error)
 WHERE id = :id;

-- model_calls: keys and texts of all rows
SELECT id, error FROM model_calls;

-- model_calls_row: the texts of one row
SELECT error FROM model_calls WHERE id = :id;

-- set_model_calls: other texts in one row; NULL: the text stays
UPDATE model_calls SET error = coalesce(:error, error)
 WHERE id = :id;

-- agents: keys and texts of all rows
SELECT id, name, description, system_prompt, metadata FROM agents;

-- agents_row: the texts of one row
SELECT name, description, system_prompt, metadata FROM agents WHERE id = :id;

-- set_agents: other texts in one row; NULL: the text stays
UPDATE agents SET name = coalesce(:name, name), description = coalesce(:description, description),
       system_prompt = coalesce(:system_prompt, system_prompt), metadata = coalesce(:metadata, metadata)
 WHERE id = :id;

-- skills: keys and texts of all rows
SELECT id, name, description, content, metadata FROM skills;

-- skills_row: the texts of one row
SELECT name, description, content, metadata FROM skills WHERE id = :id;

-- set_skills: other texts in one row; NULL: the text stays
UPDATE skills SET name = coalesce(:name, name), description = coalesce(:description, description),
       content = coalesce(:content, content), metadata = coalesce(:metadata, metadata)
 WHERE id = :id;

-- files: keys and texts of all rows
SELECT id, path, content FROM files;

-- files_row: the texts of one row
SELECT path, content FROM files WHERE id = :id;

-- set_files: other texts in one row; NULL: the text stays
UPDATE files SET path = coalesce(:path, path), content = coalesce(:content, content)
 WHERE id = :id;

-- projects: keys and texts of all rows
SELECT id, name FROM projects;

-- projects_row: the texts of one row
SELECT name FROM projects WHERE id = :id;

-- set_projects: other texts in one row; NULL: the text stays
UPDATE projects SET name = coalesce(:name, name)
 WHERE id = :id;

-- documents: keys and texts of all rows
SELECT id, body, text FROM documents;

-- documents_row: the texts of one row
SELECT body, text FROM documents WHERE id = :id;

-- set_documents: other texts in one row; NULL: the text stays
UPDATE documents SET body = coalesce(:body, body), text = coalesce(:text, text)
 WHERE id = :id;

-- runs: keys and texts of all rows
SELECT id, error FROM runs;

-- runs_row: the texts of one row
SELECT error FROM runs WHERE id = :id;

-- set_runs: other texts in one row; NULL: the text stays
UPDATE runs SET error = coalesce(:error, error)
 WHERE id = :id;
