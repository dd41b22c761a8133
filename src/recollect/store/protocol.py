"""
The protocol of a database of memories.

A `Store` offers `read`, a consistent view while it is open, and `write`, which runs a function in
one transaction and returns once it is on disk. Both pass `Tables`, one small protocol per concept.
The contract tests in tests/store run against every implementation.

Times, ids and rules come from the callers: a store writes and finds rows, and decides nothing.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Protocol, TypeVar

from recollect.domain.agent import Agent
from recollect.domain.block import Block, BlockChange, BlockProposal, BlockVersion, ProposalState
from recollect.domain.capture_event import Event, Trigger
from recollect.domain.conversation import (
    Conversation,
    Message,
    MessageCandidateRow,
    MessageFilters,
    Pin,
    Role,
    Summary,
)
from recollect.domain.job import Job, JobState
from recollect.domain.link import Link
from recollect.domain.maintenance import Imported, VerificationProblem
from recollect.domain.memory import Change, Memory, MemoryType, Status
from recollect.domain.model_usage import ModelCall, ModelUsage
from recollect.domain.project import Project, Repo
from recollect.domain.retrieval import Filters, Retrieval, View
from recollect.domain.scope import Owner
from recollect.domain.source import Evidence, Source, SourceKind
from recollect.domain.unfinished_work import UnfinishedWork, WorkKind
from recollect.store.indexes import EmbeddingIndex, WordIndex
from recollect.store.values import (
    CandidateRow,
    ItemWithWord,
    OpenFileWindow,
    StoredFile,
    StoredSkill,
    TextCell,
)

T = TypeVar("T")


class ProjectTable(Protocol):
    """Projects and repos."""

    def add_project(self, project: Project) -> None:
        """Store a new project."""

    def project(self, project_id: str) -> Project | None:
        """Return the project with that id, or None."""

    def project_by_identity(self, identity: str) -> Project | None:
        """Return the project with that identity, or None."""

    def set_identity(self, project_id: str, identity: str) -> None:
        """Store the present identity of a project."""

    def link_project(self, project_id: str, main_id: str, linked_at: datetime) -> None:
        """Make a project part of another."""

    def unlink_project(self, project_id: str) -> None:
        """Make a project one of its own again."""

    def linked_ids(self, project_id: str) -> list[str]:
        """Return the ids of the projects that are part of a project."""

    def projects(self) -> list[Project]:
        """Return every project, by name."""

    def add_repo(self, repo: Repo) -> None:
        """Store a new repo."""

    def move_repo(self, repo_id: str, *, remote: str, root: str) -> None:
        """Store the present remote and folder of a repo."""

    def repo(self, repo_id: str) -> Repo | None:
        """Return the repo with that id, or None."""

    def repo_by_remote(self, remote: str) -> Repo | None:
        """Return the repo with that normalised remote, or None."""

    def repo_by_old_remote(self, remote: str) -> Repo | None:
        """Return the repo whose remote was stored in lower case and without its port, or None."""

    def repo_by_root(self, root: str) -> Repo | None:
        """Return the repo last seen in the folder *root*, or None."""

    def repo_by_name(self, name: str, project_id: str | None) -> Repo | None:
        """Return the repo of that name in one project; if None, the one that is only a name."""

    def repos_of(self, project_id: str) -> list[Repo]:
        """Return the repos of a project."""


class AgentTable(Protocol):
    """Agents. Deleting one does not change the indexes: the caller drops its partitions."""

    def add(self, agent: Agent) -> None:
        """Store a new agent."""

    def set(self, agent: Agent) -> None:
        """Store the present fields of an agent."""

    def get(self, agent_id: str) -> Agent | None:
        """Return the agent with that id, or None."""

    def by_name(self, name: str) -> Agent | None:
        """Return the agent of that name, or None."""

    def all(self) -> list[Agent]:
        """Return every agent, by name."""

    def archive_summary(self, agent_id: str, *, tag_limit: int) -> tuple[int, list[str]]:
        """Return how many active memories an agent has, and up to *tag_limit* of their tags."""

    def own_memory_ids(self, agent_id: str) -> list[str]:
        """Return the ids of the memories of an agent and of its conversations."""

    def own_events(self, agent_id: str) -> list[tuple[str, str | None]]:
        """Return the captures made for an agent: the id of each event and of its source."""

    def delete_event(self, event_id: str) -> None:
        """Delete an ingestion event and its jobs; its source stays."""

    def delete(self, agent_id: str) -> Mapping[str, int]:
        """Delete an agent and everything of it; return how many rows each table lost."""


class BlockTable(Protocol):
    """Blocks, their attachments to agents, and the history of their values."""

    def add(self, block: Block) -> None:
        """Store a new block and index its words."""

    def set(self, block: Block) -> None:
        """Store the present fields of a block, and index it again if its text changed."""

    def get(self, block_id: str) -> Block | None:
        """Return the block with that id, or None."""

    def all(self) -> list[Block]:
        """Return every block, oldest first."""

    def of_owner(self, owner: Owner) -> list[Block]:
        """Return the blocks of an owner, oldest first."""

    def attached_to(self, agent_id: str) -> list[Block]:
        """Return the blocks of an agent, in its order."""

    def attach(self, agent_id: str, block: Block) -> None:
        """Attach a block to an agent."""

    def detach(self, agent_id: str, block_id: str) -> None:
        """Detach a block from an agent; the block stays."""

    def agent_ids_of(self, block_id: str) -> list[str]:
        """Return the ids of the agents that have a block attached."""

    def add_version(self, version: BlockVersion) -> None:
        """Store one version of a block's value."""

    def versions(self, block_id: str) -> list[BlockVersion]:
        """Return every version of a block, oldest first."""

    def version(self, block_id: str, version: int) -> BlockVersion | None:
        """Return one version of a block, or None."""

    def changes_since(self, block_ids: Sequence[str], since: datetime) -> list[BlockChange]:
        """Return the changes of some blocks after a moment, oldest first."""

    def add_proposal(self, proposal: BlockProposal) -> None:
        """Store a proposal to edit a block."""

    def set_proposal(self, proposal: BlockProposal) -> None:
        """Store what became of a proposal."""

    def proposal(self, proposal_id: str) -> BlockProposal | None:
        """Return the proposal with that id, or None."""

    def proposals(self, state: ProposalState) -> list[BlockProposal]:
        """Return the proposals of one state, oldest first."""

    def pending_proposals_of(self, block_id: str) -> list[BlockProposal]:
        """Return the pending proposals to edit one block, oldest first."""

    def delete(self, block: Block) -> None:
        """Delete a block with its history, attachments and index entry."""


class ConversationTable(Protocol):
    """Conversations, their summaries and pins."""

    def add(self, conversation: Conversation) -> None:
        """Store a new conversation."""

    def set(self, conversation: Conversation) -> None:
        """Store a conversation's title, metadata and end."""

    def get(self, conversation_id: str) -> Conversation | None:
        """Return the conversation with that id, or None."""

    def latest(
        self,
        agent_id: str | None,
        *,
        project_id: str | None = None,
        before: datetime | None = None,
        limit: int,
        offset: int = 0,
    ) -> list[Conversation]:
        """Return the conversations of an agent or, if None, of all agents, the latest first."""

    def with_messages(self, agent_id: str, *, before: datetime, limit: int) -> list[Conversation]:
        """Return an agent's conversations that have messages, the latest first."""

    def latest_open(self, agent_id: str, *, begun_by: str) -> tuple[Conversation, datetime] | None:
        """Return an agent's latest open conversation begun that way, and when it was last used."""

    def own_memory_ids(self, conversation_id: str) -> list[str]:
        """Return the ids of the memories scoped to a conversation."""

    def own_events(self, conversation_id: str) -> list[tuple[str, str | None]]:
        """Return the captures made for a conversation: the id of each event and of its source."""

    def delete(self, conversation_id: str) -> None:
        """Delete a conversation and its logged retrievals; unindex its messages first."""

    def add_summary(self, summary: Summary) -> None:
        """Store a new summary; earlier summaries stay."""

    def summaries(self, conversation_id: str) -> list[Summary]:
        """Return the summaries of a conversation, oldest first."""

    def last_summaries(self, conversation_ids: Sequence[str]) -> Mapping[str, Summary]:
        """Return the newest summary of each of some conversations, by conversation id."""

    def add_pin(self, pin: Pin) -> None:
        """Store a new pin."""

    def set_pin(self, pin: Pin) -> None:
        """Store whether a pin is active."""

    def pin(self, pin_id: str) -> Pin | None:
        """Return the pin with that id, or None."""

    def pins(self, conversation_id: str) -> list[Pin]:
        """Return the pins of a conversation, oldest first."""


class MessageTable(Protocol):
    """Messages. Adding one updates the word index."""

    def next_position(self, conversation_id: str) -> int:
        """Return the position after the last message of a conversation."""

    def add(self, conversation: Conversation, message: Message) -> None:
        """Store a new message of a conversation and index its words."""

    def get(self, message_id: str) -> Message | None:
        """Return the message with that id, or None."""

    def get_many(self, message_ids: Sequence[str]) -> list[Message]:
        """Return the messages with those ids, in that order; unknown ids are left out."""

    def page(self, conversation_id: str, *, start: int, limit: int) -> list[Message]:
        """Return messages of a conversation in order, from a position on."""

    def page_back(self, conversation_id: str, *, before: int, limit: int) -> list[Message]:
        """Return messages of a conversation before a position, the last first."""

    def in_context(self, conversation_id: str, *, last: int | None = None) -> list[Message]:
        """Return, in order, all or the last messages that are not replaced by a summary."""

    def in_context_from(self, conversation_id: str, *, start: int, limit: int) -> list[Message]:
        """Return, in order, messages from a position on that are not replaced by a summary."""

    def context_size(self, conversation_id: str) -> tuple[int, int]:
        """Return how many messages are not replaced by a summary, and their tokens."""

    def latest(
        self, agent_id: str | None, filters: MessageFilters, *, limit: int, offset: int = 0
    ) -> list[Message]:
        """Return messages with text that pass *filters*, the latest first."""

    def candidate_rows(
        self, item_ids: Iterable[int], filters: MessageFilters
    ) -> list[MessageCandidateRow]:
        """Return what ranking needs of the items that are messages and pass *filters*."""

    def preceding(self, item_ids: Iterable[int]) -> Mapping[int, int]:
        """Return, by item, the item of the message before it in its conversation."""

    def speakers(self, agent_id: str | None, filters: MessageFilters) -> list[tuple[str, Role]]:
        """Return id and role of every message that passes *filters*, in order of time."""

    def item_ids_if_few(
        self, agent_id: str | None, filters: MessageFilters, *, limit: int
    ) -> list[int] | None:
        """Return the items in a time range or conversation; None if more than *limit*."""

    def set_pinned(self, message_id: str, pinned: bool) -> None:
        """Pin a message to the context, or unpin it."""

    def restore_to_context(self, message_id: str) -> None:
        """Put a message that a summary replaced back into the context."""

    def mark_summarized(self, message_ids: Sequence[str], summary_id: str) -> None:
        """Mark some messages as replaced by a summary."""

    def count(self, conversation_id: str) -> tuple[int, int]:
        """Return how many messages a conversation has, and how many are in context."""

    def count_of_agent(self, agent_id: str) -> int:
        """Return how many messages with text an agent has."""

    def delete_some(self, conversation_id: str, *, rows: int, chars: int) -> tuple[int, int]:
        """Delete the first messages of a conversation; return how many, and their characters."""


class SkillTable(Protocol):
    """Skills that were loaded, and which agent has which loaded."""

    def save(self, skill: StoredSkill, at: datetime) -> str:
        """Store a skill as it is now; return its id, the former one if it was stored before."""

    def load(self, agent_id: str, skill_id: str, at: datetime) -> None:
        """Give a skill to an agent."""

    def unload(self, agent_id: str, skill_id: str) -> None:
        """Take a skill from an agent."""

    def drop_unused(self) -> None:
        """Delete the skills that no agent has loaded."""

    def loaded_by(self, agent_id: str) -> list[tuple[StoredSkill, datetime]]:
        """Return the skills an agent has loaded, and since when."""


class FileTable(Protocol):
    """Files that were read, and which agent has which open."""

    def at_path(self, path: str, project_id: str | None) -> StoredFile | None:
        """Return the stored file at *path*, or None."""

    def get_many(self, file_ids: Sequence[str]) -> list[StoredFile]:
        """Return the files with those ids, in that order; unknown ids are left out."""

    def save(self, file: StoredFile, at: datetime) -> StoredFile:
        """Store and index a file as it was just read; return it with its permanent id."""

    def delete(self, file: StoredFile) -> None:
        """Delete a file and its index entry."""

    def paths_of(self, project_id: str) -> list[tuple[str, str]]:
        """Return id and path of every stored file of a project."""

    def drop_unopened(self) -> None:
        """Delete the files of no project that no agent has open."""

    def file_ids_of(self, item_ids: Iterable[int]) -> Mapping[int, str]:
        """Return the file ids of those items that are files, by item."""

    def open(self, agent_id: str, window: OpenFileWindow) -> None:
        """Store that an agent has a window of a file open."""

    def close(self, agent_id: str, file_id: str) -> None:
        """Store that an agent closed a file."""

    def touch(self, agent_id: str, file_ids: Iterable[str], at: datetime) -> None:
        """Set when some open files were last used."""

    def open_windows(self, agent_id: str) -> list[OpenFileWindow]:
        """Return the windows an agent has open, least recently used first."""


class SourceTable(Protocol):
    """Sources (captured raw material), and the ingestion events that captured them."""

    def add(self, source: Source) -> None:
        """Store a new source."""

    def get(self, source_id: str) -> Source | None:
        """Return the source with that id, or None."""

    def with_hash(self, sha256: str, kind: SourceKind) -> Source | None:
        """Return the source of that kind with that content hash, or None."""

    def of_memory(self, memory_id: str) -> list[Source]:
        """Return the sources of a memory's evidence."""

    def session_of(self, source_id: str) -> str:
        """Return the session of a source, or the source's own id if it has none."""

    def said_at(self, source_id: str, position: int) -> int | None:
        """Return when the character at *position* was said, in microseconds; None if unknown."""

    def kind_of(self, source_id: str) -> SourceKind | None:
        """Return the kind of a source, or None if there is no such source."""

    def ids_of_session(self, session: str) -> list[str]:
        """Return the ids of the sources of a session, oldest first."""

    def with_session_prefix(self, prefix: str) -> list[tuple[str, str]]:
        """Return session and content of the sources whose session begins with *prefix*."""

    def overwrite(self, source_id: str, content: str, sha256: str) -> None:
        """Replace the content of a source by a redacted one of the same length."""

    def delete(self, source_id: str) -> None:
        """Delete a source that no evidence refers to."""

    def evidence_in(self, source_id: str) -> list[Evidence]:
        """Return every piece of evidence quoted from a source."""

    def add_event(self, event: Event) -> None:
        """Store a new ingestion event."""

    def set_event(self, event: Event) -> None:
        """Store the present state of an ingestion event."""

    def event(self, event_id: str) -> Event | None:
        """Return the event with that id, or None."""

    def events_of(self, source_id: str) -> list[Event]:
        """Return the events that captured a source, oldest first."""

    def events(self) -> list[Event]:
        """Return every event, oldest first."""

    def uris_without_source(self, trigger: Trigger) -> set[str]:
        """Return the URIs of the events of *trigger* that have no source."""


class MemoryTable(Protocol):
    """Memories. Adding or deleting one updates the word index."""

    def add(self, memory: Memory) -> None:
        """Store a new memory with its evidence and tags, and index its words."""

    def add_evidence(self, evidence: Evidence) -> None:
        """Store one more piece of evidence of a memory."""

    def drop_evidence(self, evidence_ids: Sequence[str]) -> None:
        """Delete some pieces of evidence; unknown ids are ignored."""

    def get(self, memory_id: str) -> Memory | None:
        """Return the memory with that id, or None."""

    def get_many(self, memory_ids: Sequence[str]) -> list[Memory]:
        """Return the memories with those ids, in that order; unknown ids are left out."""

    def contents(self, memory_ids: Sequence[str]) -> Mapping[str, str]:
        """Return the contents of some memories, by id."""

    def item_id_of(self, memory_id: str) -> int | None:
        """Return the item id of a record in the indexes, or None."""

    def with_key(self, key: str, owner: Owner) -> Memory | None:
        """Return an owner's active profile fact of that key, or None."""

    def with_fingerprint(self, fingerprint: str, owner: Owner) -> list[int]:
        """Return the items of an owner whose text has that fingerprint."""

    def update_status(self, memory: Memory) -> None:
        """Store a memory's new status, confidence and times; its content never changes."""

    def add_change(self, change: Change) -> None:
        """Store one change of status."""

    def remove_id_from_history(self, memory_id: str, in_changes_of: Sequence[str]) -> None:
        """Remove the id of a forgotten memory from the history of other memories."""

    def changes(self, memory_id: str) -> list[Change]:
        """Return the changes of a memory, oldest first."""

    def delete(self, memory_id: str) -> Mapping[str, int]:
        """Delete a memory from every table and index; return how many rows each lost."""

    def newest(self, owners: Sequence[Owner] | None, filters: Filters, limit: int) -> list[Memory]:
        """Return the newest memories of *owners* or, if None, of all that pass *filters*."""

    def timeline(
        self, owners: Sequence[Owner] | None, filters: Filters, *, limit: int
    ) -> list[tuple[datetime, int]] | None:
        """Return when the matching memories were observed, and their items; None if too many."""

    def candidate_rows(self, item_ids: Iterable[int], filters: Filters) -> list[CandidateRow]:
        """Return what ranking needs of the items that are memories and pass *filters*."""

    def preceding(self, item_ids: Iterable[int]) -> Mapping[int, int]:
        """Return, by item, the item written just before it in the same session."""

    def ids_with_status(self, status: Status) -> list[str]:
        """Return the ids of all memories with that status."""

    def unconfirmed(self, since: Mapping[MemoryType, datetime], limit: int) -> list[Memory]:
        """Return active memories not confirmed since the moment of their type, oldest first."""

    def count_extracted(self) -> tuple[int, int]:
        """Return how many memories the engine extracted, and how many of these were rejected."""

    def count_by_status(self) -> Mapping[str, int]:
        """Return how many memories have each status."""


class JobTable(Protocol):
    """The job queue, candidates waiting for consolidation, the ledger of model calls."""

    def add(self, job: Job) -> None:
        """Store a new job; an existing one stays as it is."""

    def claim(self, worker: str, *, now: datetime, lease_until: datetime) -> Job | None:
        """Claim the next due job for *worker*, or return None."""

    def renew_lease(self, job: Job, *, lease_until: datetime, payload: Mapping[str, Any]) -> bool:
        """Renew the lease and store the progress; return False if the lease was lost."""

    def release(
        self, job: Job, to: JobState, *, now: datetime, run_at: datetime, attempts: int, error: str
    ) -> bool:
        """End the lease and set the state *to*; return False if the lease was lost."""

    def requeue(self, job_id: str, *, now: datetime) -> bool:
        """Make a parked or waiting job due now; return False if it is neither."""

    def get(self, job_id: str) -> Job | None:
        """Return the job with that id, or None."""

    def in_states(self, states: Iterable[JobState], limit: int) -> list[Job]:
        """Return jobs in some states, in the order in which they are due."""

    def of_event(self, event_id: str) -> list[Job]:
        """Return every job of an event."""

    def count_by_state(self) -> Mapping[str, int]:
        """Return how many jobs are in each state."""

    def count_open(self) -> Mapping[str, int]:
        """Return how many jobs are not done, by state; reads only open jobs."""

    def count_due(self, now: datetime) -> int:
        """Return how many jobs can be claimed now."""

    def count_expired_leases(self, now: datetime) -> int:
        """Return how many jobs are claimed under a lease that has expired."""

    def next_run_at(self) -> datetime | None:
        """Return when the next waiting job is due, or None."""

    def add_unconsolidated(self, event_id: str, memory_id: str) -> None:
        """Add a candidate to those waiting for consolidation."""

    def unconsolidated(self, event_id: str, limit: int) -> list[str]:
        """Return the ids of the first candidates of an event that wait for consolidation."""

    def unconsolidated_among(self, memory_ids: Iterable[str]) -> set[str]:
        """Return which of some memories wait for consolidation."""

    def mark_consolidated(self, memory_id: str) -> None:
        """Remove a candidate from those waiting for consolidation."""

    def add_call(self, call: ModelCall) -> None:
        """Add a model call to the ledger."""

    def calls(self, limit: int) -> list[ModelCall]:
        """Return the newest model calls of the ledger."""

    def spent_since(self, since: datetime) -> ModelUsage:
        """Return the calls and tokens spent since a moment."""


class LinkTable(Protocol):
    """Links between memories, and from memories to projects."""

    def add(self, link: Link) -> None:
        """Store a link; an equal one is stored once."""

    def of_memory(self, memory_id: str) -> list[Link]:
        """Return the links of a memory in both directions, oldest first."""

    def conflicts(self, memory_ids: Sequence[str]) -> Mapping[str, tuple[str, ...]]:
        """Return the ids of the memories that contradict each of some memories."""

    def item_ids_linked_to(self, project_id: str) -> list[int]:
        """Return the items of other projects that are linked to a project or to its memories."""

    def count_conflicts(self) -> int:
        """Return how many pairs of current memories contradict each other."""


class RetrievalTable(Protocol):
    """The log of retrievals, and saved searches."""

    def add(self, retrieval: Retrieval, *, logged_at: datetime) -> None:
        """Add a retrieval to the log; without its words if one of its results was deleted since."""

    def get(self, retrieval_id: str) -> Retrieval | None:
        """Return a logged retrieval with its results in rank order, or None."""

    def count(self) -> int:
        """Return how many retrievals the log has."""

    def all(self) -> Iterator[Retrieval]:
        """Yield every logged retrieval, oldest first."""

    def queries(self) -> Iterator[tuple[str, str]]:
        """Yield the id and the query of every logged retrieval that has one."""

    def result_ids(self) -> Iterator[tuple[str, list[str]]]:
        """Yield the id of every logged retrieval, and the ids of the items it met."""

    def count_prunable(self, *, before: datetime | None, most_bytes: int | None, limit: int) -> int:
        """Return how many of the oldest *limit* retrievals are too old or too many."""

    def prune(self, *, before: datetime | None, most_bytes: int | None, limit: int) -> int:
        """Delete of the oldest *limit* those that are too old or too many; return how many."""

    def times_returned(self, memory_id: str) -> int:
        """Return how often a memory was returned by the retrievals in the log."""

    def scrub(self, retrieval_ids: Collection[str], *, gone: Collection[str] = ()) -> int:
        """Remove the words of some retrievals, and the results *gone*; return how many."""

    def save_view(self, view: View) -> None:
        """Store a saved search under its name."""

    def view(self, name: str) -> View | None:
        """Return the saved search of that name, or None."""

    def views(self) -> list[View]:
        """Return every saved search, by name."""

    def delete_view(self, name: str) -> bool:
        """Delete a saved search; return whether there was one."""


class IdempotencyKeyTable(Protocol):
    """The idempotency keys of writes that were carried out."""

    def claim(self, key: str, fingerprint: str, *, at: datetime) -> bool:
        """Store *key* for a request; return False if it is used already."""

    def fingerprint(self, key: str) -> str | None:
        """Return the fingerprint of the request that used *key*, or None."""

    def prune(self, *, before: datetime) -> None:
        """Delete the keys that are older than *before*."""


class UnfinishedWorkTable(Protocol):
    """Work that is done in steps, and the checksums of the exports that this store wrote."""

    def add(self, work: UnfinishedWork) -> None:
        """Store that some work has begun; a former start of the same work stays."""

    def remove(self, kind: WorkKind, subject: str = "") -> None:
        """Remove work that is finished."""

    def all(self, kind: WorkKind | None = None) -> list[UnfinishedWork]:
        """Return the unfinished work of a kind or, if None, of all kinds, oldest first."""

    def add_export(self, sha256: str, at: datetime) -> None:
        """Store the checksum of an export that this store wrote."""

    def has_export(self, sha256: str) -> bool:
        """Return whether this store wrote an export with that checksum."""


class StoredTextTable(Protocol):
    """Every text that a person or a model wrote, over all tables."""

    def cells(self, table: str) -> Iterator[TextCell]:
        """Yield the texts of a table, those of one row together."""

    def current(self, cell: TextCell) -> TextCell | None:
        """Return a cell with its present text, or None if it has none."""

    def overwrite(self, cells: Sequence[TextCell]) -> None:
        """Store the texts of some cells, and index their records again."""

    def sources(self) -> Iterator[tuple[str, str]]:
        """Yield the id and the content of every source."""

    def items_with(self, word: str, *, limit: int) -> list[ItemWithWord]:
        """Return items that have a word, in any of its forms."""

    def messages_among(self, ids: Sequence[str], conversation_ids: Sequence[str]) -> set[str]:
        """Return which of some ids are messages of some conversations."""


@dataclass(frozen=True, kw_only=True)
class Tables:
    """The tables and indexes, inside one read or one write."""

    projects: ProjectTable
    agents: AgentTable
    blocks: BlockTable
    conversations: ConversationTable
    messages: MessageTable
    skills: SkillTable
    files: FileTable
    sources: SourceTable
    memories: MemoryTable
    jobs: JobTable
    links: LinkTable
    retrievals: RetrievalTable
    idempotency_keys: IdempotencyKeyTable
    unfinished_work: UnfinishedWorkTable
    texts: StoredTextTable
    word_index: WordIndex
    embeddings: EmbeddingIndex


class Store(Protocol):
    """A database of memories."""

    @property
    def path(self) -> Path:
        """The database file."""

    @property
    def read_only_reason(self) -> str:
        """Why nothing can be written, '' if it can: no permission, or damage."""

    def is_damaged(self) -> bool:
        """Return whether a page or a row cannot be read; checks the whole file, but only once."""

    def use_rescued_copy(self) -> bool:
        """
        Read what can be rescued of a damaged store from now on, and refuse to write.

        Return False if nothing can be rescued, or if the rescued copy is in use already.
        """

    def read(self) -> AbstractContextManager[Tables]:
        """Return a context with a consistent, read-only view of the store."""

    def write(self, work: Callable[[Tables], T]) -> T:
        """Run *work* in one transaction; return its result once it is on disk."""

    def in_next_write(self, work: Callable[[Tables], None]) -> AbstractContextManager[None]:
        """Return a context in which *work* runs first in this thread's next write, if any."""

    def log_retrieval(self, retrieval: Retrieval) -> bool:
        """Log a retrieval soon, without waiting for other writers; return False if it cannot be."""

    def queued_retrieval(self, retrieval_id: str) -> Retrieval | None:
        """Return a retrieval that is not written to the log yet, or None."""

    def flush_log(self, *, timeout_s: float) -> bool:
        """Write the retrievals that are not written yet; return False if the file stays busy."""

    def export_rows(self) -> Iterator[Mapping[str, Any]]:
        """Yield every canonical row, in an order in which they can be imported."""

    def import_rows(self, rows: Iterable[Mapping[str, Any]], work: UnfinishedWork) -> Imported:
        """
        Add exported rows; existing rows stay as they are.

        All rows are validated before the first is written, and then written in bounded steps. Until
        the last step *work* is listed as unfinished; the same rows again continue it.
        """

    def check(self) -> tuple[list[str], list[VerificationProblem]]:
        """Run every integrity check; return their names, and the problems found."""

    def rebuild_indexes(self) -> Mapping[str, int]:
        """Rebuild every derived table from the canonical rows; return their row counts."""

    def erase_deleted_content(self, *, give_up_s: float) -> bool:
        """
        Empty the write-ahead log and overwrite the remains of deleted rows in the file.

        Return False if a reader prevented it for *give_up_s* seconds. Writers of any process wait a
        few tenths of a second at most.
        """

    def snapshot(self, reason: str) -> Path:
        """Copy the store to a file next to it, named after *reason*; return its path."""

    def row_counts(self) -> Mapping[str, int]:
        """Return how many rows each canonical table has."""

    def schema_version(self) -> int:
        """Return the number of the last schema migration."""

    def close(self) -> None:
        """Close every connection; closing again has no effect."""
