-- add_project: the identity is unique
INSERT INTO projects (id, name, identity, created_at) VALUES (:id, :name, :identity, :created_at);

-- project: by id
SELECT id, name, identity, coalesce(main_project_id, ''), created_at FROM projects LEFT JOIN project_links ON project_id = id WHERE id = :id;

-- project_by_identity: by its unique identity
SELECT id, name, identity, coalesce(main_project_id, ''), created_at FROM projects LEFT JOIN project_links ON project_id = id
 WHERE md5(identity) = md5(:identity) AND identity = :identity;

-- projects: all of them, by name
SELECT id, name, identity, coalesce(main_project_id, ''), created_at FROM projects LEFT JOIN project_links ON project_id = id ORDER BY name, identity;

-- set_identity: a folder got a remote
UPDATE projects SET identity = :identity WHERE id = :id;

-- link_project: it becomes part of another project
INSERT INTO project_links (project_id, main_project_id, linked_at) VALUES (:id, :main_id, :linked_at)
ON CONFLICT (project_id) DO UPDATE SET main_project_id = :main_id, linked_at = :linked_at;

-- unlink_project: it is a project of its own again
DELETE FROM project_links WHERE project_id = :id;

-- linked_ids: the projects that are part of a project
SELECT project_id FROM project_links WHERE main_project_id = :id ORDER BY project_id;

-- add_repo: one repository of a project
INSERT INTO repos (id, project_id, name, remote, root, created_at)
VALUES (:id, :project_id, :name, :remote, :root, :created_at);

-- move_repo: its present remote and folder
UPDATE repos SET remote = :remote, root = :root, remote_is_exact = 1 WHERE id = :id;

-- repo: by id
SELECT id, project_id, name, remote, root, created_at FROM repos WHERE id = :id;

-- repo_by_remote: by its normalised remote
SELECT id, project_id, name, remote, root, created_at FROM repos
 WHERE md5(remote) = md5(:remote) AND remote = :remote AND remote <> '';

-- repo_by_old_remote: by a remote that was stored in lower case and without its port
SELECT id, project_id, name, remote, root, created_at FROM repos
 WHERE md5(remote) = md5(:remote) AND remote = :remote AND remote <> '' AND remote_is_exact = 0;

-- repo_by_root: by the folder where it was last seen
SELECT id, project_id, name, remote, root, created_at FROM repos
 WHERE md5(root) = md5(:root) AND root = :root AND root <> '' ORDER BY id LIMIT 1;

-- repo_by_name: by name in one project; without a project only one that has neither a remote nor a folder
SELECT id, project_id, name, remote, root, created_at FROM repos
 WHERE name = :name AND (project_id = :project_id OR (CAST(:project_id AS text) IS NULL AND remote = '' AND root = '')) ORDER BY id LIMIT 1;

-- repo_ids: of a project, and of the projects that are part of it; a project without repositories has one row
SELECT p.id, r.id
  FROM (SELECT CAST(:id AS text) AS id, 0 AS is_part
        UNION ALL SELECT project_id, 1 FROM project_links WHERE main_project_id = :id) p
  LEFT JOIN repos r ON r.project_id = p.id ORDER BY p.is_part, p.id COLLATE "C", r.id;
