-- The ground: the tables of the whole product.
--
-- Conventions. Ids are UUIDv7 text. Times are integer microseconds since 1970, UTC, in columns that
-- end in _at. JSON columns are text. Tables are STRICT. Rows are canonical; the tables under
-- "derived" can be rebuilt from them at any time (see health.py).

-- ── where work happens ──────────────────────────────────────────────────────────────────────────

CREATE TABLE projects (
    id         TEXT PRIMARY KEY NOT NULL,
    name       TEXT NOT NULL UNIQUE,
    created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE repos (
    id         TEXT PRIMARY KEY NOT NULL,
    project_id TEXT NOT NULL REFERENCES projects(id) ON DELETE CASCADE,
    name       TEXT NOT NULL,
    remote     TEXT NOT NULL DEFAULT '',   -- host/owner/name, lower case; '' when there is none
    root       TEXT NOT NULL DEFAULT '',   -- where it was last seen on this machine
    created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX repos_by_remote ON repos(remote) WHERE remote <> '';
CREATE INDEX repos_by_root ON repos(root);
CREATE UNIQUE INDEX repos_by_name ON repos(project_id, name);

-- ── agents and their blocks ─────────────────────────────────────────────────────────────────────

CREATE TABLE agents (
    id            TEXT PRIMARY KEY NOT NULL,
    name          TEXT NOT NULL UNIQUE,
    description   TEXT NOT NULL DEFAULT '',
    model         TEXT NOT NULL DEFAULT '',
    system_prompt TEXT NOT NULL DEFAULT '',
    pinned        TEXT NOT NULL DEFAULT '' CHECK (pinned IN ('', 'local', 'global')),
    metadata      TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(metadata)),
    created_at    INTEGER NOT NULL,
    updated_at    INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE blocks (
    id          TEXT PRIMARY KEY NOT NULL,
    label       TEXT NOT NULL,
    description TEXT NOT NULL DEFAULT '',
    value       TEXT NOT NULL DEFAULT '',
    char_limit  INTEGER CHECK (char_limit IS NULL OR char_limit > 0),
    read_only   INTEGER NOT NULL DEFAULT 0 CHECK (read_only IN (0, 1)),
    hidden      INTEGER NOT NULL DEFAULT 0 CHECK (hidden IN (0, 1)),
    scope       TEXT NOT NULL CHECK (scope IN ('global', 'project', 'agent', 'session')),
    owner_id    TEXT NOT NULL DEFAULT '',  -- project, agent or session id; '' for global
    version     INTEGER NOT NULL DEFAULT 1,
    metadata    TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(metadata)),
    created_at  INTEGER NOT NULL,
    updated_at  INTEGER NOT NULL,
    CHECK ((scope = 'global') = (owner_id = '')),
    CHECK (char_limit IS NULL OR length(value) <= char_limit)
) STRICT, WITHOUT ROWID;
CREATE INDEX blocks_by_owner ON blocks(scope, owner_id, label);

CREATE TABLE agent_blocks (  -- a shared block is attached to many agents; one label per agent
    agent_id TEXT NOT NULL REFERENCES agents(id) ON DELETE CASCADE,
    block_id TEXT NOT NULL REFERENCES blocks(id) ON DELETE CASCADE,
    label    TEXT NOT NULL,
    position INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (agent_id, block_id),
    UNIQUE (agent_id, label)
) STRICT, WITHOUT ROWID;
CREATE INDEX agent_blocks_by_block ON agent_blocks(block_id);

CREATE TABLE block_history (
    block_id   TEXT NOT NULL REFERENCES blocks(id) ON DELETE CASCADE,
    version    INTEGER NOT NULL,
    value      TEXT NOT NULL,
    changed_by TEXT NOT NULL CHECK (changed_by IN ('user', 'agent', 'system')),
    reason     TEXT NOT NULL DEFAULT '',
    changed_at INTEGER NOT NULL,
    PRIMARY KEY (block_id, version)
) STRICT, WITHOUT ROWID;

-- ── what was said ───────────────────────────────────────────────────────────────────────────────

CREATE TABLE conversations (
    id         TEXT PRIMARY KEY NOT NULL,
    agent_id   TEXT REFERENCES agents(id) ON DELETE CASCADE,
    project_id TEXT REFERENCES projects(id) ON DELETE SET NULL,
    repo_id    TEXT REFERENCES repos(id) ON DELETE SET NULL,
    title      TEXT NOT NULL DEFAULT '',
    metadata   TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(metadata)),
    started_at INTEGER NOT NULL,
    ended_at   INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX conversations_by_agent ON conversations(agent_id, started_at);
CREATE INDEX conversations_by_project ON conversations(project_id, started_at);

CREATE TABLE summaries (
    id              TEXT PRIMARY KEY NOT NULL,
    conversation_id TEXT NOT NULL REFERENCES conversations(id) ON DELETE CASCADE,
    mode            TEXT NOT NULL CHECK (mode IN ('all', 'sliding_window')),
    content         TEXT NOT NULL,
    first_position  INTEGER NOT NULL,
    last_position   INTEGER NOT NULL,
    tokens          INTEGER NOT NULL DEFAULT 0,
    made_by         TEXT NOT NULL DEFAULT '',
    created_at      INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX summaries_by_conversation ON summaries(conversation_id, last_position);

CREATE TABLE messages (
    id              TEXT PRIMARY KEY NOT NULL,
    conversation_id TEXT NOT NULL REFERENCES conversations(id) ON DELETE CASCADE,
    position        INTEGER NOT NULL,
    role            TEXT NOT NULL CHECK (role IN ('system', 'developer', 'user', 'assistant', 'tool')),
    content         TEXT NOT NULL,           -- the plain text, which is searched
    parts           TEXT CHECK (parts IS NULL OR json_valid(parts)),  -- the original, if multi-part
    tool_calls      TEXT CHECK (tool_calls IS NULL OR json_valid(tool_calls)),
    tool_call_id    TEXT NOT NULL DEFAULT '',
    name            TEXT NOT NULL DEFAULT '',
    tokens          INTEGER NOT NULL DEFAULT 0,
    pinned          INTEGER NOT NULL DEFAULT 0 CHECK (pinned IN (0, 1)),
    summary_id      TEXT REFERENCES summaries(id) ON DELETE SET NULL,  -- set once compacted away
    metadata        TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(metadata)),
    created_at      INTEGER NOT NULL,
    UNIQUE (conversation_id, position)
) STRICT, WITHOUT ROWID;
CREATE INDEX messages_by_time ON messages(conversation_id, created_at);

CREATE TABLE pins (
    id              TEXT PRIMARY KEY NOT NULL,
    conversation_id TEXT NOT NULL REFERENCES conversations(id) ON DELETE CASCADE,
    kind            TEXT NOT NULL,
    content         TEXT NOT NULL,
    active          INTEGER NOT NULL DEFAULT 1 CHECK (active IN (0, 1)),
    pinned_at       INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX pins_by_conversation ON pins(conversation_id);

-- ── raw material and its way through the pipeline ───────────────────────────────────────────────

CREATE TABLE sources (
    id          TEXT PRIMARY KEY NOT NULL,
    kind        TEXT NOT NULL CHECK (kind IN ('manual', 'conversation', 'run', 'document', 'import')),
    content     TEXT NOT NULL,
    sha256      TEXT NOT NULL,
    uri         TEXT NOT NULL DEFAULT '',
    title       TEXT NOT NULL DEFAULT '',
    redactions  TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(redactions)),
    metadata    TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(metadata)),
    captured_at INTEGER NOT NULL,
    observed_at INTEGER NOT NULL,
    UNIQUE (sha256, kind)                    -- content-addressed: the same material is stored once
) STRICT, WITHOUT ROWID;

-- A source never changes. The one exception is `forget`, which blanks the forgotten span with
-- characters of its own (U+2588) and keeps the length, so other quotes still stand.
CREATE TRIGGER sources_are_immutable BEFORE UPDATE ON sources
WHEN NEW.id IS NOT OLD.id OR NEW.kind IS NOT OLD.kind
     OR NEW.captured_at IS NOT OLD.captured_at OR NEW.observed_at IS NOT OLD.observed_at
     OR length(NEW.content) <> length(OLD.content)
     OR (NEW.content IS NOT OLD.content AND instr(NEW.content, char(9608)) = 0)
BEGIN
    SELECT RAISE(ABORT, 'a source is immutable');
END;

CREATE TABLE ingestion_events (
    id         TEXT PRIMARY KEY NOT NULL,
    "trigger"  TEXT NOT NULL CHECK ("trigger" IN ('manual', 'session', 'conversation', 'maintenance')),
    source_id  TEXT REFERENCES sources(id) ON DELETE SET NULL,
    scope      TEXT NOT NULL CHECK (scope IN ('global', 'project', 'repo', 'agent', 'session')),
    owner_id   TEXT NOT NULL DEFAULT '',
    state      TEXT NOT NULL CHECK (state IN ('captured', 'working', 'done', 'failed')),
    outcome    TEXT NOT NULL DEFAULT '',
    retries    INTEGER NOT NULL DEFAULT 0,
    error      TEXT NOT NULL DEFAULT '',
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX ingestion_events_by_source ON ingestion_events(source_id);
CREATE INDEX ingestion_events_open ON ingestion_events(state, created_at) WHERE state <> 'done';

CREATE TABLE jobs (
    id          TEXT PRIMARY KEY NOT NULL,
    event_id    TEXT REFERENCES ingestion_events(id) ON DELETE CASCADE,
    kind        TEXT NOT NULL,
    subject_id  TEXT NOT NULL DEFAULT '',
    payload     TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(payload)),
    state       TEXT NOT NULL CHECK (state IN ('todo', 'doing', 'done', 'parked')),
    attempts    INTEGER NOT NULL DEFAULT 0,
    run_at      INTEGER NOT NULL,
    lease_until INTEGER,
    worker      TEXT NOT NULL DEFAULT '',
    error       TEXT NOT NULL DEFAULT '',
    created_at  INTEGER NOT NULL,
    updated_at  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX jobs_ripe ON jobs(state, run_at) WHERE state IN ('todo', 'doing');
CREATE INDEX jobs_by_event ON jobs(event_id);

-- ── memories ────────────────────────────────────────────────────────────────────────────────────

CREATE TABLE memories (
    id           TEXT PRIMARY KEY NOT NULL,
    type         TEXT NOT NULL CHECK (type IN ('profile', 'project', 'decision', 'artifact', 'episode', 'task_hint')),
    scope        TEXT NOT NULL CHECK (scope IN ('global', 'project', 'repo', 'agent', 'session')),
    status       TEXT NOT NULL CHECK (status IN ('inbox', 'active', 'superseded', 'contradicted', 'archived')),
    project_id   TEXT REFERENCES projects(id) ON DELETE CASCADE,
    repo_id      TEXT REFERENCES repos(id) ON DELETE CASCADE,
    agent_id     TEXT REFERENCES agents(id) ON DELETE CASCADE,
    session_id   TEXT,                       -- a conversation, or a session another program named
    source_kind  TEXT NOT NULL CHECK (source_kind IN ('manual', 'conversation', 'run', 'document', 'import')),
    "key"        TEXT NOT NULL DEFAULT '',   -- the name of a profile fact, '' for others
    title        TEXT NOT NULL DEFAULT '',
    content      TEXT NOT NULL CHECK (content <> ''),
    summary      TEXT NOT NULL DEFAULT '',
    rationale    TEXT NOT NULL DEFAULT '',
    alternatives TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(alternatives)),
    confidence   REAL NOT NULL DEFAULT 1.0 CHECK (confidence BETWEEN 0.0 AND 1.0),
    fingerprint  TEXT NOT NULL,              -- the same for texts that differ only in form
    redactions   TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(redactions)),
    metadata     TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(metadata)),
    observed_at  INTEGER NOT NULL,
    confirmed_at INTEGER NOT NULL,
    created_at   INTEGER NOT NULL,
    updated_at   INTEGER NOT NULL,
    owner_id     TEXT GENERATED ALWAYS AS (coalesce(
        CASE scope WHEN 'project' THEN project_id WHEN 'repo' THEN repo_id
                   WHEN 'agent' THEN agent_id WHEN 'session' THEN session_id END, '')) VIRTUAL,
    CHECK (scope <> 'project' OR project_id IS NOT NULL),
    CHECK (scope <> 'repo' OR repo_id IS NOT NULL),
    CHECK (scope <> 'agent' OR agent_id IS NOT NULL),
    CHECK (scope <> 'session' OR session_id IS NOT NULL)
) STRICT, WITHOUT ROWID;
CREATE INDEX memories_by_owner ON memories(scope, owner_id, type, status, observed_at);
CREATE INDEX memories_by_status ON memories(status, observed_at);
CREATE INDEX memories_by_fingerprint ON memories(fingerprint);
CREATE INDEX memories_by_agent ON memories(agent_id) WHERE agent_id IS NOT NULL;
CREATE INDEX memories_by_repo ON memories(repo_id) WHERE repo_id IS NOT NULL;
CREATE UNIQUE INDEX one_active_fact_per_key ON memories("key", scope, owner_id)
    WHERE "key" <> '' AND status = 'active';

CREATE TABLE memory_tags (
    memory_id TEXT NOT NULL REFERENCES memories(id) ON DELETE CASCADE,
    tag       TEXT NOT NULL,
    PRIMARY KEY (memory_id, tag)
) STRICT, WITHOUT ROWID;
CREATE INDEX memory_tags_by_tag ON memory_tags(tag);

CREATE TABLE memory_changes (
    id        TEXT NOT NULL,
    memory_id TEXT NOT NULL REFERENCES memories(id) ON DELETE CASCADE,
    before    TEXT,
    after     TEXT NOT NULL,
    "by"      TEXT NOT NULL DEFAULT '',
    reason    TEXT NOT NULL DEFAULT '',
    at        INTEGER NOT NULL,
    PRIMARY KEY (memory_id, id)              -- ids grow with time: this is also their order
) STRICT, WITHOUT ROWID;

CREATE TABLE memory_links (
    id         TEXT PRIMARY KEY NOT NULL,
    from_id    TEXT NOT NULL REFERENCES memories(id) ON DELETE CASCADE,
    relation   TEXT NOT NULL CHECK (relation IN ('supports', 'contradicts', 'supersedes', 'applies_to', 'derived_from', 'related_to')),
    to_kind    TEXT NOT NULL CHECK (to_kind IN ('memory', 'project')),
    to_id      TEXT NOT NULL,
    note       TEXT NOT NULL DEFAULT '',
    -- The projects of both ends, which never change: a link between two is found without a scan.
    from_project_id TEXT REFERENCES projects(id) ON DELETE CASCADE,
    to_project_id   TEXT REFERENCES projects(id) ON DELETE CASCADE,
    created_at INTEGER NOT NULL,
    UNIQUE (from_id, relation, to_kind, to_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX memory_links_by_target ON memory_links(to_id, relation);
CREATE INDEX memory_links_out_of ON memory_links(from_project_id) WHERE from_project_id <> to_project_id;
CREATE INDEX memory_links_into ON memory_links(to_project_id) WHERE from_project_id <> to_project_id;
CREATE TRIGGER links_go_with_their_target AFTER DELETE ON memories BEGIN
    DELETE FROM memory_links WHERE to_kind = 'memory' AND to_id = OLD.id;
END;
CREATE TRIGGER links_need_their_target BEFORE INSERT ON memory_links
WHEN (NEW.to_kind = 'memory' AND NOT EXISTS (SELECT 1 FROM memories WHERE id = NEW.to_id))
  OR (NEW.to_kind = 'project' AND NOT EXISTS (SELECT 1 FROM projects WHERE id = NEW.to_id))
BEGIN
    SELECT RAISE(ABORT, 'the target of the link does not exist');
END;

-- Evidence is written before its memory (the foreign key is checked at commit), so that a memory
-- can be born active and still never be active without evidence.
CREATE TABLE evidence (
    id          TEXT NOT NULL,
    memory_id   TEXT NOT NULL REFERENCES memories(id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED,
    source_id   TEXT NOT NULL REFERENCES sources(id),
    start_char  INTEGER NOT NULL CHECK (start_char >= 0),
    end_char    INTEGER NOT NULL CHECK (end_char > start_char),
    quote       TEXT NOT NULL,
    created_at  INTEGER NOT NULL,
    PRIMARY KEY (memory_id, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX evidence_by_source ON evidence(source_id);

CREATE TRIGGER a_quote_stands_in_its_source BEFORE INSERT ON evidence
WHEN NEW.quote IS NOT (SELECT substr(content, NEW.start_char + 1, NEW.end_char - NEW.start_char)
                         FROM sources WHERE id = NEW.source_id)
BEGIN
    SELECT RAISE(ABORT, 'evidence: the quote is not found verbatim in its source');
END;
CREATE TRIGGER a_quote_is_not_rewritten BEFORE UPDATE OF source_id, start_char, end_char, quote ON evidence
BEGIN
    SELECT RAISE(ABORT, 'evidence: a quote is not rewritten');
END;
CREATE TRIGGER nothing_is_born_active_without_evidence BEFORE INSERT ON memories
WHEN NEW.status = 'active' AND NOT EXISTS (SELECT 1 FROM evidence WHERE memory_id = NEW.id)
BEGIN
    SELECT RAISE(ABORT, 'evidence: an active memory needs a quote');
END;
CREATE TRIGGER nothing_becomes_active_without_evidence BEFORE UPDATE OF status ON memories
WHEN NEW.status = 'active' AND NOT EXISTS (SELECT 1 FROM evidence WHERE memory_id = NEW.id)
BEGIN
    SELECT RAISE(ABORT, 'evidence: an active memory needs a quote');
END;
CREATE TRIGGER an_active_memory_keeps_its_last_evidence BEFORE DELETE ON evidence
WHEN (SELECT status FROM memories WHERE id = OLD.memory_id) = 'active'
     AND (SELECT count(*) FROM evidence WHERE memory_id = OLD.memory_id) = 1
BEGIN
    SELECT RAISE(ABORT, 'evidence: an active memory keeps its last quote');
END;

-- ── what was asked ──────────────────────────────────────────────────────────────────────────────

CREATE TABLE retrievals (
    id       TEXT PRIMARY KEY NOT NULL,
    verb     TEXT NOT NULL,
    query    TEXT NOT NULL,
    asking   TEXT NOT NULL CHECK (json_valid(asking)),
    notes    TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(notes)),
    asked_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX retrievals_by_time ON retrievals(asked_at);

CREATE TABLE retrieval_hits (
    retrieval_id TEXT NOT NULL REFERENCES retrievals(id) ON DELETE CASCADE,
    rank         INTEGER NOT NULL,
    memory_id    TEXT NOT NULL REFERENCES memories(id) ON DELETE CASCADE,
    score        REAL NOT NULL,
    parts        TEXT NOT NULL CHECK (json_valid(parts)),
    explanation  TEXT NOT NULL DEFAULT '',
    outcome      TEXT NOT NULL,
    PRIMARY KEY (retrieval_id, rank)
) STRICT, WITHOUT ROWID;
CREATE INDEX retrieval_hits_by_memory ON retrieval_hits(memory_id);

CREATE TABLE views (
    name       TEXT PRIMARY KEY NOT NULL,
    query      TEXT NOT NULL,
    asking     TEXT NOT NULL CHECK (json_valid(asking)),
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- ── skills and files ────────────────────────────────────────────────────────────────────────────

CREATE TABLE skills (
    id          TEXT PRIMARY KEY NOT NULL,
    name        TEXT NOT NULL,
    description TEXT NOT NULL DEFAULT '',
    origin      TEXT NOT NULL CHECK (origin IN ('bundled', 'global', 'project', 'learnt')),
    project_id  TEXT REFERENCES projects(id) ON DELETE CASCADE,
    path        TEXT NOT NULL DEFAULT '',
    content     TEXT NOT NULL,
    sha256      TEXT NOT NULL,
    metadata    TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(metadata)),
    created_at  INTEGER NOT NULL,
    updated_at  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX skills_by_name ON skills(name, origin, coalesce(project_id, ''));

CREATE TABLE agent_skills (
    agent_id  TEXT NOT NULL REFERENCES agents(id) ON DELETE CASCADE,
    skill_id  TEXT NOT NULL REFERENCES skills(id) ON DELETE CASCADE,
    loaded_at INTEGER NOT NULL,
    PRIMARY KEY (agent_id, skill_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE files (
    id          TEXT PRIMARY KEY NOT NULL,
    project_id  TEXT REFERENCES projects(id) ON DELETE CASCADE,
    path        TEXT NOT NULL,
    content     TEXT NOT NULL,
    sha256      TEXT NOT NULL,
    created_at  INTEGER NOT NULL,
    updated_at  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX files_by_path ON files(coalesce(project_id, ''), path);

CREATE TABLE agent_files (
    agent_id         TEXT NOT NULL REFERENCES agents(id) ON DELETE CASCADE,
    file_id          TEXT NOT NULL REFERENCES files(id) ON DELETE CASCADE,
    is_open          INTEGER NOT NULL DEFAULT 1 CHECK (is_open IN (0, 1)),
    first_line       INTEGER NOT NULL DEFAULT 0,
    last_line        INTEGER,
    last_accessed_at INTEGER NOT NULL,
    PRIMARY KEY (agent_id, file_id)
) STRICT, WITHOUT ROWID;

-- ── derived: what makes things findable ─────────────────────────────────────────────────────────

-- A shelf is one kind of item of one owner: the unit a request may see or not. Word statistics are
-- kept per shelf, so that a rare word of one project is rare there whatever other projects say.
CREATE TABLE shelves (
    id       INTEGER PRIMARY KEY,
    kind     TEXT NOT NULL CHECK (kind IN ('memory', 'message', 'block', 'file')),
    scope    TEXT NOT NULL CHECK (scope IN ('global', 'project', 'repo', 'agent', 'session')),
    owner_id TEXT NOT NULL,
    items    INTEGER NOT NULL DEFAULT 0,
    words    INTEGER NOT NULL DEFAULT 0,     -- total length, for the mean
    UNIQUE (kind, scope, owner_id)
) STRICT;

-- Every findable thing, with the integer by which indexes know it. AUTOINCREMENT: a number is never
-- used twice, so an index entry can go stale but never wrong.
CREATE TABLE items (
    seq         INTEGER PRIMARY KEY AUTOINCREMENT,
    shelf_id    INTEGER NOT NULL REFERENCES shelves(id),
    id          TEXT NOT NULL UNIQUE,
    words       INTEGER NOT NULL DEFAULT 0,
    embedded_by INTEGER REFERENCES models(id)  -- NULL: waits to be embedded
) STRICT;
CREATE INDEX items_by_shelf ON items(shelf_id, seq);
CREATE INDEX items_by_model ON items(embedded_by, seq);

CREATE TABLE terms (
    id       INTEGER PRIMARY KEY,
    shelf_id INTEGER NOT NULL REFERENCES shelves(id),
    term     TEXT NOT NULL,
    items    INTEGER NOT NULL,               -- in how many items of the shelf it occurs
    UNIQUE (term, shelf_id)
) STRICT;

CREATE TABLE postings (
    term_id INTEGER NOT NULL,
    seq     INTEGER NOT NULL,
    times   INTEGER NOT NULL,
    words   INTEGER NOT NULL,                -- length of the item, repeated here to spare a join
    PRIMARY KEY (term_id, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE models (
    id        INTEGER PRIMARY KEY,
    name      TEXT NOT NULL,                 -- names weights, pooling and prefix: what makes vectors comparable
    dimension INTEGER NOT NULL,
    UNIQUE (name, dimension)
) STRICT;

CREATE TABLE embeddings (
    id       INTEGER PRIMARY KEY AUTOINCREMENT,  -- only grows: a cache reads from its last one on
    seq      INTEGER NOT NULL REFERENCES items(seq) ON DELETE CASCADE,
    model_id INTEGER NOT NULL REFERENCES models(id),
    chunk    INTEGER NOT NULL,
    chunks   INTEGER NOT NULL,               -- in how many pieces the item was embedded
    hash     BLOB NOT NULL,                  -- of the embedded text: the same text is embedded once
    vector   BLOB NOT NULL,                  -- half-precision, little-endian, unit length
    UNIQUE (seq, model_id, chunk)
) STRICT;
CREATE INDEX embeddings_by_hash ON embeddings(model_id, hash);
