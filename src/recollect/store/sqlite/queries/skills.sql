-- put_skill: as it stands in its folder now
INSERT INTO skills (id, name, description, origin, project_id, path, content, sha256, metadata, created_at, updated_at)
VALUES (:id, :name, :description, :origin, :project_id, :path, :content, :sha256, :metadata, :at, :at)
ON CONFLICT (name, origin, coalesce(project_id, ''), path, sha256) DO UPDATE
   SET metadata = excluded.metadata, updated_at = excluded.updated_at
RETURNING id;

-- drop_unused: what no agent has in use is found in its folder
DELETE FROM skills WHERE id NOT IN (SELECT skill_id FROM agent_skills);

-- load: into an agent; loading twice is loading once
INSERT INTO agent_skills (agent_id, skill_id, loaded_at) VALUES (:agent_id, :skill_id, :at)
ON CONFLICT (agent_id, skill_id) DO UPDATE SET loaded_at = loaded_at;

-- unload: the skill stays known
DELETE FROM agent_skills WHERE agent_id = :agent_id AND skill_id = :skill_id;

-- loaded_by: what an agent has in use, in the order of loading
SELECT s.id, s.name, s.description, s.origin, s.project_id, s.path, s.content, s.sha256, s.metadata, a.loaded_at
  FROM agent_skills a JOIN skills s ON s.id = a.skill_id WHERE a.agent_id = :agent_id ORDER BY a.loaded_at, s.name;
