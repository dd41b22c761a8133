-- stored_skill: the same as in a folder; one that came from another device has no path
SELECT id FROM skills
 WHERE name = :name AND sha256 = :sha256 AND origin = :origin AND metadata = :metadata
   AND coalesce(project_id, '') = coalesce(:project_id, '') AND path IN (:path, '')
 ORDER BY path DESC, id LIMIT 1;

-- set_path: of a skill, in this machine
UPDATE skills SET path = :path WHERE id = :id AND path <> :path;

-- add_skill: as it is in its folder now; it is never changed
INSERT INTO skills (id, name, description, origin, project_id, path, content, sha256, metadata, created_at, updated_at)
VALUES (:id, :name, :description, :origin, :project_id, :path, :content, :sha256, :metadata, :at, :at);

-- drop_unused: skills that no agent has loaded
DELETE FROM skills WHERE id NOT IN (SELECT skill_id FROM agent_skills);

-- load: into an agent; loading again changes nothing
INSERT INTO agent_skills (agent_id, skill_id, loaded_at) VALUES (:agent_id, :skill_id, :at)
ON CONFLICT (agent_id, skill_id) DO UPDATE SET loaded_at = loaded_at;

-- unload: the skill stays stored
DELETE FROM agent_skills WHERE agent_id = :agent_id AND skill_id = :skill_id;

-- loaded_by: an agent, in the order of loading
SELECT s.id, s.name, s.description, s.origin, s.project_id, s.path, s.content, s.sha256, s.metadata, a.loaded_at
  FROM agent_skills a JOIN skills s ON s.id = a.skill_id WHERE a.agent_id = :agent_id ORDER BY a.loaded_at, s.name;
