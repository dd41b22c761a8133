-- add_link: an equal link is stored once
INSERT INTO memory_links (id, from_id, relation, to_kind, to_id, note, from_project_id, to_project_id, created_at)
VALUES (:id, :from_id, :relation, :to_kind, :to_id, :note,
        (SELECT project_id FROM memories WHERE id = :from_id),
        CASE :to_kind WHEN 'project' THEN :to_id ELSE (SELECT project_id FROM memories WHERE id = :to_id) END,
        :created_at)
ON CONFLICT (from_id, relation, to_kind, to_id) DO UPDATE SET note = iif(excluded.note <> '', excluded.note, note)
RETURNING id, from_id, relation, to_kind, to_id, note, created_at;

-- remove_links: by their ids, given as a JSON list; unknown ids are ignored
DELETE FROM memory_links WHERE id IN (SELECT value FROM json_each(:ids));

-- links_of: both directions
SELECT id, from_id, relation, to_kind, to_id, note, created_at FROM memory_links
 WHERE from_id = :id OR (to_kind = 'memory' AND to_id = :id) ORDER BY id;

-- conflicts: which memories contradict these, in both directions, while the other one is current
SELECT l.from_id, l.to_id FROM json_each(:ids) j
 CROSS JOIN memory_links l ON l.from_id = j.value AND l.relation = 'contradicts'
 CROSS JOIN memories m ON m.id = l.to_id AND m.status IN ('active', 'contradicted', 'inbox')
UNION
SELECT l.to_id, l.from_id FROM json_each(:ids) j
 CROSS JOIN memory_links l ON l.to_id = j.value AND l.relation = 'contradicts'
 CROSS JOIN memories m ON m.id = l.from_id AND m.status IN ('active', 'contradicted', 'inbox')
ORDER BY 1, 2;

-- linked_memories: those linked to these, given as a JSON list of ids, in both directions, the oldest link first
SELECT a, b, relation, is_target FROM (
    SELECT l.from_id AS a, l.to_id AS b, l.relation, 1 AS is_target, l.id FROM json_each(:ids) j
     CROSS JOIN memory_links l ON l.from_id = j.value AND l.to_kind = 'memory'
    UNION ALL
    SELECT l.to_id, l.from_id, l.relation, 0, l.id FROM json_each(:ids) j
     CROSS JOIN memory_links l ON l.to_id = j.value AND l.to_kind = 'memory')
 ORDER BY id, a;

-- contradictions: between current memories, newest first
SELECT l.id, l.from_id, l.relation, l.to_kind, l.to_id, l.note, l.created_at FROM memory_links l
  CROSS JOIN memories a ON a.id = l.from_id AND a.status IN ('active', 'contradicted', 'inbox')
  CROSS JOIN memories b ON b.id = l.to_id AND b.status IN ('active', 'contradicted', 'inbox')
 WHERE l.relation = 'contradicts' ORDER BY l.created_at DESC, l.id DESC LIMIT :limit;

-- count_conflicts: pairs of current memories
SELECT count(DISTINCT min(l.from_id, l.to_id) || max(l.from_id, l.to_id)) FROM memory_links l
  CROSS JOIN memories a ON a.id = l.from_id AND a.status IN ('active', 'contradicted', 'inbox')
  CROSS JOIN memories b ON b.id = l.to_id AND b.status IN ('active', 'contradicted', 'inbox')
 WHERE l.relation = 'contradicts';

-- ids_linked_to: memories of other projects that are linked to this one or to a memory of it
SELECT m.id FROM memory_links l
 CROSS JOIN memories m ON m.id = l.from_id AND m.scope IN ('project', 'repo')
 WHERE l.to_project_id = :project_id AND l.from_project_id <> l.to_project_id
UNION
SELECT m.id FROM memory_links l
 CROSS JOIN memories m ON m.id = l.to_id AND m.scope IN ('project', 'repo')
 WHERE l.from_project_id = :project_id AND l.from_project_id <> l.to_project_id AND l.to_kind = 'memory'
ORDER BY 1;
