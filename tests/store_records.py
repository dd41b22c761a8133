"""Records of the contract tests of the store, and functions that write them or look for them."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from recollect import Memory, MemoryType, Project, Status
from recollect.domain.agent import Agent
from recollect.domain.block import Block, BlockAuthor, BlockVersion
from recollect.domain.capture_event import Event, EventState, Trigger
from recollect.domain.conversation import (
    CompactionMode,
    Conversation,
    Message,
    MessageFilters,
    Role,
    Summary,
)
from recollect.domain.document import Document
from recollect.domain.retrieval import Filters
from recollect.domain.scope import ItemKind, Owner, Scope
from recollect.domain.source import Evidence, Source, SourceKind
from recollect.store.protocol import Store, Tables
from recollect.store.search_index import IndexQuery
from recollect.text.fingerprint import sha256_hex
from support import START, FakeClock

GLOBAL = EVERYBODY = Owner(Scope.GLOBAL, "")
ANNA = Agent(id="a1", name="anna", created_at=START, updated_at=START)
BEN = Agent(id="a2", name="ben", created_at=START, updated_at=START)
TALK = Conversation(id="c1", agent_id="a1", started_at=START)
ALONE = Conversation(id="c2", started_at=START + timedelta(hours=1))

Keep = Callable[..., Memory]


def document(document_id: str, value: Any, **more: Any) -> Document:
    fields = {"namespace": ("users", "anna"), "key": document_id, "text": "", "revision": 1, **more}
    return Document(id=document_id, value=value, created_at=START, updated_at=START, **fields)


def agent(agent_id: str, name: str) -> Agent:
    return Agent(id=agent_id, name=name, created_at=START, updated_at=START)


def project(store: Store, clock: FakeClock, name: str) -> Project:
    created = Project(id=clock.new_id(), name=name, identity=name, created_at=START)
    store.write(lambda tables: tables.projects.add_project(created))
    return created


def block(block_id: str, label: str, value: str = "", **more: object) -> Block:
    values: dict[str, object] = {
        "id": block_id,
        "label": label,
        "value": value,
        "owner_id": "a1",
        "created_at": START,
        "updated_at": START,
    }
    return Block(**(values | more))  # type: ignore[arg-type]


def message(position: int, content: str, talk: Conversation = TALK, **more: object) -> Message:
    values: dict[str, object] = {
        "id": f"{talk.id} m{position}",
        "conversation_id": talk.id,
        "position": position,
        "role": Role.USER,
        "content": content,
        "created_at": START + timedelta(minutes=position),
    }
    return Message(**(values | more))  # type: ignore[arg-type]


def say(store: Store, *messages: Message, talk: Conversation = TALK) -> None:
    def write(tables: Tables) -> None:
        if tables.conversations.get(talk.id) is None:
            tables.conversations.add(talk)
        for new in messages:
            tables.messages.add(talk, new)

    store.write(write)


def memory_query(text: str = "", owners: list[Owner] | None = None, **options: Any) -> IndexQuery:
    values: dict[str, Any] = {
        "kind": ItemKind.MEMORY,
        "text": text,
        "vector": None,
        "owners": owners,
        "filters": Filters(),
        "limit": 10,
    }
    return IndexQuery(**(values | options))


def matching_ids(
    store: Store, query: str, owners: list[Owner] | None = None, **options: Any
) -> list[str]:
    """Return the ids of the memories, or of records of another kind, that share a word."""
    with store.read() as tables:
        found = tables.search_index.search(memory_query(query, owners, **options)).candidates
        return [candidate.record.id for candidate in found]


def count_matches(store: Store, kind: ItemKind, owner: Owner, query: str) -> int:
    filters = {ItemKind.MEMORY: Filters(), ItemKind.MESSAGE: MessageFilters()}.get(kind)
    return len(matching_ids(store, query, [owner], kind=kind, filters=filters))


def memory_writer(store: Store, clock: FakeClock) -> Keep:
    """Return a function that stores a memory of the given content with its source and evidence."""

    def write_memory(content: str, **fields: object) -> Memory:
        source = Source(
            id=clock.new_id(),
            kind=SourceKind.MANUAL,
            content=content,
            sha256=sha256_hex(content),
            captured_at=START,
            observed_at=START,
        )
        memory_id = clock.new_id()
        evidence = Evidence(
            id=clock.new_id(),
            memory_id=memory_id,
            source_id=source.id,
            start=0,
            end=len(content),
            quote=content,
            created_at=START,
        )
        values: dict[str, object] = {
            "id": memory_id,
            "type": MemoryType.PROFILE,
            "scope": Scope.GLOBAL,
            "status": Status.ACTIVE,
            "content": content,
            "observed_at": START,
            "confirmed_at": START,
            "created_at": START,
            "updated_at": START,
            "evidence": (evidence,),
        }
        memory = Memory(**(values | fields))  # type: ignore[arg-type]

        def write(tables: Tables) -> None:
            tables.sources.add(source)
            tables.memories.add(memory)

        store.write(write)
        return memory

    return write_memory


def event(event_id: str, **more: object) -> Event:
    """Return the event of a capture that is done, unless *more* says otherwise."""
    values: dict[str, object] = {
        "id": event_id,
        "trigger": Trigger.MANUAL,
        "source_id": None,
        "owner": GLOBAL,
        "state": EventState.DONE,
        "created_at": START,
        "updated_at": START,
    }
    return Event(**(values | more))  # type: ignore[arg-type]


def source(source_id: str, content: str, **more: object) -> Source:
    """Return a source that nothing was quoted from yet."""
    values: dict[str, object] = {
        "id": source_id,
        "kind": SourceKind.CONVERSATION,
        "content": content,
        "sha256": sha256_hex(content),
        "captured_at": START,
        "observed_at": START,
    }
    return Source(**(values | more))  # type: ignore[arg-type]


def block_version(of: Block, at: datetime = START) -> BlockVersion:
    """Return the present value of a block as a version of its history."""
    return BlockVersion(
        block_id=of.id,
        version=of.version,
        value=of.value,
        by=BlockAuthor.AGENT,
        reason="r",
        changed_at=at,
    )


def summary(summary_id: str, content: str, *, position: int = 0) -> Summary:
    """Return a summary of one message of TALK."""
    return Summary(
        id=summary_id,
        conversation_id=TALK.id,
        mode=CompactionMode.SLIDING_WINDOW,
        content=content,
        first_position=position,
        last_position=position,
        tokens=2,
        made_by="extract",
        created_at=START + timedelta(minutes=position),
    )
