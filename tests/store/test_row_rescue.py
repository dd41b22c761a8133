"""Damaged rows: corrected if something proves what they were, otherwise adapted or lost."""

from collections.abc import Iterator
from typing import Any

import apsw
import pytest

from recollect.store.sqlite.btree_reader import RawRow
from recollect.store.sqlite.migrate import known_migrations
from recollect.store.sqlite.placeholder_rows import BLANK, PlaceholderRows
from recollect.store.sqlite.row_rescue import RowInserter, decode_row, make_valid
from recollect.store.sqlite.table_layout import empty_store_bytes, table_layouts
from recollect.text.fingerprint import fingerprint, sha256_hex

NEWEST = known_migrations()[-1].number
NOW = 1_700_000_000_000_000
TEXT = "The staging server is called heron."


@pytest.fixture
def db() -> Iterator[apsw.Connection]:
    """Return an empty store of the newest schema."""
    connection = apsw.Connection(":memory:")
    connection.deserialize("main", empty_store_bytes(NEWEST))
    connection.execute("PRAGMA foreign_keys = ON")
    yield connection
    connection.close()


def source(**other: Any) -> dict[str, Any]:
    row = {"id": "s1", "kind": "manual", "content": TEXT, "sha256": sha256_hex(TEXT)}
    return row | {"captured_at": NOW, "observed_at": NOW} | other


def memory(**other: Any) -> dict[str, Any]:
    row = {"id": "m1", "type": "profile", "scope": "global", "status": "inbox", "content": TEXT}
    times = dict.fromkeys(("observed_at", "confirmed_at", "created_at", "updated_at"), NOW)
    filled = {"source_kind": "manual", "fingerprint": fingerprint(TEXT), "alternatives": "[]"}
    return row | filled | times | other


def evidence(**other: Any) -> dict[str, Any]:
    row = {"id": "e1", "memory_id": "m1", "source_id": "s1", "quote": TEXT, "created_at": NOW}
    return row | {"start_char": 0, "end_char": len(TEXT)} | other


def flip(text: str, at: int, bit: int = 1) -> str:
    return text[:at] + chr(ord(text[at]) ^ 1 << bit) + text[at + 1 :]


def test_a_record_that_is_cut_or_not_text_says_so() -> None:
    layout = table_layouts(NEWEST)["projects"]
    stored = {"id": b"p1", "name": b"\xff\xfe"}
    values = tuple(stored.get(column) for column in layout.columns)
    raw = RawRow(rowid=1, values=values, page=2, is_cut=True)

    row, changes = decode_row(layout, raw)

    assert row["id"] == "p1"
    assert row["name"] == "��"
    assert changes == ["a part of it is lost", "name is damaged text"]


def test_content_with_one_flipped_bit_is_corrected_by_its_hash() -> None:
    row, changes = make_valid("sources", source(content=flip(TEXT, 5)), [])

    assert (row["content"], changes) == (TEXT, [])


def test_content_that_is_not_even_text_is_corrected_by_its_hash() -> None:
    damaged = bytearray(TEXT.encode())
    damaged[3] ^= 0x80

    row, changes = make_valid(
        "sources", source(content=bytes(damaged)), ["content is damaged text"]
    )

    assert (row["content"], changes) == (TEXT, [])


def test_a_damaged_hash_is_made_again() -> None:
    digest = sha256_hex(TEXT)

    row, changes = make_valid("sources", source(sha256=flip(digest, 9)), [])

    assert (row["sha256"], changes) == (digest, [])


@pytest.mark.parametrize("digest", [sha256_hex("another text"), "not a hash"])
def test_content_that_no_flipped_bit_explains_is_kept_and_reported(digest: str) -> None:
    row, changes = make_valid("sources", source(sha256=digest), [])

    assert row["content"] == TEXT
    assert row["sha256"] == sha256_hex(TEXT)
    assert changes == ["content does not match its hash"]


def test_a_memory_with_a_flipped_bit_is_corrected_by_its_quote() -> None:
    row, changes = make_valid("memories", memory(content=flip(TEXT, 6)), [], quotes=[TEXT])

    assert (row["content"], changes) == (TEXT, [])


def test_a_damaged_fingerprint_is_made_again() -> None:
    damaged = memory(fingerprint=flip(fingerprint(TEXT), 2))

    row, changes = make_valid("memories", damaged, [])

    assert (row["fingerprint"], changes) == (fingerprint(TEXT), [])


def test_a_memory_that_no_quote_explains_is_kept_and_reported() -> None:
    other = "Deployments run on Thursday."

    row, changes = make_valid("memories", memory(content=other), [], quotes=[TEXT])

    assert (row["content"], row["fingerprint"]) == (other, fingerprint(other))
    assert changes == ["content may be damaged: it does not match its fingerprint"]


def test_unreadable_json_and_impossible_times_are_replaced() -> None:
    damaged = memory(metadata="{", alternatives="5", observed_at=2**62)

    row, changes = make_valid("memories", damaged, [])

    assert (row["metadata"], row["alternatives"], row["observed_at"]) == ("{}", "[]", NOW)
    assert sorted(changes) == [
        "alternatives was not readable",
        "metadata was not readable",
        "observed_at was not a time",
    ]


def test_a_quote_with_other_words_is_taken_from_its_source_again(db: apsw.Connection) -> None:
    db.execute("BEGIN")
    inserter = RowInserter(db)
    db.execute("PRAGMA defer_foreign_keys = ON")
    inserter.insert("sources", source())

    change = inserter.insert("evidence", evidence(quote=flip(TEXT, 2)))
    lost = inserter.insert("evidence", evidence(id="e2", source_id="missing"))

    assert change == "the quote was taken from its source again"
    assert db.execute("SELECT quote FROM evidence").get == TEXT
    assert lost is None
    db.execute("ROLLBACK")


def test_an_active_memory_whose_evidence_is_lost_goes_back_to_the_inbox(
    db: apsw.Connection,
) -> None:
    change = RowInserter(db).insert("memories", memory(status="active"))

    assert change == "its evidence is lost: back to the inbox"
    assert db.execute("SELECT status FROM memories").get == "inbox"


def test_a_second_active_fact_of_one_name_is_marked_as_contradicted(db: apsw.Connection) -> None:
    db.execute("BEGIN")
    db.execute("PRAGMA defer_foreign_keys = ON")
    inserter = RowInserter(db)
    assert inserter.insert("sources", source()) == ""
    for number in (1, 2):
        quote = evidence(id=f"e{number}", memory_id=f"m{number}")
        assert inserter.insert("evidence", quote) == ""

    first = inserter.insert("memories", memory(id="m1", status="active", key="server"))
    second = inserter.insert("memories", memory(id="m2", status="active", key="server"))

    assert (first, second) == ("", "there is another active fact of that name")
    assert db.execute("SELECT status FROM memories WHERE id = 'm2'").get == "contradicted"
    db.execute("ROLLBACK")


def test_a_value_that_a_rule_refuses_is_corrected_if_one_bit_explains_it(
    db: apsw.Connection,
) -> None:
    inserter = RowInserter(db)
    db.execute("BEGIN")
    damaged = memory(id="m2", status=flip("inbox", 0, bit=3))

    assert inserter.insert("memories", damaged) == f"status was {flip('inbox', 0, bit=3)!r}"
    assert inserter.insert("memories", memory(id="m3", status="nonsense")) is None
    assert inserter.insert("memories", memory(id="m4", observed_at=2**70)) is None
    assert inserter.insert("memories", memory(id="m5", no_such_column=1)) is None
    db.execute("ROLLBACK")


def message(**other: Any) -> dict[str, Any]:
    row = {"id": "x1", "conversation_id": "c1", "agent_id": "a1", "position": 1, "role": "user"}
    return row | {"content": "hello", "tokens": 1, "created_at": NOW} | other


def test_a_message_moves_to_the_agent_of_its_conversation_and_to_a_free_position(
    db: apsw.Connection,
) -> None:
    inserter = RowInserter(db)
    for agent in ("a1", "a2"):
        times = {"created_at": NOW, "updated_at": NOW}
        assert inserter.insert("agents", {"id": agent, "name": agent, **times}) == ""
    inserter.insert("conversations", {"id": "c1", "agent_id": "a1", "title": "", "started_at": NOW})
    assert inserter.insert("messages", message()) == ""

    other_agent = inserter.insert("messages", message(id="x2", agent_id="a2", position=2))
    same_place = inserter.insert("messages", message(id="x3", position=1))

    assert other_agent == "its agent is that of its conversation"
    assert same_place == "its position was in use: moved to the end"
    rows = list(db.execute("SELECT id, agent_id, position FROM messages ORDER BY position"))
    assert rows == [("x1", "a1", 1), ("x2", "a1", 2), ("x3", "a1", 3)]


ROWS: dict[str, list[dict[str, Any]]] = {
    "shelves": [
        {"id": 1, "scope": "project", "owner_id": "p1"},
        {"id": 2, "scope": "agent", "owner_id": "a1"},
        {"id": 3, "scope": "global", "owner_id": ""},
    ],
    "items": [
        {"id": "m1", "shelf_id": 1},
        {"id": "m2", "shelf_id": 3},
        {"id": "b1", "shelf_id": 2},
        {"id": "m9", "shelf_id": 77},
    ],
    "evidence": [
        evidence(quote="heron", start_char=3),
        evidence(id="e2", memory_id="m2", source_id="s2", quote="owl"),
        evidence(id="e9", memory_id="m9", quote="jay", start_char=10),
    ],
    "block_history": [
        {"block_id": "b1", "version": 1, "value": "old", "changed_at": NOW},
        {"block_id": "b1", "version": 2, "value": "new", "changed_at": NOW + 1},
        {"block_id": "b2", "version": 1, "value": "lone", "changed_at": NOW},
    ],
    "agent_blocks": [{"block_id": "b1", "agent_id": "a1", "label": "persona"}],
}


@pytest.fixture
def placeholders() -> PlaceholderRows:
    return PlaceholderRows(lambda table: ROWS[table], NOW)


def test_a_lost_source_has_its_quotes_at_their_places(placeholders: PlaceholderRows) -> None:
    row = placeholders.make("sources", "s1", {})

    assert row is not None
    assert row["content"] == f"{BLANK * 3}heron{BLANK * 2}jay"
    assert row["sha256"] == sha256_hex(row["content"])
    assert placeholders.make("sources", "unknown", {}) is None


def test_a_lost_memory_is_a_candidate_with_its_quote(placeholders: PlaceholderRows) -> None:
    in_project = placeholders.make("memories", "m1", {})
    is_global = placeholders.make("memories", "m2", {})

    assert in_project is not None
    assert is_global is not None
    assert (in_project["status"], in_project["content"]) == ("inbox", "heron")
    assert (in_project["scope"], in_project["project_id"]) == ("project", "p1")
    assert (is_global["scope"], is_global["content"]) == ("global", "owl")
    assert placeholders.make("memories", "m9", {}) is None  # its partition is lost too


def test_a_lost_block_has_its_newest_value(placeholders: PlaceholderRows) -> None:
    row = placeholders.make("blocks", "b1", {})

    assert row is not None
    assert (row["label"], row["value"], row["version"]) == ("persona", "new", 2)
    assert (row["scope"], row["owner_id"]) == ("agent", "a1")
    assert placeholders.make("blocks", "b2", {}) is None  # nothing says whose it is
    assert placeholders.make("blocks", "b3", {}) is None


def test_lost_projects_repos_agents_and_conversations_are_named_rescued(
    placeholders: PlaceholderRows,
) -> None:
    project = placeholders.make("projects", "project-123456", {})
    repo = placeholders.make("repos", "repo-123456", {"project_id": "p1"})
    agent = placeholders.make("agents", "agent-123456", {})
    conversation = placeholders.make("conversations", "c1", {"agent_id": "a1", "created_at": 5})

    assert project is not None
    assert project["name"] == "rescued 123456"
    assert repo is not None
    assert repo["project_id"] == "p1"
    assert agent is not None
    assert agent["name"] == "rescued-123456"
    assert conversation is not None
    assert (conversation["agent_id"], conversation["started_at"]) == ("a1", 5)
    assert placeholders.make("repos", "repo-1", {}) is None
    assert placeholders.make("jobs", "j1", {}) is None


def test_an_unreadable_origin_is_replaced_by_the_least_trusted_one() -> None:
    damaged = memory(voice="usdr", flags='["expmicit"]', dates='[["tomorrow"]]', metadata="{}")

    row, changes = make_valid("memories", damaged, [])

    assert (row["voice"], row["flags"], row["dates"]) == ("other", '["instruction-like"]', "[]")
    assert changes == [f"{name} was not readable" for name in ("voice", "flags", "dates")]


def test_unreadable_effects_of_a_change_are_none() -> None:
    change = {"memory_id": "m1", "id": "c1", "after": "inbox", "at": NOW, "effects": '{"linkt":[]}'}

    row, changes = make_valid("memory_changes", change, [])

    assert (row["effects"], changes) == ("{}", ["effects was not readable"])
