"""What a memory quotes, by keys that tell whether the same utterance was captured before."""

from collections.abc import Iterator

from recollect.domain.memory import Memory
from recollect.domain.provenance import REVISION_RULE
from recollect.domain.source import Evidence
from recollect.store.protocol import Tables
from recollect.text.fingerprint import fingerprint


def own_evidence(memory: Memory) -> tuple[Evidence, ...]:
    """Return the evidence of *memory* without the earlier sentence that a revision quotes."""
    if memory.provenance.rule != REVISION_RULE:
        return memory.evidence
    return (*memory.evidence[:1], *memory.evidence[2:])


def utterances_of(tables: Tables, memory: Memory) -> set[tuple[str, str]]:
    """Return the keys of everything the memory quotes."""
    return {key for evidence in memory.evidence for key in utterance_keys(tables, evidence)}


def utterance_keys(tables: Tables, evidence: Evidence) -> Iterator[tuple[str, str]]:
    """
    Yield the keys of an utterance: its words with its session, and its words with its time.

    A client that branches a session copies the earlier messages into the new one. The user said
    them once, so they must not count as said in two sessions.
    """
    words = fingerprint(evidence.quote)
    yield tables.sources.session_of(evidence.source_id), words
    at = tables.sources.said_at(evidence.source_id, evidence.start)
    if at is not None:
        yield f"at {at}", words
