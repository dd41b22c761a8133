"""An agent with something of everything, for tests that move agents."""

import re
from contextlib import closing
from datetime import timedelta
from pathlib import Path

from recollect import Agent, LocalRecollect, MemoryExplanation
from recollect.clock import SystemClock
from recollect.domain.conversation import CompactionMode, Summary
from recollect.domain.skill import SkillOrigin
from recollect.store.protocol import Tables
from recollect.store.sqlite.store import SqliteStore
from recollect.store.values import StoredSkill
from recollect.text.fingerprint import sha256_hex
from support import START, FakeClock

ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def rich_agent(rec: LocalRecollect, clock: FakeClock, path: Path, name: str = "ada") -> Agent:
    """Make an agent with blocks, conversations, an archive and a skill."""
    agent = rec.agents.create(
        name,
        description="Writes proofs.",
        model="gpt-x",
        system_prompt="Be exact.",
        metadata={"n": 1},
    )
    clock.advance(minutes=1)
    rec.blocks.set(agent, "persona", "I am Ada.", reason="begin")
    rec.blocks.append(agent, "persona", "I like engines.", by="agent", reason="learnt")
    rec.blocks.create(
        "notes",
        "- one",
        agent=agent,
        description="Notes.",
        limit=50,
        hidden=True,
        metadata={"k": [1]},
    )
    said = rec.conversations.start(agent=agent, project="engines", title="First", metadata={"m": 2})
    rec.blocks.set(agent, "ticket", "ENG-1", conversation=said)
    rec.conversations.append(said, "user", "Where is the difference engine?", pinned=True)
    rec.conversations.append(said, "assistant", "", tool_calls=[{"id": "c1", "name": "look"}])
    rec.conversations.append(
        said, "tool", [{"type": "text", "text": "In London."}], tool_call_id="c1"
    )
    clock.advance(minutes=1)
    rec.conversations.append(said, "assistant", "It stands in London.", metadata={"x": None})
    unpinned = rec.conversations.pin(said, "an old note")
    rec.conversations.unpin(unpinned)
    rec.conversations.pin(said, "ENG-1: find the engine", kind="ticket")
    rec.conversations.end(said)
    clock.advance(hours=1)
    later = rec.conversations.start(agent=agent, title="Second")
    rec.conversations.append(later, "user", "And the analytical one?", name="Charles")
    one = rec.archive.insert(agent, "The difference engine is in London.", tags=["engine"])
    two = rec.archive.insert(agent, "The engine moved to Cambridge.", tags=["engine", "moved"])
    rec.link(two.id, "supersedes", one.id, note="it moved")
    rec.archive.insert(agent, "Punched cards come from looms.")

    def more(tables: Tables) -> None:
        messages = tables.messages.page(said.id, start=0, limit=2)
        summary = Summary(
            id=clock.new_id(),
            conversation_id=said.id,
            mode=CompactionMode.ALL,
            content="They looked for an engine.",
            first_position=0,
            last_position=1,
            tokens=6,
            made_by="extract",
            created_at=START + timedelta(minutes=5),
        )
        tables.conversations.add_summary(summary)
        tables.messages.mark_summarized([message.id for message in messages], summary.id)
        skill = StoredSkill(
            id=clock.new_id(),
            name="proofs",
            description="How to prove.",
            origin=SkillOrigin.GLOBAL,
            project_id=None,
            path="/somewhere/proofs/SKILL.md",
            content="# Proofs",
            sha256=sha256_hex("# Proofs"),
            metadata={"tags": ["maths"]},
        )
        tables.skills.load(agent.id, tables.skills.save(skill, START), START)

    with closing(SqliteStore(path, SystemClock())) as store:
        store.write(more)
    return rec.agents.get(agent)


def without_ids(data: bytes) -> str:
    """Return a file's text with every id as the number of its first appearance."""
    met: dict[str, str] = {}
    return ID.sub(lambda id: met.setdefault(id[0], f"#{len(met)}"), data.decode())


def rows(rec: LocalRecollect, folder: Path) -> bytes:
    """Return everything a store holds."""
    rec.export(folder / "rows.jsonl")
    return (folder / "rows.jsonl").read_bytes()


def explained(rec: LocalRecollect, memory_id: str) -> MemoryExplanation:
    """Return what is told of a memory."""
    told = rec.explain(memory_id)
    assert isinstance(told, MemoryExplanation)
    return told
