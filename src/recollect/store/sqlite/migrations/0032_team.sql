-- Users of a team's server, its projects with members, and who read or changed what (docs/adr/0074, 0076).
--
-- Users and projects are in the first store of a team only. Each user and each project has a store of its own beside it,
-- with the same tables; the audit log is in the store that was used.
CREATE TABLE users (
    id              TEXT PRIMARY KEY NOT NULL,
    name            TEXT NOT NULL UNIQUE,
    is_admin        INTEGER NOT NULL DEFAULT 0 CHECK (is_admin IN (0, 1)),
    has_first_store INTEGER NOT NULL DEFAULT 0 CHECK (has_first_store IN (0, 1)),
    token_hash      TEXT NOT NULL UNIQUE,  -- SHA-256 of 32 random bytes, which are shown once
    created_at      INTEGER NOT NULL,
    rotated_at      INTEGER NOT NULL,
    revoked_at      INTEGER
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX users_with_first_store ON users(has_first_store) WHERE has_first_store = 1;

CREATE TABLE team_projects (
    id         TEXT PRIMARY KEY NOT NULL,
    name       TEXT NOT NULL,
    identity   TEXT NOT NULL UNIQUE,       -- what a request names: a name, a remote or a path
    created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE project_members (
    project_id TEXT NOT NULL REFERENCES team_projects(id) ON DELETE CASCADE,
    user_id    TEXT NOT NULL REFERENCES users(id) ON DELETE CASCADE,
    role       TEXT NOT NULL CHECK (role IN ('reader', 'writer', 'owner')),
    added_at   INTEGER NOT NULL,
    PRIMARY KEY (project_id, user_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX project_members_by_user ON project_members(user_id);

CREATE TABLE audit_log (
    id       TEXT PRIMARY KEY NOT NULL,    -- grows with time
    at       INTEGER NOT NULL,
    user     TEXT NOT NULL,                -- the name, which stays when the user is gone
    verb     TEXT NOT NULL,
    is_write INTEGER NOT NULL CHECK (is_write IN (0, 1)),
    space    TEXT NOT NULL DEFAULT '',
    ids      TEXT NOT NULL DEFAULT '[]' CHECK (json_type(ids) = 'array'),
    client   TEXT NOT NULL DEFAULT '',
    outcome  TEXT NOT NULL CHECK (outcome IN ('done', 'refused', 'failed'))
) STRICT, WITHOUT ROWID;
CREATE INDEX audit_log_by_time ON audit_log(at);
