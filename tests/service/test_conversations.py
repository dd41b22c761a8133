"""Conversations: begun, gone on with, ended; messages in order, whole, without secrets."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import apsw
import pytest

from recollect import (
    AlreadyExists,
    IllegalTransition,
    InvalidInput,
    LocalRecollect,
    Message,
    NotFound,
    RevisionConflict,
    TooLarge,
)
from support import START, FakeClock, open_memory
from tables import each_row

SECRET = "ghp_" + "a1B2c3D4e5" * 4
CALL = {
    "id": "call_1",
    "type": "function",
    "function": {"name": "read_file", "arguments": '{"path": "a.py"}'},
}


def contents(messages: list[Message]) -> list[str]:
    return [message.content for message in messages]


def talk_of(rec: LocalRecollect, count: int, agent: str | None = "anna") -> str:
    talk = rec.conversations.start(agent=agent)
    rec.conversations.append_many(
        talk, [{"role": "user", "content": f"m{n}"} for n in range(count)]
    )
    return talk.id


# The life of a conversation


def test_a_conversation_is_begun_ended_resumed_and_ended_again(
    rec: LocalRecollect, clock: FakeClock
) -> None:
    begun = rec.conversations.start(
        agent="anna", project="site", repo="web", title="Release", metadata={"k": [1]}
    )
    clock.advance(hours=1)
    ended = rec.conversations.end(begun)
    clock.advance(hours=1)

    assert (begun.started_at, begun.ended_at) == (START, None)
    assert (begun.title, begun.metadata) == ("Release", {"k": [1]})
    assert None not in (begun.agent_id, begun.project_id, begun.repo_id)
    assert (ended.ended_at - START).total_seconds() == 3_600  # type: ignore[operator]
    assert rec.conversations.end(begun.id) == ended
    with pytest.raises(IllegalTransition, match="ended on 2026-05-08 13:00; resume it first"):
        rec.conversations.append(begun, "user", "too late")
    with pytest.raises(IllegalTransition):
        rec.conversations.append_many(begun, [{"role": "user", "content": "too late"}])
    assert rec.conversations.resume(begun).ended_at is None
    assert rec.conversations.append(begun, "user", "in time").position == 0
    assert rec.conversations.end(begun).ended_at == clock.now()
    assert rec.conversations.get(begun.id) == rec.conversations.get(begun)


def test_a_conversation_never_ends_before_it_began(rec: LocalRecollect) -> None:
    begun = rec.conversations.start(started_at="2026-05-08T12:00")

    assert rec.conversations.end(begun, ended_at="2020-01-01").ended_at == begun.started_at


def test_a_conversation_of_a_new_name_makes_the_agent(rec: LocalRecollect) -> None:
    begun = rec.conversations.start(agent="new")

    assert rec.agents.get("new").id == begun.agent_id
    assert rec.conversations.start(agent=rec.agents.get("new").id).agent_id == begun.agent_id
    assert len(rec.agents.list()) == 1


def test_conversations_are_listed_the_latest_first_by_agent_project_and_time(
    rec: LocalRecollect, clock: FakeClock
) -> None:
    ids = []
    for number in range(5):
        clock.advance(days=1)
        agent, project = ("anna", "a") if number % 2 else ("ben", "b")
        ids.append(rec.conversations.start(agent=agent, project=project).id)

    def listed(**where: Any) -> list[int]:
        return [ids.index(conversation.id) for conversation in rec.conversations.list(**where)]

    assert listed() == [4, 3, 2, 1, 0]
    assert listed(agent="anna") == [3, 1]
    assert listed(project="b") == [4, 2, 0]
    assert listed(agent="anna", project="b") == []
    assert listed(agent="nobody") == []
    assert listed(project="nowhere") == []
    assert listed(limit=2) == [4, 3]
    assert listed(limit=2, offset=4) == [0]
    assert listed(offset=99) == []
    assert listed(before="2026-05-11T12:00") == [1, 0]
    for bad in ({"limit": 0}, {"offset": -1}, {"before": "soon"}, {"limit": 1_001}):
        with pytest.raises(InvalidInput):
            rec.conversations.list(**bad)


def test_a_title_can_change_and_holds_no_secret(rec: LocalRecollect) -> None:
    begun = rec.conversations.start(title=f"about {SECRET}", metadata={"k": SECRET})

    assert SECRET not in f"{rec.conversations.get(begun)}"
    assert rec.conversations.rename(begun, f"now {SECRET}").title == "now [redacted:github-token]"
    with pytest.raises(TooLarge):
        rec.conversations.rename(begun, "x" * 501)


@each_row(
    ("which", "error", "message"),
    [
        *(
            (text, NotFound, "there is no conversation")
            for text in ("nothing", "", "\ud800", "'; --")
        ),
        *((value, InvalidInput, "name the conversation") for value in (None, 5)),
    ],
)
def test_an_unknown_conversation_is_refused_by_every_verb(
    rec: LocalRecollect, which: Any, error: type[Exception], message: str
) -> None:
    verbs: list[Callable[[], object]] = [
        lambda: rec.conversations.get(which),
        lambda: rec.conversations.end(which),
        lambda: rec.conversations.resume(which),
        lambda: rec.conversations.rename(which, "t"),
        lambda: rec.conversations.delete(which),
        lambda: rec.conversations.append(which, "user", "x"),
        lambda: rec.conversations.append_many(which, []),
        lambda: rec.conversations.messages(which),
        lambda: rec.conversations.messages_in_context(which),
        lambda: rec.conversations.summaries(which),
        lambda: rec.conversations.pins(which),
        lambda: rec.conversations.pin(which, "x"),
    ]
    for verb in verbs:
        with pytest.raises(error, match=message):
            verb()


# Messages


def test_messages_are_paged_forwards_and_backwards(rec: LocalRecollect) -> None:
    talk = talk_of(rec, 10)

    assert contents(rec.conversations.messages(talk)) == [f"m{n}" for n in range(10)]
    assert contents(rec.conversations.messages(talk, start=8)) == ["m8", "m9"]
    assert contents(rec.conversations.messages(talk, start=3, limit=2)) == ["m3", "m4"]
    assert rec.conversations.messages(talk, start=10) == []
    assert rec.conversations.messages(talk, start=2**53) == []
    assert contents(rec.conversations.messages(talk, newest_first=True, limit=3)) == [
        "m9",
        "m8",
        "m7",
    ]
    assert contents(rec.conversations.messages(talk, before=2)) == ["m1", "m0"]
    assert contents(rec.conversations.messages(talk, before=99, limit=1)) == ["m9"]
    assert rec.conversations.messages(talk, before=0) == []
    for bad in ({"start": -1}, {"limit": 0}, {"before": -1}, {"limit": 10_001}, {"start": True}):
        with pytest.raises(InvalidInput):
            rec.conversations.messages(talk, **bad)


def test_pages_that_follow_each_other_show_every_message_once(rec: LocalRecollect) -> None:
    talk = talk_of(rec, 23)
    forwards: list[str] = []
    while page := rec.conversations.messages(talk, start=len(forwards), limit=5):
        forwards += contents(page)
    backwards: list[str] = []
    before = None
    while page := rec.conversations.messages(talk, newest_first=True, before=before, limit=5):
        backwards += contents(page)
        before = page[-1].position

    assert forwards == [f"m{n}" for n in range(23)]
    assert backwards == forwards[::-1]


def test_a_message_comes_back_as_it_was_said(rec: LocalRecollect, clock: FakeClock) -> None:
    talk = rec.conversations.start(agent="anna")
    clock.advance(minutes=5)
    message = rec.conversations.append(talk, "user", "hello", metadata={"k": 1}, pinned=True)
    called = rec.conversations.append(talk, "assistant", None, tool_calls=[CALL])
    answered = rec.conversations.append(
        talk, "tool", "12 lines", tool_call_id="call_1", name="read_file", tokens=7
    )
    old = rec.conversations.append(talk, "user", "earlier", created_at="2020-02-02T10:00")

    assert rec.conversations.messages(talk) == [message, called, answered, old]
    assert [message.position for message in rec.conversations.messages(talk)] == [0, 1, 2, 3]
    assert (message.created_at, message.pinned, message.metadata) == (clock.now(), True, {"k": 1})
    assert (called.content, called.tool_calls) == ("", (CALL,))
    assert (answered.tool_call_id, answered.name, answered.tokens) == ("call_1", "read_file", 7)
    assert called.tokens > message.tokens > 0
    assert old.created_at.year == 2020
    assert rec.conversations.messages_in_context(talk) == rec.conversations.messages(talk)


@pytest.mark.parametrize("role", ["system", "developer", "user", "assistant", "tool"])
def test_every_role_is_kept(rec: LocalRecollect, role: str) -> None:
    talk = rec.conversations.start()

    assert rec.conversations.append(talk, role, "x").role == role


@each_row(
    ("role", "content", "more"),
    [
        ("robot", "x", {}),
        ("", "x", {}),
        (None, "x", {}),
        ("user", "", {}),
        ("user", " \n ", {}),
        ("user", None, {}),
        ("user", [], {}),
        ("user", 5, {}),
        ("user", b"bytes", {}),
        ("user", {"type", "text"}, {}),
        ("user", [float("nan")], {}),
        ("user", "x", {"tokens": -1}),
        ("user", "x", {"tokens": 1.5}),
        ("user", "x", {"metadata": [1]}),
        ("user", "x", {"metadata": {"k": object()}}),
        ("user", "x", {"created_at": "yesterday"}),
        ("user", "x", {"tool_calls": "call"}),
        ("user", "x" * 1_000_001, {}),
        ("user", "x", {"name": "n" * 201}),
        ("user", "x", {"tool_call_id": 5}),
    ],
)
def test_what_is_no_message_is_refused_and_nothing_of_it_kept(
    rec: LocalRecollect, role: Any, content: Any, more: Any
) -> None:
    talk = rec.conversations.start()

    with pytest.raises(InvalidInput):
        rec.conversations.append(talk, role, content, **more)
    assert rec.conversations.messages(talk) == []


@pytest.mark.parametrize("field", ["metadata", "tool_calls", "content"])
def test_an_object_nested_too_deep_is_refused(rec: LocalRecollect, field: str) -> None:
    talk = rec.conversations.start()
    deep: dict[str, Any] = {}
    for _ in range(900):
        deep = {"in": deep}
    given: dict[str, Any] = {"content": "x"} | {field: deep if field == "metadata" else [deep]}

    with pytest.raises(InvalidInput):
        rec.conversations.append(talk, "user", **given)


def test_several_messages_are_appended_all_or_none(rec: LocalRecollect) -> None:
    talk = rec.conversations.start(agent="anna")
    good = {"role": "user", "content": "zebra"}
    elsewhere = {**good, "conversation": talk.id}
    robot = {"role": "robot", "content": "x"}
    for bad in (robot, {"role": "user"}, {"colour": "red"}, "text", elsewhere):
        with pytest.raises(InvalidInput):
            rec.conversations.append_many(talk, [good, bad])  # type: ignore[list-item]

    assert rec.conversations.messages(talk) == []
    assert rec.conversations.search("zebra", agent="anna") == []
    assert rec.conversations.append_many(talk, []) == []
    assert [one.position for one in rec.conversations.append_many(talk, [good, good])] == [0, 1]
    with pytest.raises(InvalidInput, match="append at most 10,000"):
        rec.conversations.append_many(talk, [good] * 10_001)
    assert len(rec.conversations.messages(talk)) == 2


OPENAI = [
    {"type": "text", "text": "what is on this picture?"},
    {"type": "image_url", "image_url": {"url": "https://example.com/cat.png"}},
]
ANTHROPIC = [
    {"type": "thinking", "thinking": "hmm secretthought"},
    {"type": "text", "text": "let me look"},
    {"type": "tool_use", "id": "t1", "name": "read_file", "input": {"path": "walrus.py"}},
]
RESULT = [{"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": "ok"}]}]


@pytest.mark.parametrize(
    ("role", "parts", "text"),
    [
        ("user", OPENAI, "what is on this picture?"),
        ("assistant", ANTHROPIC, "let me look"),
        ("user", RESULT, ""),  # what a tool answered is not the user's word
        ("tool", RESULT, "ok"),
        ("user", [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}], "one\ntwo"),
        ("user", ["bare", {"type": "unheard of", "x": 1}, 5, None], "bare"),
        ("user", [{"type": "input_text", "text": "responses"}], "responses"),
        ("user", {"type": "text", "text": "alone"}, "alone"),
    ],
)
def test_parts_are_kept_whole_and_their_words_found(
    rec: LocalRecollect, role: str, parts: Any, text: str
) -> None:
    talk = rec.conversations.start(agent="anna")
    message = rec.conversations.append(talk, role, parts)

    assert message.content == text
    assert rec.conversations.messages(talk) == [message]
    whole = [parts] if isinstance(parts, dict) else parts
    assert message.parts == tuple(whole)
    for unsaid in ("walrus", "secretthought", "cat.png"):
        assert rec.conversations.search(unsaid, agent="anna", mode="fts") == []
    if text:
        assert len(rec.conversations.search(text, agent="anna")) == 1
    assert rec.maintenance.verify().ok


def test_no_secret_of_a_message_reaches_the_file(rec: LocalRecollect, path: Path) -> None:
    talk = rec.conversations.start(agent="anna")
    call = {"id": "1", "function": {"name": "f", "arguments": json.dumps({"token": SECRET})}}
    messages = rec.conversations.append_many(
        talk,
        [
            {"role": "user", "content": f"use {SECRET}"},
            {"role": "user", "content": [{"type": "text", "text": f"use {SECRET}"}]},
            {"role": "tool", "content": [{"type": "tool_result", "content": SECRET}]},
            {"role": "assistant", "tool_calls": [call]},
            {"role": "user", "content": "x", "metadata": {"deep": [{"er": SECRET}]}},
        ],
    )
    rec.conversations.pin(talk, f"ticket {SECRET}")
    rec.conversations.search(f"where is {SECRET}?", agent="anna")
    rec.close()

    assert messages[1].content == "use [redacted:github-token]"
    assert json.loads(messages[3].tool_calls[0]["function"]["arguments"])  # still JSON
    for file in path.parent.glob("memory.db*"):
        assert SECRET.encode() not in file.read_bytes()


@pytest.mark.parametrize(
    "more",
    [
        {"name": SECRET},
        {"tool_call_id": SECRET},
        {"metadata": {SECRET: 1}},
        {"tool_calls": [{"id": "1", "input": {SECRET: 1}}]},
    ],
    ids=["name", "tool_call_id", "metadata", "tool_calls"],
)
def test_a_secret_in_a_corner_of_a_message_is_taken_out_or_refused(
    rec: LocalRecollect, more: Any
) -> None:
    talk = rec.conversations.start()
    try:
        message = rec.conversations.append(talk, "tool", "x", **more)
    except InvalidInput:
        return

    assert SECRET not in repr(message)


@pytest.mark.parametrize("text", ["\x00", "\ud800 half", "👩‍👩‍👧", "\u202eltr", "a" * 1_000_000])
def test_any_text_can_be_said(rec: LocalRecollect, text: str) -> None:
    talk = rec.conversations.start(agent="anna")
    message = rec.conversations.append(talk, "user", text)

    assert len(message.content) == len(text)
    assert rec.conversations.messages(talk) == [message]
    assert rec.maintenance.verify().ok


def test_a_message_of_blanks_beside_a_call_is_no_trouble_for_any_index(rec: LocalRecollect) -> None:
    talk = rec.conversations.start(agent="anna")
    rec.conversations.append(talk, "assistant", " \n ", tool_calls=[CALL])
    rec.conversations.append(talk, "user", "…")
    rec.drain()

    assert rec.maintenance.status().waiting == 0
    assert rec.maintenance.verify().ok
    rec.conversations.delete(talk)
    assert rec.maintenance.verify().ok


# Pins


def test_messages_and_notes_are_pinned_and_unpinned(rec: LocalRecollect, clock: FakeClock) -> None:
    talk = rec.conversations.start(agent="anna")
    message = rec.conversations.append(talk, "user", "the decision")
    ticket = rec.conversations.pin(talk, "ABC-1: fix it", kind="ticket")
    clock.advance(minutes=1)
    note = rec.conversations.pin(talk, "a note")

    assert rec.conversations.pin_message(message).pinned
    assert rec.conversations.messages(talk)[0].pinned
    assert not rec.conversations.pin_message(message.id, pinned=False).pinned
    assert [(pin.kind, pin.content, pin.active) for pin in rec.conversations.pins(talk)] == [
        ("ticket", "ABC-1: fix it", True),
        ("note", "a note", True),
    ]
    assert not rec.conversations.unpin(ticket).active
    assert [pin.active for pin in rec.conversations.pins(talk)] == [False, True]
    assert not rec.conversations.unpin(note.id).active
    for unknown in ("nothing", "\ud800"):
        with pytest.raises(NotFound):
            rec.conversations.unpin(unknown)
        with pytest.raises(NotFound):
            rec.conversations.pin_message(unknown)
    with pytest.raises(InvalidInput, match="name the pin"):
        rec.conversations.unpin(5)  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="name the message"):
        rec.conversations.pin_message(5)  # type: ignore[arg-type]
    for bad in ("", "  ", "x" * 20_001, 5):
        with pytest.raises(InvalidInput):
            rec.conversations.pin(talk, bad)  # type: ignore[arg-type]
    with pytest.raises(InvalidInput):
        rec.conversations.pin(talk, "x", kind="a\nb")


# Deleting


def left(path: Path, *marks: str) -> set[str]:
    """Return the tables in which any of *marks* still stands; a tombstone holds the id."""
    db = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    found = {
        name
        for (name,) in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")
        if not name.startswith("sqlite_") and name != "tombstones"
        if any(mark in repr(row) for row in db.execute(f"SELECT * FROM {name}") for mark in marks)
    }
    db.close()
    return found


@pytest.mark.parametrize("agent", ["anna", None])
def test_a_deleted_conversation_is_gone_from_every_table_and_index(
    rec: LocalRecollect, path: Path, agent: str | None
) -> None:
    stays = rec.conversations.start(agent="anna")
    rec.conversations.append(stays, "user", "giraffe")
    talk = rec.conversations.start(agent=agent, title="zebra")
    rec.conversations.append_many(
        talk, [{"role": "user", "content": f"zebra {n}"} for n in range(3)]
    )
    rec.conversations.pin(talk, "zebra")
    rec.blocks.set(None, "ticket", "zebra", conversation=talk)
    rec.drain()
    removed = rec.conversations.delete(talk).removed

    assert removed["conversations"] == 1
    assert removed["messages"] == 3
    assert removed["pins"] == 1
    assert left(path, "zebra", talk.id) <= {"shelves"}
    assert b"zebra" not in path.read_bytes()
    assert rec.maintenance.verify().ok
    assert contents(rec.conversations.messages(stays)) == ["giraffe"]
    assert len(rec.conversations.search("giraffe", agent="anna")) == 1
    with pytest.raises(NotFound):
        rec.conversations.delete(talk)


def test_the_receipt_of_a_conversation_counts_its_blocks(rec: LocalRecollect) -> None:
    talk = rec.conversations.start(agent="anna")
    rec.blocks.set(None, "ticket", "ABC-1", conversation=talk)

    assert rec.conversations.delete(talk).removed["blocks"] == 1


@pytest.mark.parametrize("trace", ["question", "memory", "shelf"])
def test_whatever_belongs_to_a_conversation_goes_with_it(
    rec: LocalRecollect, path: Path, trace: str
) -> None:
    talk = rec.conversations.start(agent="anna")
    rec.conversations.append(talk, "user", "zebra")
    match trace:
        case "question":
            rec.conversations.search("zebra", conversation=talk)
        case "memory":
            rec.ingest("zebra", session=talk.id, scope="session")
        case "shelf":
            rec.blocks.set(None, "ticket", "zebra", conversation=talk)
    rec.conversations.delete(talk)

    assert left(path, "zebra", talk.id) == set()


# Conversations of nobody


def test_a_conversation_without_an_agent_is_a_world_of_its_own(rec: LocalRecollect) -> None:
    one = rec.conversations.start()
    other = rec.conversations.start()
    rec.conversations.append(one, "user", "zebra here")
    rec.conversations.append(other, "user", "zebra there")

    assert one.agent_id is None
    assert [hit.message.content for hit in rec.conversations.search("zebra", conversation=one)] == [
        "zebra here"
    ]
    with pytest.raises(InvalidInput, match="whose messages"):
        rec.conversations.search("zebra")
    assert rec.maintenance.verify().ok


# What other programs keep in a conversation


def test_any_json_comes_back_equal_and_its_secrets_are_neither_found_nor_shown(
    rec: LocalRecollect,
) -> None:
    items: list[Any] = [
        {"type": "reasoning", "encrypted_content": SECRET, "summary": []},
        {"deep": {"é": ["\x00", "\U0001f980", 0.1, -1, 10**30, True, None, ""]}, "": {}},
        ["a list"],
        "a text",
        0,
        False,
    ]
    talk = rec.conversations.start(agent="anna", key="thread-1")
    rec.conversations.append_many(
        talk, [{"role": "assistant", "content": f"with {SECRET}", "payload": it} for it in items]
    )

    messages = rec.conversations.messages(talk)
    assert [message.payload for message in messages] == items
    assert not any(SECRET in message.content for message in messages)
    assert rec.conversations.search("reasoning encrypted", agent="anna", mode="fts") == []
    assert SECRET not in rec.context_for("what is with us?", conversation=talk).text
    assert rec.maintenance.verify().problems == ()


def test_a_payload_that_is_no_json_or_too_deep_is_refused(rec: LocalRecollect) -> None:
    talk = rec.conversations.start()
    deep: Any = []
    for _ in range(300):
        deep = [deep]

    half = rec.conversations.append(talk, "user", "", payload=["half a pair: \ud800"])
    assert half.payload == ["half a pair: \ufffd"]
    rec.conversations.pop(talk)
    for payload in ({1, 2}, float("nan"), b"bytes", deep):
        with pytest.raises(InvalidInput):
            rec.conversations.append(talk, "user", "", payload=payload)
    assert rec.conversations.messages(talk) == []


def test_forgetting_reaches_the_payloads_of_messages(rec: LocalRecollect) -> None:
    memory = rec.ingest("The zanzibar launch code is umbrella.", project="site")
    talk = rec.conversations.start(agent="anna")
    said = rec.conversations.append(
        talk, "user", "", payload={"text": ["The zanzibar launch code is umbrella.", "\x00 ü"]}
    )
    rec.forget(memory.id)

    left = rec.conversations.get_message(said).payload["text"]
    assert "zanzibar" not in left[0]
    assert left[1] == "\x00 ü"


def test_the_last_message_is_taken_back_and_its_place_is_used_again(rec: LocalRecollect) -> None:
    talk = talk_of(rec, 2)

    popped = rec.conversations.pop(talk)
    assert popped is not None
    assert popped.content == "m1"
    assert rec.conversations.append(talk, "user", "again").position == 1
    first = rec.conversations.delete_message(rec.conversations.messages(talk)[0])
    assert contents(rec.conversations.messages(talk)) == ["again"]
    with pytest.raises(NotFound):
        rec.conversations.get_message(first)
    assert [rec.conversations.pop(talk) is None for _ in range(2)] == [False, True]
    assert rec.conversations.get(talk).revision == 5
    assert rec.maintenance.verify().problems == ()


def test_a_writer_that_read_an_older_revision_changes_nothing(rec: LocalRecollect) -> None:
    talk = talk_of(rec, 1)
    revision = rec.conversations.get(talk).revision
    rec.conversations.append(talk, "user", "faster", expected_revision=revision)

    writes: list[Callable[[], object]] = [
        lambda: rec.conversations.append(talk, "user", "late", expected_revision=revision),
        lambda: rec.conversations.append_many(
            talk, [{"role": "user", "content": "late"}], expected_revision=revision
        ),
        lambda: rec.conversations.pop(talk, expected_revision=revision),
    ]
    for write in writes:
        with pytest.raises(RevisionConflict, match="Read it again") as conflict:
            write()
        assert conflict.value.revision == revision + 1
    assert contents(rec.conversations.messages(talk)) == ["m0", "faster"]


def test_a_key_names_one_conversation_of_an_agent_and_is_free_after_a_deletion(
    rec: LocalRecollect,
) -> None:
    first = rec.conversations.start(agent="anna", key="thread/1")
    other = rec.conversations.start(agent="ben", key="thread/1")

    assert rec.conversations.start(agent="anna", key="thread/1", title="other") == first
    assert rec.conversations.find("thread/1", agent="ben") == other
    assert rec.conversations.find("thread/2", agent="anna") is None
    assert rec.conversations.list(agent="anna", key_prefix="thread/") == [first]
    rec.conversations.delete(first)
    assert rec.conversations.find("thread/1", agent="anna") is None
    assert rec.conversations.start(agent="anna", key="thread/1").id != first.id


def test_a_fork_has_what_was_said_until_then_and_goes_its_own_way(rec: LocalRecollect) -> None:
    talk = rec.conversations.get(talk_of(rec, 30))
    rec.conversations.pin(talk, "TICKET-1")
    compacted = rec.conversations.compact(talk, force=True, mode="all", keep_last=10)
    assert compacted is not None
    at = rec.conversations.messages(talk)[24]

    fork = rec.conversations.fork(talk, at=at, key="fork", title="other way")
    rec.conversations.append(fork, "user", "only here")
    early = rec.conversations.fork(talk, at=rec.conversations.messages(talk)[4])

    assert contents(rec.conversations.messages(fork))[-2:] == ["m24", "only here"]
    assert len(rec.conversations.messages(talk)) == 30
    assert (fork.agent_id, fork.metadata) == (talk.agent_id, {"forked_from": talk.id})
    assert [pin.content for pin in rec.conversations.pins(fork)] == ["TICKET-1"]
    assert [s.content for s in rec.conversations.summaries(fork)] == [compacted.summary.content]
    assert contents(rec.conversations.messages_in_context(fork))[0] == "m20"
    # What a summary tells of messages after the fork is not in the fork.
    assert rec.conversations.summaries(early) == []
    assert len(rec.conversations.messages_in_context(early)) == 5
    with pytest.raises(AlreadyExists, match="choose another"):
        rec.conversations.fork(talk, key="fork")
    with pytest.raises(NotFound, match="has no message"):
        rec.conversations.fork(fork, at=at)
    assert rec.maintenance.verify().problems == ()


def test_keys_and_payloads_are_exported_and_imported(rec: LocalRecollect, tmp_path: Path) -> None:
    other = open_memory(tmp_path / "other.db")
    talk = rec.conversations.start(agent="anna", key="thread/1")
    rec.conversations.append(talk, "user", "", payload={"a": "\x00 ü"})
    elsewhere = other.conversations.start(agent="anna", key="thread/1")
    other.conversations.append(elsewhere, "user", "first here")
    rec.export(tmp_path / "all.jsonl")
    rec.agents.export("anna", tmp_path / "anna.json")

    other.import_(tmp_path / "all.jsonl", trust=True)
    merged = other.conversations.messages(elsewhere)
    assert [message.payload for message in merged] == [None, {"a": "\x00 ü"}]
    imported = other.agents.import_(tmp_path / "anna.json", name="copy").agent
    copy = other.conversations.find("thread/1", agent=imported)
    assert copy is not None
    assert other.conversations.messages(copy)[0].payload == {"a": "\x00 ü"}
    other.close()


def test_messages_of_all_conversations_are_paged_in_the_order_they_were_stored(
    rec: LocalRecollect,
) -> None:
    talk_of(rec, 2)
    talk_of(rec, 2, agent="ben")
    call = rec.conversations.append(talk_of(rec, 1), "assistant", None, tool_calls=[CALL])

    def page(**how: Any) -> list[str]:
        return contents(rec.conversations.all_messages(**how))

    everything = rec.conversations.all_messages()
    assert contents(everything) == ["m0", "m1", "m0", "m1", "m0", ""]
    assert everything[-1] == call
    assert page(agent="anna") == ["m0", "m1", "m0", ""]
    assert page(agent="anna", newest_first=True, limit=2) == ["", "m0"]
    assert page(after=everything[3]) == ["m0", ""]
    assert page(before=everything[3].id, limit=1) == ["m0"]
    assert page(newest_first=True, before=everything[3], limit=1) == ["m0"]
    assert page(newest_first=True, after=everything[1]) == ["m0"]


def test_the_metadata_of_a_conversation_is_replaced(rec: LocalRecollect) -> None:
    talk = rec.conversations.start(agent="anna", metadata={"a": 1})

    changed = rec.conversations.set_metadata(talk, {"b": SECRET})

    assert changed.metadata.keys() == {"b"}
    assert SECRET not in str(rec.conversations.get(talk).metadata)
