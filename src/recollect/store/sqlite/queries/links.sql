-- add_link: saying the same twice is saying it once
INSERT INTO memory_links (id, from_id, relation, to_kind, to_id, note, created_at)
VALUES (:id, :from_id, :relation, :to_kind, :to_id, :note, :created_at)
ON CONFLICT (from_id, relation, to_kind, to_id) DO UPDATE SET note = excluded.note WHERE excluded.note <> '';

-- links_of: both directions
SELECT id, from_id, relation, to_kind, to_id, note, created_at FROM memory_links
 WHERE from_id = :id OR (to_kind = 'memory' AND to_id = :id) ORDER BY id;

-- conflicts: who contradicts whom among these, both ways, while the other side still stands
SELECT l.from_id, l.to_id FROM memory_links l JOIN memories m ON m.id = l.to_id
 WHERE l.relation = 'contradicts' AND m.status IN ('active', 'contradicted', 'inbox')
   AND l.from_id IN (SELECT value FROM json_each(:ids))
UNION
SELECT l.to_id, l.from_id FROM memory_links l JOIN memories m ON m.id = l.from_id
 WHERE l.relation = 'contradicts' AND m.status IN ('active', 'contradicted', 'inbox')
   AND l.to_id IN (SELECT value FROM json_each(:ids))
ORDER BY 1, 2;

-- reaching: memories of other projects that are linked to this one or to a memory of it
SELECT i.seq FROM memory_links l JOIN memories m ON m.id = l.from_id JOIN items i ON i.id = m.id
 WHERE l.to_kind = 'project' AND l.to_id = :project_id AND m.scope IN ('project', 'repo')
UNION
SELECT i.seq FROM memory_links l
  JOIN memories here ON here.id = l.to_id
  JOIN memories m ON m.id = l.from_id JOIN items i ON i.id = m.id
 WHERE l.to_kind = 'memory' AND here.project_id = :project_id AND here.scope IN ('project', 'repo')
   AND m.scope IN ('project', 'repo')
UNION
SELECT i.seq FROM memory_links l
  JOIN memories here ON here.id = l.from_id
  JOIN memories m ON m.id = l.to_id JOIN items i ON i.id = m.id
 WHERE l.to_kind = 'memory' AND here.project_id = :project_id AND here.scope IN ('project', 'repo')
   AND m.scope IN ('project', 'repo')
ORDER BY 1;
