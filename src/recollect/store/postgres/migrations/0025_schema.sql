-- The tables of the whole product, as SQLite has them after its migration of the same number. The tables and their columns have the
-- same names and hold the same values in both databases (see recollect.store.column_values): times are microseconds,
-- flags are 0 or 1, and JSON is text.
--
-- What differs. Texts are compared by their bytes (COLLATE "C"), whatever the locale of the server is. PostgreSQL
-- refuses an index entry of more than 2,704 bytes, so long texts are indexed by their MD5, which is no more than an
-- index key here: statements compare the texts too. JSON is never jsonb, which changes the text and refuses \u0000.
-- Rules that SQLite writes in a trigger's WHEN clause are functions here.

-- The tables of sync between devices are not here: it is for stores in files.

-- The lists that statements get as parameters: texts, integers, or JSON values with their positions from 0 on.
CREATE FUNCTION json_list(list text) RETURNS TABLE (key bigint, value text) LANGUAGE sql IMMUTABLE AS
    $$ SELECT e.n - 1, e.v FROM json_array_elements_text(CAST(list AS json)) WITH ORDINALITY AS e(v, n) $$;
CREATE FUNCTION int_list(list text) RETURNS TABLE (key bigint, value bigint) LANGUAGE sql IMMUTABLE AS
    $$ SELECT e.n - 1, CAST(e.v AS bigint) FROM json_array_elements_text(CAST(list AS json)) WITH ORDINALITY AS e(v, n) $$;
CREATE FUNCTION json_rows(list text) RETURNS TABLE (key bigint, value json) LANGUAGE sql IMMUTABLE AS
    $$ SELECT e.n - 1, e.v FROM json_array_elements(CAST(list AS json)) WITH ORDINALITY AS e(v, n) $$;

-- The text of a JSON object in which one member is null.
CREATE FUNCTION json_without(object text, name text) RETURNS text LANGUAGE sql IMMUTABLE AS
    $$ SELECT CAST(json_object_agg(e.key, CASE WHEN e.key = name THEN 'null' ELSE e.value END) AS text)
         FROM json_each(CAST(object AS json)) e $$;

-- ── canonical rows ──────────────────────────────────────────────────────────────────────────────

CREATE TABLE projects (
    id         text COLLATE "C" PRIMARY KEY,
    identity   text COLLATE "C" NOT NULL,
    created_at bigint NOT NULL,
    name text COLLATE "C" NOT NULL DEFAULT ''
);
CREATE UNIQUE INDEX projects_by_identity ON projects(md5(identity));

CREATE TABLE project_links (
    project_id      text COLLATE "C" PRIMARY KEY REFERENCES projects(id) ON DELETE CASCADE,
    main_project_id text COLLATE "C" NOT NULL REFERENCES projects(id) ON DELETE CASCADE CHECK (main_project_id <> project_id),
    linked_at       bigint NOT NULL
);
CREATE INDEX project_links_by_main ON project_links(main_project_id);

CREATE TABLE repos (
    id         text COLLATE "C" PRIMARY KEY,
    project_id text COLLATE "C" NOT NULL REFERENCES projects(id) ON DELETE CASCADE,
    name       text COLLATE "C" NOT NULL,
    remote     text COLLATE "C" NOT NULL DEFAULT '',   -- host/owner/name, lower case; '' when there is none
    root       text COLLATE "C" NOT NULL DEFAULT '',   -- where it was last seen on this machine
    created_at bigint NOT NULL,
    remote_is_exact bigint NOT NULL DEFAULT 1 CHECK (remote_is_exact IN (0, 1))
);
CREATE UNIQUE INDEX repos_by_remote ON repos(md5(remote)) WHERE remote <> '';
CREATE INDEX repos_by_root ON repos(md5(root));
CREATE UNIQUE INDEX repos_by_name ON repos(project_id, md5(name));

CREATE TABLE agents (
    id            text COLLATE "C" PRIMARY KEY,
    name          text COLLATE "C" NOT NULL UNIQUE,
    description   text COLLATE "C" NOT NULL DEFAULT '',
    model         text COLLATE "C" NOT NULL DEFAULT '',
    system_prompt text COLLATE "C" NOT NULL DEFAULT '',
    pinned        text COLLATE "C" NOT NULL DEFAULT '' CHECK (pinned IN ('', 'local', 'global')),
    metadata      text COLLATE "C" NOT NULL DEFAULT '{}' CHECK (CAST(metadata AS json) IS NOT NULL),
    created_at    bigint NOT NULL,
    updated_at    bigint NOT NULL
);

CREATE TABLE blocks (
    id          text COLLATE "C" PRIMARY KEY,
    label       text COLLATE "C" NOT NULL,
    description text COLLATE "C" NOT NULL DEFAULT '',
    value       text COLLATE "C" NOT NULL DEFAULT '',
    char_limit  bigint CHECK (char_limit IS NULL OR char_limit > 0),
    read_only   bigint NOT NULL DEFAULT 0 CHECK (read_only IN (0, 1)),
    hidden      bigint NOT NULL DEFAULT 0 CHECK (hidden IN (0, 1)),
    scope       text COLLATE "C" NOT NULL CHECK (scope IN ('global', 'project', 'agent', 'session')),
    owner_id    text COLLATE "C" NOT NULL DEFAULT '',  -- project, agent or session id; '' for global
    version     bigint NOT NULL DEFAULT 1,
    metadata    text COLLATE "C" NOT NULL DEFAULT '{}' CHECK (CAST(metadata AS json) IS NOT NULL),
    created_at  bigint NOT NULL,
    updated_at  bigint NOT NULL,
    unconfirmed_author text COLLATE "C" NOT NULL DEFAULT '',
    CHECK ((scope = 'global') = (owner_id = '')),
    CHECK (char_limit IS NULL OR length(value) <= char_limit)
);
CREATE INDEX blocks_by_owner ON blocks(scope, owner_id, label);

CREATE TABLE agent_blocks (  -- a shared block is attached to many agents; one label per agent
    agent_id text COLLATE "C" NOT NULL REFERENCES agents(id) ON DELETE CASCADE,
    block_id text COLLATE "C" NOT NULL REFERENCES blocks(id) ON DELETE CASCADE,
    label    text COLLATE "C" NOT NULL,
    position bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (agent_id, block_id),
    UNIQUE (agent_id, label)
);
CREATE INDEX agent_blocks_by_block ON agent_blocks(block_id);

CREATE TABLE block_history (
    block_id   text COLLATE "C" NOT NULL REFERENCES blocks(id) ON DELETE CASCADE,
    version    bigint NOT NULL,
    value      text COLLATE "C" NOT NULL,
    changed_by text COLLATE "C" NOT NULL CHECK (changed_by IN ('user', 'agent', 'system')),
    reason     text COLLATE "C" NOT NULL DEFAULT '',
    changed_at bigint NOT NULL,
    unconfirmed_author text COLLATE "C" NOT NULL DEFAULT '',
    PRIMARY KEY (block_id, version)
);

CREATE TABLE block_proposals (
    id               text COLLATE "C" PRIMARY KEY,
    block_id         text COLLATE "C" NOT NULL REFERENCES blocks(id) ON DELETE CASCADE,
    author           text COLLATE "C" NOT NULL,
    base_version     bigint NOT NULL,           -- of the block that the author saw
    value            text COLLATE "C" NOT NULL,              -- the whole text that the author wants
    reason           text COLLATE "C" NOT NULL DEFAULT '',
    state            text COLLATE "C" NOT NULL CHECK (state IN ('pending', 'accepted', 'rejected', 'replaced')),
    decision         text COLLATE "C" NOT NULL DEFAULT '',   -- why it was accepted or rejected
    accepted_version bigint,                    -- the version of the block that accepting it made
    proposed_at      bigint NOT NULL,
    decided_at       bigint,
    CHECK (accepted_version IS NULL OR state = 'accepted')
);
CREATE INDEX block_proposals_by_block ON block_proposals(block_id, state);
CREATE INDEX block_proposals_by_state ON block_proposals(state, proposed_at);

CREATE TABLE conversations (
    id         text COLLATE "C" PRIMARY KEY,
    agent_id   text COLLATE "C" REFERENCES agents(id) ON DELETE CASCADE,
    project_id text COLLATE "C" REFERENCES projects(id) ON DELETE SET NULL,
    repo_id    text COLLATE "C" REFERENCES repos(id) ON DELETE SET NULL,
    title      text COLLATE "C" NOT NULL DEFAULT '',
    metadata   text COLLATE "C" NOT NULL DEFAULT '{}' CHECK (CAST(metadata AS json) IS NOT NULL),
    started_at bigint NOT NULL,
    ended_at   bigint,
    key text COLLATE "C" NOT NULL DEFAULT '',
    revision bigint NOT NULL DEFAULT 0
);
CREATE INDEX conversations_by_agent ON conversations(agent_id, started_at);
CREATE INDEX conversations_by_project ON conversations(project_id, started_at);
CREATE INDEX conversations_by_start ON conversations(started_at);
CREATE UNIQUE INDEX conversations_by_key ON conversations(md5(key), coalesce(agent_id, '')) WHERE key <> '';

CREATE TABLE summaries (
    id              text COLLATE "C" PRIMARY KEY,
    conversation_id text COLLATE "C" NOT NULL REFERENCES conversations(id) ON DELETE CASCADE,
    mode            text COLLATE "C" NOT NULL CHECK (mode IN ('all', 'sliding_window')),
    content         text COLLATE "C" NOT NULL,
    first_position  bigint NOT NULL,
    last_position   bigint NOT NULL,
    tokens          bigint NOT NULL DEFAULT 0,
    made_by         text COLLATE "C" NOT NULL DEFAULT '',
    created_at      bigint NOT NULL
);
CREATE INDEX summaries_by_conversation ON summaries(conversation_id, last_position);

CREATE TABLE messages (
    id              text COLLATE "C" PRIMARY KEY,
    conversation_id text COLLATE "C" NOT NULL REFERENCES conversations(id) ON DELETE CASCADE,
    agent_id        text COLLATE "C" REFERENCES agents(id) ON DELETE CASCADE,
    position        bigint NOT NULL,
    role            text COLLATE "C" NOT NULL CHECK (role IN ('system', 'developer', 'user', 'assistant', 'tool')),
    tool_call_id    text COLLATE "C" NOT NULL DEFAULT '',
    name            text COLLATE "C" NOT NULL DEFAULT '',
    tokens          bigint NOT NULL DEFAULT 0,
    pinned          bigint NOT NULL DEFAULT 0 CHECK (pinned IN (0, 1)),
    summary_id      text COLLATE "C" REFERENCES summaries(id) ON DELETE SET NULL,  -- set once compacted away
    created_at      bigint NOT NULL,
    metadata        text COLLATE "C" NOT NULL DEFAULT '{}' CHECK (CAST(metadata AS json) IS NOT NULL),
    content         text COLLATE "C" NOT NULL,           -- the plain text, which is searched
    parts           text COLLATE "C" CHECK (parts IS NULL OR CAST(parts AS json) IS NOT NULL),  -- the original, if multi-part
    tool_calls      text COLLATE "C" CHECK (tool_calls IS NULL OR CAST(tool_calls AS json) IS NOT NULL),
    payload text COLLATE "C" CHECK (payload IS NULL OR CAST(payload AS json) IS NOT NULL),
    UNIQUE (conversation_id, position)
);
CREATE INDEX messages_by_time ON messages(conversation_id, created_at);
CREATE INDEX messages_by_agent ON messages(agent_id, created_at, position) WHERE agent_id IS NOT NULL;
CREATE INDEX messages_in_context ON messages(conversation_id, position) WHERE summary_id IS NULL;
CREATE INDEX messages_by_summary ON messages(summary_id) WHERE summary_id IS NOT NULL;

CREATE TABLE pins (
    id              text COLLATE "C" PRIMARY KEY,
    conversation_id text COLLATE "C" NOT NULL REFERENCES conversations(id) ON DELETE CASCADE,
    kind            text COLLATE "C" NOT NULL,
    content         text COLLATE "C" NOT NULL,
    active          bigint NOT NULL DEFAULT 1 CHECK (active IN (0, 1)),
    pinned_at       bigint NOT NULL
);
CREATE INDEX pins_by_conversation ON pins(conversation_id);

CREATE TABLE runs (
    id              text COLLATE "C" PRIMARY KEY,
    conversation_id text COLLATE "C" NOT NULL REFERENCES conversations(id) ON DELETE CASCADE,
    state           text COLLATE "C" NOT NULL CHECK (state IN ('running', 'waiting', 'ended')),
    stop_reason     text COLLATE "C",
    model           text COLLATE "C" NOT NULL DEFAULT '',
    max_steps       bigint NOT NULL,
    steps           bigint NOT NULL DEFAULT 0,
    input_tokens    bigint NOT NULL DEFAULT 0,
    output_tokens   bigint NOT NULL DEFAULT 0,
    first_position  bigint NOT NULL,           -- of the message that started it
    error           text COLLATE "C" NOT NULL DEFAULT '',
    started_at      bigint NOT NULL,
    updated_at      bigint NOT NULL,
    cost_usd        double precision,          -- NULL: the price of the model is not known
    CHECK (state <> 'ended' OR stop_reason IS NOT NULL)
);
CREATE UNIQUE INDEX runs_open ON runs(conversation_id) WHERE state <> 'ended';
CREATE INDEX runs_by_conversation ON runs(conversation_id, started_at);

CREATE TABLE run_calls (
    id              text COLLATE "C" PRIMARY KEY,
    run_id          text COLLATE "C" NOT NULL REFERENCES runs(id) ON DELETE CASCADE,
    conversation_id text COLLATE "C" NOT NULL REFERENCES conversations(id) ON DELETE CASCADE,
    step            bigint NOT NULL,
    place           bigint NOT NULL,           -- among the calls of its message
    message_id      text COLLATE "C" NOT NULL,
    call_id         text COLLATE "C" NOT NULL,              -- the model's id of the call
    tool            text COLLATE "C" NOT NULL,
    state           text COLLATE "C" NOT NULL CHECK (state IN ('planned', 'awaiting', 'approved', 'denied', 'started', 'answered')),
    expires_at      bigint,                    -- of an approval
    updated_at      bigint NOT NULL,
    UNIQUE (run_id, step, place),
    CHECK (state <> 'awaiting' OR expires_at IS NOT NULL)
);
CREATE INDEX run_calls_by_conversation ON run_calls(conversation_id);
CREATE INDEX run_calls_awaiting ON run_calls(expires_at) WHERE state = 'awaiting';

CREATE TABLE sources (
    id          text COLLATE "C" PRIMARY KEY,
    kind        text COLLATE "C" NOT NULL CHECK (kind IN ('manual', 'conversation', 'run', 'document', 'import')),
    content     text COLLATE "C" NOT NULL,
    sha256      text COLLATE "C" NOT NULL,
    uri         text COLLATE "C" NOT NULL DEFAULT '',
    title       text COLLATE "C" NOT NULL DEFAULT '',
    redactions  text COLLATE "C" NOT NULL DEFAULT '[]' CHECK (CAST(redactions AS json) IS NOT NULL),
    metadata    text COLLATE "C" NOT NULL DEFAULT '{}' CHECK (CAST(metadata AS json) IS NOT NULL),
    captured_at bigint NOT NULL,
    observed_at bigint NOT NULL,
    session text COLLATE "C" NOT NULL DEFAULT '',
    UNIQUE (sha256, kind)                    -- content-addressed: the same material is stored once
);
CREATE INDEX sources_by_session ON sources(session) WHERE session <> '';

CREATE TABLE ingestion_events (
    id         text COLLATE "C" PRIMARY KEY,
    "trigger"  text COLLATE "C" NOT NULL CHECK ("trigger" IN ('manual', 'session', 'conversation', 'maintenance')),
    source_id  text COLLATE "C" REFERENCES sources(id) ON DELETE SET NULL,
    scope      text COLLATE "C" NOT NULL CHECK (scope IN ('global', 'project', 'repo', 'agent', 'session')),
    owner_id   text COLLATE "C" NOT NULL DEFAULT '',
    state      text COLLATE "C" NOT NULL CHECK (state IN ('captured', 'working', 'done', 'failed')),
    outcome    text COLLATE "C" NOT NULL DEFAULT '',
    retries    bigint NOT NULL DEFAULT 0,
    error      text COLLATE "C" NOT NULL DEFAULT '',
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    title text COLLATE "C" NOT NULL DEFAULT '',
    uri text COLLATE "C" NOT NULL DEFAULT ''
);
CREATE INDEX ingestion_events_by_source ON ingestion_events(source_id);
CREATE INDEX ingestion_events_open ON ingestion_events(state, created_at) WHERE state <> 'done';
CREATE INDEX ingestion_events_by_owner ON ingestion_events(scope, owner_id);

CREATE TABLE jobs (
    id          text COLLATE "C" PRIMARY KEY,
    event_id    text COLLATE "C" REFERENCES ingestion_events(id) ON DELETE CASCADE,
    kind        text COLLATE "C" NOT NULL,
    subject_id  text COLLATE "C" NOT NULL DEFAULT '',
    payload     text COLLATE "C" NOT NULL DEFAULT '{}' CHECK (CAST(payload AS json) IS NOT NULL),
    state       text COLLATE "C" NOT NULL CHECK (state IN ('todo', 'doing', 'done', 'parked')),
    attempts    bigint NOT NULL DEFAULT 0,
    run_at      bigint NOT NULL,
    lease_until bigint,
    worker      text COLLATE "C" NOT NULL DEFAULT '',
    error       text COLLATE "C" NOT NULL DEFAULT '',
    created_at  bigint NOT NULL,
    updated_at  bigint NOT NULL,
    crashes bigint NOT NULL DEFAULT 0
);
CREATE INDEX jobs_ripe ON jobs(state, run_at) WHERE state IN ('todo', 'doing');
CREATE INDEX jobs_by_event ON jobs(event_id);

CREATE TABLE model_calls (
    id            text COLLATE "C" PRIMARY KEY,
    event_id      text COLLATE "C" REFERENCES ingestion_events(id) ON DELETE SET NULL,
    model         text COLLATE "C" NOT NULL,
    purpose       text COLLATE "C" NOT NULL,
    input_tokens  bigint NOT NULL DEFAULT 0,
    output_tokens bigint NOT NULL DEFAULT 0,
    error         text COLLATE "C" NOT NULL DEFAULT '',
    asked_at      bigint NOT NULL,
    cost_usd      double precision   -- NULL: the price of the model is not known
);
CREATE INDEX model_calls_by_time ON model_calls(asked_at);
CREATE INDEX model_calls_by_event ON model_calls(event_id) WHERE event_id IS NOT NULL;

CREATE TABLE memories (
    id           text COLLATE "C" PRIMARY KEY,
    type         text COLLATE "C" NOT NULL CHECK (type IN ('profile', 'project', 'decision', 'artifact', 'episode', 'task_hint')),
    scope        text COLLATE "C" NOT NULL CHECK (scope IN ('global', 'project', 'repo', 'agent', 'session')),
    status       text COLLATE "C" NOT NULL CHECK (status IN ('stated', 'inbox', 'active', 'superseded', 'contradicted', 'archived')),
    project_id   text COLLATE "C" REFERENCES projects(id) ON DELETE CASCADE,
    repo_id      text COLLATE "C" REFERENCES repos(id) ON DELETE CASCADE,
    agent_id     text COLLATE "C" REFERENCES agents(id) ON DELETE CASCADE,
    session_id   text COLLATE "C",                       -- a conversation, or a session another program named
    source_kind  text COLLATE "C" NOT NULL CHECK (source_kind IN ('manual', 'conversation', 'run', 'document', 'import')),
    "key"        text COLLATE "C" NOT NULL DEFAULT '',   -- the name of a profile fact, '' for others
    title        text COLLATE "C" NOT NULL DEFAULT '',
    content      text COLLATE "C" NOT NULL CHECK (content <> ''),
    summary      text COLLATE "C" NOT NULL DEFAULT '',
    rationale    text COLLATE "C" NOT NULL DEFAULT '',
    alternatives text COLLATE "C" NOT NULL DEFAULT '[]' CHECK (CAST(alternatives AS json) IS NOT NULL),
    confidence   double precision NOT NULL DEFAULT 1.0 CHECK (confidence BETWEEN 0.0 AND 1.0),
    fingerprint  text COLLATE "C" NOT NULL,              -- the same for texts that differ only in form
    redactions   text COLLATE "C" NOT NULL DEFAULT '[]' CHECK (CAST(redactions AS json) IS NOT NULL),
    metadata     text COLLATE "C" NOT NULL DEFAULT '{}' CHECK (CAST(metadata AS json) IS NOT NULL),
    observed_at  bigint NOT NULL,
    confirmed_at bigint NOT NULL,
    created_at   bigint NOT NULL,
    updated_at   bigint NOT NULL,
    owner_id     text COLLATE "C" GENERATED ALWAYS AS (coalesce(
        CASE scope WHEN 'project' THEN project_id WHEN 'repo' THEN repo_id
                   WHEN 'agent' THEN agent_id WHEN 'session' THEN session_id END, '')) STORED,
    voice text COLLATE "C"
    CHECK (voice IN ('user', 'pasted', 'assistant', 'tool', 'system', 'other')),
    flags text COLLATE "C" NOT NULL DEFAULT '[]' CHECK (CAST(flags AS json) IS NOT NULL),
    rule text COLLATE "C" NOT NULL DEFAULT '',
    event_id text COLLATE "C", session text COLLATE "C" NOT NULL DEFAULT '',
    author text COLLATE "C" NOT NULL DEFAULT '',
    dates text COLLATE "C" NOT NULL DEFAULT '[]' CHECK (CAST(dates AS json) IS NOT NULL),
    CHECK (scope <> 'project' OR project_id IS NOT NULL),
    CHECK (scope <> 'repo' OR repo_id IS NOT NULL),
    CHECK (scope <> 'agent' OR agent_id IS NOT NULL),
    CHECK (scope <> 'session' OR session_id IS NOT NULL)
);
CREATE INDEX memories_by_owner ON memories(scope, owner_id, type, status, observed_at);
CREATE INDEX memories_by_status ON memories(status, observed_at);
CREATE INDEX memories_by_fingerprint ON memories(fingerprint);
CREATE INDEX memories_by_agent ON memories(agent_id) WHERE agent_id IS NOT NULL;
CREATE INDEX memories_by_repo ON memories(repo_id) WHERE repo_id IS NOT NULL;
CREATE UNIQUE INDEX one_active_fact_per_key ON memories("key", scope, owner_id)
    WHERE "key" <> '' AND status = 'active';
CREATE INDEX memories_extracted ON memories(status) WHERE source_kind <> 'manual' AND type <> 'episode';

CREATE TABLE memory_tags (
    memory_id text COLLATE "C" NOT NULL REFERENCES memories(id) ON DELETE CASCADE,
    tag       text COLLATE "C" NOT NULL,
    PRIMARY KEY (memory_id, tag)
);
CREATE INDEX memory_tags_by_tag ON memory_tags(tag);

CREATE TABLE memory_changes (
    id        text COLLATE "C" NOT NULL,
    memory_id text COLLATE "C" NOT NULL REFERENCES memories(id) ON DELETE CASCADE,
    before    text COLLATE "C",
    after     text COLLATE "C" NOT NULL,
    "by"      text COLLATE "C" NOT NULL DEFAULT '',
    reason    text COLLATE "C" NOT NULL DEFAULT '',
    at        bigint NOT NULL,
    effects text COLLATE "C" NOT NULL DEFAULT '{}' CHECK (CAST(effects AS json) IS NOT NULL),
    kind text COLLATE "C" NOT NULL DEFAULT 'created'
    CHECK (kind IN ('created', 'held', 'promoted', 'rejected', 'merged', 'superseded', 'contradicted', 'archived',
                    'withdrawn', 'undone')),
    PRIMARY KEY (memory_id, id)              -- ids grow with time: this is also their order
);

CREATE TABLE memory_links (
    id         text COLLATE "C" PRIMARY KEY,
    from_id    text COLLATE "C" NOT NULL REFERENCES memories(id) ON DELETE CASCADE,
    relation   text COLLATE "C" NOT NULL CHECK (relation IN ('supports', 'contradicts', 'supersedes', 'applies_to', 'derived_from', 'related_to')),
    to_kind    text COLLATE "C" NOT NULL CHECK (to_kind IN ('memory', 'project')),
    to_id      text COLLATE "C" NOT NULL,
    note       text COLLATE "C" NOT NULL DEFAULT '',
    -- The projects of both ends, which never change: a link between two is found without a scan.
    from_project_id text COLLATE "C" REFERENCES projects(id) ON DELETE CASCADE,
    to_project_id   text COLLATE "C" REFERENCES projects(id) ON DELETE CASCADE,
    created_at bigint NOT NULL,
    UNIQUE (from_id, relation, to_kind, to_id)
);
CREATE INDEX memory_links_by_target ON memory_links(to_id, relation);
CREATE INDEX memory_links_out_of ON memory_links(from_project_id) WHERE from_project_id <> to_project_id;
CREATE INDEX memory_links_into ON memory_links(to_project_id) WHERE from_project_id <> to_project_id;
CREATE INDEX memory_links_contradicting ON memory_links(created_at, id, from_id, to_id) WHERE relation = 'contradicts';

CREATE TABLE evidence (
    id          text COLLATE "C" NOT NULL,
    memory_id   text COLLATE "C" NOT NULL REFERENCES memories(id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED,
    source_id   text COLLATE "C" NOT NULL REFERENCES sources(id),
    start_char  bigint NOT NULL CHECK (start_char >= 0),
    end_char    bigint NOT NULL CHECK (end_char > start_char),
    quote       text COLLATE "C" NOT NULL,
    created_at  bigint NOT NULL,
    voice text COLLATE "C" NOT NULL DEFAULT ''
    CHECK (voice IN ('', 'user', 'pasted', 'assistant', 'tool', 'system', 'other')),
    PRIMARY KEY (memory_id, id)
);
CREATE INDEX evidence_by_source ON evidence(source_id);
CREATE INDEX evidence_by_id ON evidence(id);

CREATE TABLE unsettled (
    memory_id text COLLATE "C" PRIMARY KEY REFERENCES memories(id) ON DELETE CASCADE,
    event_id  text COLLATE "C" NOT NULL REFERENCES ingestion_events(id) ON DELETE CASCADE
);
CREATE INDEX unsettled_by_event ON unsettled(event_id, memory_id);

CREATE TABLE retrievals (
    seq             bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id              text COLLATE "C" NOT NULL UNIQUE,
    verb            text COLLATE "C" NOT NULL,
    query           text COLLATE "C" NOT NULL,
    agent_id        text COLLATE "C",                    -- who asked and where: the row is deleted with them
    conversation_id text COLLATE "C",
    logged_at       bigint NOT NULL,
    total           bigint NOT NULL,        -- bytes of this row and all before it: the log's size is one subtraction
    returned        bytea NOT NULL,           -- ids of the memories that were returned
    others          bytea NOT NULL,           -- ids of memories that were dropped, and of other items
    content         bytea NOT NULL            -- the rest
);

CREATE TABLE views (
    name       text COLLATE "C" PRIMARY KEY,
    query      text COLLATE "C" NOT NULL,
    asking     text COLLATE "C" NOT NULL CHECK (CAST(asking AS json) IS NOT NULL),
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL
);

CREATE TABLE skills (
    id          text COLLATE "C" PRIMARY KEY,
    name        text COLLATE "C" NOT NULL,
    description text COLLATE "C" NOT NULL DEFAULT '',
    origin      text COLLATE "C" NOT NULL CHECK (origin IN ('bundled', 'global', 'project', 'learnt')),
    project_id  text COLLATE "C" REFERENCES projects(id) ON DELETE CASCADE,
    path        text COLLATE "C" NOT NULL DEFAULT '',
    content     text COLLATE "C" NOT NULL,
    sha256      text COLLATE "C" NOT NULL,
    metadata    text COLLATE "C" NOT NULL DEFAULT '{}' CHECK (CAST(metadata AS json) IS NOT NULL),
    created_at  bigint NOT NULL,
    updated_at  bigint NOT NULL
);
CREATE UNIQUE INDEX skills_by_content ON skills(name, origin, coalesce(project_id, ''), md5(path), sha256);

CREATE TABLE agent_skills (
    agent_id  text COLLATE "C" NOT NULL REFERENCES agents(id) ON DELETE CASCADE,
    skill_id  text COLLATE "C" NOT NULL REFERENCES skills(id) ON DELETE CASCADE,
    loaded_at bigint NOT NULL,
    PRIMARY KEY (agent_id, skill_id)
);

CREATE TABLE files (
    id          text COLLATE "C" PRIMARY KEY,
    project_id  text COLLATE "C" REFERENCES projects(id) ON DELETE CASCADE,
    path        text COLLATE "C" NOT NULL,
    content     text COLLATE "C" NOT NULL,
    sha256      text COLLATE "C" NOT NULL,
    created_at  bigint NOT NULL,
    updated_at  bigint NOT NULL
);
CREATE UNIQUE INDEX files_by_path ON files(md5(path), coalesce(project_id, ''));

CREATE TABLE agent_files (
    agent_id         text COLLATE "C" NOT NULL REFERENCES agents(id) ON DELETE CASCADE,
    file_id          text COLLATE "C" NOT NULL REFERENCES files(id) ON DELETE CASCADE,
    is_open          bigint NOT NULL DEFAULT 1 CHECK (is_open IN (0, 1)),
    first_line       bigint NOT NULL DEFAULT 0,
    last_line        bigint,
    last_accessed_at bigint NOT NULL,
    root text COLLATE "C" NOT NULL DEFAULT '',
    PRIMARY KEY (agent_id, file_id)
);
CREATE INDEX agent_files_by_file ON agent_files(file_id);

CREATE TABLE documents (
    id         text COLLATE "C" PRIMARY KEY,
    namespace  text COLLATE "C" NOT NULL CHECK (json_typeof(CAST(namespace AS json)) = 'array'),
    key        text COLLATE "C" NOT NULL CHECK (key <> ''),
    body       text COLLATE "C" NOT NULL CHECK (CAST(body AS json) IS NOT NULL),
    text       text COLLATE "C" NOT NULL,            -- what is indexed, without secrets; '' if it is not searched
    revision   bigint NOT NULL,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    lifetime_s double precision,
    expires_at bigint
);
CREATE INDEX documents_by_expiry ON documents(expires_at) WHERE expires_at IS NOT NULL;
CREATE UNIQUE INDEX documents_by_key ON documents(md5(namespace), md5(key));
CREATE INDEX documents_by_namespace ON documents(left(namespace, 400));

CREATE TABLE tombstones (
    kind       text COLLATE "C" NOT NULL CHECK (kind IN ('memory', 'source', 'conversation', 'block', 'agent', 'message', 'document')),
    id         text COLLATE "C" NOT NULL,
    sha256     text COLLATE "C" NOT NULL DEFAULT '',     -- of a source: the same material under another id
    deleted_at bigint NOT NULL,
    PRIMARY KEY (kind, id)
);
CREATE INDEX tombstones_by_hash ON tombstones(sha256) WHERE sha256 <> '';

CREATE TABLE unfinished_work (
    kind       text COLLATE "C" NOT NULL CHECK (kind IN ('delete_conversation', 'import', 'truncate_wal')),
    subject    text COLLATE "C" NOT NULL DEFAULT '',     -- the id of the conversation, or the checksum of the imported file
    detail     text COLLATE "C" NOT NULL DEFAULT '',     -- for people: the name of the file
    started_at bigint NOT NULL,
    PRIMARY KEY (kind, subject)
);

CREATE VIEW hidden_conversations AS SELECT subject AS id FROM unfinished_work WHERE kind = 'delete_conversation';

CREATE TABLE exports_written (
    sha256     text COLLATE "C" PRIMARY KEY,
    written_at bigint NOT NULL
);

CREATE TABLE requests (
    key         text COLLATE "C" PRIMARY KEY,
    fingerprint text COLLATE "C" NOT NULL,              -- of what was asked: a key stands for one request
    created_at  bigint NOT NULL
);
CREATE INDEX requests_by_age ON requests(created_at);

-- The programs that store and ask: coding agents, SDKs, MCP clients.
CREATE TABLE clients (
    name              text COLLATE "C" PRIMARY KEY,  -- as the program calls itself
    first_seen_at     bigint NOT NULL,
    last_seen_at      bigint NOT NULL,
    writes            bigint NOT NULL DEFAULT 0,     -- captures, memories and messages
    last_write_at     bigint,
    retrievals        bigint NOT NULL DEFAULT 0,
    last_retrieval_at bigint
);

-- ── derived rows ────────────────────────────────────────────────────────────────────────────────

CREATE TABLE shelves (
    id       bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    kind     text COLLATE "C" NOT NULL CHECK (kind IN ('memory', 'message', 'block', 'file', 'document')),
    scope    text COLLATE "C" NOT NULL CHECK (scope IN ('global', 'project', 'repo', 'agent', 'session')),
    owner_id text COLLATE "C" NOT NULL,
    items    bigint NOT NULL DEFAULT 0,
    words    bigint NOT NULL DEFAULT 0
);
CREATE UNIQUE INDEX shelves_by_owner ON shelves(kind, scope, md5(owner_id));

CREATE TABLE models (
    id        bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name      text COLLATE "C" NOT NULL,                 -- names weights, pooling and prefix: what makes vectors comparable
    dimension bigint NOT NULL,
    UNIQUE (name, dimension)
);

CREATE TABLE items (
    seq         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    shelf_id    bigint NOT NULL REFERENCES shelves(id),
    id          text COLLATE "C" NOT NULL UNIQUE,
    words       bigint NOT NULL DEFAULT 0,
    embedded_by bigint REFERENCES models(id)  -- NULL: waits to be embedded
);
CREATE INDEX items_by_shelf ON items(shelf_id, seq);
CREATE INDEX items_by_model ON items(embedded_by, seq);

CREATE TABLE terms (
    id       bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    shelf_id bigint NOT NULL REFERENCES shelves(id),
    term     text COLLATE "C" NOT NULL,
    items    bigint NOT NULL,               -- in how many items of the shelf it occurs
    UNIQUE (term, shelf_id)
);
CREATE INDEX terms_by_shelf ON terms(shelf_id);

CREATE TABLE postings (
    term_id bigint NOT NULL,
    seq     bigint NOT NULL,
    times   integer NOT NULL,
    words   integer NOT NULL,                -- length of the item, repeated here to spare a join
    PRIMARY KEY (term_id, seq)
);

CREATE TABLE embeddings (
    id       bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,  -- only grows: a cache reads from its last one on
    seq      bigint NOT NULL REFERENCES items(seq) ON DELETE CASCADE,
    model_id bigint NOT NULL REFERENCES models(id),
    chunk    bigint NOT NULL,
    chunks   bigint NOT NULL,               -- in how many pieces the item was embedded
    hash     bytea NOT NULL,                  -- of the embedded text: the same text is embedded once
    vector   bytea NOT NULL,                  -- half-precision, little-endian, unit length
    UNIQUE (seq, model_id, chunk)
);
CREATE INDEX embeddings_by_hash ON embeddings(model_id, hash);

CREATE TABLE embedder (
    id      bigint PRIMARY KEY CHECK (id = 1),
    wanted  bigint REFERENCES models(id),   -- what was chosen; NULL: the settings decide
    serving bigint REFERENCES models(id)    -- whose vectors answer; NULL: nothing is embedded yet
);

CREATE TABLE tool_calls (
    source_id  text COLLATE "C" NOT NULL REFERENCES sources(id) ON DELETE CASCADE,
    start_char bigint NOT NULL,         -- where the call stands in its source
    kind       text COLLATE "C" NOT NULL CHECK (kind IN ('run', 'change')),
    name       text COLLATE "C" NOT NULL,            -- by which it is looked up: the program, or the file without its folders
    subject    text COLLATE "C" NOT NULL,            -- the command, or the path of the file
    outcome    text COLLATE "C" NOT NULL,
    error      text COLLATE "C" NOT NULL DEFAULT '', -- the line of the output that describes a failure
    called_at  bigint NOT NULL
);
CREATE INDEX tool_calls_by_name ON tool_calls(kind, left(name, 200), called_at);
CREATE INDEX tool_calls_failed ON tool_calls(called_at) WHERE error <> '';
CREATE UNIQUE INDEX tool_calls_once ON tool_calls(source_id, start_char, md5(subject));

CREATE TABLE unread_sources (
    source_id text COLLATE "C" PRIMARY KEY REFERENCES sources(id) ON DELETE CASCADE
);

INSERT INTO embedder (id) VALUES (1);

-- ── rules that the database enforces ────────────────────────────────────────────────────────────

-- A source never changes. The one exception is `forget`, which overwrites the forgotten span with U+2588 and keeps
-- the length, so that other quotes still fit.
CREATE FUNCTION refuse_changed_source() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.id <> OLD.id OR NEW.kind <> OLD.kind OR NEW.captured_at <> OLD.captured_at
       OR NEW.observed_at <> OLD.observed_at OR length(NEW.content) <> length(OLD.content)
       OR (NEW.content <> OLD.content AND strpos(NEW.content, chr(9608)) = 0) THEN
        RAISE EXCEPTION 'a source is immutable' USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER sources_are_immutable BEFORE UPDATE ON sources FOR EACH ROW EXECUTE FUNCTION refuse_changed_source();

-- Evidence is written before its memory (the foreign key is checked at commit), so that a memory can be created
-- active and still never be active without evidence.
CREATE FUNCTION require_quote_in_source() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.quote IS DISTINCT FROM (
        SELECT substr(content, CAST(NEW.start_char + 1 AS integer), CAST(NEW.end_char - NEW.start_char AS integer))
          FROM sources WHERE id = NEW.source_id) THEN
        RAISE EXCEPTION 'evidence: the quote is not found verbatim in its source'
              USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER a_quote_stands_in_its_source BEFORE INSERT ON evidence
    FOR EACH ROW EXECUTE FUNCTION require_quote_in_source();

CREATE FUNCTION refuse_rewritten_quote() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'evidence: a quote is not rewritten' USING ERRCODE = 'integrity_constraint_violation';
END $$;
CREATE TRIGGER a_quote_is_not_rewritten BEFORE UPDATE OF source_id, start_char, end_char, quote ON evidence
    FOR EACH ROW EXECUTE FUNCTION refuse_rewritten_quote();

CREATE FUNCTION require_evidence() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NOT EXISTS (SELECT 1 FROM evidence WHERE memory_id = NEW.id) THEN
        RAISE EXCEPTION 'evidence: an active memory needs a quote' USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER nothing_is_born_active_without_evidence BEFORE INSERT ON memories
    FOR EACH ROW WHEN (NEW.status = 'active') EXECUTE FUNCTION require_evidence();
CREATE TRIGGER nothing_becomes_active_without_evidence BEFORE UPDATE OF status ON memories
    FOR EACH ROW WHEN (NEW.status = 'active') EXECUTE FUNCTION require_evidence();

CREATE FUNCTION keep_last_evidence() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF (SELECT status FROM memories WHERE id = OLD.memory_id) = 'active'
       AND (SELECT count(*) FROM evidence WHERE memory_id = OLD.memory_id) = 1 THEN
        RAISE EXCEPTION 'evidence: an active memory keeps its last quote'
              USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    RETURN OLD;
END $$;
CREATE TRIGGER an_active_memory_keeps_its_last_evidence BEFORE DELETE ON evidence
    FOR EACH ROW EXECUTE FUNCTION keep_last_evidence();

CREATE FUNCTION require_link_target() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF (NEW.to_kind = 'memory' AND NOT EXISTS (SELECT 1 FROM memories WHERE id = NEW.to_id))
       OR (NEW.to_kind = 'project' AND NOT EXISTS (SELECT 1 FROM projects WHERE id = NEW.to_id)) THEN
        RAISE EXCEPTION 'the target of the link does not exist' USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER links_need_their_target BEFORE INSERT ON memory_links
    FOR EACH ROW EXECUTE FUNCTION require_link_target();

CREATE FUNCTION delete_links_to_memory() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM memory_links WHERE to_kind = 'memory' AND to_id = OLD.id;
    RETURN NULL;
END $$;
CREATE TRIGGER links_go_with_their_target AFTER DELETE ON memories
    FOR EACH ROW EXECUTE FUNCTION delete_links_to_memory();

CREATE FUNCTION require_agent_of_conversation() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.agent_id IS DISTINCT FROM (SELECT agent_id FROM conversations WHERE id = NEW.conversation_id) THEN
        RAISE EXCEPTION 'a message belongs to the agent of its conversation'
              USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER a_message_is_its_conversations_agents BEFORE INSERT ON messages
    FOR EACH ROW EXECUTE FUNCTION require_agent_of_conversation();

-- Sources with tool calls are read later. If words of a source are forgotten, they must not stay in a copy.
CREATE FUNCTION queue_source() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM tool_calls WHERE source_id = NEW.id;
    INSERT INTO unread_sources VALUES (NEW.id) ON CONFLICT DO NOTHING;
    RETURN NULL;
END $$;
CREATE TRIGGER queue_new_source AFTER INSERT ON sources
    FOR EACH ROW WHEN (strpos(NEW.metadata, '"tool"') > 0) EXECUTE FUNCTION queue_source();
CREATE TRIGGER queue_changed_source AFTER UPDATE OF content ON sources
    FOR EACH ROW WHEN (strpos(NEW.metadata, '"tool"') > 0) EXECUTE FUNCTION queue_source();
