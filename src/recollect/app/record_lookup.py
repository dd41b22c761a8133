"""Whether a store has the record that a request names."""

from collections.abc import Callable, Mapping

from recollect.app.access_rules import NamedRecord
from recollect.service.place_lookup import find_agent
from recollect.store.protocol import Store, Tables

_LOOKUPS: Mapping[NamedRecord, Callable[[Tables, str], object | None]] = {
    NamedRecord.MEMORY: lambda tables, name: tables.memories.get(name),
    NamedRecord.SOURCE: lambda tables, name: tables.sources.get(name),
    NamedRecord.AGENT: find_agent,
    NamedRecord.CONVERSATION: lambda tables, name: tables.conversations.get(name),
    NamedRecord.MESSAGE: lambda tables, name: tables.messages.get(name),
    NamedRecord.PIN: lambda tables, name: tables.conversations.pin(name),
    NamedRecord.PROPOSAL: lambda tables, name: tables.blocks.proposal(name),
    NamedRecord.BLOCK: lambda tables, name: tables.blocks.get(name),
    NamedRecord.APPROVAL: lambda tables, name: tables.runs.call(name),
    NamedRecord.SLEEPTIME: lambda tables, name: tables.sleeptime_runs.get(name),
}


def has_record(store: Store, kind: NamedRecord, name: str) -> bool:
    """Return whether *store* has the record with that id, or the agent of that name."""
    with store.read() as tables:
        return _LOOKUPS[kind](tables, name.strip()) is not None
