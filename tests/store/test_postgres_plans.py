"""PostgreSQL reads little for the statements of a search: their plans in a store of some size."""

import json
import re
from collections.abc import Iterator

import psycopg
import pytest

from postgres_server import shared_server
from recollect.store import query_loader
from recollect.store.postgres.postgres_transactions import begin_read
from recollect.store.postgres.store import PostgresStore
from support import FakeClock

pytestmark = pytest.mark.postgres
ITEMS = 5_000
SCHEMA = "query_plans"
LARGE_TABLES = ("items", "memories", "messages", "embeddings", "terms", "postings")
FEW = json.dumps(list(range(1, 121)))
MEMORY_FILTERS = {
    "item_ids": FEW,
    "statuses": '["active"]',
    "types": '["decision"]',
    "since": -(1 << 62),
    "until": 1 << 62,
    "session_records": 0,
    "only_said": 1,
    "agent_projects": None,
    "agent_id": None,
    "tags": "[]",
    "any_tags": "[]",
}
# Rows of the right number and size; what they mean does not matter.
FILL = f"""
SET session_replication_role = replica;
INSERT INTO shelves (kind, scope, owner_id, items, words)
SELECT 'memory', 'project', 'p' || n, 50, 500 FROM generate_series(1, 100) n;
INSERT INTO models (name, dimension) VALUES ('m', 384);
UPDATE embedder SET serving = 1;
INSERT INTO items (shelf_id, id, words, embedded_by)
SELECT n % 100 + 1, 'memory-' || n, 10, 1 FROM generate_series(1, {ITEMS}) n;
INSERT INTO embeddings (seq, model_id, chunk, chunks, hash, vector)
SELECT n, 1, 0, 1, decode(md5(CAST(n AS text)), 'hex'), decode(repeat('00', 768), 'hex')
  FROM generate_series(1, {ITEMS}) n;
INSERT INTO terms (shelf_id, term, items)
SELECT s, 'word-' || w, 5 FROM generate_series(1, 100) s, generate_series(1, 300) w;
INSERT INTO postings (term_id, seq, times, words)
SELECT (n * 37 + w * 101) % 30000 + 1, n, 1, 10
  FROM generate_series(1, {ITEMS}) n, generate_series(1, 10) w
ON CONFLICT DO NOTHING;
INSERT INTO memories (id, type, scope, status, content, fingerprint, source_kind, observed_at,
                      confirmed_at, created_at, updated_at, project_id)
SELECT 'memory-' || n, 'decision', 'project', 'active', 'The zebra sleeps.', 'f' || n, 'manual',
       n, n, n, n, 'p' || (n % 100 + 1)
  FROM generate_series(1, {ITEMS}) n;
ANALYZE;
"""


@pytest.fixture(scope="module")
def database() -> Iterator["psycopg.Connection[tuple[str]]"]:
    """A connection in a read of a store with some thousand memories."""
    address = shared_server().address(SCHEMA)
    PostgresStore(address, FakeClock()).close()
    with psycopg.connect(address.conninfo, autocommit=True) as db:
        db.execute(f"SET search_path TO {SCHEMA}")
        db.execute(FILL)
        db.execute("RESET ALL")
        db.execute(begin_read(address))
        yield db
        db.execute("ROLLBACK")
        db.execute(f"DROP SCHEMA {SCHEMA} CASCADE")


def tables_read_completely(
    db: "psycopg.Connection[tuple[str]]", statement: str, **values: object
) -> set[str]:
    """Return the large tables that a statement reads whole, with the plan made for any values."""
    file, _, name = statement.partition(".")
    names: list[str] = []

    def number(match: re.Match[str]) -> str:
        if match[1] not in names:
            names.append(match[1])
        return f"${names.index(match[1]) + 1}"

    sql = re.sub(r"(?<!:):([a-z_][a-z0-9_]*)", number, query_loader.load("postgres", file)[name])
    types = ["bigint" if isinstance(values[name], int) else "text" for name in names]
    db.execute("SET LOCAL plan_cache_mode = force_generic_plan")
    declared = f" ({', '.join(types)})" if types else ""
    db.execute(f"PREPARE asked{declared} AS {sql}")
    literals = [psycopg.sql.Literal(values[name]).as_string(db) for name in names]
    passed = f" ({', '.join(literals)})" if literals else ""
    lines = [row[0] for row in db.execute(f"EXPLAIN (ANALYZE) EXECUTE asked{passed}").fetchall()]
    db.execute("DEALLOCATE asked")
    read = [re.search(r"(\w+ Scan).* on (\w+)(?: \w+)?  .* rows=(\d+)\D", line) for line in lines]
    return {
        match[2]
        for match in read
        if match is not None and match[2] in LARGE_TABLES and int(match[3]) >= ITEMS
    } | {
        match[2]
        for match in read
        if match is not None and match[1] == "Seq Scan" and match[2] in LARGE_TABLES
        if "never executed" not in match.string
    }


@pytest.mark.parametrize(
    ("statement", "values"),
    [
        ("search_index.memory_records", MEMORY_FILTERS),
        ("search_index.memory_preceding", {"item_ids": FEW}),
        ("search_index.text_records", {"item_ids": FEW, "ids": None}),
        ("embeddings.query_state", {}),
        ("word_index.find_terms_anywhere", {"words": '["word-1", "word-2", "word-3"]'}),
        ("word_index.postings_of_terms", {"term_ids": FEW}),
        ("vector_index.first_chunks", {"item_ids": FEW, "model_id": 1}),
        ("vector_index.since", {"id": ITEMS - 10, "model_id": 1}),
    ],
)
def test_a_search_reads_no_table_completely(
    database: "psycopg.Connection[tuple[str]]", statement: str, values: dict[str, object]
) -> None:
    assert tables_read_completely(database, statement, **values) == set()
