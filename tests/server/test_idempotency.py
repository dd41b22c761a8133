"""A write that is sent twice with one key is done once: every verb, every way to send it again."""

import json
import threading
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import apsw
import pytest
from fastapi.testclient import TestClient

from filled_stores import copy_filled
from in_process_server import LOCAL
from populated_memory import populate_memory
from recollect import LocalRecollect
from recollect.config import Settings
from recollect.server.web_app import web_app
from recollect.wire.file_transfer import FILE_REQUESTS
from recollect.wire.path_segment import fill_path
from recollect.wire.request import PREFIX, VerbRequest
from recollect.wire.request_registry import request_classes
from support import FakeClock, open_memory
from tables import each_row

pytestmark = pytest.mark.door
Verb = type[VerbRequest[Any]]

# What each write is given besides the names in its path; `$` stands for one of those.
BODIES: Mapping[str, Mapping[str, Any]] = {
    "ingest": {"content": "Tea is at four."},
    "ingest_many": {"items": [{"content": "Tea is at four."}, {"content": "Milk comes first."}]},
    "forget": {},
    "set_status": {"status": "archived"},
    "promote": {},
    "reject": {},
    "undo": {},
    "confirm_memory": {},
    "edit_memory": {"content": "Tea is at five."},
    "settle_conflict": {"memory_id": "$0", "other_id": "$1", "both": True},
    "why_not": {"query": "uv"},
    "why_nothing": {"query": "uv"},
    "upsert_profile_fact": {"value": "vim"},
    "link": {"a": "$0", "relation": "supports", "b": "$1"},
    "search": {"query": "uv"},
    "context_for": {"task": "which tool?"},
    "briefing": {},
    "save_view": {"query": "port"},
    "link_projects": {"project": "site", "other": "shop"},
    "unlink_project": {"project": "site"},
    "delete_view": {},
    "run_view": {},
    "decide": {"memory_ids": ["$2"], "verdict": "keep"},
    "promote_many": {"memory_ids": ["$2"]},
    "reject_many": {"memory_ids": ["$2"]},
    "undo_many": {"memory_ids": []},
    "consolidate": {},
    "run_maintenance": {},
    "get_advice": {"tool": "Bash", "arguments": {"command": "npm run build"}},
    "get_error_history": {"error": "npm error Missing script"},
    "add_assistant_memories": {"answer": "- Likes tea."},
    "capture_session": {"transcript": "User: We use Rust.\n"},
    "capture_conversation": {"material": "The lamp is green.", "capture_mode": "note"},
    "capture_many": {"materials": ["User: We use Go.\n"]},
    "retry_job": {},
    "create_agent": {"name": "new"},
    "update_agent": {"description": "x"},
    "pin_agent": {},
    "delete_agent": {},
    "clone_agent": {"name": "twin"},
    "branch_agent": {"name": "branch"},
    "merge_agents": {"other": "ada ops"},
    "create_block": {"label": "fresh", "value": "x", "agent": "ben"},
    "search_blocks": {"query": "one", "agent": "ben"},
    "set_block": {"agent": "ben", "value": "three"},
    "update_block": {"agent": "ben", "description": "x"},
    "delete_block": {"agent": "ben"},
    "append_block": {"agent": "ben", "text": "more"},
    "replace_in_block": {"agent": "ben", "old": "two", "new": "three"},
    "insert_in_block": {"agent": "ben", "text": "top", "line": 0},
    "rollback_block": {"agent": "ben", "version": 1},
    "confirm_block": {"agent": "ben"},
    "accept_block_proposal": {},
    "reject_block_proposal": {},
    "undo_block_proposal": {},
    "share_block": {"agent": "ben"},
    "attach_block": {"block": "$team"},
    "detach_block": {},
    "start_conversation": {"agent": "ben"},
    "end_conversation": {},
    "resume_conversation": {},
    "rename_conversation": {"title": "x"},
    "set_conversation_metadata": {"metadata": {"a": 1}},
    "run_sleeptime": {},
    "undo_sleeptime": {},
    "delete_conversation": {},
    "fork_conversation": {},
    "delete_message": {},
    "pop_message": {},
    "cancel_run": {},
    "run_agent": {"message": "hello"},
    "decide_approval": {"approve": True},
    "put_document": {"namespace": ["notes"], "key": "tea", "value": {"at": 4}},
    "extend_document": {"namespace": ["notes"], "key": "tea"},
    "delete_document": {"namespace": ["notes"], "key": "tea"},
    "search_documents": {},
    "backup": {},
    "append_message": {"role": "user", "content": "hello"},
    "append_messages": {"messages": [{"role": "user", "content": "hello"}]},
    "compact_conversation": {"window_tokens": 500},
    "add_pin": {"content": "x"},
    "remove_pin": {},
    "pin_message": {},
    "search_messages": {"query": "Alice", "agent": "ben"},
    "add_message": {"role": "user", "content": "hello"},
    "search_for_letta": {"query": "Alice"},
    "insert_passage": {"content": "Bern."},
    "search_passages": {"query": "Bern"},
    "get_context_window": {},
    "count_tokens": {"text": "hello"},
    "search_skills": {"query": "greet"},
    "load_skill": {},
    "unload_skill": {},
    "refresh_skills": {},
    "learn_skill": {"name": "say-hello", "save": ""},
    "open_files": {"requests": ["a.py"], "roots": ["$folder"]},
    "close_files": {},
    "grep_files": {"pattern": "hello", "roots": ["$folder"]},
    "index_files": {"project": "$folder"},
    "forget_files": {"project": "$folder"},
    "search_files": {"query": "hello", "project": "$folder"},
    "use_model": {"name": "default"},
    "reembed": {},
    "drain": {},
    "check_embedder": {},
    "verify": {},
    "rebuild_indexes": {},
}
WRITES = [
    verb
    for verb in request_classes().values()
    if verb.route.method != "GET" and verb.__name__ not in FILE_REQUESTS
]
# They need something that the furnished memory does not have, and are refused alike both times.
REFUSED = {
    "load_skill": 404,
    "decide_approval": 404,
    "undo_sleeptime": 404,
    "unload_skill": 404,
    "learn_skill": 422,
    "backup": 422,
    "reembed": 422,
    "settle_conflict": 409,
    "unlink_project": 422,
}


class ServedFile:
    """A server over a furnished memory, and what is in its file."""

    def __init__(self, rec: LocalRecollect, path: Path, known: Mapping[str, list[str]]) -> None:
        self.memory = rec
        self.path = path
        self.known = known
        team = next(block for block in rec.blocks.list() if block.label == "team")
        (path.parent / "a.py").write_text("print('hello')\n")
        self.stand_in = {
            **{f"${n}": one for n, one in enumerate(self.known["memory_id"])},
            "$team": team.id,
            "$folder": str(path.parent),
        }
        self.client = self.restarted()

    def restarted(self) -> TestClient:
        """Return a client of a server that remembers no answer."""
        app = web_app(self.memory, Settings())
        self.client = TestClient(app, base_url=LOCAL, raise_server_exceptions=False)
        return self.client

    def send(self, verb: Verb, key: str | None, **more: Any) -> Any:
        names = {name: self.known[name][0] for name in verb.route.path_fields}
        if verb.verb() in ("promote", "reject", "undo"):
            names["memory_id"] = self.stand_in["$2"]
        if verb.verb() == "detach_block":
            names["label"] = "team"
        body = json.loads(json.dumps(BODIES[verb.verb()]))
        body = {name: self._filled(value) for name, value in body.items()} | more
        how: dict[str, Any] = {"json": body} if verb.route.has_body else {"params": body}
        headers = {"x-request-id": "r1"}  # it is in the bodies of problems
        headers |= {} if key is None else {"idempotency-key": key}
        return self.client.request(
            verb.route.method, PREFIX + fill_path(verb.route.path, names), headers=headers, **how
        )

    def _filled(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self._filled(one) for one in value]
        return self.stand_in.get(value, value) if isinstance(value, str) else value

    def rows(self) -> dict[str, Any]:
        """Return how many rows each table of the file has, the keys themselves left out."""
        db = apsw.Connection(str(self.path), flags=apsw.SQLITE_OPEN_READONLY)
        try:
            names = [
                name
                for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
                if name not in ("requests", "sqlite_sequence")
            ]
            return {
                str(name): db.execute(f'SELECT count(*) FROM "{name}"').fetchall()[0][0]
                for name in names
            }
        finally:
            db.close()

    def kept(self) -> Mapping[str, int]:
        """Return how many rows of the caller's own there are; a search only adds to the log."""
        counts = self.memory.maintenance.status().counts
        return {name: n for name, n in counts.items() if not name.startswith("retrieval")}


def fill_with_everything(rec: LocalRecollect, _: FakeClock) -> Mapping[str, list[str]]:
    return populate_memory(rec)


@pytest.fixture
def asked(path: Path, clock: FakeClock, tmp_path: Path) -> Iterator[ServedFile]:
    """A furnished server."""
    known = copy_filled(path, fill_with_everything, clock, words_only=True)
    with open_memory(path, clock=clock, words_only=True, reach=[tmp_path]) as rec:
        yield ServedFile(rec, path, known)


def test_every_write_of_the_table_is_tried() -> None:
    assert {verb.verb() for verb in WRITES} == BODIES.keys()


@pytest.mark.parametrize("verb", WRITES, ids=lambda verb: verb.verb())
def test_a_write_sent_twice_is_done_once_and_answered_alike(asked: ServedFile, verb: Verb) -> None:
    if verb.verb() == "undo":
        asked.memory.promote(asked.known["memory_id"][2])
    if verb.verb() == "detach_block":
        asked.memory.blocks.attach("ben", asked.stand_in["$team"])
    if verb.verb() == "undo_block_proposal":
        asked.memory.blocks.accept(asked.known["proposal_id"][0])
    before = asked.kept()
    first = asked.send(verb, "k")
    assert first.status_code == REFUSED.get(verb.verb(), 200), first.text
    kept = asked.kept()  # writes the retrievals that wait
    rows = asked.rows()

    again = asked.send(verb, "k")

    assert again.status_code == first.status_code
    assert again.content == first.content
    assert asked.rows() == rows
    if first.status_code == 200:
        assert again.headers["idempotent-replay"] == "true"
    if kept == before:
        return
    # After a restart only the store knows; whatever added a row must have left its key.
    asked.restarted()
    later = asked.send(verb, "k")
    assert later.status_code == 409
    assert later.json()["error"] == "AlreadyAccepted"
    assert asked.rows() == rows


@pytest.mark.parametrize("restart", [False, True])
def test_a_key_is_good_for_one_request_only(asked: ServedFile, restart: bool) -> None:
    assert asked.send(request_classes()["ingest"], "k").status_code == 200
    if restart:
        asked.restarted()
    rows = asked.rows()

    other_body = asked.send(request_classes()["ingest"], "k", title="another")
    other_route = asked.send(request_classes()["create_agent"], "k")

    for answer in (other_body, other_route):
        assert answer.status_code == 422
        assert "was used for another request" in answer.json()["detail"]
    assert asked.rows() == rows


def test_the_same_request_under_another_key_is_another_request(asked: ServedFile) -> None:
    one = asked.send(request_classes()["append_message"], "k1").json()
    two = asked.send(request_classes()["append_message"], "k2").json()

    assert one["id"] != two["id"]


def test_a_refused_request_leaves_its_key_free(asked: ServedFile) -> None:
    refused = asked.send(request_classes()["ingest"], "k", content="")
    assert refused.status_code == 422

    assert asked.send(request_classes()["ingest"], "k").status_code == 200


@pytest.mark.kill
@pytest.mark.parametrize("name", ["append_message", "ingest", "create_agent", "capture_session"])
def test_twenty_at_once_with_one_key_are_one(asked: ServedFile, name: str) -> None:
    verb = request_classes()[name]
    together = threading.Barrier(20)

    def send(_: int) -> Any:
        together.wait()
        return asked.send(verb, "k")

    before = asked.rows()
    with ThreadPoolExecutor(20) as pool:
        answers = list(pool.map(send, range(20)))
    added = {name: n - before[name] for name, n in asked.rows().items() if n != before[name]}

    assert {one.status_code for one in answers} == {200}
    assert len({one.content for one in answers}) == 1
    assert sum("idempotent-replay" in one.headers for one in answers) == 19
    table = {"append_message": "messages", "create_agent": "agents"}.get(name)
    if table:
        assert added[table] == 1


def test_twenty_refused_at_once_with_one_key_are_all_told_why(asked: ServedFile) -> None:
    with ThreadPoolExecutor(20) as pool:
        answers = list(
            pool.map(lambda _: asked.send(request_classes()["ingest"], "k", content=""), range(20))
        )

    assert {one.status_code for one in answers} == {422}


@each_row("key", ["x", "k" * 200, "a b", "'; DROP TABLE requests; --", "clé", "%00", "a,b"])
def test_any_key_of_up_to_200_characters_will_do(asked: ServedFile, key: str) -> None:
    written: Any = key.encode()  # UTF-8, whatever a header may hold

    first, again = (asked.send(request_classes()["append_message"], written) for _ in range(2))

    assert first.status_code == again.status_code == 200
    assert first.json() == again.json()


@each_row("key", ["", "  ", "k" * 201, "k" * 10_000])
def test_a_key_that_is_none_is_refused_and_nothing_is_written(asked: ServedFile, key: str) -> None:
    rows = asked.rows()

    answer = asked.send(request_classes()["append_message"], key)

    assert answer.status_code == 422
    assert "ey" in answer.json()["detail"]
    assert asked.rows() == rows


def test_two_keys_are_refused(asked: ServedFile) -> None:
    answer = asked.client.post(
        "/api/agents",
        json={"name": "new"},
        headers=[("idempotency-key", "a"), ("idempotency-key", "b")],
    )

    assert answer.status_code in (400, 422)


@pytest.mark.parametrize(
    ("at", "body"),
    [
        ("/messages", {"agent_name": "ben", "role": "user", "content": "hello"}),
        ("/memory-blocks", {"agent_name": "ben", "label": "fresh", "value": "x"}),
    ],
)
def test_the_memory_servers_own_writes_take_keys_too(asked: ServedFile, at: str, body: Any) -> None:
    first, again = (
        asked.client.post(at, json=body, headers={"idempotency-key": "k"}) for _ in range(2)
    )

    assert first.status_code == again.status_code == 200
    assert first.json() == again.json()


def test_an_agent_imported_twice_with_one_key_is_there_once(
    asked: ServedFile, tmp_path: Path
) -> None:
    asked.memory.agents.export("ben", tmp_path / "ben.json")
    content = (tmp_path / "ben.json").read_bytes()
    before = len(asked.memory.agents.list())

    for _ in range(2):
        answer = asked.client.post(
            "/api/agents/import?name=again", content=content, headers={"idempotency-key": "k"}
        )
        assert answer.status_code == 200

    assert len(asked.memory.agents.list()) == before + 1


def test_a_deleted_text_is_not_handed_out_again_by_its_key(asked: ServedFile) -> None:
    said = asked.send(request_classes()["ingest"], "k", content="My PIN is 4711 zebra.").json()
    asked.client.delete(f"/api/memories/{said['id']}", headers={"idempotency-key": "d"})

    again = asked.send(request_classes()["ingest"], "k", content="My PIN is 4711 zebra.")

    assert again.status_code == 409
    assert "zebra" not in again.text


def test_a_deleted_text_is_not_handed_out_again_where_the_deletion_had_no_key(
    asked: ServedFile,
) -> None:
    said = asked.send(request_classes()["ingest"], "k", content="My PIN is 4711 zebra.").json()
    asked.client.delete(f"/api/memories/{said['id']}")

    again = asked.send(request_classes()["ingest"], "k", content="My PIN is 4711 zebra.")

    assert "zebra" not in again.text
