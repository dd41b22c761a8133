"""Lists behind a server: every page, every item once, as a local store returns them."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

import recollect
from in_process_server import serve_in_thread
from populated_memory import populate_memory
from raw_http import request, send_raw
from recollect import LocalRecollect
from recollect.client.connection import Connection
from recollect.wire.path_segment import fill_path
from recollect.wire.request import PREFIX, VerbRequest
from recollect.wire.request_registry import request_classes
from support import FakeClock, candidates, open_memory

pytestmark = pytest.mark.door

Verb = type[VerbRequest[Any]]
Lister = Callable[[Any], list[Any]]


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[LocalRecollect, str]]:
    """A memory with more of everything than one page holds, and its server."""
    path = tmp_path_factory.mktemp("pages") / "memory.db"
    backups = path.parent / "backups"
    back_up_daily(path, backups)
    with open_memory(path, words_only=True, reach=[], backup_folder=backups) as rec:
        populate_memory(rec)
        for number in range(1_500):
            rec.agents.create(f"agent {number}", default_blocks=False)
        conversation = rec.conversations.start(agent="ben", title="long")
        messages = [{"role": "user", "content": f"word {number}"} for number in range(2_500)]
        rec.conversations.append_many(conversation, messages)
        for number in range(60):
            rec.conversations.start(agent="ben", title=str(number))
            rec.capture_session(f"User: I like the number {number}.\n", project=f"p{number}")
            rec.views.save(f"view {number}", "x")
        facts = [{"content": f"Fact {number} of many."} for number in range(1_100)]
        facts += [{"content": f"Perhaps {n}.", "status": "inbox"} for n in range(120)]
        rec.memories.ingest_many(facts)
        for number in range(30):
            rec.blocks.set("ben", "notes", f"value {number}")
        with serve_in_thread(rec) as url:
            yield rec, url


def back_up_daily(path: Path, folder: Path) -> None:
    """Make a backup of the still empty store on each of ten days."""
    clock = FakeClock()
    with open_memory(path, words_only=True, clock=clock, backup_folder=folder) as rec:
        for _ in range(10):
            rec.maintenance.backup(keep="10d")
            clock.advance(days=1)


def long_talk(memory: Any) -> Any:
    return next(one for one in memory.conversations.list(limit=1_000) if one.title == "long")


LISTS = [verb for verb in request_classes().values() if verb.is_list()]
LIMITED = ("list_memories", "list_inbox", "list_jobs", "list_model_calls", "list_conversations")
OWN_PAGES = ("list_messages", "list_all_messages", "list_passages")  # after a position or an id
QUERIES: dict[str, dict[str, Any]] = {
    "get_block_history": {"agent": "ben"},
    "list_block_changes": {"agent": "ben", "since": "2026-01-01"},
    "list_blocks": {"agent": "ben"},
    "list_memories": {"everywhere": True},
}


def arguments_of(verb: Verb, rec: LocalRecollect) -> dict[str, Any]:
    """Return what the list must be asked with, without the names in its path."""
    if verb.verb() == "inbox_items":
        return {"memory_ids": rec.inbox.order()[:30]}
    return dict(QUERIES.get(verb.verb(), {}))


def path_names(verb: Verb, rec: LocalRecollect) -> dict[str, str]:
    """Return what stands in the path of the verb's route."""
    block = next(block for block in rec.blocks.list(agent="ben") if block.label == "notes")
    names = {"agent": "ben", "label": "notes", "conversation": long_talk(rec).id, "block": block.id}
    return {name: names[name] for name in verb.route.path_fields}


def key_of(item: Any) -> str:
    return str(item.get("id") or item) if isinstance(item, dict) else str(item)


def pages(url: str, verb: Verb, rec: LocalRecollect, **query: Any) -> list[list[Any]]:
    """Follow the links of a list from its first page to the last."""
    at = PREFIX + fill_path(verb.route.path, path_names(verb, rec))
    all_pages: list[list[Any]] = []
    with httpx2.Client(base_url=url, trust_env=False, timeout=60) as client:
        answer = client.get(at, params={**arguments_of(verb, rec), **query})
        while True:
            assert answer.status_code == 200, answer.text
            all_pages.append(answer.json())
            if "next" not in answer.links:
                return all_pages
            answer = client.get(answer.links["next"]["url"])
            assert len(all_pages) < 1_000


def whole(rec: LocalRecollect, verb: Verb) -> int:
    """Return how many items there are, as the open memory counts them."""
    arguments = arguments_of(verb, rec)
    arguments |= path_names(verb, rec)
    if verb.verb() in LIMITED:
        arguments["limit"] = 1_000
    if verb.verb() in ("list_messages", "list_agent_messages"):
        arguments["limit"] = 10_000
    return len(rec.engine.transport.send(verb.of(arguments)))


@pytest.mark.parametrize(
    "verb",
    [verb for verb in LISTS if verb.verb() not in OWN_PAGES],
    ids=lambda verb: verb.verb(),
)
def test_following_the_links_gives_every_item_once(
    many: tuple[LocalRecollect, str], verb: Verb
) -> None:
    memory, url = many
    every = whole(memory, verb)
    step = max(1, every // 7)

    all_pages = pages(url, verb, memory, limit=step)

    keys = [key_of(item) for page in all_pages for item in page]
    assert len(keys) == every
    assert len(set(keys)) == every
    assert all(len(page) <= step for page in all_pages)


@pytest.mark.parametrize("limit", [50, 999, 1_000])
def test_memories_can_be_paged_to_their_thousandth(
    many: tuple[LocalRecollect, str], limit: int
) -> None:
    memory, url = many

    all_pages = pages(url, request_classes()["list_memories"], memory, limit=limit)

    keys = [key_of(item) for page in all_pages for item in page]
    assert len(keys) == len(set(keys))
    assert len(keys) >= 1_000


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ("limit=0", 422),
        ("limit=-1", 422),
        ("limit=1.5", 422),
        ("limit=", 422),
        ("limit=x", 422),
        ("limit=99999999999999999999", 422),
        ("offset=-1", 422),
        ("offset=x", 422),
        ("offset=99999999999999999999", 422),
        (f"offset={'0' * 20}{'9' * 30}", 422),
        (f"offset={'0' * 5_000}", 422),
        ("limit=5&limit=6", 422),
        ("limit=1000", 200),
        ("limit=1&offset=1000000", 200),
    ],
)
@pytest.mark.parametrize(
    "path", ["agents", "memories", "conversations", "jobs", "agents/ben/messages"]
)
def test_a_page_that_cannot_be_is_refused(
    many: tuple[LocalRecollect, str], path: str, query: str, status: int
) -> None:
    _, url = many
    port = int(url.rpartition(":")[2])

    answer = send_raw(port, request("GET", f"/api/{path}?{query}", f"Host: 127.0.0.1:{port}"))

    assert answer is not None
    assert answer.status == status, answer.body
    if status == 422:
        assert answer.problem["error"] == "InvalidInput"


def test_the_last_page_has_no_next(many: tuple[LocalRecollect, str]) -> None:
    memory, url = many
    count = len(memory.agents.list())
    with httpx2.Client(base_url=url, trust_env=False, timeout=60) as client:
        last = client.get(f"/api/agents?limit=10&offset={count - 10}")
        beyond = client.get(f"/api/agents?limit=10&offset={count}")

    assert len(last.json()) == 10
    assert "next" not in last.links
    assert beyond.json() == []
    assert "next" not in beyond.links


class _CountingConnection(Connection):
    """A connection that gives up where a client would ask for ever."""

    left = 40

    def send_once(self, method: str, path: str, **how: Any) -> httpx2.Response:
        self.left -= 1
        assert self.left, "the client asks for the same page for ever"
        return super().send_once(method, path, **how)


@pytest.fixture
def remote(many: tuple[LocalRecollect, str]) -> Iterator[Any]:
    """The client of that server."""
    from recollect.client.remote import RemoteRecollect

    with RemoteRecollect(_CountingConnection(many[1])) as opened:
        yield opened


def test_a_list_of_more_than_one_page_is_whole(
    many: tuple[LocalRecollect, str], remote: Any
) -> None:
    assert remote.agents.list() == many[0].agents.list()


def test_a_context_of_more_than_one_page_is_whole(
    many: tuple[LocalRecollect, str], remote: Any
) -> None:
    conversation = long_talk(many[0])

    assert len(remote.conversations.messages_in_context(conversation)) == 2_500


DEFAULTS: dict[str, Lister] = {
    "memories": lambda door: door.memories.list(everywhere=True),
    "conversations": lambda door: door.conversations.list(),
    "messages_of": lambda door: door.conversations.agent_messages("ben"),
    "jobs": lambda door: door.jobs.list(),
    "inbox": lambda door: candidates(door, everywhere=True),
    "waiting": lambda door: door.inbox.list(),
}


@pytest.mark.parametrize("verb", DEFAULTS)
def test_the_default_limit_is_that_of_the_open_memory(
    many: tuple[LocalRecollect, str], remote: Any, verb: str
) -> None:
    asked = DEFAULTS[verb]

    assert len(asked(remote)) == len(asked(many[0]))


@pytest.mark.parametrize(
    "asked",
    [
        lambda door: door.conversations.messages(long_talk(door)),
        lambda door: door.conversations.messages(long_talk(door), limit=2_400),
        lambda door: door.conversations.agent_messages("ben", limit=1_500, offset=900),
        lambda door: door.memories.list(limit=1_000),
        lambda door: door.conversations.list(limit=20, offset=20),
        lambda door: door.blocks.history("ben", "notes"),
        lambda door: door.projects.list(),
        lambda door: door.views.list(),
    ],
    ids=range(8),
)
def test_what_was_asked_for_is_what_comes(many: tuple[LocalRecollect, str], asked: Lister) -> None:
    memory, url = many
    with recollect.connect(url) as remote:
        assert asked(remote) == asked(memory)
