-- put_skill: as it stands in its folder now
INSERT INTO skills (id, name, description, origin, project_id, path, content, sha256, metadata, created_at, updated_at)
VALUES (:id, :name, :description, :origin, :project_id, :path, :content, :sha256, :metadata, :at, :at)
ON CONFLICT (name, origin, coalesce(project_id, '')) DO UPDATE
   SET description = excluded.description, path = excluded.path, content = excluded.content,
       sha256 = excluded.sha256, metadata = excluded.metadata, updated_at = excluded.updated_at
RETURNING id;

-- find: the one of that name and origin
SELECT id, name, description, origin, project_id, path, content, sha256, metadata FROM skills
 WHERE name = :name AND origin = :origin AND coalesce(project_id, '') = coalesce(:project_id, '');

-- load: into an agent; loading twice is loading once
INSERT INTO agent_skills (agent_id, skill_id, loaded_at) VALUES (:agent_id, :skill_id, :at)
ON CONFLICT (agent_id, skill_id) DO UPDATE SET loaded_at = loaded_at;

-- unload: the skill stays known
DELETE FROM agent_skills WHERE agent_id = :agent_id AND skill_id = :skill_id;

-- loaded: what an agent has in use, in the order of loading
SELECT s.id, s.name, s.description, s.origin, s.project_id, s.path, s.content, s.sha256, s.metadata, a.loaded_at
  FROM agent_skills a JOIN skills s ON s.id = a.skill_id WHERE a.agent_id = :agent_id ORDER BY a.loaded_at, s.name;
