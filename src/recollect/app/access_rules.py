"""
What each verb may reach on a team's server: the user's own space, a project's, or only for admins.

A verb without a rule is refused. Nothing here knows who asks: `user_transport.py` applies the
rules with the user's memberships of this moment.
"""

from collections.abc import Mapping
from enum import StrEnum

from recollect.lazy_dataclass import dataclass


class AccessTarget(StrEnum):
    """Which space carries a request out."""

    OWN = "own"  # the user's space alone
    RECORD = "record"  # the space that has the record named in `field`, if the user may see it
    BLOCK = "block"  # the space of the block: by its agent, conversation, project or id
    MEMORY = "memory"  # where a new memory belongs: the project's space, else the user's
    MEMORIES = "memories"  # the same for a list of new memories, which must be of one space
    MERGED = "merged"  # the user's space and those of the projects meant; results are combined
    ADMIN = "admin"  # the user's space, but only if the user is an admin


class NamedRecord(StrEnum):
    """The kinds of records that a request names by id, and that a project's space may have."""

    MEMORY = "memory"
    SOURCE = "source"
    AGENT = "agent"
    CONVERSATION = "conversation"
    MESSAGE = "message"
    PIN = "pin"
    PROPOSAL = "proposal"
    BLOCK = "block"
    APPROVAL = "approval"
    SLEEPTIME = "sleeptime"


@dataclass(frozen=True)
class Rule:
    """Which space carries a verb out, and whether it writes."""

    target: AccessTarget
    writes: bool = False
    kind: NamedRecord | None = None
    field: str = ""


def _reads(target: AccessTarget, *verbs: str) -> dict[str, Rule]:
    return dict.fromkeys(verbs, Rule(target))


def _writes(target: AccessTarget, *verbs: str) -> dict[str, Rule]:
    return dict.fromkeys(verbs, Rule(target, writes=True))


def _of_record(
    kind: NamedRecord, field: str, *, reads: str = "", writes: str = ""
) -> dict[str, Rule]:
    rules = dict.fromkeys(reads.split(), Rule(AccessTarget.RECORD, kind=kind, field=field))
    writing = Rule(AccessTarget.RECORD, writes=True, kind=kind, field=field)
    return rules | dict.fromkeys(writes.split(), writing)


ACCESS: Mapping[str, Rule] = {
    # Memories
    **_writes(AccessTarget.MEMORY, "ingest"),
    **_writes(AccessTarget.MEMORIES, "ingest_many"),
    **_reads(AccessTarget.MERGED, "search", "list_memories", "context_for", "briefing"),
    **_reads(AccessTarget.OWN, "why_nothing"),
    **_writes(AccessTarget.OWN, "upsert_profile_fact"),
    **_of_record(
        NamedRecord.MEMORY,
        "memory_id",
        reads="get_memory why_not",
        writes="set_status confirm_memory edit_memory promote reject undo forget settle_conflict",
    ),
    **_of_record(NamedRecord.MEMORY, "some_id", reads="explain"),
    **_of_record(NamedRecord.MEMORY, "a", writes="link"),
    **_of_record(NamedRecord.SOURCE, "source_id", reads="read_source"),
    **_reads(AccessTarget.OWN, "list_conflicts"),
    # The inbox
    **_reads(AccessTarget.MERGED, "list_inbox", "review_order"),
    **_of_record(
        NamedRecord.MEMORY,
        "memory_ids",
        reads="inbox_items",
        writes="decide promote_many reject_many undo_many",
    ),
    **_writes(AccessTarget.OWN, "consolidate"),
    # What is captured stays with the user
    **_writes(
        AccessTarget.OWN,
        "capture_session",
        "capture_conversation",
        "capture_many",
        "add_assistant_memories",
    ),
    **_reads(
        AccessTarget.OWN,
        "get_capture",
        "list_captures",
        "get_file_history",
        "get_error_history",
        "get_command_history",
        "get_session_files",
        "get_advice",
    ),
    # Agents, their conversations and runs
    **_reads(AccessTarget.MERGED, "list_agents"),
    **_writes(AccessTarget.OWN, "create_agent", "import_agent"),
    **_of_record(
        NamedRecord.AGENT,
        "agent",
        reads="get_agent get_context_window export_agent list_agent_messages list_all_messages "
        "list_conversations find_conversation search_messages search_for_letta list_passages "
        "search_passages list_sleeptime_runs list_loaded_skills get_chat_model list_approvals",
        writes="update_agent pin_agent delete_agent clone_agent branch_agent run_agent add_message "
        "start_conversation insert_passage load_skill unload_skill refresh_skills attach_block "
        "detach_block close_files",
    ),
    **_of_record(NamedRecord.AGENT, "into", writes="merge_agents"),
    **_of_record(
        NamedRecord.CONVERSATION,
        "conversation",
        reads="get_conversation list_messages list_messages_in_context list_summaries list_pins "
        "list_runs",
        writes="fork_conversation end_conversation resume_conversation rename_conversation "
        "set_conversation_metadata delete_conversation append_message append_messages pop_message "
        "add_pin compact_conversation cancel_run run_sleeptime",
    ),
    **_of_record(
        NamedRecord.MESSAGE, "message", reads="get_message", writes="delete_message pin_message"
    ),
    **_of_record(NamedRecord.PIN, "pin", writes="remove_pin"),
    **_of_record(NamedRecord.APPROVAL, "approval", writes="decide_approval"),
    **_of_record(
        NamedRecord.SLEEPTIME, "run_id", reads="get_sleeptime_run", writes="undo_sleeptime"
    ),
    # Blocks
    **_writes(AccessTarget.BLOCK, "create_block", "set_block", "append_block", "replace_in_block"),
    **_writes(
        AccessTarget.BLOCK, "insert_in_block", "update_block", "rollback_block", "share_block"
    ),
    **_writes(AccessTarget.BLOCK, "delete_block", "confirm_block"),
    # Reading a block by its label creates a default block that is missing.
    **_writes(AccessTarget.BLOCK, "get_block"),
    **_reads(AccessTarget.BLOCK, "get_block_history", "get_block_diff", "list_block_proposals"),
    **_reads(AccessTarget.BLOCK, "list_block_changes", "get_blocks_fingerprint", "search_blocks"),
    **_reads(AccessTarget.MERGED, "list_blocks"),
    **_of_record(NamedRecord.BLOCK, "block", reads="list_agents_of_block"),
    **_of_record(
        NamedRecord.PROPOSAL,
        "proposal_id",
        reads="get_block_proposal",
        writes="accept_block_proposal reject_block_proposal undo_block_proposal",
    ),
    # Documents, saved searches, the log and skills are the user's own
    **_writes(AccessTarget.OWN, "put_document", "extend_document", "delete_document"),
    **_reads(AccessTarget.OWN, "get_document", "search_documents", "list_namespaces"),
    **_writes(AccessTarget.OWN, "save_view", "delete_view"),
    **_reads(AccessTarget.OWN, "run_view", "list_views", "list_retrievals"),
    **_reads(AccessTarget.OWN, "list_skills", "search_skills"),
    **_reads(AccessTarget.MERGED, "list_projects"),
    **_writes(AccessTarget.OWN, "link_projects", "unlink_project"),
    # Files on the disk of the server, and what loads the machine or writes elsewhere
    **_writes(AccessTarget.ADMIN, "open_files", "index_files", "learn_skill"),
    **_reads(AccessTarget.ADMIN, "list_open_files", "grep_files", "list_backups"),
    **_writes(
        AccessTarget.ADMIN, "backup", "run_maintenance", "rebuild_indexes", "use_model", "reembed"
    ),
    **_writes(AccessTarget.ADMIN, "import"),
    **_reads(AccessTarget.OWN, "search_files"),
    **_writes(AccessTarget.OWN, "forget_files"),
    # The user's own space as a whole
    **_reads(AccessTarget.OWN, "export", "verify", "get_status", "count_pending", "list_clients"),
    **_reads(AccessTarget.OWN, "list_jobs", "get_job", "list_models", "list_model_calls"),
    **_reads(AccessTarget.OWN, "check_embedder", "count_tokens"),
    **_writes(AccessTarget.OWN, "retry_job", "drain"),
}
