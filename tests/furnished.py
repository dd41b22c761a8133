"""A memory with something of everything in it, and what a request may name there."""

from recollect import Recollect


def furnished(memory: Recollect) -> dict[str, list[str]]:
    """Put something of everything into *memory*; return what there is, by its name in a path."""
    memory.create_agent("ada ops", metadata={"a": 1})
    memory.create_agent("ben")
    memory.create_block("notes", "one", agent="ben")
    memory.set_block("ben", "notes", "two")
    memory.create_block("team", "we", scope="global")
    facts = memory.ingest_many(
        [
            {"content": "We use uv.", "project": "site"},
            {"content": "The port is 8283."},
            {"content": "Deploy on Fridays.", "status": "inbox"},
        ]
    )
    event = memory.capture_session("User: I prefer tabs.\nAssistant: Noted.\n")
    said = memory.start_conversation(agent="ben")
    message = memory.append_message(said, "user", "My name is Alice.")
    memory.append_messages(
        said, [{"role": "assistant", "content": f"answer {n} " * 20} for n in range(20)]
    )
    pin = memory.pin(said, "TICKET-1")
    memory.save_view("tools", "uv")
    agents = ["ben", "ada ops", "nobody"]
    return {
        "agent": agents,
        "into": agents,
        "agent_name": agents,
        "name": ["tools", "ben", "nothing"],
        "label": ["notes", "persona", "nothing"],
        "memory_id": [fact.id for fact in facts],
        "some_id": [facts[0].id],
        "event_id": [event.id],
        "job_id": [memory.jobs()[0].id],
        "conversation": [said.id],
        "message": [message.id],
        "pin": [pin.id],
        "key": ["editor"],
    }
