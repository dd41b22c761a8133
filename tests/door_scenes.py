"""
Scenes that use every verb, to be played on any memory: what each call gave is written down.

A scene takes a `Played` memory and calls verbs on it as a program would. Whether that memory is
open here or behind a server must make no difference to any line.
"""

from collections.abc import Callable
from dataclasses import is_dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from recollect import RecollectError


class Played:
    """A memory whose every answer is written down: what came back, or what was raised."""

    def __init__(self, memory: Any, folder: Path) -> None:
        self._memory = memory
        self.folder = folder
        self.lines: list[tuple[str, Any]] = []

    def __getattr__(self, verb: str) -> Callable[..., Any]:
        def call(*args: Any, **options: Any) -> Any:
            try:
                result = getattr(self._memory, verb)(*args, **options)
            except (RecollectError, TypeError) as error:
                self.lines.append((verb, (type(error), str(error), vars(error))))
                return None
            self.lines.append((verb, result))
            return result

        return call


def memories(door: Played) -> None:
    kept = door.ingest(
        "We chose PostgreSQL because of JSON.",
        type="decision",
        project="site",
        tags=["db", "db"],
        confidence=0.5,
        observed_at=datetime(2026, 5, 1, tzinfo=UTC),
        rationale="JSON",
        alternatives=["MySQL"],
    )
    other = door.ingest("Answers should be short.", scope="global", agent=None)
    door.ingest_many([{"content": "The build uses pnpm.", "project": "site"}, {"content": "x y z"}])
    door.ingest("")
    door.ingest("secret sk-ant-REDACTED here")
    door.ingest("umlauts äöü, 漢字, emoji 🦀 and a lone \ud800 surrogate")
    door.search("what database was chosen?", project="site", limit=3)
    door.search("database", types=["decision"], since="2026-04-01", until="2026-06-01")
    door.search("database", types="nonsense")
    door.search("", project="site")
    door.memories(project="site", limit=2)
    door.memories(tags=["db"], everywhere=True)
    door.memories(types=["decision", "profile"], everywhere=True)
    door.get(kept.id)
    door.get(kept)
    door.get("nothing")
    door.link(kept.id, "supports", other.id, note="a/b c")
    door.link(kept.id, "hates", other.id)
    door.explain(kept.id)
    door.why_not(kept.id, "pnpm", project="other")
    door.why_nothing("the weather on Mars", project="other")
    door.upsert_profile_fact("editor / shell", "vim")
    door.upsert_profile_fact("editor / shell", "helix")
    door.set_status(kept.id, "archived", reason="old")
    door.set_status(kept.id, "active")
    door.set_status(kept.id, "archived again")
    door.projects()
    door.forget(other.id)
    door.forget(other.id)
    door.context_for("choose a database", project="site", budget_tokens=500)
    door.context_for("x", budget_tokens=0)
    door.briefing(project="site", budget_tokens=300, form="markdown")
    door.briefing(project="site", budget_tokens=0)
    door.save_view("db / views", "database", project="site", limit=4)
    door.views()
    door.run_view("db / views")
    door.delete_view("db / views")
    door.delete_view("db / views")


def captures(door: Played) -> None:
    said = [
        {"role": "user", "content": "I prefer tabs. We decided to use Rust because it is fast."},
        {"role": "assistant", "content": "Noted."},
    ]
    event = door.capture_session(said, project="site", session="s1")
    door.capture_session(said, project="site", session="s1")
    door.capture_conversation("Remember that the port is 8283.", "note", title="port")
    transcript = door.folder / "said.txt"
    transcript.write_text("User: I always deploy on Fridays.\nAssistant: Really?\n")
    door.capture_file(transcript, project="site")
    door.capture_many([said, "User: We use uv for Python.\n"], agent="anna")
    door.capture_session("")
    door.capture_file(door.folder / "missing.txt")
    door.event(event.id)
    door.event("nothing")
    door.events()
    door.jobs()
    door.jobs(states=["todo"], limit=1)
    job = door.jobs(states="todo")[0]
    door.job(job.id)
    door.retry(job.id)
    door.retry("nothing")
    door.ledger()
    door.drain()
    door.inbox()
    waiting = door.waiting(project="site")
    ids = [one.memory.id for one in waiting]
    door.promote(ids[0], reason="sure")
    door.undo(ids[0])
    door.reject(ids[0], "no")
    door.undo_many(ids[:1])
    door.promote_many(ids[:2])
    door.reject_many(ids[:2], "twice")
    door.decide(ids[-1], "keep", reason="seen")
    door.undo(ids[-1])
    door.decide(ids[-1:], "reject")
    door.decide(ids[-1], "keep")
    door.decide(ids[-1], "perhaps")
    door.promote("nothing")
    door.consolidate()
    door.consolidate([ids[0]])
    door.maintain(limit=5)
    door.confirm(ids[0])


def agents(door: Played) -> None:
    anna = door.create_agent("anna / ops", description="d", metadata={"a": [1, None, "é"]})
    door.create_agent("anna / ops")
    door.create_agent("")
    door.create_agent("bare", default_blocks=False, model="gpt-4o", system_prompt="Be kind.")
    door.agent(anna)
    door.agent("anna / ops")
    door.agent(anna.id)
    door.agent("..")
    door.agent("")
    door.agents()
    door.update_agent("bare", description="new", metadata=None)
    door.update_agent("bare", name="anna / ops")
    door.pin_agent(anna)
    door.pin_agent("bare", "local", project="site")
    door.agents(pinned="global")
    door.agents(project="site")
    door.clone_agent(anna, "twin")
    door.branch_agent(anna, "branch")
    door.set_block("branch", "persona", "I am a branch.")
    door.merge_agents(anna, "branch", dry_run=True)
    door.merge_agents(anna, "branch", take={"persona": "theirs"})
    door.merge_agents(anna, "nobody")
    exported = door.folder / "anna.json"
    told = door.export_agent(anna, exported)
    assert told.counts
    assert exported.stat().st_size
    door.import_agent(exported, "again")
    door.import_agent(exported, "again")
    door.import_agent(door.folder / "missing.json")
    door.export_agent(anna, door.folder / "anna.af.gz", format="af")
    door.export_agent("nobody", door.folder / "nobody.json")
    door.delete_agent("twin")
    door.delete_agent("twin")


def blocks(door: Played) -> None:
    anna = door.create_agent("anna")
    door.create_block("notes", "one", agent="anna", description="d", limit=40, metadata={"a": 1})
    door.create_block("notes", "one", agent="anna")
    door.create_block("", "one", agent="anna")
    shared = door.create_block("team", "we", scope="global")
    door.blocks("anna")
    door.blocks()
    block = door.block("anna", "notes")
    door.block(None, block)
    door.block(anna, block)
    door.block(None, block.id)
    door.block("anna", "nothing")
    door.set_block("anna", "notes", "two", by="agent", reason="because")
    door.set_block("anna", "notes", "three", expected_version=1)
    door.set_block("anna", "notes", "x" * 50)
    door.set_block(None, block.id, "by id")
    door.append_block("anna", "notes", "more")
    door.replace_in_block("anna", "notes", "more", "less")
    door.replace_in_block("anna", "notes", "nothing", "less")
    door.insert_in_block("anna", "notes", "top", 0)
    door.insert_in_block("anna", "notes", "end")
    door.set_block("anna", "project", "uses uv", project="site")
    door.blocks("anna", project="site")
    door.update_block("anna", "notes", new_label="notes / new", description="e", hidden=True)
    door.update_block("anna", "notes / new", limit=None)
    door.block_history("anna", "notes / new")
    door.block_diff("anna", "notes / new", 1, 3)
    door.block_diff("anna", "notes / new", 1)
    door.rollback_block("anna", "notes / new", 1, reason="back")
    door.rollback_block("anna", "notes / new", 99)
    door.attach_block("anna", shared)
    door.search_blocks("uv", agent="anna", project="site")
    door.block_changes("anna", datetime(2026, 5, 1, tzinfo=UTC))
    door.block_changes(None, "2026-05-01")
    door.blocks_mark("anna")
    door.blocks_mark(None)
    door.detach_block("anna", "team")
    door.delete_block("anna", "notes / new")
    door.delete_block("anna", "notes / new")
    door.set_block("anna", "skills", "mine")


def conversations(door: Played) -> None:
    said = door.start_conversation(agent="anna", project="site", title="first", metadata={"a": 1})
    door.start_conversation(agent="bert", started_at="2026-05-02")
    door.conversation(said)
    door.conversation(said.id)
    door.conversation("nothing")
    door.append_message(said, "user", "My name is Alice and I prefer Python.")
    calls = [{"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}]
    door.append_message(said, "assistant", None, tool_calls=calls, metadata={"model": "m"})
    door.append_message(said, "tool", "42", tool_call_id="c1", name="f")
    parts = [{"type": "text", "text": "look"}, {"type": "image_url", "image_url": {"url": "u"}}]
    message = door.append_message(
        said.id, "user", parts, created_at="2026-05-08T12:00", pinned=True
    )
    door.append_message(said, "nobody", "x")
    door.append_message(said, "user", "")
    door.append_messages(
        said, [{"role": "user", "content": "one"}, {"role": "assistant", "content": "two"}]
    )
    door.append_messages(said, [{"role": "user", "content": "ok"}, {"role": "user", "content": ""}])
    door.messages(said)
    door.messages(said, start=2, limit=2)
    door.messages(said, newest_first=True, limit=1)
    door.messages(said, before=3)
    door.add_message("anna", "user", "Without a conversation.", metadata={"a": 1})
    door.add_message("nobody", "user", "x")
    door.messages_of("anna", limit=2, offset=1, roles=["user"])
    door.messages_in_context(said)
    door.conversations(agent="anna")
    door.conversations(limit=1, offset=1)
    door.search_messages("which language?", agent="anna", asked_in=said)
    door.search_messages("python", conversation=said, mode="fts", roles="user", limit=1)
    door.search_messages("python", agent="anna", mode="nonsense")
    door.conversation_search("anna", "python", roles=["user"])
    door.archival_insert("anna", "Alice lives in Bern.", tags=["home"])
    door.archival_search("anna", "where does Alice live?", tags="home")
    door.archival_search("anna")
    door.pin(said, "TICKET-1", kind="ticket")
    pin = door.pin(said, "gone soon")
    door.unpin(pin)
    door.unpin("nothing")
    door.pins(said)
    door.pin_message(message, pinned=False)
    door.pin_message(message.id)
    door.rename_conversation(said, "renamed / title")
    door.append_messages(
        said, [{"role": "user", "content": f"filler {n} " * 30} for n in range(40)]
    )
    door.compact(said, window_tokens=500)
    door.compact(said, window_tokens=1_000_000)
    door.summaries(said)
    door.context_for("which language?", conversation=said, budget_tokens=800, form="markdown")
    door.context_window("anna", conversation=said, window_tokens=8_000)
    door.count_tokens("hello world", model="gpt-4o")
    door.end_conversation(said, ended_at="2026-05-09", capture=True)
    door.append_message(said, "user", "too late")
    door.resume_conversation(said)
    door.learn_skill(said, "say-hello", save="")
    door.delete_conversation(said)
    door.delete_conversation(said)


def tools(door: Played) -> None:
    door.create_agent("anna")
    used = door.tools("anna")
    door.lines.pop()  # the tools themselves are an object of each side
    for name, args in (
        ("core_memory_append", ("persona", "I help.")),
        ("core_memory_replace", ("persona", "help", "assist")),
        ("memory_insert", ("persona", "first", 0)),
        ("memory_rethink", ("persona", "anew")),
        ("archival_memory_insert", ("Bern is a city.", ["geo"])),
        ("archival_memory_search", ("city",)),
        ("conversation_search", ("city",)),
    ):
        door.lines.append((name, getattr(used, name)(*args)))


def skills_and_files(door: Played) -> None:
    door.create_agent("anna")
    project = door.folder / "site"
    (project / ".skills" / "greet").mkdir(parents=True)
    (project / ".skills" / "greet" / "SKILL.md").write_text(
        "---\nname: greet\ndescription: How to greet people.\n---\nSay hello.\n"
    )
    (project / "app.py").write_text("def main():\n    print('hello')\n")
    door.discover_skills()
    door.discover_skills(project=project)
    door.search_skills("greet people", project=project)
    door.load_skill("anna", "greet", project=project)
    door.loaded_skills("anna")
    door.refresh_skills("anna", project=str(project))
    door.unload_skill("anna", "greet", project=project)
    door.load_skill("anna", "nothing", project=project)
    door.open_files("anna", ["app.py", {"path": "app.py", "offset": 1}], project=project)
    door.open_files("anna", ["../outside"], project=project)
    door.opened_files("anna")
    door.grep_files("hel+o", project=project)
    door.grep_files("(", roots=[project])
    door.index_files(project=project, include="*.py")
    door.search_files("print hello", project=project)
    door.context_for("fix main", agent="anna", file=project / "app.py", project=project)
    door.forget_files([project / "app.py"], project=project)
    door.close_files("anna", [project / "app.py"])
    door.close_files("anna")


def keeping(door: Played) -> None:
    door.ingest("The build uses pnpm.")
    door.try_embedder()
    door.models()
    door.use_model("default")
    door.use_model("no such model")
    door.reembed()
    door.verify()
    door.rebuild_indexes()
    exported = door.folder / "all.jsonl.gz"
    door.export(exported)
    assert exported.read_bytes()[:2] == b"\x1f\x8b"
    door.import_(exported)
    exported.write_bytes(b"no export")
    door.import_(exported)
    door.export(door.folder / "missing" / "all.jsonl")
    status = door.status()
    door.lines[-1] = ("status", {**vars(status), "bytes": 0})  # the log of writes may differ


SCENES = (memories, captures, agents, blocks, conversations, tools, skills_and_files, keeping)


def same(value: Any) -> Any:
    """Return *value* comparable: dataclasses by their fields, so that a difference is shown."""
    return repr(value) if is_dataclass(value) else value
