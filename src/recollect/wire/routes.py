"""
Every verb over HTTP, one line each: the server makes its routes from it, the client its calls.

A route names the verb of the Python door, how it is reached, what its caller may give by position,
and what comes back. What else a verb takes is written once, in the signature of the door: the
server reads it there, and the client hands on what it was given. A test holds table and door
together. What a path names stands in it; the rest is a JSON body, or a query where there is none.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from types import NoneType
from typing import Any

from recollect.domain.agent import Agent, AgentReceipt
from recollect.domain.block import Block, BlockChange, BlockHit, BlockVersion
from recollect.domain.context import Bundle, WindowOverview
from recollect.domain.conversation import (
    Compacted,
    Conversation,
    ConversationReceipt,
    Message,
    MessageHit,
    Pin,
    Summary,
)
from recollect.domain.embedding_model import EmbeddingModel, ModelChosen, Reembedded
from recollect.domain.event import Event
from recollect.domain.file import FileHit, FileWindow, GrepPage
from recollect.domain.job import Job
from recollect.domain.ledger import ModelCall
from recollect.domain.link import Link
from recollect.domain.memory import Memory
from recollect.domain.portability import AgentExport, AgentImport, Merge
from recollect.domain.project import Project
from recollect.domain.retrieval import Hit, MemoryExplanation, Retrieval, View, WhyNot
from recollect.domain.skill import LearntSkill, LoadedSkill, SkillHit, SkillReport
from recollect.domain.upkeep import (
    Imported,
    Maintenance,
    Receipt,
    StoreStatus,
    Verification,
    Waiting,
)
from recollect.wire.segment import names_in

PREFIX = "/api"


@dataclass(frozen=True)
class Route:
    """One verb: how it is reached and what it gives back."""

    verb: str
    method: str
    path: str
    takes: str  # by position, in order
    returns: Any
    whole: bool = False  # a list without a limit of its own: all pages of it are wanted

    @cached_property
    def positional(self) -> tuple[str, ...]:
        """The names of what may be given by position."""
        return tuple(self.takes.split())

    @cached_property
    def in_path(self) -> tuple[str, ...]:
        """The names that stand in the path."""
        return names_in(self.path)

    @property
    def has_body(self) -> bool:
        """Whether the rest is sent as a body, not as a query."""
        return self.method in ("POST", "PUT", "PATCH")


_MEMORIES = (
    Route("ingest", "POST", "/memories", "content", Memory),
    Route("ingest_many", "POST", "/memories/batch", "items", list[Memory]),
    Route("memories", "GET", "/memories", "", list[Memory]),
    Route("get", "GET", "/memories/{memory_id}", "memory_id", Memory),
    Route("forget", "DELETE", "/memories/{memory_id}", "memory_id", Receipt),
    Route("set_status", "PUT", "/memories/{memory_id}/status", "memory_id status", Memory),
    Route("promote", "POST", "/memories/{memory_id}/promote", "memory_id", Memory),
    Route("reject", "POST", "/memories/{memory_id}/reject", "memory_id reason", Memory),
    Route("undo", "POST", "/memories/{memory_id}/undo", "memory_id", Memory),
    Route("confirm", "POST", "/memories/{memory_id}/confirm", "memory_id", Memory),
    Route("why_not", "POST", "/memories/{memory_id}/why-not", "memory_id query", WhyNot),
    Route("upsert_profile_fact", "PUT", "/profile/{key}", "key value", Memory),
    Route("link", "POST", "/links", "a relation b", Link),
)
_READING = (
    Route("search", "POST", "/search", "query", list[Hit]),
    Route("why_nothing", "POST", "/search/why-nothing", "query", WhyNot),
    Route("context_for", "POST", "/context", "task", Bundle),
    Route("briefing", "POST", "/briefing", "", Bundle),
    Route("explain", "GET", "/explain/{some_id}", "some_id", MemoryExplanation | Retrieval),
    Route("projects", "GET", "/projects", "", list[Project], whole=True),
    Route("views", "GET", "/views", "", list[View], whole=True),
    Route("save_view", "PUT", "/views/{name}", "name query", View),
    Route("delete_view", "DELETE", "/views/{name}", "name", NoneType),
    Route("run_view", "POST", "/views/{name}/run", "name", list[Hit]),
)
_REVIEWING = (
    Route("inbox", "GET", "/inbox", "", list[Memory]),
    Route("waiting", "GET", "/inbox/waiting", "", list[Waiting]),
    Route("decide", "POST", "/inbox/decide", "memory_id verdict", list[Memory]),
    Route("promote_many", "POST", "/inbox/promote", "memory_ids", list[Memory]),
    Route("reject_many", "POST", "/inbox/reject", "memory_ids reason", list[Memory]),
    Route("undo_many", "POST", "/inbox/undo", "memory_ids", list[Memory]),
    Route("consolidate", "POST", "/consolidate", "ids", Mapping[str, int]),
    Route("maintain", "POST", "/maintain", "", Maintenance),
)
_CAPTURING = (
    Route("capture_session", "POST", "/captures/session", "transcript", Event),
    Route("capture_conversation", "POST", "/captures/conversation", "material capture_mode", Event),
    Route("capture_many", "POST", "/captures/batch", "materials capture_mode", list[Event]),
    Route("event", "GET", "/events/{event_id}", "event_id", Event),
    Route("events", "GET", "/events", "", list[Event], whole=True),
    Route("jobs", "GET", "/jobs", "", list[Job]),
    Route("job", "GET", "/jobs/{job_id}", "job_id", Job),
    Route("retry", "POST", "/jobs/{job_id}/retry", "job_id", Job),
    Route("ledger", "GET", "/ledger", "", list[ModelCall]),
)
_AGENTS = (
    Route("create_agent", "POST", "/agents", "name", Agent),
    Route("agents", "GET", "/agents", "", list[Agent], whole=True),
    Route("agent", "GET", "/agents/{agent}", "agent", Agent),
    Route("update_agent", "PATCH", "/agents/{agent}", "agent", Agent),
    Route("pin_agent", "PUT", "/agents/{agent}/pin", "agent where", Agent),
    Route("delete_agent", "DELETE", "/agents/{agent}", "agent", AgentReceipt),
    Route("clone_agent", "POST", "/agents/{agent}/clone", "agent name", Agent),
    Route("branch_agent", "POST", "/agents/{agent}/branch", "agent name", Agent),
    Route("merge_agents", "POST", "/agents/{into}/merge", "into other", Merge),
)
_BLOCKS = (
    Route("create_block", "POST", "/blocks", "label value", Block),
    Route("blocks", "GET", "/blocks", "agent", list[Block], whole=True),
    Route("search_blocks", "POST", "/blocks/search", "query", list[BlockHit]),
    Route("block", "GET", "/blocks/{label}", "agent label", Block),
    Route("set_block", "PUT", "/blocks/{label}", "agent label value", Block),
    Route("update_block", "PATCH", "/blocks/{label}", "agent label", Block),
    Route("delete_block", "DELETE", "/blocks/{label}", "agent label", Block),
    Route("append_block", "POST", "/blocks/{label}/append", "agent label text", Block),
    Route("replace_in_block", "POST", "/blocks/{label}/replace", "agent label old new", Block),
    Route("insert_in_block", "POST", "/blocks/{label}/insert", "agent label text line", Block),
    Route("rollback_block", "POST", "/blocks/{label}/rollback", "agent label version", Block),
    Route(
        "block_history",
        "GET",
        "/blocks/{label}/history",
        "agent label",
        list[BlockVersion],
        whole=True,
    ),
    Route("block_diff", "GET", "/blocks/{label}/diff", "agent label older newer", str),
    Route("block_changes", "GET", "/block-changes", "agent since", list[BlockChange], whole=True),
    Route("blocks_mark", "GET", "/blocks-mark", "agent", str),
    Route("attach_block", "POST", "/agents/{agent}/blocks", "agent block", Block),
    Route("detach_block", "DELETE", "/agents/{agent}/blocks/{label}", "agent label", Block),
)
_CONVERSATIONS = (
    Route("start_conversation", "POST", "/conversations", "", Conversation),
    Route("conversations", "GET", "/conversations", "", list[Conversation]),
    Route("conversation", "GET", "/conversations/{conversation}", "conversation", Conversation),
    Route("end_conversation", "POST", "/conversations/{conversation}/end", "conversation",
          Conversation),
    Route("resume_conversation", "POST", "/conversations/{conversation}/resume", "conversation",
          Conversation),
    Route("rename_conversation", "PATCH", "/conversations/{conversation}", "conversation title",
          Conversation),
    Route("delete_conversation", "DELETE", "/conversations/{conversation}", "conversation",
          ConversationReceipt),
    Route("messages", "GET", "/conversations/{conversation}/messages", "conversation",
          list[Message]),
    Route("append_message", "POST", "/conversations/{conversation}/messages",
          "conversation role content", Message),
    Route("append_messages", "POST", "/conversations/{conversation}/messages/batch",
          "conversation messages", list[Message]),
    Route("messages_in_context", "GET", "/conversations/{conversation}/context", "conversation",
          list[Message], whole=True),
    Route("summaries", "GET", "/conversations/{conversation}/summaries", "conversation",
          list[Summary], whole=True),
    Route("compact", "POST", "/conversations/{conversation}/compact", "conversation",
          Compacted | None),
    Route("pins", "GET", "/conversations/{conversation}/pins", "conversation", list[Pin],
          whole=True),
    Route("pin", "POST", "/conversations/{conversation}/pins", "conversation content", Pin),
    Route("unpin", "DELETE", "/pins/{pin}", "pin", Pin),
    Route("pin_message", "PUT", "/messages/{message}/pin", "message", Message),
    Route("search_messages", "POST", "/messages/search", "query", list[MessageHit]),
    Route("add_message", "POST", "/agents/{agent}/messages", "agent role content", Message),
    Route("messages_of", "GET", "/agents/{agent}/messages", "agent", list[Message]),
    Route("conversation_search", "POST", "/agents/{agent}/conversation-search", "agent query",
          Mapping[str, Any]),
    Route("archival_insert", "POST", "/agents/{agent}/archive", "agent content", Memory),
    Route("archival_search", "POST", "/agents/{agent}/archive/search", "agent query", list[Hit]),
    Route("context_window", "POST", "/agents/{agent}/window", "agent", WindowOverview),
    Route("count_tokens", "POST", "/tokens", "text", int),
)  # fmt: skip
_SKILLS = (
    Route("discover_skills", "GET", "/skills", "", SkillReport),
    Route("search_skills", "POST", "/skills/search", "query", list[SkillHit]),
    Route("loaded_skills", "GET", "/agents/{agent}/skills", "agent", list[LoadedSkill], whole=True),
    Route("load_skill", "PUT", "/agents/{agent}/skills/{name}", "agent name", LoadedSkill),
    Route("unload_skill", "DELETE", "/agents/{agent}/skills/{name}", "agent name", LoadedSkill),
    Route("refresh_skills", "POST", "/agents/{agent}/skills/refresh", "agent", SkillReport),
    Route("learn_skill", "POST", "/conversations/{conversation}/skill", "conversation name",
          LearntSkill),
)  # fmt: skip
_FILES = (
    Route("open_files", "POST", "/agents/{agent}/files", "agent requests", list[FileWindow]),
    Route("opened_files", "GET", "/agents/{agent}/files", "agent", list[FileWindow], whole=True),
    Route("close_files", "POST", "/agents/{agent}/files/close", "agent paths", list[str]),
    Route("grep_files", "POST", "/files/grep", "pattern", GrepPage),
    Route("index_files", "POST", "/files/index", "", int),
    Route("forget_files", "POST", "/files/forget", "paths", int),
    Route("search_files", "POST", "/files/search", "query", list[FileHit]),
)
_MODELS = (
    Route("models", "GET", "/models", "", list[EmbeddingModel], whole=True),
    Route("use_model", "PUT", "/models/in-use", "name", ModelChosen),
    Route("reembed", "POST", "/reembed", "", Reembedded),
)
_KEEPING = (
    Route("drain", "POST", "/drain", "", int),
    Route("try_embedder", "POST", "/embedder/try", "", str),
    Route("verify", "POST", "/verify", "", Verification),
    Route("rebuild_indexes", "POST", "/rebuild", "", Mapping[str, int]),
    Route("status", "GET", "/status", "", StoreStatus),
)
# By the part of the API they belong to.
GROUPS: Mapping[str, tuple[Route, ...]] = {
    "memories": _MEMORIES,
    "reading": _READING,
    "reviewing": _REVIEWING,
    "capturing": _CAPTURING,
    "agents": _AGENTS,
    "blocks": _BLOCKS,
    "conversations": _CONVERSATIONS,
    "skills": _SKILLS,
    "files": _FILES,
    "models": _MODELS,
    "keeping": _KEEPING,
}
ROUTES: Mapping[str, Route] = {route.verb: route for routes in GROUPS.values() for route in routes}

# Verbs that write or read a file of the caller's: its content is the body, and what the verb
# returns stands in a header of the answer.
RESULT_HEADER = "recollect-result"
SENT_FILE = "the file that was sent"  # in messages, where the caller knows which one
EXPORTS: Mapping[str, Route] = {
    "export": Route("export", "GET", "/export", "path", int),
    "export_agent": Route(
        "export_agent", "GET", "/agents/{agent}/export", "agent path", AgentExport
    ),
}
IMPORTS: Mapping[str, Route] = {
    "import_": Route("import_", "POST", "/import", "path", Imported),
    "import_agent": Route("import_agent", "POST", "/agents/import", "path name", AgentImport),
}
