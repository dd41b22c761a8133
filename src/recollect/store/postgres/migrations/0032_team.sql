-- Users of a team's server, its projects with members, and who read or changed what (docs/adr/0074, 0075, 0076).
--
-- Users and projects are in the first schema of a team only. Each user and each project has a schema of its own beside
-- it, with the same tables; the audit log is in the schema that was used.
CREATE TABLE users (
    id              text COLLATE "C" PRIMARY KEY,
    name            text COLLATE "C" NOT NULL UNIQUE,
    is_admin        bigint NOT NULL DEFAULT 0 CHECK (is_admin IN (0, 1)),
    has_first_store bigint NOT NULL DEFAULT 0 CHECK (has_first_store IN (0, 1)),
    token_hash      text COLLATE "C" NOT NULL UNIQUE,  -- SHA-256 of 32 random bytes, which are shown once
    created_at      bigint NOT NULL,
    rotated_at      bigint NOT NULL,
    revoked_at      bigint
);
CREATE UNIQUE INDEX users_with_first_store ON users(has_first_store) WHERE has_first_store = 1;

CREATE TABLE team_projects (
    id         text COLLATE "C" PRIMARY KEY,
    name       text COLLATE "C" NOT NULL,
    identity   text COLLATE "C" NOT NULL,              -- what a request names: a name, a remote or a path
    created_at bigint NOT NULL
);
CREATE UNIQUE INDEX team_projects_by_identity ON team_projects(md5(identity));

CREATE TABLE project_members (
    project_id text COLLATE "C" NOT NULL REFERENCES team_projects(id) ON DELETE CASCADE,
    user_id    text COLLATE "C" NOT NULL REFERENCES users(id) ON DELETE CASCADE,
    role       text COLLATE "C" NOT NULL CHECK (role IN ('reader', 'writer', 'owner')),
    added_at   bigint NOT NULL,
    PRIMARY KEY (project_id, user_id)
);
CREATE INDEX project_members_by_user ON project_members(user_id);

CREATE TABLE audit_log (
    id       text COLLATE "C" PRIMARY KEY,             -- grows with time
    at       bigint NOT NULL,
    "user"   text COLLATE "C" NOT NULL,                -- the name, which stays when the user is gone
    verb     text COLLATE "C" NOT NULL,
    is_write bigint NOT NULL CHECK (is_write IN (0, 1)),
    space    text COLLATE "C" NOT NULL DEFAULT '',
    ids      text COLLATE "C" NOT NULL DEFAULT '[]' CHECK (json_typeof(CAST(ids AS json)) = 'array'),
    client   text COLLATE "C" NOT NULL DEFAULT '',
    outcome  text COLLATE "C" NOT NULL CHECK (outcome IN ('done', 'refused', 'failed'))
);
CREATE INDEX audit_log_by_time ON audit_log(at);

-- Whether the user of this transaction may use a space: its own, one of a project whose member it is, or, as the
-- background work of a space does, the space itself. The function runs with the rights of its owner and reads the directory
-- of its own schema (the search path is fixed when the walls are built). In the schema of a space it is not used.
CREATE FUNCTION may_use_space(space text, writes boolean) RETURNS boolean
    LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
    caller text := coalesce(current_setting('recollect.acting_user', true), '');
BEGIN
    IF caller = '' THEN
        RETURN false;
    END IF;
    IF caller = space THEN
        RETURN NOT EXISTS (SELECT 1 FROM users u WHERE u.id = caller AND u.revoked_at IS NOT NULL);
    END IF;
    RETURN EXISTS (SELECT 1 FROM users u WHERE u.id = caller AND u.revoked_at IS NULL
                      AND u.has_first_store = 1 AND space = 'first-store')
        OR EXISTS (SELECT 1 FROM project_members m JOIN users u ON u.id = m.user_id
                    WHERE m.project_id = space AND m.user_id = caller AND u.revoked_at IS NULL
                      AND (NOT writes OR m.role IN ('writer', 'owner')));
END $$;
