"""
Recollect: local-first, evidence-backed memory for AI agents, in one SQLite file.

    import recollect

    with recollect.open("memory.db") as rec:
        rec.ingest("Answers should be short.", type="profile", scope="global")
        for hit in rec.search("how long should answers be?"):
            print(hit.memory.content, hit.explanation)
"""

from __future__ import annotations

from os import PathLike, fspath

TYPE_CHECKING = False  # not from typing: a hook waits for this file, and that takes as long again
if TYPE_CHECKING:
    from typing import Any

    from recollect.api.recollect import Recollect as Recollect
    from recollect.app.local_recollect import LocalRecollect as LocalRecollect
    from recollect.client.async_recollect import AsyncRecollect as AsyncRecollect
    from recollect.client.learning import Learning as Learning
    from recollect.client.remote import RemoteRecollect as RemoteRecollect
    from recollect.domain.agent import Agent as Agent
    from recollect.domain.agent import AgentReceipt as AgentReceipt
    from recollect.domain.agent_run import Approval as Approval
    from recollect.domain.agent_run import ApprovalRequested as ApprovalRequested
    from recollect.domain.agent_run import ContextCompacted as ContextCompacted
    from recollect.domain.agent_run import MessageStored as MessageStored
    from recollect.domain.agent_run import ModelRetried as ModelRetried
    from recollect.domain.agent_run import ReasoningDelta as ReasoningDelta
    from recollect.domain.agent_run import Run as Run
    from recollect.domain.agent_run import RunEnded as RunEnded
    from recollect.domain.agent_run import RunResult as RunResult
    from recollect.domain.agent_run import RunStarted as RunStarted
    from recollect.domain.agent_run import StopReason as StopReason
    from recollect.domain.agent_run import TextDelta as TextDelta
    from recollect.domain.agent_run import ToolEnded as ToolEnded
    from recollect.domain.agent_run import ToolStarted as ToolStarted
    from recollect.domain.agent_transfer import AgentExport as AgentExport
    from recollect.domain.agent_transfer import AgentFormat as AgentFormat
    from recollect.domain.agent_transfer import AgentImport as AgentImport
    from recollect.domain.agent_transfer import AgentMerge as AgentMerge
    from recollect.domain.agent_transfer import BlockMergeConflict as BlockMergeConflict
    from recollect.domain.backup import Backup as Backup
    from recollect.domain.backup import BackupReport as BackupReport
    from recollect.domain.block import Block as Block
    from recollect.domain.block import BlockChange as BlockChange
    from recollect.domain.block import BlockHit as BlockHit
    from recollect.domain.block import BlockProposal as BlockProposal
    from recollect.domain.block import BlockVersion as BlockVersion
    from recollect.domain.capture_event import Event as Event
    from recollect.domain.capture_event import EventState as EventState
    from recollect.domain.change import Change as Change
    from recollect.domain.change import ChangeEffects as ChangeEffects
    from recollect.domain.change import ChangeKind as ChangeKind
    from recollect.domain.context_bundle import Bundle as Bundle
    from recollect.domain.context_bundle import Citation as Citation
    from recollect.domain.context_bundle import Section as Section
    from recollect.domain.context_bundle import WindowOverview as WindowOverview
    from recollect.domain.conversation import Compacted as Compacted
    from recollect.domain.conversation import Conversation as Conversation
    from recollect.domain.conversation import Message as Message
    from recollect.domain.conversation import MessageHit as MessageHit
    from recollect.domain.conversation import MessageParts as MessageParts
    from recollect.domain.conversation import Pin as Pin
    from recollect.domain.conversation import Summary as Summary
    from recollect.domain.document import Document as Document
    from recollect.domain.document import DocumentHit as DocumentHit
    from recollect.domain.file import FileHit as FileHit
    from recollect.domain.file import FileWindow as FileWindow
    from recollect.domain.file import GrepMatch as GrepMatch
    from recollect.domain.file import GrepPage as GrepPage
    from recollect.domain.import_progress import FileOutcome as FileOutcome
    from recollect.domain.import_progress import ImportStep as ImportStep
    from recollect.domain.job import Job as Job
    from recollect.domain.job import JobState as JobState
    from recollect.domain.link import Link as Link
    from recollect.domain.link import Relation as Relation
    from recollect.domain.maintenance import DuplicatePair as DuplicatePair
    from recollect.domain.maintenance import Imported as Imported
    from recollect.domain.maintenance import InboxItem as InboxItem
    from recollect.domain.maintenance import MaintenanceReport as MaintenanceReport
    from recollect.domain.maintenance import Receipt as Receipt
    from recollect.domain.maintenance import StoreStatus as StoreStatus
    from recollect.domain.maintenance import Verification as Verification
    from recollect.domain.maintenance import VerificationProblem as VerificationProblem
    from recollect.domain.memory import Memory as Memory
    from recollect.domain.memory import MemoryType as MemoryType
    from recollect.domain.memory import Status as Status
    from recollect.domain.model_usage import ChatModelStatus as ChatModelStatus
    from recollect.domain.model_usage import ModelCall as ModelCall
    from recollect.domain.project import Project as Project
    from recollect.domain.project import Repo as Repo
    from recollect.domain.provenance import Provenance as Provenance
    from recollect.domain.retrieval import Hit as Hit
    from recollect.domain.retrieval import MemoryExplanation as MemoryExplanation
    from recollect.domain.retrieval import Parts as Parts
    from recollect.domain.retrieval import Retrieval as Retrieval
    from recollect.domain.retrieval import SavedSearch as SavedSearch
    from recollect.domain.retrieval import WhyNot as WhyNot
    from recollect.domain.scope import Scope as Scope
    from recollect.domain.skill import LearntSkill as LearntSkill
    from recollect.domain.skill import LoadedSkill as LoadedSkill
    from recollect.domain.skill import Skill as Skill
    from recollect.domain.skill import SkillHit as SkillHit
    from recollect.domain.skill import SkillReport as SkillReport
    from recollect.domain.sleeptime import SleeptimeEdit as SleeptimeEdit
    from recollect.domain.sleeptime import SleeptimeRun as SleeptimeRun
    from recollect.domain.source import Evidence as Evidence
    from recollect.domain.source import Redaction as Redaction
    from recollect.domain.source import Source as Source
    from recollect.domain.source import SourceKind as SourceKind
    from recollect.errors import AlreadyAccepted as AlreadyAccepted
    from recollect.errors import AlreadyExists as AlreadyExists
    from recollect.errors import BlockConflict as BlockConflict
    from recollect.errors import BlockReadOnly as BlockReadOnly
    from recollect.errors import ContextOverflow as ContextOverflow
    from recollect.errors import EmbedderUnavailable as EmbedderUnavailable
    from recollect.errors import EvidenceMissing as EvidenceMissing
    from recollect.errors import IllegalTransition as IllegalTransition
    from recollect.errors import ImportRefused as ImportRefused
    from recollect.errors import InvalidInput as InvalidInput
    from recollect.errors import InvalidModelResponse as InvalidModelResponse
    from recollect.errors import ModelUnavailable as ModelUnavailable
    from recollect.errors import NotFound as NotFound
    from recollect.errors import PackageMissing as PackageMissing
    from recollect.errors import RecollectError as RecollectError
    from recollect.errors import RequestRefused as RequestRefused
    from recollect.errors import RevisionConflict as RevisionConflict
    from recollect.errors import ServerUnavailable as ServerUnavailable
    from recollect.errors import StoreBusy as StoreBusy
    from recollect.errors import StoreClosed as StoreClosed
    from recollect.errors import StoreDamaged as StoreDamaged
    from recollect.errors import StoreError as StoreError
    from recollect.errors import StoreFull as StoreFull
    from recollect.errors import StoreKeyMissing as StoreKeyMissing
    from recollect.errors import StoreNewer as StoreNewer
    from recollect.errors import StoreReadOnly as StoreReadOnly
    from recollect.errors import StoreUnavailable as StoreUnavailable
    from recollect.errors import TokenRefused as TokenRefused
    from recollect.errors import TooLarge as TooLarge
    from recollect.errors import TooManyRequests as TooManyRequests
    from recollect.models.chat_model import ChatModel as ChatModel
    from recollect.models.embedder import Embedder as Embedder

__version__ = "0.1.0"

# The module of each exported name. It loads on first use, so that `import recollect` is fast; so do
# the imports inside the functions below.
_EXPORTS = {
    "recollect.api.recollect": "Recollect",
    "recollect.app.local_recollect": "LocalRecollect",
    "recollect.client.async_recollect": "AsyncRecollect",
    "recollect.client.learning": "Learning",
    "recollect.client.remote": "RemoteRecollect",
    "recollect.domain.agent": "Agent AgentReceipt",
    "recollect.domain.backup": "Backup BackupReport",
    "recollect.domain.agent_run": (
        "Approval ApprovalRequested ContextCompacted MessageStored ModelRetried ReasoningDelta Run "
        "RunEnded RunResult RunStarted StopReason TextDelta ToolEnded ToolStarted"
    ),
    "recollect.domain.block": "Block BlockChange BlockHit BlockProposal BlockVersion",
    "recollect.domain.conversation": (
        "Compacted Conversation Message MessageHit MessageParts Pin Summary"
    ),
    "recollect.domain.context_bundle": "Bundle Citation Section WindowOverview",
    "recollect.domain.capture_event": "Event EventState",
    "recollect.domain.document": "Document DocumentHit",
    "recollect.domain.file": "FileHit FileWindow GrepMatch GrepPage",
    "recollect.domain.job": "Job JobState",
    "recollect.domain.model_usage": "ChatModelStatus ModelCall",
    "recollect.domain.link": "Link Relation",
    "recollect.domain.change": "Change ChangeEffects ChangeKind",
    "recollect.domain.memory": "Memory MemoryType Status",
    "recollect.domain.agent_transfer": (
        "AgentExport AgentFormat AgentImport BlockMergeConflict AgentMerge"
    ),
    "recollect.domain.import_progress": "FileOutcome ImportStep",
    "recollect.domain.project": "Project Repo",
    "recollect.domain.provenance": "Provenance",
    "recollect.domain.retrieval": "Hit MemoryExplanation Parts Retrieval SavedSearch WhyNot",
    "recollect.domain.scope": "Scope",
    "recollect.domain.skill": "LearntSkill LoadedSkill Skill SkillHit SkillReport",
    "recollect.domain.sleeptime": "SleeptimeEdit SleeptimeRun",
    "recollect.domain.source": "Evidence Redaction Source SourceKind",
    "recollect.domain.maintenance": (
        "DuplicatePair Imported InboxItem MaintenanceReport Receipt StoreStatus Verification "
        "VerificationProblem"
    ),
    "recollect.errors": (
        "AlreadyAccepted AlreadyExists BlockConflict BlockReadOnly ContextOverflow "
        "EmbedderUnavailable EvidenceMissing IllegalTransition ImportRefused InvalidInput "
        "InvalidModelResponse ModelUnavailable NotFound "
        "PackageMissing RecollectError RequestRefused RevisionConflict ServerUnavailable StoreBusy "
        "StoreClosed StoreDamaged StoreError StoreFull StoreKeyMissing StoreNewer StoreReadOnly "
        "StoreUnavailable TokenRefused TooLarge TooManyRequests"
    ),
}
_HOME_OF = {name: home for home, names in _EXPORTS.items() for name in names.split()}
__all__ = [*_HOME_OF, "__version__", "aconnect", "aopen", "connect", "learning", "open"]


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'recollect' has no attribute {name!r}")
    from importlib import import_module

    globals()[name] = getattr(import_module(_HOME_OF[name]), name)
    return globals()[name]


def __dir__() -> list[str]:
    return sorted(__all__)


def open(
    path: str | PathLike[str] | None = None,
    *,
    embedder: Embedder | None = None,
    embedding_backend: str | None = None,
    embedding_model: str | None = None,
    chat: ChatModel | None = None,
    chat_backend: str | None = None,
    chat_model: str | None = None,
    cross_project: bool | None = None,
) -> LocalRecollect:
    """
    Open the memory store in the file *path* and create it if it does not exist.

    Use it in a `with` block. The default path is `RECOLLECT_DB`, the configuration file's, or
    `~/.local-memory/memory.db`; `":memory:"` is a temporary store. *embedder* is any object with
    `name`, `dimension`, `embed` and `embed_query`; `embedding_backend="none"` switches embeddings
    off. *chat* is any object with `name` and `complete`; it also extracts from captured sources. If
    it has `stream_turn` too, agents run on it.
    """
    from recollect.app.local_recollect import LocalRecollect
    from recollect.config import load_settings

    settings = load_settings(
        db=None if path is None else fspath(path),
        embedding_backend=embedding_backend,
        embedding_model=embedding_model,
        chat_backend=chat_backend,
        chat_model=chat_model,
        cross_project=cross_project,
    )
    return LocalRecollect(settings, embedder=embedder, chat=chat)


def connect(
    url: str | None = None, *, token: str | None = None, timeout_s: float = 60.0
) -> RemoteRecollect:
    """
    Return the memory store behind the server at *url*; it has the same verbs as a local one.

    The default address is `MEMORY_SERVER_URL` or `http://127.0.0.1:8283`. *token* is needed if the
    server was started with one.
    """
    from recollect.client.connection import Connection
    from recollect.client.remote import RemoteRecollect
    from recollect.config import load_settings

    settings = load_settings(server_url=url, token=token)
    return RemoteRecollect(
        Connection(settings.server_url, token=settings.token, timeout_s=timeout_s)
    )


def aopen(
    path: str | PathLike[str] | None = None,
    *,
    embedder: Embedder | None = None,
    embedding_backend: str | None = None,
    embedding_model: str | None = None,
    chat: ChatModel | None = None,
    chat_backend: str | None = None,
    chat_model: str | None = None,
    cross_project: bool | None = None,
) -> AsyncRecollect:
    """
    Return the memory store in the file *path* for asynchronous code; the arguments are `open`'s.

        async with recollect.aopen("memory.db") as rec:
            hits = await rec.search("how long should answers be?")

    It has the verbs and nouns of every store, each to be awaited. They run in threads, so the event
    loop never waits for the disk. The file is opened by the block or by the first call.
    """
    from recollect.client.async_recollect import AsyncRecollect

    return AsyncRecollect(
        lambda: open(
            path,
            embedder=embedder,
            embedding_backend=embedding_backend,
            embedding_model=embedding_model,
            chat=chat,
            chat_backend=chat_backend,
            chat_model=chat_model,
            cross_project=cross_project,
        )
    )


def aconnect(
    url: str | None = None, *, token: str | None = None, timeout_s: float = 60.0
) -> AsyncRecollect:
    """Return the memory store behind the server at *url*, for asynchronous code; see `connect`."""
    from recollect.client.async_recollect import AsyncRecollect

    return AsyncRecollect(lambda: connect(url, token=token, timeout_s=timeout_s))


def learning(
    agent: Agent | str,
    server_url: str | None = None,
    capture_only: bool = False,
    *,
    memory: Recollect | str | PathLike[str] | None = None,
    project: str | PathLike[str] | None = None,
    budget_tokens: int = 2_000,
    timeout_s: float = 2.0,
    flush_s: float = 5.0,
    token: str | None = None,
    required: bool = False,
) -> Learning:
    """
    Give the OpenAI and Anthropic calls in a `with` block or decorated function an agent's memory.

        with recollect.learning(agent="helper"):
            client.chat.completions.create(...)

    Before each call the agent's memory is added to the prompt; afterwards the exchange is recorded.
    The store is *memory*, an open one or the path of a file, or else the server at *server_url*
    (default: `MEMORY_SERVER_URL` or `http://127.0.0.1:8283`). *capture_only* records without adding
    to the prompt. A call waits at most *timeout_s* for the memory, and the end of the block at most
    *flush_s*.

    If the memory is unavailable, one warning is logged and the code runs without memory. With
    *required*, entering the block raises the error instead.
    """
    from recollect.client.learning import Learning, MemorySource
    from recollect.client.session import LearningOptions
    from recollect.config import load_settings

    options = LearningOptions(
        agent=agent if isinstance(agent, str) else agent.name,
        capture_only=capture_only,
        budget_tokens=budget_tokens,
        timeout_s=timeout_s,
        flush_s=flush_s,
        scope={} if project is None else {"project": project},
        required=required,
    )

    def find_source() -> MemorySource:
        if memory is None:
            remote = connect(server_url, token=token)
            return MemorySource(remote.url, remote)
        if isinstance(memory, str | PathLike):
            path = memory
            settings = load_settings(db=str(path))
            return MemorySource(settings.location, open_store=lambda: open(path))
        url = getattr(memory, "url", "")
        if url:
            return MemorySource(str(url), memory, close_at_end=False)
        from recollect.app.local_recollect import LocalRecollect, store_location

        name = store_location(memory) if isinstance(memory, LocalRecollect) else str(memory)
        return MemorySource(name, memory, close_at_end=False)

    return Learning(find_source, options)
