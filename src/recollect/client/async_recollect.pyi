"""
The signatures of the asynchronous API.

Written by scripts/generate_async_stub.py; do not edit.
"""

import builtins
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from os import PathLike
from types import EllipsisType
from typing import Any, ClassVar, Self

from recollect.api.arguments import (
    AgentLike,
    BlockLike,
    Content,
    ConversationLike,
    FilePath,
    FileRequest,
    Material,
    MessageLike,
    Moment,
    Place,
    Texts,
)
from recollect.api.recollect import Recollect
from recollect.domain.agent import Agent, AgentReceipt
from recollect.domain.agent_run import Approval, Run, RunEvent, RunResult
from recollect.domain.agent_transfer import AgentExport, AgentImport, AgentMerge
from recollect.domain.backup import Backup, BackupReport
from recollect.domain.block import (
    DEFAULT_LIMIT,
    Block,
    BlockChange,
    BlockHit,
    BlockProposal,
    BlockVersion,
)
from recollect.domain.capture_event import Event
from recollect.domain.context_bundle import Bundle, WindowOverview
from recollect.domain.conversation import (
    Compacted,
    Conversation,
    ConversationReceipt,
    Message,
    MessageHit,
    Pin,
    Summary,
)
from recollect.domain.document import Document, DocumentHit
from recollect.domain.embedding_model import EmbeddingModel, ModelSelection, ReembedProgress
from recollect.domain.file import FileHit, FilesReceipt, FileWindow, GrepPage
from recollect.domain.job import Job
from recollect.domain.link import Link
from recollect.domain.maintenance import (
    ClientActivity,
    ConflictPair,
    Imported,
    InboxItem,
    MaintenanceReport,
    PendingCounts,
    Receipt,
    StoreStatus,
    Verification,
)
from recollect.domain.memory import Memory
from recollect.domain.model_usage import ChatModelStatus, ModelCall
from recollect.domain.project import Project
from recollect.domain.retrieval import Hit, MemoryExplanation, Retrieval, SavedSearch, WhyNot
from recollect.domain.skill import LearntSkill, LoadedSkill, SkillHit, SkillReport
from recollect.domain.sleeptime import SleeptimeRun
from recollect.domain.source import SourceWindow
from recollect.domain.tool_call import (
    ActionAdvice,
    CommandHistory,
    ErrorHistory,
    FileHistory,
    SessionFiles,
)
from recollect.wire.requests.agents import WARN_AT
from recollect.wire.requests.archive import TOKEN_LIMIT
from recollect.wire.requests.files import MOST_OPEN
from recollect.wire.requests.memories import SOURCE_MARGIN
from recollect.wire.requests.recollect import MESSAGE_LIMIT
from recollect.wire.requests.runs import MAX_STEPS

class AsyncMemories:
    """Read, list and change single memories."""

    async def ingest_many(self, items: Sequence[Mapping[str, Any]]) -> builtins.list[Memory]:
        """Store several memories, all or none; each is a dict of `ingest`'s arguments."""

    async def get(self, memory_id: str) -> Memory:
        """Return one memory."""

    async def set_status(
        self, memory_id: str, status: str, *, reason: str = "", by: str = "user"
    ) -> Memory:
        """Change a memory's status to inbox, active, superseded, contradicted or archived."""

    async def confirm(self, memory_id: str) -> Memory:
        """Record that a memory is still true, which makes it fresh again."""

    async def edit(
        self,
        memory_id: str,
        *,
        content: str | None = None,
        title: str | None = None,
        type: str | None = None,
        scope: str | None = None,
        project: Place = None,
        repo: Place = None,
        agent: AgentLike | None = None,
        session: str | None = None,
        tags: Texts | None = None,
        rationale: str | None = None,
        observed_at: Moment = None,
        reason: str = "",
    ) -> Memory:
        """Correct a memory: its wording, type, scope, tags or date. Return the new, active memory."""

    async def read_source(
        self, source_id: str, *, start: int = 0, end: int | None = None, margin: int = SOURCE_MARGIN
    ) -> SourceWindow:
        """Return characters *start* to *end* of a source, with *margin* characters around them."""

    async def conflicts(self, *, limit: int = 50) -> builtins.list[ConflictPair]:
        """Return pairs of current memories that contradict each other, the newest first."""

    async def settle_conflict(
        self, memory_id: str, other_id: str, *, both: bool = False, reason: str = ""
    ) -> builtins.list[Memory]:
        """Keep one of two contradicting memories: *memory_id* is active, *other_id* superseded."""

    async def list(
        self,
        *,
        project: Place = None,
        repo: Place = None,
        agent: AgentLike | None = None,
        session: str | None = None,
        scopes: Texts | None = None,
        types: Texts | None = None,
        statuses: Texts | None = None,
        tags: Texts = (),
        since: Moment = None,
        until: Moment = None,
        asked_at: Moment = None,
        everywhere: bool = False,
        limit: int = 10,
    ) -> builtins.list[Memory]:
        """Return the newest memories that pass the filters of `search`."""

class AsyncCaptures:
    """Capture files, follow the progress of captures, and look up what captured sessions did."""

    async def add_many(
        self,
        materials: Sequence[Material],
        capture_mode: str = "transcript",
        *,
        project: Place = None,
        repo: Place = None,
        agent: AgentLike | None = None,
        session: str | None = None,
        scope: str | None = None,
        title: str = "",
        user: str = "",
        observed_at: Moment = None,
    ) -> builtins.list[Event]:
        """Store every conversation in several texts or files, all or none."""

    async def add_file(
        self,
        path: FilePath,
        capture_mode: str = "transcript",
        *,
        project: Place = None,
        repo: Place = None,
        agent: AgentLike | None = None,
        session: str | None = None,
        scope: str | None = None,
        title: str = "",
        user: str = "",
        observed_at: Moment = None,
    ) -> builtins.list[Event]:
        """Store every conversation in one file of this machine."""

    async def add_assistant_memories(
        self, answer: str, *, assistant: str = "another assistant", project: Place = None
    ) -> Imported:
        """Take the answer in which another assistant lists its memories as candidates."""

    async def get(self, event_id: str) -> Event:
        """Return the progress of one capture."""

    async def list(self) -> builtins.list[Event]:
        """Return every capture and write, oldest first."""

    async def file_history(
        self,
        file: FilePath,
        *,
        project: Place = None,
        repo: Place = None,
        agent: AgentLike | None = None,
        session: str | None = None,
        limit: int = 10,
    ) -> FileHistory:
        """Return the changes of a file, the memories that name it, and decisions made then."""

    async def error_history(
        self,
        error: str,
        *,
        project: Place = None,
        repo: Place = None,
        agent: AgentLike | None = None,
        session: str | None = None,
        limit: int = 10,
    ) -> ErrorHistory:
        """Return the commands that failed with a similar error, and what worked afterwards."""

    async def command_history(
        self,
        program: str,
        *,
        project: Place = None,
        repo: Place = None,
        agent: AgentLike | None = None,
        session: str | None = None,
        limit: int = 10,
    ) -> CommandHistory:
        """Return how a program was run: what worked, what failed, and the memories about it."""

    async def session_files(
        self,
        session: str | None = None,
        *,
        project: Place = None,
        repo: Place = None,
        agent: AgentLike | None = None,
        limit: int = 10,
    ) -> SessionFiles:
        """Return the files that a session changed, and what was decided in it."""

    async def advice(
        self,
        tool: str,
        arguments: Mapping[str, Any],
        *,
        error: str = "",
        project: Place = None,
        repo: Place = None,
        agent: AgentLike | None = None,
        session: str | None = None,
    ) -> ActionAdvice | None:
        """Return what concerns a tool call before it is made, or None."""

class AsyncInbox:
    """Review candidates that wait for a decision."""

    async def decide(
        self, memory_ids: Texts, verdict: str, *, reason: str = "", by: str = "user"
    ) -> builtins.list[Memory]:
        """Decide about candidates and the duplicates grouped with them, all or none."""

    async def promote(
        self,
        memory_ids: Texts,
        *,
        reason: str = "",
        replaces: bool = False,
        scope: str | None = None,
    ) -> builtins.list[Memory]:
        """Make candidates active, all or none; `scope="global"` shows them to all agents."""

    async def reject(self, memory_ids: Texts, reason: str = "") -> builtins.list[Memory]:
        """Archive candidates with the reason, all or none."""

    async def undo(self, memory_ids: Texts) -> builtins.list[Memory]:
        """Undo the last status change of each memory, all or none."""

    async def order(self) -> builtins.list[str]:
        """Return the ids of all candidates in the order of `list`, without reading the candidates."""

    async def items(self, memory_ids: Texts) -> builtins.list[InboxItem]:
        """Return some candidates as `list` does; what is not in the inbox any more is left out."""

    async def list(
        self,
        *,
        grouped: bool = True,
        limit: int = 50,
        project: Place = None,
        repo: Place = None,
        agent: AgentLike | None = None,
        session: str | None = None,
        scopes: Texts | None = None,
        types: Texts | None = None,
        tags: Texts = (),
        since: Moment = None,
        until: Moment = None,
        asked_at: Moment = None,
        everywhere: bool = True,
    ) -> builtins.list[InboxItem]:
        """Return the candidates in review order: grouped, the most certain first, without duplicates."""

class AsyncAgents:
    """Create, copy, merge, export and delete agents."""

    async def create(
        self,
        name: str,
        *,
        description: str = "",
        model: str = "",
        system_prompt: str = "",
        metadata: Mapping[str, Any] | None = None,
        default_blocks: bool = True,
    ) -> Agent:
        """Create an agent with the default blocks (persona, human, project, …)."""

    async def get(self, agent: AgentLike) -> Agent:
        """Return one agent."""

    async def update(
        self,
        agent: AgentLike,
        *,
        name: str | EllipsisType = ...,
        description: str | EllipsisType = ...,
        model: str | EllipsisType = ...,
        system_prompt: str | EllipsisType = ...,
        metadata: Mapping[str, Any] | EllipsisType | None = ...,
    ) -> Agent:
        """Change the given settings of an agent."""

    async def pin(self, agent: AgentLike, where: str = "global", *, project: Place = None) -> Agent:
        """Pin an agent: *where* is `global`, `local` to a project, or '' to unpin it."""

    async def delete(self, agent: AgentLike) -> AgentReceipt:
        """Delete an agent and everything it owns; shared blocks stay. Return a receipt."""

    async def clone(self, agent: AgentLike, name: str, *, conversations: bool = False) -> Agent:
        """Make an independent copy with its own blocks and archive; shared blocks stay shared."""

    async def branch(
        self,
        agent: AgentLike,
        name: str,
        *,
        at: Message | Conversation | str | tuple[Conversation | str, int] | None = None,
    ) -> Agent:
        """Make a copy that can be merged back later."""

    async def merge(
        self,
        into: AgentLike,
        other: AgentLike,
        *,
        take: Mapping[str, str] | None = None,
        dry_run: bool = False,
    ) -> AgentMerge:
        """Merge the blocks and passages of *other* into *into*; *other* does not change."""

    async def context_window(
        self,
        agent: AgentLike,
        *,
        project: Place = None,
        conversation: ConversationLike | None = None,
        window_tokens: int | None = None,
        tools: Sequence[Any] = (),
        warn_at: float = WARN_AT,
    ) -> WindowOverview:
        """Return how many tokens each section of an agent's context window uses, with warnings."""

    async def export(
        self, agent: AgentLike, path: FilePath, *, format: str = "recollect", plain: bool = False
    ) -> AgentExport:
        """Write an agent to one file (`.gz` compresses)."""

    async def import_(
        self, path: FilePath, name: str | None = None, *, trust: bool = False
    ) -> AgentImport:
        """Create an agent, with new ids, from a file of either format; *name* renames it."""

    async def tools(
        self,
        agent: AgentLike,
        *,
        project: Place = None,
        conversation: ConversationLike | None = None,
        trusted: bool = False,
    ) -> AsyncAgentTools:
        """Return the memory tools of an agent under Letta's names."""

    async def run(
        self,
        agent: AgentLike,
        message: str,
        *,
        conversation: ConversationLike | None = None,
        project: Place = None,
        model: str = "",
        max_steps: int = MAX_STEPS,
    ) -> RunResult:
        """Send a message to an agent, and let it answer and call tools until it stops."""

    def stream(
        self,
        agent: AgentLike,
        message: str,
        *,
        conversation: ConversationLike | None = None,
        project: Place = None,
        model: str = "",
        max_steps: int = MAX_STEPS,
    ) -> AsyncIterator[RunEvent]:
        """Send a message, as `run` does, and yield each event as it happens; `RunEnded` is the last."""

    async def approvals(
        self, *, agent: AgentLike | None = None, conversation: ConversationLike | None = None
    ) -> builtins.list[Approval]:
        """Return the tool calls that wait for a decision, the first to expire first."""

    async def decide(
        self, approval: Approval | str, approve: bool, *, reason: str = "", always: bool = False
    ) -> RunResult:
        """Approve or deny a tool call. With the last decision of a run, the run continues."""

    def stream_decision(
        self, approval: Approval | str, approve: bool, *, reason: str = "", always: bool = False
    ) -> AsyncIterator[RunEvent]:
        """Approve or deny a tool call, as `decide` does, and yield the events of the run."""

    async def cancel(self, conversation: ConversationLike) -> Run | None:
        """Stop the open run of a conversation and deny what waits; None if there is none."""

    async def runs(self, conversation: ConversationLike, *, limit: int = 50) -> builtins.list[Run]:
        """Return the runs of a conversation, the latest first."""

    async def sleep(self, conversation: ConversationLike) -> SleeptimeRun | None:
        """Read what no run of sleeptime has read of a conversation, and propose edits of memory."""

    async def sleeptime_runs(
        self, agent: AgentLike, *, limit: int = 50
    ) -> builtins.list[SleeptimeRun]:
        """Return the runs of sleeptime of an agent, the latest first."""

    async def sleeptime_run(self, run_id: str) -> SleeptimeRun:
        """Return one run of sleeptime, with its edits and what it learnt."""

    async def undo_sleeptime(self, run_id: str) -> SleeptimeRun:
        """Undo a run of sleeptime: blocks get their earlier text back, memories are archived."""

    async def list(
        self, *, pinned: str | None = None, project: Place = None
    ) -> builtins.list[Agent]:
        """Return agents, pinned ones first; *pinned* and *project* filter by their pins."""

class AsyncBlocks:
    """Edit blocks: labelled text that is always in an agent's context."""

    async def create(
        self,
        label: str,
        value: str = "",
        *,
        agent: AgentLike | None = None,
        scope: str | None = None,
        project: Place = None,
        conversation: ConversationLike | None = None,
        description: str = "",
        limit: int | None = DEFAULT_LIMIT,
        read_only: bool = False,
        hidden: bool = False,
        metadata: Mapping[str, Any] | None = None,
        by: str = "user",
    ) -> Block:
        """Create a block of an agent, a project, a conversation, or (scope global) a shared one."""

    async def get(
        self,
        agent: AgentLike | None,
        label: BlockLike,
        *,
        project: Place = None,
        conversation: ConversationLike | None = None,
    ) -> Block:
        """Return one block."""

    async def set(
        self,
        agent: AgentLike | None,
        label: BlockLike,
        value: str,
        *,
        project: Place = None,
        conversation: ConversationLike | None = None,
        by: str = "user",
        author: str = "",
        expected_version: int | None = None,
        reason: str = "",
    ) -> Block:
        """Replace the value of a block."""

    async def append(
        self,
        agent: AgentLike | None,
        label: BlockLike,
        text: str,
        *,
        project: Place = None,
        conversation: ConversationLike | None = None,
        by: str = "user",
        author: str = "",
        expected_version: int | None = None,
        reason: str = "",
    ) -> Block:
        """Append *text* to a block as new lines."""

    async def replace(
        self,
        agent: AgentLike | None,
        label: BlockLike,
        old: str,
        new: str,
        *,
        project: Place = None,
        conversation: ConversationLike | None = None,
        by: str = "user",
        author: str = "",
        expected_version: int | None = None,
        reason: str = "",
    ) -> Block:
        """Replace *old*, which must occur exactly once, by *new*."""

    async def insert(
        self,
        agent: AgentLike | None,
        label: BlockLike,
        text: str,
        line: int = -1,
        *,
        project: Place = None,
        conversation: ConversationLike | None = None,
        by: str = "user",
        author: str = "",
        expected_version: int | None = None,
        reason: str = "",
    ) -> Block:
        """Insert *text* after *line* lines of a block: 0 is the beginning, -1 the end."""

    async def update(
        self,
        agent: AgentLike | None,
        label: BlockLike,
        *,
        project: Place = None,
        conversation: ConversationLike | None = None,
        by: str = "user",
        author: str = "",
        expected_version: int | None = None,
        reason: str = "",
        new_label: str | EllipsisType = ...,
        description: str | EllipsisType = ...,
        limit: int | EllipsisType | None = ...,
        read_only: bool | EllipsisType = ...,
        hidden: bool | EllipsisType = ...,
        metadata: Mapping[str, Any] | EllipsisType | None = ...,
    ) -> Block:
        """Change the given settings of a block; its value stays."""

    async def history(
        self,
        agent: AgentLike | None,
        label: BlockLike,
        *,
        project: Place = None,
        conversation: ConversationLike | None = None,
    ) -> builtins.list[BlockVersion]:
        """Return every version of a block, oldest first, with author, time and reason."""

    async def diff(
        self,
        agent: AgentLike | None,
        label: BlockLike,
        older: int,
        newer: int | None = None,
        *,
        project: Place = None,
        conversation: ConversationLike | None = None,
    ) -> str:
        """Return a unified diff of two versions; *newer* defaults to the current one."""

    async def rollback(
        self,
        agent: AgentLike | None,
        label: BlockLike,
        version: int,
        *,
        project: Place = None,
        conversation: ConversationLike | None = None,
        by: str = "user",
        author: str = "",
        expected_version: int | None = None,
        reason: str = "",
    ) -> Block:
        """Restore the value of an earlier version as a new version."""

    async def confirm(
        self,
        agent: AgentLike | None,
        label: BlockLike,
        *,
        project: Place = None,
        conversation: ConversationLike | None = None,
        expected_version: int | None = None,
        reason: str = "",
    ) -> Block:
        """Confirm the text of a block that an agent wrote, so that it is no longer marked."""

    async def proposals(
        self,
        agent: AgentLike | None = None,
        *,
        project: Place = None,
        conversation: ConversationLike | None = None,
    ) -> builtins.list[BlockProposal]:
        """Return the pending proposals for the blocks an agent sees; without an agent, all."""

    async def proposal(self, proposal_id: str) -> BlockProposal:
        """Return one proposal, with its diff."""

    async def accept(
        self, proposal_id: str, *, value: str | None = None, reason: str = "", by: str = "user"
    ) -> BlockProposal:
        """Accept a proposal: its text becomes the text of the block."""

    async def reject(self, proposal_id: str, reason: str = "") -> BlockProposal:
        """Reject a proposal; the block stays as it is."""

    async def undo(self, proposal_id: str) -> BlockProposal:
        """Undo the decision about a proposal: the block gets its earlier text back."""

    async def attach(self, agent: AgentLike, block: BlockLike) -> Block:
        """Attach a shared (global) block to an agent."""

    async def detach(self, agent: AgentLike, label: str) -> Block:
        """Detach a shared block from an agent; the block itself stays."""

    async def share(
        self,
        agent: AgentLike | None,
        label: BlockLike,
        *,
        project: Place = None,
        conversation: ConversationLike | None = None,
    ) -> Block:
        """Make an agent's own block a shared (global) one; it stays attached to the agent."""

    async def agents(self, block: BlockLike) -> builtins.list[Agent]:
        """Return the agents that have a block attached: its owner and those it is shared with."""

    async def delete(
        self,
        agent: AgentLike | None,
        label: BlockLike,
        *,
        project: Place = None,
        conversation: ConversationLike | None = None,
    ) -> Block:
        """Delete a block and its history, for every agent that has it."""

    async def changes(
        self,
        agent: AgentLike | None,
        since: Moment,
        *,
        project: Place = None,
        conversation: ConversationLike | None = None,
    ) -> builtins.list[BlockChange]:
        """Return the changes since a moment to the blocks an agent sees, by any process."""

    async def fingerprint(
        self,
        agent: AgentLike | None,
        *,
        project: Place = None,
        conversation: ConversationLike | None = None,
    ) -> str:
        """Return a text that changes whenever the blocks an agent sees change."""

    async def search(
        self,
        query: str,
        *,
        agent: AgentLike,
        limit: int = 10,
        project: Place = None,
        conversation: ConversationLike | None = None,
    ) -> builtins.list[BlockHit]:
        """Return the blocks an agent sees that match *query*, best first."""

    async def list(
        self,
        agent: AgentLike | None = None,
        *,
        project: Place = None,
        conversation: ConversationLike | None = None,
    ) -> builtins.list[Block]:
        """Return the blocks an agent sees, in prompt order; without an agent, every block."""

class AsyncConversations:
    """Record, search and compact conversations."""

    async def start(
        self,
        *,
        agent: AgentLike | None = None,
        project: Place = None,
        repo: Place = None,
        key: str = "",
        title: str = "",
        metadata: Mapping[str, Any] | None = None,
        started_at: Moment = None,
    ) -> Conversation:
        """Start a conversation; an agent with a new name is created."""

    async def find(self, key: str, *, agent: AgentLike | None = None) -> Conversation | None:
        """Return the conversation that *agent*, or nobody, has under *key*, or None."""

    async def fork(
        self,
        conversation: ConversationLike,
        *,
        at: MessageLike | None = None,
        key: str = "",
        title: str | None = None,
    ) -> Conversation:
        """Copy a conversation with its messages, summaries and pins to a new one."""

    async def get(self, conversation: ConversationLike) -> Conversation:
        """Return one conversation."""

    async def end(
        self, conversation: ConversationLike, *, ended_at: Moment = None, capture: bool = False
    ) -> Conversation:
        """End a conversation; ending it twice is the same as ending it once."""

    async def resume(self, conversation: ConversationLike) -> Conversation:
        """Reopen an ended conversation."""

    async def rename(self, conversation: ConversationLike, title: str) -> Conversation:
        """Change the title of a conversation."""

    async def set_metadata(
        self, conversation: ConversationLike, metadata: Mapping[str, Any]
    ) -> Conversation:
        """Replace the metadata of a conversation."""

    async def delete(self, conversation: ConversationLike) -> ConversationReceipt:
        """Delete a conversation and its messages; return a receipt."""

    async def append(
        self,
        conversation: ConversationLike,
        role: str,
        content: Content = "",
        *,
        created_at: Moment = None,
        metadata: Mapping[str, Any] | None = None,
        tool_calls: Sequence[Any] | None = None,
        tool_call_id: str = "",
        name: str = "",
        tokens: int | None = None,
        pinned: bool = False,
        payload: Any = None,
        expected_revision: int | None = None,
    ) -> Message:
        """Append a message; full text finds it at once."""

    async def append_many(
        self,
        conversation: ConversationLike,
        messages: Sequence[Mapping[str, Any]],
        *,
        expected_revision: int | None = None,
    ) -> builtins.list[Message]:
        """Append several messages, all or none; each a dict of `append`'s arguments."""

    async def get_message(self, message: MessageLike) -> Message:
        """Return one message."""

    async def delete_message(
        self, message: MessageLike, *, expected_revision: int | None = None
    ) -> Message:
        """Delete one message and return it."""

    async def pop(
        self, conversation: ConversationLike, *, expected_revision: int | None = None
    ) -> Message | None:
        """Delete the last message of a conversation and return it; None if there is none."""

    async def add_message(
        self,
        agent: AgentLike,
        role: str,
        content: Content,
        *,
        metadata: Mapping[str, Any] | None = None,
        created_at: Moment = None,
    ) -> Message:
        """Append a message to the agent's current conversation."""

    async def messages(
        self,
        conversation: ConversationLike,
        *,
        start: int = 0,
        limit: int = 100,
        newest_first: bool = False,
        before: int | None = None,
    ) -> builtins.list[Message]:
        """Return a page of messages, in order from position *start*, or newest first."""

    async def agent_messages(
        self, agent: AgentLike, *, limit: int = 100, offset: int = 0, roles: Texts | None = None
    ) -> builtins.list[Message]:
        """Return the messages of all conversations of an agent, newest first."""

    async def all_messages(
        self,
        *,
        agent: AgentLike | None = None,
        after: MessageLike | None = None,
        before: MessageLike | None = None,
        newest_first: bool = False,
        limit: int = 100,
    ) -> builtins.list[Message]:
        """Return messages of all conversations, of one agent or of all, as they were stored."""

    async def messages_in_context(self, conversation: ConversationLike) -> builtins.list[Message]:
        """Return the messages that no summary has replaced, in order."""

    async def summaries(self, conversation: ConversationLike) -> builtins.list[Summary]:
        """Return the summaries of a conversation, oldest first."""

    async def pin_message(self, message: MessageLike, *, pinned: bool = True) -> Message:
        """Pin a message so that compaction keeps it in context, or unpin it."""

    async def pin(self, conversation: ConversationLike, content: str, *, kind: str = "note") -> Pin:
        """Pin a ticket, a debug note or a decision to a conversation."""

    async def unpin(self, pin: Pin | str) -> Pin:
        """Remove a pin."""

    async def pins(self, conversation: ConversationLike) -> builtins.list[Pin]:
        """Return the pins of a conversation, oldest first."""

    async def search(
        self,
        query: str,
        *,
        agent: AgentLike | None = None,
        conversation: ConversationLike | None = None,
        asked_in: ConversationLike | None = None,
        roles: Texts | None = None,
        since: Moment = None,
        until: Moment = None,
        asked_at: Moment = None,
        mode: str = "hybrid",
        filter: Mapping[str, Any] | None = None,
        limit: int = 10,
        offset: int = 0,
        below_threshold: bool = False,
    ) -> builtins.list[MessageHit]:
        """Return the messages that answer *query*, best first, each with its explanation."""

    async def letta_search(
        self,
        agent: AgentLike,
        query: str = "",
        *,
        project: Place = None,
        roles: Texts | None = None,
        limit: int = 10,
        start_date: Moment = None,
        end_date: Moment = None,
        asked_at: Moment = None,
        asked_in: ConversationLike | None = None,
    ) -> Mapping[str, Any]:
        """Search messages; return the result in the shape of Letta's `conversation_search`."""

    async def compact(
        self,
        conversation: ConversationLike,
        *,
        window_tokens: int | None = None,
        mode: str = "sliding_window",
        keep_last: int = 10,
        threshold: float = 0.8,
        target: float = 0.5,
        summary_tokens: int | None = None,
        force: bool = False,
    ) -> Compacted | None:
        """Replace older messages by a summary once *threshold* of the context window is used."""

    async def list(
        self,
        *,
        agent: AgentLike | None = None,
        project: Place = None,
        before: Moment = None,
        key_prefix: str = "",
        limit: int = 50,
        offset: int = 0,
    ) -> builtins.list[Conversation]:
        """Return conversations, newest first."""

class AsyncArchive:
    """An agent's archive of passages."""

    async def insert(
        self,
        agent: AgentLike,
        content: str,
        *,
        tags: Texts = (),
        title: str = "",
        observed_at: Moment = None,
        by: str = "user",
        token_limit: int = TOKEN_LIMIT,
    ) -> Memory:
        """Store a passage in an agent's archive: a memory of agent scope."""

    async def search(
        self,
        agent: AgentLike,
        query: str = "",
        *,
        project: Place = None,
        tags: Texts = (),
        tag_match: str = "any",
        since: Moment = None,
        until: Moment = None,
        asked_at: Moment = None,
        limit: int = 10,
        offset: int = 0,
        below_threshold: bool = False,
    ) -> builtins.list[Hit]:
        """Return the passages that answer *query*, best first; the newest if it is empty."""

    async def list(
        self,
        agent: AgentLike,
        *,
        after: Memory | str | None = None,
        before: Memory | str | None = None,
        newest_first: bool = False,
        limit: int = 100,
    ) -> builtins.list[Memory]:
        """Return passages in the order in which they were observed."""

class AsyncSkills:
    """Find skills and load them into agents."""

    async def search(
        self, query: str, *, project: Place = None, limit: int = 10
    ) -> builtins.list[SkillHit]:
        """Return the skills that match *query*, best first."""

    async def load(self, agent: AgentLike, name: str, *, project: Place = None) -> LoadedSkill:
        """Load a skill into an agent: its text is added to the block `loaded_skills`."""

    async def unload(self, agent: AgentLike, name: str, *, project: Place = None) -> LoadedSkill:
        """Unload a skill from an agent."""

    async def loaded(self, agent: AgentLike) -> builtins.list[LoadedSkill]:
        """Return the skills an agent has loaded."""

    async def refresh(self, agent: AgentLike, *, project: Place = None) -> SkillReport:
        """Update an agent's list of skills and its loaded skills from disk."""

    async def learn(
        self,
        conversation: ConversationLike,
        name: str,
        *,
        project: Place = None,
        title: str = "",
        save: str = "project",
        overwrite: bool = False,
    ) -> LearntSkill:
        """Draft a skill from a conversation; *save* is project, global, or '' to only return it."""

    async def list(self, *, project: Place = None) -> SkillReport:
        """Return the bundled, global and project skills; later ones override earlier ones."""

class AsyncFiles:
    """Open, index and search files for agents."""

    async def open(
        self,
        agent: AgentLike,
        requests: Sequence[FileRequest],
        *,
        project: Place = None,
        roots: Sequence[FilePath] = (),
        most_open: int = MOST_OPEN,
        close_others: bool = False,
    ) -> builtins.list[FileWindow]:
        """Open files for an agent, each a path or `{path, offset, length}` in lines."""

    async def list_open(
        self, agent: AgentLike, *, roots: Sequence[FilePath] = ()
    ) -> builtins.list[FileWindow]:
        """Return the files an agent has open, with their current content."""

    async def close(
        self, agent: AgentLike, paths: Sequence[FilePath] | None = None
    ) -> builtins.list[str]:
        """Close some files of an agent, or all; return their paths."""

    async def grep(
        self,
        pattern: str,
        *,
        agent: AgentLike | None = None,
        project: Place = None,
        roots: Sequence[FilePath] = (),
        paths: Sequence[FilePath] | None = None,
        include: str | None = None,
        context_lines: int = 0,
        offset: int = 0,
    ) -> GrepPage:
        """Search files by a regular expression, one page at a time, within safety limits."""

    async def index(
        self, *, project: Place = None, roots: Sequence[FilePath] = (), include: str | None = None
    ) -> int:
        """Index the text of files for semantic search; return how many were read."""

    async def forget(
        self, paths: Sequence[FilePath] | None = None, *, project: Place
    ) -> FilesReceipt:
        """Remove files of a project, or all of them, from the index; return a receipt."""

    async def search(
        self, query: str, *, project: Place = None, limit: int = 5
    ) -> builtins.list[FileHit]:
        """Return the indexed files that answer *query*, best first."""

class AsyncDocuments:
    """Store JSON values by namespace and key, change them in place, and search them."""

    async def put(
        self,
        namespace: Texts,
        key: str,
        value: Any,
        *,
        text: str | None = None,
        exact: bool = False,
        lifetime_s: float | None = None,
        expected_revision: int | None = None,
    ) -> Document:
        """Store *value* under *key*; it replaces a value that is there."""

    async def get(self, namespace: Texts, key: str) -> Document | None:
        """Return the document with that key; None if there is none."""

    async def extend(self, namespace: Texts, key: str) -> Document | None:
        """Restart the document's time to live and return it."""

    async def delete(
        self, namespace: Texts, key: str, *, expected_revision: int | None = None
    ) -> bool:
        """Delete a document; return whether there was one."""

    async def search(
        self,
        namespace: Texts = (),
        query: str = "",
        *,
        filter: Mapping[str, Any] | None = None,
        limit: int = 10,
        offset: int = 0,
    ) -> builtins.list[DocumentHit]:
        """Return the best documents of a namespace and those below it, by words and meaning."""

    async def namespaces(
        self, prefix: Texts = (), *, limit: int = 100, offset: int = 0
    ) -> builtins.list[tuple[str, ...]]:
        """Return the namespaces at and below *prefix* that have documents, in order."""

class AsyncJobs:
    """Jobs of the learning pipeline."""

    async def get(self, job_id: str) -> Job:
        """Return one job."""

    async def retry(self, job_id: str) -> Job:
        """Make a failed or waiting job due now."""

    async def list(self, *, states: Texts | None = None, limit: int = 50) -> builtins.list[Job]:
        """Return unfinished jobs, or those in *states*, in the order they are due."""

class AsyncModels:
    """Embedding models and calls of language models."""

    async def use(self, name: str) -> ModelSelection:
        """Choose the store's model; the previous one answers queries until all is embedded."""

    async def reembed(self) -> ReembedProgress:
        """Embed everything with the chosen model; return the progress."""

    async def check_embedder(self) -> str:
        """Embed one word and return the embedder's name, or raise `EmbedderUnavailable`."""

    async def chat(self, *, agent: AgentLike | None = None) -> ChatModelStatus:
        """Return the chat model that agents, or one agent, run on; the name '' means none."""

    async def calls(self, *, limit: int = 50) -> builtins.list[ModelCall]:
        """Return the latest calls of language models, with their token counts and costs."""

    async def count_tokens(self, text: str, *, model: str = "") -> int:
        """Return how many tokens *text* has."""

    async def list(self) -> builtins.list[EmbeddingModel]:
        """Return the known embedding models and how much of the store each has embedded."""

class AsyncViews:
    """Save searches and run them again."""

    async def save(
        self,
        name: str,
        query: str,
        *,
        project: Place = None,
        repo: Place = None,
        agent: AgentLike | None = None,
        session: str | None = None,
        scopes: Texts | None = None,
        types: Texts | None = None,
        statuses: Texts | None = None,
        tags: Texts = (),
        since: Moment = None,
        until: Moment = None,
        asked_at: Moment = None,
        everywhere: bool = False,
        limit: int = 10,
    ) -> SavedSearch:
        """Save a search with its filters under a name; an existing one is replaced."""

    async def delete(self, name: str) -> None:
        """Delete a saved search."""

    async def run(self, name: str) -> builtins.list[Hit]:
        """Run a saved search."""

    async def list(self) -> builtins.list[SavedSearch]:
        """Return every saved search."""

class AsyncRetrievals:
    """The log of retrievals: what was asked, what was returned, what was left out."""

    async def list(
        self,
        *,
        agent: AgentLike | None = None,
        memory: str | None = None,
        limit: int = 50,
        offset: int = 0,
    ) -> builtins.list[Retrieval]:
        """Return logged retrievals, newest first: all, of an *agent*, or that found a *memory*."""

class AsyncProjects:
    """Projects."""

    async def list(self) -> builtins.list[Project]:
        """Return every project."""

    async def link(self, project: str | PathLike[str], other: str | PathLike[str]) -> Project:
        """Make *other* part of *project*, so that both mean the same; return *project*."""

    async def unlink(self, project: str | PathLike[str]) -> Project:
        """Make a linked project one of its own again, with the memories that it had."""

class AsyncMaintenance:
    """The state and maintenance of the store."""

    async def verify(self) -> Verification:
        """Check the database file, the evidence rules and the indexes."""

    async def rebuild(self) -> Mapping[str, int]:
        """Rebuild every index from the stored rows; return how many rows each has."""

    async def status(self, *, rows: bool = True) -> StoreStatus:
        """Return what the store holds and the state of its indexes."""

    async def pending(self) -> PendingCounts:
        """Return how many candidates, conflicts, proposed edits and jobs wait; it is cheap."""

    async def clients(self, *, limit: int = 20) -> builtins.list[ClientActivity]:
        """Return the programs that stored or asked something, the most recently seen first."""

    async def backup(self, to: FilePath | None = None, *, keep: str | None = None) -> BackupReport:
        """Write a backup into the folder *to*, verify it, and delete those that are too old."""

    async def backups(self, to: FilePath | None = None) -> builtins.list[Backup]:
        """Return the backups of this store in the folder *to*, newest first."""

    async def run(self, *, limit: int = 100) -> MaintenanceReport:
        """Run scheduled maintenance; return what a person should look at."""

class AsyncAgentTools:
    """The memory tools of one agent, in a project and a conversation if it is in one."""

    NAMES: ClassVar[tuple[str, ...]]
    async def schemas(self, form: str = "openai") -> builtins.list[dict[str, Any]]:
        """Return every tool with its name, description and parameters, for a model."""

    async def call(self, name: str, arguments: Mapping[str, Any] | str) -> str:
        """Call a tool by its name with the arguments a model sent, an object or its JSON text."""

    async def core_memory_append(self, label: str, content: str) -> str:
        """Append lines to a block; return its new value, or that the edit was proposed."""

    async def core_memory_replace(self, label: str, old_content: str, new_content: str) -> str:
        """Replace a text that occurs exactly once in a block; return the block's new value."""

    async def memory_replace(self, label: str, old_str: str, new_str: str) -> str:
        """Replace a text that occurs exactly once in a block; return the block's new value."""

    async def memory_insert(self, label: str, new_str: str, insert_line: int = -1) -> str:
        """Insert lines into a block; return the block's new value."""

    async def memory_rethink(self, label: str, new_memory: str) -> str:
        """Replace the whole value of a block; return its new value."""

    async def archival_memory_insert(self, content: str, tags: Texts | None = None) -> str:
        """Store a passage in long-term memory; return its id."""

    async def archival_memory_search(
        self,
        query: str,
        tags: Texts | None = None,
        tag_match_mode: str = "any",
        top_k: int = 10,
        start_datetime: Moment = None,
        end_datetime: Moment = None,
    ) -> Mapping[str, Any]:
        """Search long-term memory for passages that answer a query."""

    async def conversation_search(
        self,
        query: str = "",
        roles: Texts | None = None,
        limit: int = 10,
        start_date: Moment = None,
        end_date: Moment = None,
    ) -> Mapping[str, Any]:
        """Search earlier messages of all conversations."""

    async def conversation_search_date(
        self, start_date: str, end_date: str, limit: int = 10
    ) -> Mapping[str, Any]:
        """Return the messages of a time."""

    async def open_files(
        self, file_requests: builtins.list[dict[str, Any]], close_all_others: bool = False
    ) -> str:
        """Open files, so that their lines are in the context."""

    async def grep_files(
        self, pattern: str, include: str | None = None, context_lines: int = 1, offset: int = 0
    ) -> str:
        """Search the project's files for a regular expression."""

    async def semantic_search_files(
        self, query: str, limit: int = 5
    ) -> builtins.list[Mapping[str, Any]]:
        """Search the indexed files of the project by meaning."""

class AsyncRecollect:
    """One memory store. Safe to share between threads; after a fork, open it again."""

    def __init__(self, open_memory: Callable[[], Recollect]) -> None: ...
    async def __aenter__(self) -> Self: ...
    async def __aexit__(self, *_: object) -> None: ...
    @property
    def memories(self) -> AsyncMemories: ...
    @property
    def captures(self) -> AsyncCaptures: ...
    @property
    def inbox(self) -> AsyncInbox: ...
    @property
    def agents(self) -> AsyncAgents: ...
    @property
    def blocks(self) -> AsyncBlocks: ...
    @property
    def conversations(self) -> AsyncConversations: ...
    @property
    def archive(self) -> AsyncArchive: ...
    @property
    def skills(self) -> AsyncSkills: ...
    @property
    def files(self) -> AsyncFiles: ...
    @property
    def documents(self) -> AsyncDocuments: ...
    @property
    def jobs(self) -> AsyncJobs: ...
    @property
    def models(self) -> AsyncModels: ...
    @property
    def views(self) -> AsyncViews: ...
    @property
    def retrievals(self) -> AsyncRetrievals: ...
    @property
    def projects(self) -> AsyncProjects: ...
    @property
    def maintenance(self) -> AsyncMaintenance: ...
    async def ingest(
        self,
        content: str,
        *,
        type: str | None = None,
        scope: str | None = None,
        project: Place = None,
        repo: Place = None,
        agent: AgentLike | None = None,
        session: str | None = None,
        title: str = "",
        summary: str = "",
        tags: Texts = (),
        confidence: float = 1.0,
        observed_at: Moment = None,
        rationale: str = "",
        alternatives: Texts = (),
        status: str = "active",
        by: str = "user",
        author: str = "",
    ) -> Memory:
        """Store one memory with its evidence; when this returns it is on disk and full text finds it."""

    async def capture_session(
        self,
        transcript: Material,
        *,
        project: Place = None,
        repo: Place = None,
        agent: AgentLike | None = None,
        session: str | None = None,
        scope: str | None = None,
        title: str = "",
        user: str = "",
        observed_at: Moment = None,
    ) -> Event:
        """Store the transcript of an agent's session; the engine extracts candidates from it later."""

    async def capture_conversation(
        self,
        material: Material,
        capture_mode: str = "transcript",
        *,
        project: Place = None,
        repo: Place = None,
        agent: AgentLike | None = None,
        session: str | None = None,
        scope: str | None = None,
        title: str = "",
        user: str = "",
        observed_at: Moment = None,
    ) -> Event:
        """Store a conversation; *capture_mode* is transcript, note, summary or import."""

    async def search(
        self,
        query: str,
        *,
        project: Place = None,
        repo: Place = None,
        agent: AgentLike | None = None,
        session: str | None = None,
        scopes: Texts | None = None,
        types: Texts | None = None,
        statuses: Texts | None = None,
        tags: Texts = (),
        since: Moment = None,
        until: Moment = None,
        asked_at: Moment = None,
        limit: int = 10,
        offset: int = 0,
        everywhere: bool = False,
        below_threshold: bool = False,
        related: bool = False,
    ) -> builtins.list[Hit]:
        """Return the memories that answer *query*, best first, each with its score and explanation."""

    async def why_not(
        self,
        memory_id: str,
        query: str,
        *,
        project: Place = None,
        repo: Place = None,
        agent: AgentLike | None = None,
        session: str | None = None,
        scopes: Texts | None = None,
        types: Texts | None = None,
        statuses: Texts | None = None,
        tags: Texts = (),
        since: Moment = None,
        until: Moment = None,
        asked_at: Moment = None,
        limit: int = 10,
        everywhere: bool = False,
    ) -> WhyNot:
        """Explain why `search` with these arguments does not return one memory."""

    async def why_nothing(
        self,
        query: str,
        *,
        project: Place = None,
        repo: Place = None,
        agent: AgentLike | None = None,
        session: str | None = None,
        scopes: Texts | None = None,
        types: Texts | None = None,
        statuses: Texts | None = None,
        tags: Texts = (),
        since: Moment = None,
        until: Moment = None,
        asked_at: Moment = None,
        limit: int = 10,
        everywhere: bool = False,
    ) -> WhyNot:
        """Return the closest match for *query* and why `search` does not return it."""

    async def context_for(
        self,
        task: str,
        *,
        project: Place = None,
        repo: Place = None,
        agent: AgentLike | None = None,
        session: str | None = None,
        conversation: ConversationLike | None = None,
        file: FilePath | None = None,
        budget_tokens: int = 2000,
        model: str = "",
        shares: Mapping[str, float] | None = None,
        form: str = "tags",
        line_numbers: bool = False,
        metadata: bool = True,
        history: bool = True,
        message_limit: int = MESSAGE_LIMIT,
        visible_texts: Sequence[str] = (),
        quick: bool = False,
        asked_at: Moment = None,
    ) -> Bundle:
        """Return what an agent should know for *task*, with citations, within a token budget."""

    async def briefing(
        self,
        *,
        project: Place = None,
        repo: Place = None,
        agent: AgentLike | None = None,
        session: str | None = None,
        budget_tokens: int = 1500,
        form: str = "tags",
        model: str = "",
    ) -> Bundle:
        """Return what an agent should know when a session starts, before the first question."""

    async def consolidate(self, ids: Sequence[str] | None = None) -> Mapping[str, int]:
        """Compare candidates with existing memories, apply the policy, and count the outcomes."""

    async def upsert_profile_fact(self, key: str, value: str) -> Memory:
        """Set a named fact about the user; its earlier value stays readable as superseded."""

    async def link(self, a: str, relation: str, b: str, *, note: str = "") -> Link:
        """Link memory *a* to memory *b*, or to a project written as `project:NAME`."""

    async def explain(self, some_id: str) -> MemoryExplanation | Retrieval:
        """Return the evidence, links and changes of a memory, or a logged retrieval."""

    async def promote(
        self, memory_id: str, *, reason: str = "", replaces: bool = False, scope: str | None = None
    ) -> Memory:
        """Make a candidate active; *replaces* also supersedes the memory it contradicts."""

    async def reject(self, memory_id: str, reason: str = "") -> Memory:
        """Archive a candidate with the reason."""

    async def undo(self, memory_id: str) -> Memory:
        """Undo the last change of a memory's status, and what else that change did."""

    async def forget(self, memory_id: str, *, dry_run: bool = False) -> Receipt:
        """Remove a memory and its words from every table and index; return a receipt."""

    async def export(self, path: FilePath, *, plain: bool = False, synced: bool = False) -> int:
        """Write the whole store to one file (`.gz` compresses); return the number of rows."""

    async def import_(self, path: FilePath, *, trust: bool = False) -> Imported:
        """Add what is in an exported file, and merge memories and blocks that are here."""

    async def drain(self) -> int:
        """Run every job that is due and embed what is pending; return how many steps that took."""

    async def close(self) -> None:
        """Finish pending writes and close. Closing twice is the same as closing once."""
