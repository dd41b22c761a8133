-- add_project: the name is unique
INSERT INTO projects (id, name, created_at) VALUES (:id, :name, :created_at);

-- project: by id
SELECT id, name, created_at FROM projects WHERE id = :id;

-- project_by_name: by its unique name
SELECT id, name, created_at FROM projects WHERE name = :name;

-- projects: all of them, by name
SELECT id, name, created_at FROM projects ORDER BY name;

-- add_repo: one repository of a project
INSERT INTO repos (id, project_id, name, remote, root, created_at)
VALUES (:id, :project_id, :name, :remote, :root, :created_at);

-- move_repo: its present remote and folder
UPDATE repos SET remote = :remote, root = :root WHERE id = :id;

-- repo: by id
SELECT id, project_id, name, remote, root, created_at FROM repos WHERE id = :id;

-- repo_by_remote: by its normalised remote
SELECT id, project_id, name, remote, root, created_at FROM repos WHERE remote = :remote AND remote <> '';

-- repo_by_root: by the folder where it was last seen
SELECT id, project_id, name, remote, root, created_at FROM repos WHERE root = :root AND root <> '' ORDER BY id LIMIT 1;

-- repo_by_name: by name, in one project or in any
SELECT id, project_id, name, remote, root, created_at FROM repos
 WHERE name = :name AND (:project_id IS NULL OR project_id = :project_id) ORDER BY id LIMIT 1;

-- repos_of: the repositories of a project
SELECT id, project_id, name, remote, root, created_at FROM repos WHERE project_id = :project_id ORDER BY id;
