"""The past of other programs comes in: each source, once, into its own project, never active."""

import json
import os
import struct
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import client_session_files
from client_session_files import SQLITE, TABS
from conftest import DATA
from git_worktrees import linked_worktree
from recollect import InvalidInput, LocalRecollect, Status
from recollect.domain.import_progress import FileOutcome, ImportStep
from recollect.service.imports import cursor, export_archive, history_source
from support import FakeClock, candidates, open_memory

SAMPLES = DATA / "transcripts"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home folder of the test's own."""
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("USERPROFILE", str(folder))
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "npm_config_cache"):
        monkeypatch.delenv(name, raising=False)
    return folder


@pytest.fixture
def rec(path: Path, clock: FakeClock) -> Iterator[LocalRecollect]:
    with open_memory(path, clock=clock, words_only=True) as opened:
        yield opened


def import_and_drain(
    rec: LocalRecollect, source: str, *paths: Path, **options: Any
) -> list[ImportStep]:
    """Import, work the queue off, and return what became of each file."""
    steps = list(rec.engine.import_history_in_steps(source, paths, **options))
    rec.drain()
    return [step for step in steps if step.outcome is not None]


def contents(rec: LocalRecollect, **filters: Any) -> list[str]:
    memories = candidates(rec, limit=1_000, **filters)
    return sorted(memory.content for memory in memories if memory.type != "episode")


def everything(rec: LocalRecollect) -> list[tuple[str, str, str]]:
    statuses = [status.value for status in Status]
    memories = rec.memories.list(everywhere=True, statuses=statuses, limit=1_000)
    return sorted((memory.content, memory.status.value, memory.type.value) for memory in memories)


# ── each source ─────────────────────────────────────────────────────────────────────────────────

Write = Callable[[Path], tuple[Path, ...]]
SOURCES: dict[str, tuple[Write, list[str]]] = {
    "claude-code": (
        lambda home: (client_session_files.write_claude_code_session(home, "s1", TABS),)[:0],
        [TABS],
    ),
    "codex": (
        lambda home: (client_session_files.write_codex_session(home, "s1", TABS),)[:0],
        [TABS],
    ),
    "gemini-cli": (
        lambda home: (client_session_files.write_gemini_session(home, "s1", TABS),)[:0],
        [TABS],
    ),
    "cursor": (
        lambda home: (client_session_files.write_cursor_session(home, "s1", TABS),)[:0],
        [TABS],
    ),
    "chatgpt": (
        lambda home: (
            client_session_files.write_export_zip(
                home / "e.zip", [client_session_files.chatgpt_conversation("c", TABS)]
            ),
        ),
        [TABS],
    ),
    "claude-ai": (
        lambda home: (
            client_session_files.write_export_zip(
                home / "e.zip", [client_session_files.claude_ai_conversation("c", TABS)]
            ),
        ),
        [TABS],
    ),
    "mcp-memory": (
        lambda home: (client_session_files.write_memory_graph(home / "memory.jsonl"),),
        ["Ana leads the office of Acme.", "Ana: Prefers tea over coffee.", "Ana: Works at Acme."],
    ),
}


@pytest.mark.parametrize("source", SOURCES)
def test_each_source_comes_in_once_and_waits_in_the_inbox(
    rec: LocalRecollect, home: Path, source: str
) -> None:
    write, said = SOURCES[source]
    paths = write(home)
    first = import_and_drain(rec, source, *paths)
    found = everything(rec)
    again = import_and_drain(rec, source, *paths)

    assert [step.outcome for step in first] == [FileOutcome.TAKEN]
    assert first[0].conversations == 1
    assert contents(rec) == said
    assert {status for _, status, _ in found} == {"inbox"}
    assert [step.outcome for step in again] == [FileOutcome.UNCHANGED]
    assert everything(rec) == found
    assert rec.maintenance.verify().ok


def test_what_claude_was_told_to_remember_comes_in_as_notes(
    rec: LocalRecollect, home: Path
) -> None:
    client_session_files.write_claude_code_session(
        home, "s1", "Hello there, good morning to you.", cwd="/srv/shop"
    )
    config = home / ".claude"
    (config / "CLAUDE.md").write_text("# Me\n\n- I prefer short answers.\n@other.md\n")
    auto = config / "projects" / "-srv-shop" / "memory"
    auto.mkdir()
    (auto / "build.md").write_text(
        "---\nname: build\ndescription: how\ntype: project\n---\nThe shop is built with pnpm.\n"
    )
    [taken, other] = import_and_drain(rec, "claude-memory")
    project = [project.name for project in rec.projects.list()]

    assert {taken.outcome, other.outcome} == {FileOutcome.TAKEN}
    assert contents(rec) == ["I prefer short answers.", "The shop is built with pnpm."]
    assert project == ["shop"]
    assert contents(rec, project="/srv/shop", everywhere=False) == contents(rec)
    assert contents(rec, project="elsewhere", everywhere=False) == ["I prefer short answers."]
    voices = {one.memory.content: one.voice for one in rec.inbox.list()}
    assert voices["I prefer short answers."] == "pasted"  # anybody may have written the file
    assert voices["The shop is built with pnpm."] == "assistant"


def test_the_memory_tools_folder_is_read_whole_and_goes_where_it_is_told(
    rec: LocalRecollect, home: Path
) -> None:
    notes = home / "memories"
    (notes / "work").mkdir(parents=True)
    (notes / "work" / "deploys.md").write_text("Deploys happen on Fridays.\n")
    (notes / ".hidden.md").write_text("Nobody reads this sentence.\n")
    os.symlink(notes, notes / "round")
    steps = import_and_drain(rec, "claude-memory", notes, project="site")

    assert [Path(step.path).name for step in steps] == ["deploys.md"]
    assert contents(rec, project="site", everywhere=False) == ["Deploys happen on Fridays."]
    assert contents(rec, project="other", everywhere=False) == []


def test_a_gemini_session_of_an_unknown_folder_stays_in_a_project_of_its_own(
    rec: LocalRecollect, home: Path
) -> None:
    client_session_files.write_gemini_session(
        home, "s1", "The staging server listens on port 8080.", root=""
    )
    import_and_drain(rec, "gemini-cli")

    assert [project.name for project in rec.projects.list()] == ["gemini shop"]
    assert contents(rec, project="other", everywhere=False) == []


def test_a_folder_of_cursor_is_found_on_this_disk(
    rec: LocalRecollect, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cursor, "MAX_FOLDERS", 1_000_000)  # every test has a folder beside this
    held_in = home / "my.code" / "web-shop"
    held_in.mkdir(parents=True)
    slug = str(held_in).strip("/").replace("/", "-").replace(".", "-")
    client_session_files.write_cursor_session(
        home, "s1", "The staging server listens on port 8080.", slug=slug
    )
    import_and_drain(rec, "cursor")

    assert [project.name for project in rec.projects.list()] == ["web-shop"]


def test_an_unknown_source_and_an_export_without_a_path_are_refused(rec: LocalRecollect) -> None:
    with pytest.raises(InvalidInput, match="nothing to import from 'myspace'; use claude-code"):
        rec.engine.import_history_in_steps("myspace")
    with pytest.raises(InvalidInput, match="name the path of the downloaded export of chatgpt"):
        rec.engine.import_history_in_steps("chatgpt")
    with pytest.raises(InvalidInput, match="limit"):
        rec.engine.import_history_in_steps("codex", limit=0)


@pytest.mark.parametrize(
    ("source", "place"),
    [
        ("claude-code", "claude_code"),
        ("claude-code", "claude_code/*.jsonl"),
        ("codex", "codex/*.jsonl"),
        ("gemini-cli", "gemini/*.json"),
        ("chatgpt", "chatgpt"),
    ],
)
def test_samples_of_real_programs_come_in(
    rec: LocalRecollect, home: Path, source: str, place: str
) -> None:
    paths = sorted(SAMPLES.glob(place))
    steps = import_and_drain(rec, source, *paths)
    once = everything(rec)
    again = import_and_drain(rec, source, *paths)

    assert {step.outcome for step in steps} == {FileOutcome.TAKEN}
    assert sum(step.conversations for step in steps) > 0
    assert {status for _, status, _ in once} <= {"stated", "inbox", "superseded", "archived"}
    assert everything(rec) == once
    assert {step.outcome for step in again} == {FileOutcome.UNCHANGED}


# ── once, grown, resumed ────────────────────────────────────────────────────────────────────────


def test_a_grown_session_is_taken_in_as_the_longer_one(rec: LocalRecollect, home: Path) -> None:
    client_session_files.write_claude_code_session(home, "s1", TABS)
    import_and_drain(rec, "claude-code")
    client_session_files.write_claude_code_session(
        home, "s1", TABS, "My favourite editor is Helix."
    )
    [step] = import_and_drain(rec, "claude-code")

    assert (step.conversations, step.known) == (1, 0)
    assert contents(rec) == [TABS, "My favourite editor is Helix."]
    [record] = [one for one in candidates(rec) if one.type == "episode"]
    assert "Helix" in record.content
    [twice] = [one for one in candidates(rec) if one.content == TABS]
    assert len(twice.evidence) == 1  # the same words of the same session


def test_an_older_telling_of_a_known_session_brings_nothing(
    rec: LocalRecollect, home: Path
) -> None:
    whole = client_session_files.write_claude_code_session(
        home, "s1", TABS, "My favourite editor is Helix."
    )
    import_and_drain(rec, "claude-code")
    copy = whole.with_name("copy.jsonl")
    copy.write_text("\n".join(whole.read_text().splitlines()[:2]) + "\n")
    steps = import_and_drain(rec, "claude-code")

    assert [(one.outcome, one.conversations, one.known) for one in steps] == [
        (FileOutcome.TAKEN, 0, 1),
        (FileOutcome.UNCHANGED, 0, 0),
    ]


def test_a_session_that_was_captured_as_it_was_held_is_known(
    rec: LocalRecollect, home: Path
) -> None:
    path = client_session_files.write_claude_code_session(home, "s1", TABS)
    rec.captures.add_file(path)
    rec.drain()
    before = everything(rec)
    [step] = import_and_drain(rec, "claude-code")

    assert (step.conversations, step.known) == (0, 1)
    assert everything(rec) == before


def test_a_grown_session_takes_nothing_from_what_was_captured_as_it_was_held(
    rec: LocalRecollect, home: Path
) -> None:
    rec.captures.add_file(client_session_files.write_claude_code_session(home, "s1", TABS))
    rec.drain()
    client_session_files.write_claude_code_session(
        home, "s1", TABS, "My favourite editor is Helix."
    )
    import_and_drain(rec, "claude-code")

    records = [one for one in everything(rec) if one[2] == "episode"]
    assert sorted(status for _, status, _ in records) == ["active", "archived"]


def test_an_unchanged_file_is_passed_over_without_being_opened(
    rec: LocalRecollect, home: Path
) -> None:
    path = client_session_files.write_claude_code_session(home, "s1", TABS)
    import_and_drain(rec, "claude-code")
    told = path.stat()
    path.write_bytes(b"x" * told.st_size)  # had it been read, it would be refused
    os.utime(path, ns=(told.st_atime_ns, told.st_mtime_ns))
    [step] = import_and_drain(rec, "claude-code")

    assert step.outcome is FileOutcome.UNCHANGED


def test_a_limit_is_resumed_where_it_ended(rec: LocalRecollect, home: Path) -> None:
    talks = [
        client_session_files.chatgpt_conversation(f"c{n}", f"My cat number {n} is called Mo.")
        for n in "123"
    ]
    export = client_session_files.write_export_zip(home / "e.zip", talks)
    runs = [import_and_drain(rec, "chatgpt", export, limit=2) for _ in range(3)]

    assert [(one.outcome, one.conversations, one.known) for [one] in runs] == [
        (FileOutcome.PARTLY, 2, 0),
        (FileOutcome.TAKEN, 1, 2),
        (FileOutcome.UNCHANGED, 0, 0),
    ]


def test_a_newer_export_brings_only_what_is_new(rec: LocalRecollect, home: Path) -> None:
    talks = [
        client_session_files.claude_ai_conversation(f"c{n}", f"My cat {n} is called Mo.")
        for n in "12"
    ]
    import_and_drain(
        rec, "claude-ai", client_session_files.write_export_zip(home / "a.zip", talks[:1])
    )
    [step] = import_and_drain(
        rec, "claude-ai", client_session_files.write_export_zip(home / "b.zip", talks)
    )

    assert (step.conversations, step.known) == (1, 1)


def test_since_leaves_out_what_is_older_and_does_not_count_it_as_taken(
    rec: LocalRecollect, home: Path
) -> None:
    old = client_session_files.chatgpt_conversation("old", TABS)
    new = client_session_files.chatgpt_conversation("new", "My cat is called Mo.")
    new["create_time"] = new["mapping"]["n0"]["message"]["create_time"] = 1780000000
    export = client_session_files.write_export_zip(home / "e.zip", [old, new])
    [first] = import_and_drain(rec, "chatgpt", export, since="2026-05-01")
    [second] = import_and_drain(rec, "chatgpt", export)

    assert (first.conversations, first.left_out) == (1, 1)
    assert (second.conversations, second.known) == (1, 1)
    untouched = client_session_files.write_codex_session(home, "s1", TABS)
    os.utime(untouched, (1_700_000_000, 1_700_000_000))
    [older] = import_and_drain(rec, "codex", since="2026-05-01")
    assert older.outcome is FileOutcome.OLDER


def test_a_dry_run_says_what_would_come_in_and_stores_nothing(
    rec: LocalRecollect, home: Path
) -> None:
    client_session_files.write_claude_code_session(home, "s1", TABS)
    client_session_files.write_claude_code_session(home, "s2", SQLITE)
    dry = import_and_drain(rec, "claude-code", dry_run=True)

    assert [(one.outcome, one.conversations) for one in dry] == [(FileOutcome.TAKEN, 1)] * 2
    assert rec.captures.list() == []
    assert rec.projects.list() == []
    import_and_drain(rec, "claude-code", limit=1)
    dry = import_and_drain(rec, "claude-code", dry_run=True)
    assert [step.outcome for step in dry] == [FileOutcome.UNCHANGED, FileOutcome.TAKEN]


# ── never active ────────────────────────────────────────────────────────────────────────────────


def test_nothing_imported_becomes_active_however_often_it_was_said(
    rec: LocalRecollect, home: Path
) -> None:
    for number in range(4):
        client_session_files.write_claude_code_session(
            home, f"s{number}", TABS, SQLITE, f"I live in town number {number}."
        )
    client_session_files.write_claude_code_session(
        home, "t", "No, I live in Porto now.", "Correction: I live in Lisbon."
    )
    import_and_drain(rec, "claude-code")
    rec.consolidate()

    assert TABS in contents(rec)
    assert "active" not in {status for _, status, _ in everything(rec)}


def test_an_import_makes_nothing_active_that_waits_and_replaces_nothing_that_is_active(
    rec: LocalRecollect, home: Path
) -> None:
    rec.ingest("The staging server listens on port 8080.", project="/srv/shop")
    rec.capture_session([{"role": "user", "content": TABS}], session="live", project="/srv/shop")
    rec.drain()
    client_session_files.write_claude_code_session(
        home, "s1", TABS, "No, the staging server listens on port 9090."
    )
    import_and_drain(rec, "claude-code")

    found = {content: status for content, status, kind in everything(rec) if kind != "episode"}
    assert found[TABS] == "inbox"
    assert found["The staging server listens on port 8080."] == "active"
    assert [len(one.conflicts) for one in rec.inbox.list(types=["project"])] == [1]


def test_a_later_session_confirms_what_was_imported(rec: LocalRecollect, home: Path) -> None:
    client_session_files.write_claude_code_session(home, "s1", TABS)
    import_and_drain(rec, "claude-code")
    rec.capture_session([{"role": "user", "content": TABS}], session="live", project="/srv/shop")
    rec.drain()

    [found] = [one for one in everything(rec) if one[0] == TABS]
    assert found[1] == "active"


def test_a_person_can_keep_what_was_imported(rec: LocalRecollect, home: Path) -> None:
    client_session_files.write_claude_code_session(home, "s1", TABS)
    import_and_drain(rec, "claude-code")
    [one] = rec.inbox.list(types=["profile"])
    rec.inbox.decide(one.memory.id, "keep")

    assert rec.memories.get(one.memory.id).status is Status.ACTIVE


# ── walls ───────────────────────────────────────────────────────────────────────────────────────

PORT = "The staging server listens on port 8080."


def test_each_session_goes_to_the_project_it_was_held_in(rec: LocalRecollect, home: Path) -> None:
    client_session_files.write_claude_code_session(
        home, "a", PORT, cwd="/srv/shop", folder="-srv-shop"
    )
    client_session_files.write_claude_code_session(
        home, "b", PORT, cwd="/srv/tool", folder="-srv-tool"
    )
    import_and_drain(rec, "claude-code")

    assert len(contents(rec)) == 2
    for project in ("/srv/shop", "/srv/tool"):
        assert contents(rec, project=project, everywhere=False) == [PORT]
    assert contents(rec, project="third", everywhere=False) == []
    assert rec.search("staging port", project="third", statuses=["inbox"]) == []


def test_a_project_narrows_the_import_and_moves_nothing_into_it(
    rec: LocalRecollect, home: Path
) -> None:
    client_session_files.write_claude_code_session(
        home, "a", PORT, cwd="/srv/shop", folder="-srv-shop"
    )
    client_session_files.write_claude_code_session(
        home, "b", PORT, cwd="/srv/tool", folder="-srv-tool"
    )
    by_name = import_and_drain(rec, "claude-code", project="shop")
    by_path = import_and_drain(rec, "claude-code", project="/srv/shop")
    rec.projects.link("tool", "/srv/tool")
    by_linked_name = import_and_drain(rec, "claude-code", project="tool")

    assert [(one.conversations, one.left_out) for one in by_path] == [(1, 0), (0, 1)]
    assert [(one.conversations, one.left_out) for one in by_name] == [(0, 1), (0, 1)]
    assert [(one.conversations, one.left_out) for one in by_linked_name] == [(0, 1), (1, 0)]
    assert [project.name for project in rec.projects.list()] == ["shop", "tool", "tool"]


def test_the_sessions_of_a_worktree_come_in_with_its_repository(
    rec: LocalRecollect, home: Path
) -> None:
    (home / "shop" / ".git").mkdir(parents=True)
    worktree = linked_worktree(home / "shop", home / "feature")
    client_session_files.write_claude_code_session(
        home, "a", PORT, cwd=str(worktree), folder="-feature"
    )

    [step] = import_and_drain(rec, "claude-code", project=str(home / "shop"))

    assert (step.conversations, step.left_out) == (1, 0)
    assert contents(rec, project=str(home / "shop"), everywhere=False) == [PORT]


# ── broken and hostile files ────────────────────────────────────────────────────────────────────


def test_broken_files_are_named_and_the_rest_comes_in(rec: LocalRecollect, home: Path) -> None:
    good = client_session_files.write_claude_code_session(home, "s5", TABS)
    folder = good.parent
    (folder / "s1.jsonl").write_text("not json at all\n")
    (folder / "s2.jsonl").write_bytes(b"\x00\x01\x02" * 100)
    (folder / "s3.jsonl").write_text("")
    (folder / "s4.jsonl").write_text('{"type":"user","message":{"content":"I live in Po')
    steps = {Path(one.path).stem: one for one in import_and_drain(rec, "claude-code")}

    refused = {name for name, one in steps.items() if one.outcome is FileOutcome.REFUSED}
    assert refused == {"s1", "s2", "s4"}
    assert "s1.jsonl is not a session of Claude Code" in steps["s1"].reason
    assert "is not a text file" in steps["s2"].reason
    assert contents(rec) == [TABS]


def test_a_session_whose_last_line_is_cut_off_comes_in(rec: LocalRecollect, home: Path) -> None:
    path = client_session_files.write_claude_code_session(home, "s1", TABS)
    path.write_text(path.read_text() + '{"type":"user","message":{"con')

    assert [step.outcome for step in import_and_drain(rec, "claude-code")] == [FileOutcome.TAKEN]


def test_a_path_at_which_there_is_nothing_is_named(rec: LocalRecollect, home: Path) -> None:
    [step] = import_and_drain(rec, "codex", home / "nowhere")

    assert (step.outcome, step.reason) == (
        FileOutcome.REFUSED,
        f"there is nothing at {home / 'nowhere'}",
    )
    assert import_and_drain(rec, "codex") == []  # the usual place need not exist


def test_a_file_over_the_limit_is_refused_by_name(
    rec: LocalRecollect, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = client_session_files.write_claude_code_session(home, "s1", TABS)
    monkeypatch.setattr(history_source, "MAX_BYTES", 100)
    [step] = import_and_drain(rec, "claude-code")

    assert step.outcome is FileOutcome.REFUSED
    assert str(path) in step.reason
    assert "the limit is" in step.reason


def test_the_conversations_before_a_break_in_an_export_come_in(
    rec: LocalRecollect, home: Path
) -> None:
    export = home / "conversations.json"
    whole = json.dumps(
        [
            client_session_files.chatgpt_conversation("c1", TABS),
            client_session_files.chatgpt_conversation("c2"),
        ]
    )
    export.write_text(whole[:-40])
    [step] = import_and_drain(rec, "chatgpt", export)

    assert (step.outcome, step.conversations) == (FileOutcome.REFUSED, 1)
    assert "cut off or broken after" in step.reason
    assert contents(rec) == [TABS]


def test_the_conversations_before_a_part_that_is_too_large_come_in(
    rec: LocalRecollect, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(export_archive, "MAX_BYTES", 1_000_000)
    export = home / "export.zip"
    with zipfile.ZipFile(export, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr(
            "conversations-000.json",
            json.dumps([client_session_files.chatgpt_conversation("c1", TABS)]),
        )
        packed.writestr("conversations-001.json", b"[" + b" " * 5_000_000 + b"]")
    [step] = import_and_drain(rec, "chatgpt", export)

    assert (step.outcome, step.conversations) == (FileOutcome.REFUSED, 1)
    assert "is larger than 1 MB unpacked" in step.reason
    assert contents(rec) == [TABS]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with a name here")
@pytest.mark.parametrize("source", ["chatgpt", "claude-ai", "claude-code", "mcp-memory"])
def test_a_pipe_is_refused_and_not_waited_for(rec: LocalRecollect, home: Path, source: str) -> None:
    pipe = home / "conversations.json"
    os.mkfifo(pipe)
    [step] = import_and_drain(rec, source, pipe)

    assert step.outcome is FileOutcome.REFUSED
    assert step.reason == f"{pipe} is not a regular file"


def encrypted(path: Path) -> None:
    """Set the flag that says a member needs a password, in both of its heads."""
    raw = bytearray(path.read_bytes())
    for mark, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        at = raw.index(mark) + offset
        flags = struct.unpack_from("<H", raw, at)[0]
        struct.pack_into("<H", raw, at, flags | 1)
    path.write_bytes(bytes(raw))


def test_an_archive_with_a_password_is_refused(rec: LocalRecollect, home: Path) -> None:
    export = client_session_files.write_export_zip(
        home / "e.zip", [client_session_files.chatgpt_conversation("c", TABS)]
    )
    encrypted(export)
    [step] = import_and_drain(rec, "chatgpt", export)

    assert step.outcome is FileOutcome.REFUSED
    assert "has a password; unpack it first" in step.reason


def test_a_bomb_is_refused_before_it_is_unpacked(
    rec: LocalRecollect, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(export_archive, "MAX_BYTES", 1_000_000)
    bomb = home / "bomb.zip"
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("conversations.json", b"[" + b" " * 5_000_000 + b"]")
    [step] = import_and_drain(rec, "chatgpt", bomb)

    assert step.outcome is FileOutcome.REFUSED
    assert "is larger than 1 MB unpacked" in step.reason


def test_an_archive_that_lies_about_its_size_is_refused(
    rec: LocalRecollect, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(export_archive, "MAX_BYTES", 1_000_000)
    bomb = home / "bomb.zip"
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("conversations.json", b"[" + b" " * 5_000_000 + b"]")
    raw = bytearray(bomb.read_bytes())
    for mark, offset in ((b"PK\x03\x04", 22), (b"PK\x01\x02", 24)):
        struct.pack_into("<I", raw, raw.index(mark) + offset, 10)
    bomb.write_bytes(bytes(raw))
    [step] = import_and_drain(rec, "chatgpt", bomb)

    assert step.outcome is FileOutcome.REFUSED
    assert contents(rec) == []


@pytest.mark.parametrize("name", ["../conversations.json", "/conversations.json", "a/b/c/x.json"])
def test_members_that_lead_elsewhere_are_not_read(
    rec: LocalRecollect, home: Path, name: str
) -> None:
    export = home / "e.zip"
    with zipfile.ZipFile(export, "w") as packed:
        packed.writestr(name, json.dumps([client_session_files.chatgpt_conversation("c", TABS)]))
    [step] = import_and_drain(rec, "chatgpt", export)

    assert step.outcome is FileOutcome.REFUSED
    assert "holds no conversations.json" in step.reason
    assert not (home.parent / "conversations.json").exists()


def test_a_broken_archive_and_another_programs_export_are_refused(
    rec: LocalRecollect, home: Path
) -> None:
    export = client_session_files.write_export_zip(
        home / "e.zip", [client_session_files.chatgpt_conversation("c", TABS)]
    )
    [other] = import_and_drain(rec, "claude-ai", export)
    raw = bytearray(export.read_bytes())
    raw[45:60] = b"x" * 15
    export.write_bytes(bytes(raw))
    [broken] = import_and_drain(rec, "chatgpt", export)

    assert "is not an export of Claude.ai" in other.reason
    assert broken.outcome is FileOutcome.REFUSED
    assert "is a broken archive" in broken.reason


def test_secrets_in_the_past_are_not_stored(rec: LocalRecollect, home: Path, path: Path) -> None:
    token = "ghp_" + "a1B2" * 9
    client_session_files.write_codex_session(home, "s1", f"I prefer the token {token} in Go code.")
    import_and_drain(rec, "codex")

    assert token.encode() not in path.read_bytes()
