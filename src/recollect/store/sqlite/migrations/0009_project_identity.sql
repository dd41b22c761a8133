-- A project was known by a unique name, and a clone gave its project the last part of its remote: whoever
-- came first owned the name. A clone of evil/payments was the project that a person called "payments".
-- Now a project has an identity (the URL of its remote, its folder, or the plain name that a person gave),
-- and its name is only shown. Two identities are one project if a person links them.
ALTER TABLE projects RENAME COLUMN name TO identity;
ALTER TABLE projects ADD COLUMN name TEXT NOT NULL DEFAULT '';
UPDATE projects SET name = identity;

-- A project that has the name of its remote got it from there.
UPDATE projects SET identity = 'https://' || r.remote
  FROM (SELECT project_id, remote, name FROM repos WHERE remote <> '' ORDER BY id) r
 WHERE r.project_id = projects.id
   AND (r.remote = lower(projects.name) OR r.remote = substr(projects.name, 1, length(r.remote))
        OR substr(r.remote, -length(projects.name) - 1) = '/' || lower(projects.name));

-- A project that has the name of its folder, which has no remote, got it from there.
UPDATE projects SET identity = r.root
  FROM (SELECT min(id), project_id, root FROM repos WHERE remote = '' AND root <> '' GROUP BY root) r
 WHERE r.project_id = projects.id
   AND (r.root = substr(projects.name, 1, length(r.root))
        OR replace(substr(r.root, -length(projects.name) - 1), '\', '/') = '/' || projects.name);

-- Projects that a person made part of another. Their rows stay theirs, so that a link can be removed.
CREATE TABLE project_links (
    project_id      TEXT PRIMARY KEY NOT NULL REFERENCES projects(id) ON DELETE CASCADE,
    main_project_id TEXT NOT NULL REFERENCES projects(id) ON DELETE CASCADE CHECK (main_project_id <> project_id),
    linked_at       INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX project_links_by_main ON project_links(main_project_id);

-- Remotes were stored in lower case and without their port. Both count now, except on hosts that ignore
-- case; the next write from the same folder stores the exact remote.
ALTER TABLE repos ADD COLUMN remote_is_exact INTEGER NOT NULL DEFAULT 1 CHECK (remote_is_exact IN (0, 1));
UPDATE repos SET remote_is_exact = 0 WHERE remote <> '';
