"""
Recollect: local-first, evidence-backed memory for AI agents, in one SQLite file.

    import recollect

    with recollect.open("memory.db") as memory:
        memory.ingest("Answers should be short.", type="profile", scope="global")
        for hit in memory.search("how long should answers be?"):
            print(hit.memory.content, hit.explanation)
"""

from __future__ import annotations

from os import PathLike, fspath

TYPE_CHECKING = False  # not from typing: a hook waits for this file, and that takes as long again
if TYPE_CHECKING:
    from typing import Any

    from recollect.api.recollect import Recollect
    from recollect.app.local_recollect import LocalRecollect
    from recollect.client.learning import Learning
    from recollect.client.remote import RemoteRecollect
    from recollect.domain.agent import Agent, AgentReceipt
    from recollect.domain.block import Block, BlockChange, BlockHit, BlockVersion
    from recollect.domain.context_bundle import Bundle, Citation, Section, WindowOverview
    from recollect.domain.conversation import (
        Compacted,
        Conversation,
        Message,
        MessageHit,
        MessageParts,
        Pin,
        Summary,
    )
    from recollect.domain.capture_event import Event, EventState
    from recollect.domain.file import FileHit, FileWindow, GrepMatch, GrepPage
    from recollect.domain.import_progress import FileOutcome, ImportStep
    from recollect.domain.job import Job, JobState
    from recollect.domain.model_usage import ModelCall
    from recollect.domain.link import Link, Relation
    from recollect.domain.memory import Change, ChangeEffects, Memory, MemoryType, Status
    from recollect.domain.agent_transfer import (
        AgentExport,
        AgentFormat,
        AgentImport,
        AgentMerge,
        BlockMergeConflict,
    )
    from recollect.domain.project import Project, Repo
    from recollect.domain.retrieval import Hit, MemoryExplanation, Parts, Retrieval, View, WhyNot
    from recollect.domain.scope import Scope
    from recollect.domain.skill import LearntSkill, LoadedSkill, Skill, SkillHit, SkillReport
    from recollect.domain.source import Evidence, Redaction, Source, SourceKind
    from recollect.domain.maintenance import (
        DuplicatePair,
        Imported,
        InboxItem,
        MaintenanceReport,
        Receipt,
        StoreStatus,
        Verification,
        VerificationProblem,
    )
    from recollect.errors import (
        AlreadyAccepted,
        AlreadyExists,
        BlockConflict,
        BlockReadOnly,
        EmbedderUnavailable,
        EvidenceMissing,
        IllegalTransition,
        ImportRefused,
        InvalidInput,
        ModelUnavailable,
        NotFound,
        RecollectError,
        RequestRefused,
        ServerUnavailable,
        StoreBusy,
        StoreClosed,
        StoreDamaged,
        StoreError,
        StoreFull,
        StoreNewer,
        StoreUnavailable,
        TokenRefused,
        TooLarge,
        TooManyRequests,
    )
    from recollect.models.chat_model import ChatModel
    from recollect.models.embedder import Embedder

__version__ = "0.1.0"

__all__ = [
    "Agent",
    "AgentExport",
    "AgentFormat",
    "AgentImport",
    "AgentMerge",
    "AgentReceipt",
    "AlreadyAccepted",
    "AlreadyExists",
    "Block",
    "BlockChange",
    "BlockConflict",
    "BlockHit",
    "BlockMergeConflict",
    "BlockReadOnly",
    "BlockVersion",
    "Bundle",
    "Change",
    "ChangeEffects",
    "Citation",
    "Compacted",
    "Conversation",
    "DuplicatePair",
    "EmbedderUnavailable",
    "Event",
    "EventState",
    "Evidence",
    "EvidenceMissing",
    "FileHit",
    "FileOutcome",
    "FileWindow",
    "GrepMatch",
    "GrepPage",
    "Hit",
    "IllegalTransition",
    "ImportRefused",
    "ImportStep",
    "Imported",
    "InboxItem",
    "InvalidInput",
    "Job",
    "JobState",
    "Learning",
    "LearntSkill",
    "Link",
    "LoadedSkill",
    "LocalRecollect",
    "MaintenanceReport",
    "Memory",
    "MemoryExplanation",
    "MemoryType",
    "Message",
    "MessageHit",
    "MessageParts",
    "ModelCall",
    "ModelUnavailable",
    "NotFound",
    "Parts",
    "Pin",
    "Project",
    "Receipt",
    "Recollect",
    "RecollectError",
    "Redaction",
    "Relation",
    "RemoteRecollect",
    "Repo",
    "RequestRefused",
    "Retrieval",
    "Scope",
    "Section",
    "ServerUnavailable",
    "Skill",
    "SkillHit",
    "SkillReport",
    "Source",
    "SourceKind",
    "Status",
    "StoreBusy",
    "StoreClosed",
    "StoreDamaged",
    "StoreError",
    "StoreFull",
    "StoreNewer",
    "StoreStatus",
    "StoreUnavailable",
    "Summary",
    "TokenRefused",
    "TooLarge",
    "TooManyRequests",
    "Verification",
    "VerificationProblem",
    "View",
    "WhyNot",
    "WindowOverview",
    "__version__",
    "connect",
    "learning",
    "open",
]


# Where each exported value lives. They load when first used: a program that only imports Recollect,
# to open a memory later or never, should not wait for it.
_HOMES = {
    "recollect.api.recollect": ("Recollect",),
    "recollect.app.local_recollect": ("LocalRecollect",),
    "recollect.client.learning": ("Learning",),
    "recollect.client.remote": ("RemoteRecollect",),
    "recollect.domain.agent": ("Agent", "AgentReceipt"),
    "recollect.domain.block": ("Block", "BlockChange", "BlockHit", "BlockVersion"),
    "recollect.domain.conversation": (
        "Compacted",
        "Conversation",
        "Message",
        "MessageHit",
        "MessageParts",
        "Pin",
        "Summary",
    ),
    "recollect.domain.context_bundle": ("Bundle", "Citation", "Section", "WindowOverview"),
    "recollect.domain.capture_event": (
        "Event",
        "EventState",
    ),
    "recollect.domain.file": ("FileHit", "FileWindow", "GrepMatch", "GrepPage"),
    "recollect.domain.job": (
        "Job",
        "JobState",
    ),
    "recollect.domain.model_usage": ("ModelCall",),
    "recollect.domain.link": (
        "Link",
        "Relation",
    ),
    "recollect.domain.memory": (
        "Change",
        "ChangeEffects",
        "Memory",
        "MemoryType",
        "Status",
    ),
    "recollect.domain.agent_transfer": (
        "AgentExport",
        "AgentFormat",
        "AgentImport",
        "BlockMergeConflict",
        "AgentMerge",
    ),
    "recollect.domain.import_progress": ("FileOutcome", "ImportStep"),
    "recollect.domain.project": ("Project", "Repo"),
    "recollect.domain.retrieval": (
        "Hit",
        "MemoryExplanation",
        "Parts",
        "Retrieval",
        "View",
        "WhyNot",
    ),
    "recollect.domain.scope": ("Scope",),
    "recollect.domain.skill": ("LearntSkill", "LoadedSkill", "Skill", "SkillHit", "SkillReport"),
    "recollect.domain.source": ("Evidence", "Redaction", "Source", "SourceKind"),
    "recollect.domain.maintenance": (
        "DuplicatePair",
        "Imported",
        "InboxItem",
        "MaintenanceReport",
        "Receipt",
        "StoreStatus",
        "Verification",
        "VerificationProblem",
    ),
    "recollect.errors": (
        "AlreadyAccepted",
        "AlreadyExists",
        "BlockConflict",
        "BlockReadOnly",
        "EmbedderUnavailable",
        "EvidenceMissing",
        "IllegalTransition",
        "ImportRefused",
        "InvalidInput",
        "ModelUnavailable",
        "NotFound",
        "RecollectError",
        "RequestRefused",
        "ServerUnavailable",
        "StoreBusy",
        "StoreClosed",
        "StoreDamaged",
        "StoreError",
        "StoreFull",
        "StoreNewer",
        "StoreUnavailable",
        "TokenRefused",
        "TooLarge",
        "TooManyRequests",
    ),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'recollect' has no attribute {name!r}")
    # As little as can be is loaded before somebody uses it.
    from importlib import import_module

    value = getattr(import_module(_HOME_OF[name]), name)
    globals()[name] = value
    return value


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
    Open the memory in the file *path*, made if it does not exist; use it in a `with` block.

    Without a path it is the one of the settings (`RECOLLECT_DB`, the configuration file, or
    `~/.local-memory/memory.db`). `":memory:"` is a temporary one. *embedder* is any object with
    `name`, `dimension`, `embed` and `embed_query`; `embedding_backend="none"` does without. *chat*
    is any object with `name` and `complete`, which then reads captured sources too.
    """
    # The store and the service load when a memory is opened, so that importing stays cheap.
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


def connect(url: str | None = None, *, token: str | None = None, timeout_s: float = 60.0) -> RemoteRecollect:
    """
    Return the memory behind the server at *url*, with the verbs of one that is opened directly.

    Without an address it is the one of the settings (`MEMORY_SERVER_URL`, or
    `http://127.0.0.1:8283`); *token* is what the server was given, if it was given one.
    """
    # As above: the HTTP client loads when it is needed.
    from recollect.client.connection import Connection
    from recollect.client.remote import RemoteRecollect
    from recollect.config import load_settings

    settings = load_settings(server_url=url, token=token)
    return RemoteRecollect(Connection(settings.server_url, token=settings.token, timeout_s=timeout_s))


def learning(
    agent: Agent | str,
    server_url: str | None = None,
    capture_only: bool = False,
    *,
    memory: Recollect | None = None,
    project: str | PathLike[str] | None = None,
    budget_tokens: int = 2_000,
    timeout_s: float = 2.0,
    flush_s: float = 5.0,
    token: str | None = None,
) -> Learning:
    """
    Give the OpenAI and Anthropic calls in a block, or in a decorated function, an agent's memory.

        with recollect.learning(agent="helper"):
            client.chat.completions.create(...)

    Before each call what the agent remembers is told the model; afterwards what was said is kept.
    The memory is the server's at *server_url* (default: `MEMORY_SERVER_URL`, or
    `http://127.0.0.1:8283`), or *memory*, one that is open here. *capture_only* remembers without
    telling. A call waits for memory *timeout_s* at most, the end of the block *flush_s*.
    """
    # As above: the HTTP client loads when it is needed.
    from recollect.client.learning import Learning
    from recollect.client.session import LearningOptions

    wish = LearningOptions(
        agent=agent if isinstance(agent, str) else agent.name,
        capture_only=capture_only,
        budget_tokens=budget_tokens,
        timeout_s=timeout_s,
        flush_s=flush_s,
        scope={} if project is None else {"project": project},
    )
    return Learning(lambda: _reached(memory, server_url, token), wish)


def _reached(
    memory: Recollect | None, server_url: str | None, token: str | None
) -> tuple[Recollect, bool]:
    """Return the memory somebody learns with, and whether it was opened for that alone."""
    if memory is not None:
        return memory, False
    return connect(server_url, token=token), True
