-- file_at_path: by its path, in a project or in none
SELECT id, project_id, path, content, sha256 FROM files
 WHERE md5(path) = md5(:path) AND path = :path AND coalesce(project_id, '') = coalesce(:project_id, '');

-- files: by their ids, given as a JSON list
SELECT f.id, f.project_id, f.path, f.content, f.sha256 FROM json_list(:ids) j JOIN files f ON f.id = j.value
 ORDER BY j.key;

-- paths_of: every stored file of a project
SELECT id, path FROM files WHERE project_id = :project_id ORDER BY path;

-- drop_unopened: of no project, and open for no agent
DELETE FROM files WHERE project_id IS NULL AND id NOT IN (SELECT file_id FROM agent_files);

-- add_file: as it was read
INSERT INTO files (id, project_id, path, content, sha256, created_at, updated_at)
VALUES (:id, :project_id, :path, :content, :sha256, :at, :at);

-- set_file: after it was read again
UPDATE files SET content = :content, sha256 = :sha256, updated_at = :at WHERE id = :id;

-- delete_file: with its open windows
DELETE FROM files WHERE id = :id;

-- open: a window of a file for an agent
INSERT INTO agent_files (agent_id, file_id, is_open, root, first_line, last_line, last_accessed_at)
VALUES (:agent_id, :file_id, 1, :root, :first_line, :last_line, :at)
ON CONFLICT (agent_id, file_id) DO UPDATE
   SET is_open = 1, root = excluded.root, first_line = excluded.first_line, last_line = excluded.last_line,
       last_accessed_at = excluded.last_accessed_at;

-- close: the row stays
UPDATE agent_files SET is_open = 0 WHERE agent_id = :agent_id AND file_id = :file_id;

-- touch: when an open file was last used
UPDATE agent_files SET last_accessed_at = :at WHERE agent_id = :agent_id AND file_id = :file_id AND is_open = 1;

-- open_windows: what an agent has open, least recently used first
SELECT f.id, f.project_id, f.path, a.root, a.first_line, a.last_line, a.last_accessed_at
  FROM agent_files a JOIN files f ON f.id = a.file_id
 WHERE a.agent_id = :agent_id AND a.is_open = 1 ORDER BY a.last_accessed_at, f.path;
