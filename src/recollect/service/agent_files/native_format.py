"""
Recollect's own format of agent files: one agent, complete.

One JSON object with sorted keys; the same agent gives the same bytes. Ids in it are those of the
store it was written from: they say what belongs to what, and are new wherever it is read. The
fields are those of `AgentParts` and the domain values in it, so the record models are derived from
these classes. What the database would refuse in the middle of an import (an id used twice, a
reference to nothing, a block over its limit) is refused here, with its place in the file.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from datetime import date
from enum import StrEnum
from functools import cache, partial
from typing import Annotated, Any, NoReturn

from pydantic import BaseModel

from recollect.domain import limits
from recollect.domain.agent import Agent, AgentPinning
from recollect.domain.block import Block, BlockVersion, check_limit
from recollect.domain.change import Change, ChangeEffects
from recollect.domain.conversation import Conversation, Message, Pin, Summary
from recollect.domain.link import Link, LinkEnd
from recollect.domain.memory import Memory, Status
from recollect.domain.project import Project, Repo
from recollect.domain.provenance import Provenance, StatementFlag
from recollect.domain.scope import Scope
from recollect.domain.source import Evidence, Redaction, Source
from recollect.domain.transcript import Voice
from recollect.errors import InvalidInput
from recollect.service.agent_files.file_fields import (
    MAX_ID,
    CharLimit,
    DataclassFormat,
    Label,
    Name,
    Version,
    calendar_day,
    exact_json,
    member,
    members,
    redacted,
    refuse,
    text,
    texts,
    validate_model,
    verbatim,
)
from recollect.service.agent_files.json_file import MAX_BYTES, to_json_bytes
from recollect.service.agent_files.model import AgentParts, BlockParts, MemoryParts
from recollect.service.agent_files.native_upgrade import upgrade_agent
from recollect.service.agents import MAX_PROMPT
from recollect.store.values import StoredSkill
from recollect.text.fingerprint import sha256_hex
from recollect.text.redact import redact

KIND = "agent"
FORMAT = 1
MAX_PATH = 4_096
VOICES = frozenset({"", *Voice})

# What a value's place in the file says already, what is computed, and what belongs to the machine:
# not in the file, and these values when it is read.
_LEFT_OUT: Mapping[type, Mapping[str, Any]] = {
    Agent: {"pinned": AgentPinning.NOT},
    Repo: {"root": ""},
    Block: {"owner_id": "", "proposal_id": ""},
    BlockVersion: {"block_id": ""},
    Conversation: {"agent_id": None},
    Message: {"conversation_id": ""},
    Summary: {"conversation_id": ""},
    Pin: {"conversation_id": ""},
    Evidence: {"id": "", "memory_id": ""},
    Change: {"id": "", "memory_id": ""},
    ChangeEffects: {"evidence": (), "links": ()},
    Provenance: {"event_id": None},
    Link: {"id": "", "to_kind": LinkEnd.MEMORY},
    Source: {"sha256": ""},
    StoredSkill: {"id": "", "path": "", "sha256": ""},
}
_Short = Annotated[str, text(limits.MAX_NAME)]
_Medium = Annotated[str, text(limits.MAX_SUMMARY)]
_Long = Annotated[str, text(limits.MAX_CONTENT)]
_Path = Annotated[str, text(MAX_PATH)]
_FORMAT = DataclassFormat(
    left_out=_LEFT_OUT,
    types={
        "name": Name,
        "label": Label,
        "version": Version,
        "limit": CharLimit | None,
        "title": Annotated[str, text(limits.MAX_TITLE)],
        "system_prompt": Annotated[str, text(MAX_PROMPT)],
        "uri": _Path,
        "remote": _Path,
        "quote": Annotated[str, verbatim(MAX_BYTES)],  # compared with its redacted source
        "tags": Annotated[Any, texts(limits.MAX_TAG, max_items=limits.MAX_TAGS)],
        "alternatives": Annotated[
            Any, texts(limits.MAX_SUMMARY, max_items=limits.MAX_ALTERNATIVES)
        ],
        **dict.fromkeys(
            ("superseded", "merged"),
            Annotated[Any, texts(MAX_ID, max_items=limits.MAX_SUMMARY)],
        ),
        "caused_by": Annotated[str, text(MAX_ID)],
        **dict.fromkeys(("policy_rule", "rule", "author"), _Short),
        "flags": Annotated[Any, members(StatementFlag)],
        "day": Annotated[Any, calendar_day()],
        **dict.fromkeys(("description", "summary", "rationale", "reason", "note"), _Medium),
        **dict.fromkeys(("model", "key", "session", "voice", "tool_call_id", "made_by"), _Short),
        "unconfirmed_author": _Short,
        (Provenance, "voice"): Annotated[Any, member(Voice, nullable=True)],
        (Change, "by"): _Medium,
        (Change, "reason"): _Long,
        (Redaction, "kind"): _Short,
        (Redaction, "field"): _Short,
        (Pin, "kind"): Name,
        (Message, "name"): _Short,
        (Message, "payload"): Annotated[Any, exact_json()],
        (Conversation, "key"): Annotated[str, text(limits.MAX_KEY)],
        (Block, "description"): _Long,
        (Project, "name"): _Path,  # a whole path if every shorter name was taken
        (Repo, "name"): _Path,
        (Source, "content"): Annotated[Any, redacted(MAX_BYTES)],
        (Memory, "content"): Annotated[Any, redacted(limits.MAX_CONTENT)],
    },
)

Refuse = Callable[[str, str], NoReturn]


def write_agent(parts: AgentParts) -> bytes:
    """Return an agent as the bytes of a file."""
    return to_json_bytes({"recollect": KIND, "format": FORMAT, **_dump(parts)})


def is_native(value: Any) -> bool:
    """Return whether the JSON of a file is an agent in this format."""
    return isinstance(value, dict) and value.get("recollect") == KIND


def read_agent(value: Mapping[str, Any], file: str) -> AgentParts:
    """Return the agent of a file, completely validated, or raise `ImportRefused`."""
    records = {name: item for name, item in value.items() if name not in ("recollect", "format")}
    if value.get("format") != FORMAT:
        refuse(
            file,
            "$.format",
            f"is {value.get('format')!r}, this version reads {FORMAT}; upgrade with "
            "pip install -U recollect",
        )
    # A redaction mark may be longer than the secret was, so stored texts may be over the limits.
    record = validate_model(_agent_model(), upgrade_agent(records), file, text_slack=2)
    return _check(_FORMAT.build(AgentParts, record), partial(refuse, file))


@cache
def _agent_model() -> type[BaseModel]:
    return _FORMAT.model(AgentParts)


def _dump(value: Any) -> Any:
    if is_dataclass(value):
        left_out = _LEFT_OUT.get(type(value), {})
        return {
            field.name: _dump(getattr(value, field.name))
            for field in fields(value)
            if field.name not in left_out
        }
    if isinstance(value, date):  # a datetime is one too
        return value.isoformat()
    if isinstance(value, StrEnum):
        return value.value
    if isinstance(value, Mapping):
        return {name: _dump(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_dump(item) for item in value]
    return value


def _check(parts: AgentParts, refuse: Refuse) -> AgentParts:
    """Check what one field alone does not show; return the agent with quotes and hashes set."""
    _check_references(parts, refuse)
    for path, place in (*_each("$.projects", parts.projects), *_each("$.repos", parts.repos)):
        if not place.name.strip():
            refuse(f"{path}.name", "is empty; a project or repo is known by its name")
    _check_blocks("$.blocks", parts.blocks, {Scope.AGENT, Scope.GLOBAL}, refuse)
    for path, conversation in _each("$.conversations", parts.conversations):
        _check_blocks(f"{path}.blocks", conversation.blocks, {Scope.SESSION}, refuse)
        _check_rising(f"{path}.messages", "position", conversation.messages, refuse)
        own = {None, *(summary.id for summary in conversation.summaries)}
        for message_path, message in _each(f"{path}.messages", conversation.messages):
            if message.summary_id not in own:
                refuse(f"{message_path}.summary_id", "names a summary of another conversation")
    for path, link in _each("$.links", parts.links):
        if link.from_id == link.to_id:
            refuse(f"{path}.to_id", "is the memory itself; a link joins two")
    sources = {source.id: source.content for source in parts.sources}
    memories = tuple(
        _valid_memory(path, record, parts.agent.id, sources, refuse)
        for path, record in _each("$.memories", parts.memories)
    )
    _check_facts(memories, refuse)
    return replace(
        parts,
        memories=memories,
        sources=tuple(
            replace(source, sha256=sha256_hex(source.content)) for source in parts.sources
        ),
        skills=tuple(
            replace(used, skill=replace(used.skill, sha256=sha256_hex(used.skill.content)))
            for used in parts.skills
        ),
    )


def _each(path: str, values: Sequence[Any]) -> Iterator[tuple[str, Any]]:
    return ((f"{path}[{number}]", value) for number, value in enumerate(values))


def _check_references(parts: AgentParts, refuse: Refuse) -> None:
    """Refuse an id that two records have, and one that names a record the file does not hold."""
    kinds: dict[str, str] = {}
    for path, kind, value in _records(parts):
        if value.id in kinds:
            refuse(f"{path}.id", f"{value.id!r} is the id of another {kinds[value.id]} already")
        kinds[value.id] = kind
    named = [(path, value) for path, _, value in _records(parts)]
    named += _each("$.links", parts.links)
    named += ((f"{path}.skill", used.skill) for path, used in _each("$.skills", parts.skills))
    for path, record in _each("$.memories", parts.memories):
        named += _each(f"{path}.memory.evidence", record.memory.evidence)
    fields_of = {
        "project_id": "project",
        "repo_id": "repo",
        "summary_id": "summary",
        "source_id": "source",
        "from_id": "memory",
        "to_id": "memory",
    }
    for path, value in named:
        expected = dict(fields_of)
        if isinstance(value, Memory) and value.scope is Scope.SESSION:
            expected["session_id"] = "conversation"
        for field, kind in expected.items():
            record_id = getattr(value, field, None)
            if kinds.get(record_id or "") != kind and (record_id or field == "session_id"):
                refuse(f"{path}.{field}", f"names {kind} {record_id!r}, which the file lacks")


def _records(parts: AgentParts) -> Iterator[tuple[str, str, Any]]:
    """Return every record that has an id, with its place and its kind."""
    yield "$.agent", "agent", parts.agent
    for path, project in _each("$.projects", parts.projects):
        yield path, "project", project
    for path, repo in _each("$.repos", parts.repos):
        yield path, "repo", repo
    for path, record in _each("$.blocks", parts.blocks):
        yield f"{path}.block", "block", record.block
    for path, conversation in _each("$.conversations", parts.conversations):
        yield f"{path}.conversation", "conversation", conversation.conversation
        for name in ("summaries", "messages", "pins"):
            for inner_path, value in _each(f"{path}.{name}", getattr(conversation, name)):
                yield inner_path, name.removesuffix("s").replace("summarie", "summary"), value
        for block_path, record in _each(f"{path}.blocks", conversation.blocks):
            yield f"{block_path}.block", "block", record.block
    for path, source in _each("$.sources", parts.sources):
        yield path, "source", source
    for path, record in _each("$.memories", parts.memories):
        yield f"{path}.memory", "memory", record.memory


def _check_blocks(
    path: str, records: Sequence[BlockParts], scopes: set[Scope], refuse: Refuse
) -> None:
    labels: set[str] = set()
    for record_path, record in _each(path, records):
        block = record.block
        if block.scope not in scopes:
            allowed = ", ".join(sorted(scopes))
            refuse(f"{record_path}.block.scope", f"is {block.scope}; here it is one of {allowed}")
        if block.label in labels:
            refuse(
                f"{record_path}.block.label", f"{block.label!r} is another block's label already"
            )
        labels.add(block.label)
        try:
            check_limit(block.value, block.limit)
        except InvalidInput as error:
            refuse(f"{record_path}.block.value", str(error))
        _check_rising(f"{record_path}.versions", "version", record.versions, refuse)
        last = record.versions[-1] if record.versions else None
        if last is None or (last.version, last.value) != (block.version, block.value):
            refuse(f"{record_path}.versions", "must end with the block's current version and value")


def _check_rising(path: str, field: str, values: Sequence[Any], refuse: Refuse) -> None:
    for number in range(1, len(values)):
        if getattr(values[number], field) <= getattr(values[number - 1], field):
            refuse(f"{path}[{number}].{field}", "does not come after the one before it")


def _valid_memory(
    path: str, record: MemoryParts, agent_id: str, sources: Mapping[str, str], refuse: Refuse
) -> MemoryParts:
    memory, path = record.memory, f"{path}.memory"
    if memory.scope not in (Scope.AGENT, Scope.SESSION):
        refuse(f"{path}.scope", f"is {memory.scope}; an agent owns agent and session memories")
    if memory.agent_id not in (None, agent_id):
        refuse(f"{path}.agent_id", f"names another agent than {agent_id!r}")
    if memory.scope is Scope.AGENT and memory.agent_id is None:
        refuse(f"{path}.agent_id", "is null, and the memory is of agent scope")
    if not memory.content.strip():
        refuse(f"{path}.content", "is empty, or private as a whole")
    if memory.status is Status.ACTIVE and not memory.evidence:
        refuse(f"{path}.evidence", "is empty; an active memory needs a quote from a source")
    evidence = []
    for quote_path, quote in _each(f"{path}.evidence", memory.evidence):
        if quote.voice not in VOICES:
            refuse(f"{quote_path}.voice", f"{quote.voice!r} is not one of {sorted(VOICES)}")
        located = _locate_quote(quote, sources[quote.source_id])
        if located is None:
            refuse(f"{quote_path}.quote", "is not in its source, word for word")
        evidence.append(located)
    tags = tuple(sorted(set(memory.tags) - {""}))
    return replace(record, memory=replace(memory, evidence=tuple(evidence), tags=tags))


def _locate_quote(evidence: Evidence, content: str) -> Evidence | None:
    """Return evidence whose quote is in *content*, or None if it is not."""
    if evidence.start < evidence.end and content[evidence.start : evidence.end] == evidence.quote:
        return evidence
    # Redacting the source just now changed the quote, or moved it.
    quote = redact(evidence.quote).text
    start = content.find(quote) if quote else -1
    return (
        replace(evidence, quote=quote, start=start, end=start + len(quote)) if start >= 0 else None
    )


def _check_facts(memories: Sequence[MemoryParts], refuse: Refuse) -> None:
    """Refuse two active facts with one key and owner: which of them holds?"""
    facts = set()
    for path, record in _each("$.memories", memories):
        memory = record.memory
        if not memory.key or memory.status is not Status.ACTIVE:
            continue
        if (memory.key, memory.owner) in facts:
            refuse(f"{path}.key", "is the second active fact of that key")
        facts.add((memory.key, memory.owner))
