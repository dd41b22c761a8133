"""Fill a memory with records of every kind, and return their ids by path parameter."""

from recollect import LocalRecollect


def populate_memory(rec: LocalRecollect) -> dict[str, list[str]]:
    """Add records of every kind to *memory*; return values for each path parameter."""
    rec.agents.create("ada ops", metadata={"a": 1})
    rec.agents.create("ben")
    rec.blocks.create("notes", "one", agent="ben")
    rec.blocks.set("ben", "notes", "two")
    team = rec.blocks.create("team", "we", scope="global")
    proposed = rec.blocks.append(None, team, "and they", by="agent", author="ben")
    facts = rec.memories.ingest_many(
        [
            {"content": "We use uv.", "project": "site"},
            {"content": "The port is 8283."},
            {"content": "Deploy on Fridays.", "status": "inbox"},
        ]
    )
    event = rec.capture_session("User: I prefer tabs.\nAssistant: Noted.\n")
    conversation = rec.conversations.start(agent="ben")
    message = rec.conversations.append(conversation, "user", "My name is Alice.")
    rec.conversations.append_many(
        conversation, [{"role": "assistant", "content": f"answer {n} " * 20} for n in range(20)]
    )
    pin = rec.conversations.pin(conversation, "TICKET-1")
    rec.views.save("tools", "uv")
    agents = ["ben", "ada ops", "nobody"]
    return {
        "agent": agents,
        "into": agents,
        "agent_name": agents,
        "name": ["tools", "ben", "nothing"],
        "label": ["notes", "persona", "nothing"],
        "proposal_id": [proposed.proposal_id, "nothing"],
        "memory_id": [fact.id for fact in facts],
        "some_id": [facts[0].id],
        "event_id": [event.id],
        "job_id": [rec.jobs.list()[0].id],
        "conversation": [conversation.id],
        "message": [message.id],
        "pin": [pin.id],
        "key": ["editor"],
        "approval": ["nothing"],
        "run_id": ["nothing"],
        "block": [team.id],
    }
