-- has_users: whether the store belongs to a team
SELECT EXISTS (SELECT 1 FROM users);

-- add_user: with the hash of its token
INSERT INTO users (id, name, is_admin, has_first_store, token_hash, created_at, rotated_at, revoked_at)
VALUES (:id, :name, :is_admin, :has_first_store, :token_hash, :created_at, :rotated_at, :revoked_at);

-- user_by_token: by the hash of a token
SELECT id, name, is_admin, has_first_store, created_at, rotated_at, revoked_at FROM users WHERE token_hash = :token_hash;

-- token_hashes: of every user, also of the revoked ones
SELECT id, token_hash FROM users ORDER BY id;

-- user: by id
SELECT id, name, is_admin, has_first_store, created_at, rotated_at, revoked_at FROM users WHERE id = :id;

-- user_by_name: by its unique name
SELECT id, name, is_admin, has_first_store, created_at, rotated_at, revoked_at FROM users WHERE name = :name;

-- users: all of them, by name
SELECT id, name, is_admin, has_first_store, created_at, rotated_at, revoked_at FROM users ORDER BY name;

-- set_token: the hash of a new token; the former one is refused from now on
UPDATE users SET token_hash = :token_hash, rotated_at = :rotated_at WHERE id = :id AND revoked_at IS NULL;

-- revoke_user: no token of it is accepted any more
UPDATE users SET revoked_at = :revoked_at, token_hash = :token_hash WHERE id = :id AND revoked_at IS NULL;

-- leave_projects: a revoked user is a member of nothing
DELETE FROM project_members WHERE user_id = :user_id;

-- add_project: the identity is unique
INSERT INTO team_projects (id, name, identity, created_at) VALUES (:id, :name, :identity, :created_at);

-- project_by_identity: by its unique identity
SELECT id, name, identity, created_at FROM team_projects WHERE identity = :identity;

-- projects: all of them, by name
SELECT id, name, identity, created_at FROM team_projects ORDER BY name, identity;

-- set_member: add a member, or change its role
INSERT INTO project_members (project_id, user_id, role, added_at) VALUES (:project_id, :user_id, :role, :added_at)
ON CONFLICT (project_id, user_id) DO UPDATE SET role = excluded.role;

-- remove_member: it sees nothing of the project any more
DELETE FROM project_members WHERE project_id = :project_id AND user_id = :user_id;

-- members: of one project, or of all
SELECT m.project_id, p.name, m.user_id, u.name, m.role, m.added_at
  FROM project_members m JOIN team_projects p ON p.id = m.project_id JOIN users u ON u.id = m.user_id
 WHERE :project_id = '' OR m.project_id = :project_id ORDER BY p.name, p.id, u.name;

-- memberships: the projects of one user, in the order of their creation
SELECT p.id, p.name, p.identity, p.created_at, m.role
  FROM project_members m JOIN team_projects p ON p.id = m.project_id JOIN users u ON u.id = m.user_id
 WHERE m.user_id = :user_id AND u.revoked_at IS NULL ORDER BY p.created_at, p.id;

-- add_audit_entry: who read or changed what
INSERT INTO audit_log (id, at, "user", verb, is_write, space, ids, client, outcome)
VALUES (:id, :at, :user, :verb, :is_write, :space, :ids, :client, :outcome);

-- set_audit_ids: also those that are known afterwards
UPDATE audit_log SET ids = :ids WHERE id = :id;

-- audit_entries: the newest first
SELECT id, at, "user", verb, is_write, space, ids, client, outcome FROM audit_log
 WHERE at >= :since AND (:user = '' OR "user" = :user) AND (:verb = '' OR verb = :verb)
 ORDER BY at DESC, id DESC LIMIT :limit;

-- audit_page: entries after one, the oldest first; ids grow with time
SELECT id, at, "user", verb, is_write, space, ids, client, outcome FROM audit_log WHERE id > :after ORDER BY id LIMIT :limit;

-- last_audit_id: NULL if there is no entry
SELECT max(id) FROM audit_log;

-- prune_audit: delete the oldest entries, a batch
DELETE FROM audit_log WHERE id IN (SELECT id FROM audit_log WHERE at < :before ORDER BY at LIMIT :limit);
