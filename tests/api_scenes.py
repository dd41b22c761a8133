"""
Scenes that call every method of the API on a memory and record the results.

A scene takes a `RecordedCalls` memory. A local memory and one behind a server must give the same
results for every call.
"""

from collections.abc import Callable
from dataclasses import is_dataclass
from datetime import UTC, datetime
from functools import cached_property
from operator import attrgetter
from pathlib import Path
from typing import Any

from recollect import Recollect, RecollectError
from recorded_sessions import RecordedSession

NOUNS = frozenset(
    {name for name, value in vars(Recollect).items() if isinstance(value, cached_property)}
)


class RecordedCalls:
    """A memory that records the result or the error of every call."""

    def __init__(self, memory: Any, folder: Path) -> None:
        self._memory = memory
        self.folder = folder
        self.lines: list[tuple[str, Any]] = []

    def __getattr__(self, verb: str) -> Any:
        if verb in NOUNS:
            return RecordedNoun(self, verb)
        return lambda *args, **options: self.call(verb, args, options)

    def call(self, verb: str, args: Any, options: Any) -> Any:
        """Call a verb, such as `search` or `agents.create`, and record what it returned."""
        try:
            result = attrgetter(verb)(self._memory)(*args, **options)
        except (RecollectError, TypeError) as error:
            self.lines.append((verb, (type(error), str(error), vars(error))))
            return None
        self.lines.append((verb, result))
        return result


class RecordedNoun:
    """One noun of a recorded memory."""

    def __init__(self, calls: RecordedCalls, noun: str) -> None:
        self._calls = calls
        self._noun = noun

    def __getattr__(self, verb: str) -> Callable[..., Any]:
        return lambda *args, **options: self._calls.call(f"{self._noun}.{verb}", args, options)


def memories(door: RecordedCalls) -> None:
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
    door.memories.ingest_many(
        [{"content": "The build uses pnpm.", "project": "site"}, {"content": "x y z"}]
    )
    door.ingest("")
    door.ingest("secret sk-ant-REDACTED here")
    door.ingest("umlauts äöü, 漢字, emoji 🦀 and a lone \ud800 surrogate")
    door.search("what database was chosen?", project="site", limit=3)
    door.search("database", types=["decision"], since="2026-04-01", until="2026-06-01")
    door.search("database", types="nonsense")
    door.search("the weather on Mars", project="site", below_threshold=True, limit=1, offset=1)
    door.conversations.search("weather", agent="nobody", below_threshold=True)
    door.search("", project="site")
    door.memories.list(project="site", limit=2)
    door.memories.list(tags=["db"], everywhere=True)
    door.memories.list(types=["decision", "profile"], everywhere=True)
    door.memories.get(kept.id)
    door.memories.get(kept)
    door.memories.get("nothing")
    door.link(kept.id, "supports", other.id, note="a/b c")
    door.link(kept.id, "hates", other.id)
    door.explain(kept.id)
    door.why_not(kept.id, "pnpm", project="other")
    door.why_nothing("the weather on Mars", project="other")
    door.upsert_profile_fact("editor / shell", "vim")
    door.upsert_profile_fact("editor / shell", "helix")
    edited = door.memories.edit(
        other.id, content="Answers should be brief.", tags=["style"], reason="clearer"
    )
    door.memories.edit(other.id, content="Too late.")
    door.memories.edit(edited.id, content="Answers should be brief.")
    door.memories.edit(edited.id, content=" ")
    door.memories.edit(edited.id, scope="project", project="site", type="decision", title="Style")
    door.undo(edited.id)
    door.memories.read_source(kept.source_ref, start=3, end=8, margin=2)
    door.memories.read_source(kept.source_ref, start=8, end=3)
    door.memories.read_source("nothing")
    rival = door.ingest("We chose MySQL.", type="decision", project="site")
    door.link(rival.id, "contradicts", kept.id)
    door.memories.conflicts()
    door.memories.conflicts(limit=0)
    door.memories.settle_conflict(kept.id, rival.id, reason="JSON")
    door.memories.settle_conflict(kept.id, rival.id)
    door.memories.settle_conflict(kept.id, kept.id, both=True)
    door.retrievals.list(limit=2)
    door.retrievals.list(memory=kept.id, limit=1, offset=1)
    door.retrievals.list(agent="nobody")
    door.memories.set_status(kept.id, "archived", reason="old")
    door.memories.set_status(kept.id, "active")
    door.memories.set_status(kept.id, "archived again")
    door.projects.link("shop", "site")
    door.projects.link("shop", "site ")
    door.search("database", project="shop")
    door.projects.unlink("site")
    door.projects.unlink("site")
    door.projects.list()
    door.forget(other.id)
    door.forget(other.id)
    door.context_for("choose a database", project="site", budget_tokens=500)
    door.context_for("choose a database", project="site", quick=True)
    door.context_for("x", budget_tokens=0)
    door.briefing(project="site", budget_tokens=300, form="markdown")
    door.briefing(project="site", budget_tokens=0)
    door.views.save("db / views", "database", project="site", limit=4)
    door.views.list()
    door.views.run("db / views")
    door.views.delete("db / views")
    door.views.delete("db / views")


def captures(door: RecordedCalls) -> None:
    said = [
        {"role": "user", "content": "I prefer tabs. We decided to use Rust because it is fast."},
        {"role": "assistant", "content": "Noted."},
    ]
    event = door.capture_session(said, project="site", session="s1")
    door.capture_session(said, project="site", session="s1")
    door.capture_conversation("Remember that the port is 8283.", "note", title="port")
    transcript = door.folder / "said.txt"
    transcript.write_text("User: I always deploy on Fridays.\nAssistant: Really?\n")
    door.captures.add_file(transcript, project="site")
    door.captures.add_many([said, "User: We use uv for Python.\n"], agent="anna")
    door.capture_session("")
    door.captures.add_file(door.folder / "missing.txt")
    recorded = RecordedSession().run("npm run build", "npm error Missing script", failed=True)
    recorded.run("npm run build:web").edit("src/vat.ts")
    door.capture_session(recorded.text(), project="site")
    door.captures.file_history("src/vat.ts", project="site")
    door.captures.error_history("npm error Missing script", project="site")
    door.captures.error_history("", project="site")
    door.captures.command_history("npm", project="site")
    door.captures.session_files(project="site")
    door.captures.session_files("nothing", project="site")
    door.captures.get(event.id)
    door.captures.get("nothing")
    door.captures.list()
    door.jobs.list()
    door.jobs.list(states=["todo"], limit=1)
    job = door.jobs.list(states="todo")[0]
    door.jobs.get(job.id)
    door.jobs.retry(job.id)
    door.jobs.retry("nothing")
    door.models.calls()
    door.captures.advice("Bash", {"command": "rm -r build"}, project="site")
    door.drain()
    door.inbox.list(grouped=False)
    door.inbox.items(door.inbox.order()[:3])
    door.maintenance.pending()
    door.maintenance.clients()
    waiting = door.inbox.list(project="site")
    ids = [one.memory.id for one in waiting]
    door.promote(ids[0], reason="sure")
    door.undo(ids[0])
    door.reject(ids[0], "no")
    door.inbox.undo(ids[:1])
    door.inbox.promote(ids[:2])
    door.inbox.reject(ids[:2], "twice")
    door.inbox.decide(ids[-1], "keep", reason="seen")
    door.undo(ids[-1])
    door.inbox.decide(ids[-1:], "reject")
    door.inbox.decide(ids[-1], "keep")
    door.inbox.decide(ids[-1], "perhaps")
    door.promote("nothing")
    door.consolidate()
    door.consolidate([ids[0]])
    door.maintenance.run(limit=5)
    door.memories.confirm(ids[0])


def agents(door: RecordedCalls) -> None:
    anna = door.agents.create("anna / ops", description="d", metadata={"a": [1, None, "é"]})
    door.agents.create("anna / ops")
    door.agents.create("")
    door.agents.create("bare", default_blocks=False, model="gpt-4o", system_prompt="Be kind.")
    door.agents.get(anna)
    door.agents.get("anna / ops")
    door.agents.get(anna.id)
    door.agents.get("..")
    door.agents.get("")
    door.agents.list()
    door.agents.update("bare", description="new", metadata=None)
    door.agents.update("bare", name="anna / ops")
    door.agents.pin(anna)
    door.agents.pin("bare", "local", project="site")
    door.agents.list(pinned="global")
    door.agents.list(project="site")
    door.agents.clone(anna, "twin")
    door.agents.branch(anna, "branch")
    door.blocks.set("branch", "persona", "I am a branch.")
    door.agents.merge(anna, "branch", dry_run=True)
    door.agents.merge(anna, "branch", take={"persona": "theirs"})
    door.agents.merge(anna, "nobody")
    exported = door.folder / "anna.json"
    told = door.agents.export(anna, exported)
    assert told.counts
    assert exported.stat().st_size
    door.agents.import_(exported, "again")
    door.agents.import_(exported, "again")
    door.agents.import_(door.folder / "missing.json")
    door.agents.export(anna, door.folder / "anna.af.gz", format="af")
    door.agents.export("nobody", door.folder / "nobody.json")
    door.agents.delete("twin")
    door.agents.delete("twin")


def blocks(door: RecordedCalls) -> None:
    anna = door.agents.create("anna")
    door.blocks.create("notes", "one", agent="anna", description="d", limit=40, metadata={"a": 1})
    door.blocks.create("notes", "one", agent="anna")
    door.blocks.create("", "one", agent="anna")
    shared = door.blocks.create("team", "we", scope="global")
    door.blocks.list("anna")
    door.blocks.list()
    block = door.blocks.get("anna", "notes")
    door.blocks.get(None, block)
    door.blocks.get(anna, block)
    door.blocks.get(None, block.id)
    door.blocks.get("anna", "nothing")
    door.blocks.set("anna", "notes", "two", by="agent", reason="because")
    door.blocks.set("anna", "notes", "three", expected_version=1)
    door.blocks.set("anna", "notes", "x" * 50)
    door.blocks.set(None, block.id, "by id")
    door.blocks.append("anna", "notes", "more")
    door.blocks.replace("anna", "notes", "more", "less")
    door.blocks.replace("anna", "notes", "nothing", "less")
    door.blocks.insert("anna", "notes", "top", 0)
    door.blocks.insert("anna", "notes", "end")
    door.blocks.set("anna", "project", "uses uv", project="site")
    door.blocks.list("anna", project="site")
    door.blocks.update("anna", "notes", new_label="notes / new", description="e", hidden=True)
    door.blocks.update("anna", "notes / new", limit=None)
    door.blocks.history("anna", "notes / new")
    door.blocks.diff("anna", "notes / new", 1, 3)
    door.blocks.diff("anna", "notes / new", 1)
    door.blocks.rollback("anna", "notes / new", 1, reason="back")
    door.blocks.rollback("anna", "notes / new", 99)
    door.blocks.attach("anna", shared)
    door.blocks.search("uv", agent="anna", project="site")
    door.blocks.changes("anna", datetime(2026, 5, 1, tzinfo=UTC))
    door.blocks.changes(None, "2026-05-01")
    door.blocks.fingerprint("anna")
    door.blocks.fingerprint(None)
    own = door.blocks.get("anna", "persona")
    door.blocks.append("anna", own.label, "I am terse.", by="agent", author="anna")
    door.blocks.confirm("anna", "persona", reason="so it is")
    for verdict in (door.blocks.accept, door.blocks.reject):
        proposed = door.blocks.append("anna", "human", "likes tea", by="agent")
        [proposal] = door.blocks.proposals("anna")
        door.blocks.proposal(proposal.id)
        verdict(proposed.proposal_id, reason="read")
        door.blocks.accept(proposal.id)
        door.blocks.undo(proposal.id)
        door.blocks.reject(proposal.id)
    door.blocks.accept("nothing", value="x", by="agent")
    door.blocks.agents(shared)
    door.blocks.agents("nothing")
    door.blocks.share("anna", "persona")
    door.blocks.share("anna", "persona")
    door.blocks.share("anna", "project", project="site")
    door.blocks.detach("anna", "team")
    door.blocks.delete("anna", "notes / new")
    door.blocks.delete("anna", "notes / new")
    door.blocks.set("anna", "skills", "mine")


def conversations(door: RecordedCalls) -> None:
    said = door.conversations.start(agent="anna", project="site", title="first", metadata={"a": 1})
    door.conversations.start(agent="bert", started_at="2026-05-02")
    door.conversations.get(said)
    door.conversations.get(said.id)
    door.conversations.get("nothing")
    door.conversations.append(said, "user", "My name is Alice and I prefer Python.")
    calls = [{"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}]
    door.conversations.append(said, "assistant", None, tool_calls=calls, metadata={"model": "m"})
    door.conversations.append(said, "tool", "42", tool_call_id="c1", name="f")
    parts = [{"type": "text", "text": "look"}, {"type": "image_url", "image_url": {"url": "u"}}]
    message = door.conversations.append(
        said.id, "user", parts, created_at="2026-05-08T12:00", pinned=True
    )
    door.conversations.append(said, "nobody", "x")
    door.conversations.append(said, "user", "")
    door.conversations.append_many(
        said, [{"role": "user", "content": "one"}, {"role": "assistant", "content": "two"}]
    )
    door.conversations.append_many(
        said, [{"role": "user", "content": "ok"}, {"role": "user", "content": ""}]
    )
    kept = door.conversations.start(agent="anna", key="thread/1", title="keyed")
    door.conversations.start(agent="anna", key="thread/1", title="the same")
    door.conversations.find("thread/1", agent="anna")
    door.conversations.find("thread/2", agent="anna")
    door.conversations.find("thread/1")
    door.conversations.list(key_prefix="thread")
    payload = {"type": "reasoning", "data": "\x00 \ud800 ghp_" + "a1B2c3D4e5" * 4, "n": [1.5, None]}
    item = door.conversations.append(kept, "assistant", "", payload=payload)
    door.conversations.append_many(
        kept,
        [
            {
                "role": "user",
                "content": "go on",
                "payload": payload,
                "created_at": datetime(2026, 5, 8),
            }
        ],
        expected_revision=1,
    )
    door.conversations.append(kept, "user", "late", expected_revision=1)
    door.conversations.append(kept, "user", "", payload={"not json"})
    door.conversations.get_message(item)
    door.conversations.get_message("nothing")
    door.conversations.fork(kept, at=item, key="thread/1")
    fork = door.conversations.fork(kept, at=item, key="thread/fork", title="other way")
    door.conversations.messages(fork)
    door.conversations.delete_message(item, expected_revision=9)
    door.conversations.delete_message(item)
    door.conversations.pop(kept)
    door.conversations.pop(kept, expected_revision=4)
    door.conversations.delete(fork)
    door.conversations.delete(kept)
    door.conversations.messages(said)
    door.conversations.messages(said, start=2, limit=2)
    door.conversations.messages(said, newest_first=True, limit=1)
    door.conversations.messages(said, before=3)
    door.conversations.add_message("anna", "user", "Without a conversation.", metadata={"a": 1})
    door.conversations.add_message("nobody", "user", "x")
    door.conversations.agent_messages("anna", limit=2, offset=1, roles=["user"])
    door.conversations.messages_in_context(said)
    door.conversations.all_messages(agent="anna", limit=2)
    door.conversations.all_messages(after=message, newest_first=True)
    door.conversations.all_messages(before=message, limit=1)
    door.conversations.all_messages(agent="nobody")
    door.conversations.set_metadata(said, {"colour": "blue"})
    door.conversations.set_metadata(said, ["no"])
    door.conversations.list(agent="anna")
    door.conversations.list(limit=1, offset=1)
    door.conversations.search("which language?", agent="anna", asked_in=said)
    door.conversations.search("python", conversation=said, mode="fts", roles="user", limit=1)
    door.conversations.search("python", agent="anna", limit=1, offset=1, filter={"n": 1})
    door.conversations.search("python", agent="anna", mode="nonsense")
    door.conversations.letta_search("anna", "python", roles=["user"])
    door.archive.insert("anna", "Alice lives in Bern.", tags=["home"])
    door.archive.search("anna", "where does Alice live?", tags="home")
    door.archive.search("anna", offset=1)
    door.archive.search("anna")
    door.archive.list("anna")
    door.archive.list("anna", after="nothing")
    door.conversations.pin(said, "TICKET-1", kind="ticket")
    pin = door.conversations.pin(said, "gone soon")
    door.conversations.unpin(pin)
    door.conversations.unpin("nothing")
    door.conversations.pins(said)
    door.conversations.pin_message(message, pinned=False)
    door.conversations.pin_message(message.id)
    door.conversations.rename(said, "renamed / title")
    door.conversations.append_many(
        said, [{"role": "user", "content": f"filler {n} " * 30} for n in range(40)]
    )
    door.conversations.compact(said, window_tokens=500)
    door.conversations.compact(said, window_tokens=1_000_000)
    door.conversations.summaries(said)
    door.context_for("which language?", conversation=said, budget_tokens=800, form="markdown")
    door.agents.context_window("anna", conversation=said, window_tokens=8_000)
    door.models.count_tokens("hello world", model="gpt-4o")
    door.conversations.end(said, ended_at="2026-05-09", capture=True)
    door.conversations.append(said, "user", "too late")
    door.conversations.resume(said)
    door.skills.learn(said, "say-hello", save="")
    door.conversations.delete(said)
    door.conversations.delete(said)


def tools(door: RecordedCalls) -> None:
    door.agents.create("anna")
    used = door.agents.tools("anna")
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


def skills_and_files(door: RecordedCalls) -> None:
    door.agents.create("anna")
    project = door.folder / "site"
    (project / ".skills" / "greet").mkdir(parents=True)
    (project / ".skills" / "greet" / "SKILL.md").write_text(
        "---\nname: greet\ndescription: How to greet people.\n---\nSay hello.\n"
    )
    (project / "app.py").write_text("def main():\n    print('hello')\n")
    door.skills.list()
    door.skills.list(project=project)
    door.skills.search("greet people", project=project)
    door.skills.load("anna", "greet", project=project)
    door.skills.loaded("anna")
    door.skills.refresh("anna", project=str(project))
    door.skills.unload("anna", "greet", project=project)
    door.skills.load("anna", "nothing", project=project)
    door.files.open("anna", ["app.py", {"path": "app.py", "offset": 1}], project=project)
    door.files.open("anna", ["../outside"], project=project)
    door.files.list_open("anna")
    door.files.grep("hel+o", project=project)
    door.files.grep("(", roots=[project])
    door.files.index(project=project, include="*.py")
    door.files.search("print hello", project=project)
    door.context_for("fix main", agent="anna", file=project / "app.py", project=project)
    door.files.forget([project / "app.py"], project=project)
    door.files.close("anna", [project / "app.py"])
    door.files.close("anna")


def keeping(door: RecordedCalls) -> None:
    door.ingest("The build uses pnpm.")
    door.models.check_embedder()
    door.models.list()
    door.models.use("default")
    door.models.use("no such model")
    door.models.reembed()
    door.maintenance.verify()
    door.maintenance.rebuild()
    exported = door.folder / "all.jsonl.gz"
    door.export(exported)
    assert exported.read_bytes()[:2] == b"\x1f\x8b"
    door.import_(exported)
    exported.write_bytes(b"no export")
    door.import_(exported)
    door.export(door.folder / "missing" / "all.jsonl")
    status = door.maintenance.status()
    door.lines[-1] = (
        "maintenance.status",
        {**vars(status), "bytes": 0},
    )  # the log of writes may differ


def documents(door: RecordedCalls) -> None:
    alice = ("users", "alice")
    first = {"text": "I love pizza", "n": 3, "key": "ghp_" + "a1B2c3D4e5" * 4}
    door.documents.put(alice, "food", first)
    door.documents.put(alice, "food", first, exact=True, lifetime_s=3_600, expected_revision=1)
    door.documents.put(alice, "food", "late", expected_revision=1)
    door.documents.put([*alice, "cars"], "car", {"text": "a red Volvo", "n": 5.5})
    door.documents.put("notes", "/memories/a.md", "only text\nin lines", text="")
    door.documents.put("notes", "", 1)
    door.documents.put(("a", ""), "k", 1)
    door.documents.put("notes", "k", {1, 2})
    door.documents.get(alice, "food")
    door.documents.get(alice, "nothing")
    door.documents.extend(alice, "food")
    door.documents.extend(alice, "nothing")
    door.documents.search(("users",), "which car?")
    door.documents.search(("users",), filter={"n": {"$gt": 3}}, limit=1)
    door.documents.search(filter={"n": {"$near": 3}})
    door.documents.search(offset=1, limit=1)
    door.documents.namespaces()
    door.documents.namespaces(("users", "alice"), limit=1, offset=1)
    door.documents.delete(alice, "food", expected_revision=9)
    door.documents.delete(alice, "food")
    door.documents.delete(alice, "food")


def runs_and_backups(door: RecordedCalls) -> None:
    talk = door.conversations.start(agent="runner")
    door.agents.run("runner", "Hello!")
    door.agents.run("nobody", "Hello!", max_steps=0)
    door.agents.runs(talk)
    door.agents.cancel(talk)
    door.agents.cancel("nothing")
    door.agents.approvals()
    door.agents.decide("nothing", True)
    door.maintenance.backup()
    door.maintenance.backups()
    door.captures.add_assistant_memories("- The user prefers tea.", project="site")


def sleeptime(door: RecordedCalls) -> None:
    door.agents.create("sleeper")
    talk = door.conversations.start(agent="sleeper", project="site")
    door.conversations.append(talk, "user", "Please remember that I am allergic to peanuts.")
    run = door.agents.sleep(talk)
    door.agents.sleep(talk)
    door.agents.sleep("nothing")
    door.agents.sleeptime_runs("sleeper")
    door.agents.sleeptime_run(run.id)
    door.blocks.proposals("sleeper")
    door.agents.undo_sleeptime(run.id)
    door.agents.undo_sleeptime(run.id)
    door.models.chat()
    door.models.chat(agent="sleeper")
    door.models.chat(agent="nobody")


SCENES = (
    runs_and_backups,
    sleeptime,
    memories,
    captures,
    agents,
    blocks,
    conversations,
    documents,
    tools,
    skills_and_files,
    keeping,
)


def same(value: Any) -> Any:
    """Return *value* comparable: dataclasses by their fields, so that a difference is shown."""
    return repr(value) if is_dataclass(value) else value
