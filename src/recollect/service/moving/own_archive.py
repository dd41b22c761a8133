"""
Read the archive of an agent's file: raw material, the memories that quote it, links among them.

A quote must stand in its source, word for word, and an active memory must have one: the database
would refuse them otherwise, without saying where in the file they are.
"""

from collections.abc import Iterable
from dataclasses import replace

from recollect.domain.link import Link, LinkEnd, Relation
from recollect.domain.memory import NO_EFFECTS, Change, ChangeEffects, Memory, MemoryType, Status
from recollect.domain.scope import Scope
from recollect.domain.source import Evidence, Redaction, Source, SourceKind
from recollect.service import inputs
from recollect.service.moving.given_json import MAX_BYTES, MAX_ID, Given
from recollect.service.moving.own_fields import MAX_PATH, Known
from recollect.service.moving.parts import MemoryParts
from recollect.text.fingerprint import sha256_hex

VOICES = frozenset({"", "user", "assistant", "tool", "system", "other"})


def source(given: Given, known: Known) -> Source:
    """Read raw material; its hash is that of what it says without secrets."""
    content = given.said("content", MAX_BYTES)
    before = _redactions(given)
    found = Source(
        id=known.new(given, "source"),
        kind=given.choice("kind", SourceKind),
        content=content.text,
        sha256=sha256_hex(content.text),
        uri=given.text("uri", MAX_PATH),
        title=given.text("title", inputs.MAX_TITLE),
        session=given.text("session", inputs.MAX_NAME),
        captured_at=given.moment("captured_at"),
        observed_at=given.moment("observed_at"),
        redactions=content.redactions or before,
        metadata=given.mapping("metadata"),
    )
    known.sources[found.id] = found
    return found


def memory(given: Given, agent_id: str, known: Known) -> MemoryParts:
    """Read a memory with its evidence and its history."""
    told = given.object("memory")
    if told.raw("agent_id") not in (None, agent_id):
        told.refuse("agent_id", f"names another agent than {agent_id!r}")
    found = _memory(told, known)
    if found.scope is Scope.SESSION:
        known.needed(told, "session_id", "conversation")
    if found.scope is Scope.AGENT and found.agent_id is None:
        told.refuse("agent_id", "is null, and the memory is of agent scope")
    evidence = tuple(_evidence(one, found.id, known) for one in told.objects("evidence"))
    if found.status is Status.ACTIVE and not evidence:
        told.refuse("evidence", "is empty; an active memory needs a quote from a source")
    told.done()
    changes = tuple(_change(one, found.id) for one in given.objects("changes"))
    return MemoryParts(replace(found, evidence=evidence), changes)


def _memory(given: Given, known: Known) -> Memory:
    scope = given.choice("scope", Scope)
    if scope not in (Scope.AGENT, Scope.SESSION):
        given.refuse("scope", f"is {scope}; an agent's own memories are of agent or session scope")
    content = given.said("content", inputs.MAX_CONTENT)
    if not content.text.strip():
        given.refuse("content", "is empty, or private as a whole")
    before = _redactions(given)
    return Memory(
        id=known.new(given, "memory"),
        type=given.choice("type", MemoryType),
        scope=scope,
        status=given.choice("status", Status),
        content=content.text,
        title=given.text("title", inputs.MAX_TITLE),
        summary=given.text("summary", inputs.MAX_SUMMARY),
        key=given.text("key", inputs.MAX_NAME),
        project_id=known.named(given, "project_id", "project"),
        repo_id=known.named(given, "repo_id", "repo"),
        agent_id=given.optional_id("agent_id"),
        session_id=given.optional_id("session_id"),
        source_kind=given.choice("source_kind", SourceKind),
        confidence=given.share("confidence"),
        observed_at=given.moment("observed_at"),
        confirmed_at=given.moment("confirmed_at"),
        created_at=given.moment("created_at"),
        updated_at=given.moment("updated_at"),
        tags=_tags(given.texts("tags", inputs.MAX_TAG, at_most=inputs.MAX_TAGS)),
        rationale=given.text("rationale", inputs.MAX_SUMMARY),
        alternatives=given.texts(
            "alternatives", inputs.MAX_SUMMARY, at_most=inputs.MAX_ALTERNATIVES
        ),
        metadata=given.mapping("metadata"),
        redactions=content.redactions or before,
    )


def _tags(tags: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(set(tags) - {""}))


def _evidence(given: Given, memory_id: str, known: Known) -> Evidence:
    origin = known.sources[known.needed(given, "source_id", "source")]
    quote = given.verbatim("quote", MAX_BYTES)  # the source has no secrets, so neither has this
    start = given.count("start")
    end = given.count("end")
    if end <= start or origin.content[start:end] != quote:
        # A secret that was taken out just now changes the quote, or moves it.
        quote = given.text("quote", MAX_BYTES)
        start = origin.content.find(quote) if quote else -1
        end = start + len(quote)
        if start < 0:
            given.refuse("quote", "does not stand in its source, word for word")
    voice = given.text("voice", inputs.MAX_NAME)
    if voice not in VOICES:
        given.refuse("voice", f"{voice!r} is not known; use one of {', '.join(sorted(VOICES))}")
    found = Evidence(
        id="",
        memory_id=memory_id,
        source_id=origin.id,
        start=start,
        end=end,
        quote=quote,
        voice=voice,
        created_at=given.moment("created_at"),
    )
    given.done()
    return found


def _change(given: Given, memory_id: str) -> Change:
    given.raw("before")
    found = Change(
        id="",
        memory_id=memory_id,
        before=given.choice("before", Status) if given.has("before") else None,
        after=given.choice("after", Status),
        by=given.text("by", inputs.MAX_SUMMARY),
        reason=given.text("reason", inputs.MAX_CONTENT),
        at=given.moment("at"),
        # A file written before this field existed has none: nothing else is undone with it.
        effects=_effects(given.object("effects")) if given.has("effects") else NO_EFFECTS,
    )
    given.done()
    return found


def _effects(given: Given) -> ChangeEffects:
    given.raw("confidence_before")
    effects = ChangeEffects(
        superseded=given.texts("superseded", MAX_ID, at_most=inputs.MAX_SUMMARY),
        duplicate_of=given.text("duplicate_of", MAX_ID),
        confidence_before=(
            given.share("confidence_before") if given.has("confidence_before") else None
        ),
    )
    given.done()
    return effects


def link(given: Given, known: Known) -> Link:
    """Read a link between two memories of the agent."""
    if given.raw("from_id") == given.raw("to_id"):
        given.refuse("to_id", "is the memory itself; a link joins two")
    return Link(
        id="",
        from_id=known.needed(given, "from_id", "memory"),
        relation=given.choice("relation", Relation),
        to_kind=LinkEnd.MEMORY,
        to_id=known.needed(given, "to_id", "memory"),
        note=given.text("note", inputs.MAX_SUMMARY),
        created_at=given.moment("created_at"),
    )


def _redactions(given: Given) -> tuple[Redaction, ...]:
    found = []
    for one in given.objects("redactions"):
        found.append(
            Redaction(
                kind=one.text("kind", inputs.MAX_NAME),
                start=one.count("start"),
                end=one.count("end"),
                field=one.text("field", inputs.MAX_NAME),
            )
        )
        one.done()
    return tuple(found)
