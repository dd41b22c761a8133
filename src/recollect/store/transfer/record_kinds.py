"""
What travels between devices: the kinds of records, their tables and their references.

A record is a row with the rows that belong to it. Constants only: these names are put into SQL.
Not listed, and so not synced: jobs, events, runs, the retrieval log, embeddings, indexes, and
files, which are copies of what lies in folders of a machine.
"""

from collections.abc import Mapping
from dataclasses import field

from recollect.domain.scope import ItemKind
from recollect.domain.tombstone import DeletedKind
from recollect.lazy_dataclass import dataclass


@dataclass(frozen=True, kw_only=True)
class RecordKind:
    """One kind of record: its table, named like the kind, and what belongs to it."""

    keys: tuple[str, ...] = ("id",)
    # table: the column that names the record
    parts: Mapping[str, str] = field(default_factory=dict)
    # table: the column of the record that names its row. Such a row is never changed, and goes with
    # the last record that names it.
    shared_parts: Mapping[str, str] = field(default_factory=dict)
    # column: the kind that it refers to; the record goes with it if it is in `owners`
    references: Mapping[str, str] = field(default_factory=dict)
    owners: frozenset[str] = frozenset()
    # A record with the same values is the same record under another id.
    natural_keys: tuple[tuple[str, ...], ...] = ()
    named_in: tuple[str, ...] = ()  # columns of any table that hold ids of this kind
    deleted_as: DeletedKind | None = None
    item: ItemKind | None = None
    # Texts in which forgotten words may be replaced.
    texts: frozenset[str] = frozenset()
    # What somebody chose: if the later change replaces it, it is kept as a version.
    values: frozenset[str] = frozenset()


# Columns that belong to this machine: they are neither synced nor part of a synced export.
OMITTED: Mapping[str, frozenset[str]] = {
    "repos": frozenset({"root"}),
    "skills": frozenset({"path"}),
}
_IN_CONVERSATION: dict[str, str] = {"conversation_id": "conversations"}

# In the order of applying: parents before children.
KINDS: Mapping[str, RecordKind] = {
    "tombstones": RecordKind(keys=("kind", "id")),
    "projects": RecordKind(
        natural_keys=(("identity",),),
        named_in=(
            *("project_id", "main_project_id", "from_project_id", "to_project_id"),
            *("owner_id", "to_id"),
        ),
        texts=frozenset({"name"}),
        values=frozenset({"name"}),
    ),
    "project_links": RecordKind(
        keys=("project_id",),
        references={"project_id": "projects", "main_project_id": "projects"},
        owners=frozenset({"project_id", "main_project_id"}),
    ),
    "repos": RecordKind(
        references={"project_id": "projects"},
        owners=frozenset({"project_id"}),
        natural_keys=(("remote",), ("project_id", "name")),
        named_in=("repo_id", "owner_id"),
    ),
    "agents": RecordKind(
        natural_keys=(("name",),),
        named_in=("agent_id", "owner_id"),
        deleted_as=DeletedKind.AGENT,
        texts=frozenset({"description", "system_prompt", "metadata"}),
        values=frozenset({"name", "description", "model", "system_prompt", "pinned", "metadata"}),
    ),
    "blocks": RecordKind(
        parts={"block_history": "block_id", "block_proposals": "block_id"},
        owners=frozenset({"owner_id"}),
        named_in=("block_id",),
        deleted_as=DeletedKind.BLOCK,
        item=ItemKind.BLOCK,
        values=frozenset({"description", "char_limit", "read_only", "hidden", "metadata"}),
    ),
    "agent_blocks": RecordKind(
        keys=("agent_id", "block_id"),
        references={"agent_id": "agents", "block_id": "blocks"},
        owners=frozenset({"agent_id", "block_id"}),
    ),
    "agent_skills": RecordKind(
        keys=("agent_id", "skill_id"),
        shared_parts={"skills": "skill_id"},
        references={"agent_id": "agents"},
        owners=frozenset({"agent_id"}),
    ),
    "conversations": RecordKind(
        references={"agent_id": "agents", "project_id": "projects", "repo_id": "repos"},
        owners=frozenset({"agent_id"}),
        natural_keys=(("agent_id", "key"),),
        named_in=("conversation_id", "session_id", "owner_id"),
        deleted_as=DeletedKind.CONVERSATION,
        texts=frozenset({"title", "metadata"}),
        values=frozenset({"title", "metadata"}),
    ),
    "summaries": RecordKind(
        references=_IN_CONVERSATION,
        owners=frozenset(_IN_CONVERSATION),
        named_in=("summary_id",),
        texts=frozenset({"content"}),
        values=frozenset({"content"}),
    ),
    "messages": RecordKind(
        references={**_IN_CONVERSATION, "agent_id": "agents", "summary_id": "summaries"},
        owners=frozenset({*_IN_CONVERSATION, "agent_id"}),
        deleted_as=DeletedKind.MESSAGE,
        item=ItemKind.MESSAGE,
        texts=frozenset({"content", "parts", "tool_calls", "metadata", "payload"}),
        values=frozenset({"content", "parts", "tool_calls", "metadata", "payload"}),
    ),
    "pins": RecordKind(
        references=_IN_CONVERSATION,
        owners=frozenset(_IN_CONVERSATION),
        texts=frozenset({"content"}),
        values=frozenset({"content"}),
    ),
    "sources": RecordKind(
        natural_keys=(("sha256", "kind"),),
        named_in=("source_id",),
        deleted_as=DeletedKind.SOURCE,
        texts=frozenset({"title", "uri", "metadata"}),
    ),
    "memories": RecordKind(
        parts={"evidence": "memory_id", "memory_tags": "memory_id", "memory_changes": "memory_id"},
        references={"project_id": "projects", "repo_id": "repos", "agent_id": "agents"},
        owners=frozenset({"project_id", "repo_id", "agent_id"}),
        deleted_as=DeletedKind.MEMORY,
        item=ItemKind.MEMORY,
        texts=frozenset(
            {
                *("content", "title", "summary", "rationale", "alternatives", "metadata"),
                *("author", "dates"),
            }
        ),
    ),
    "memory_links": RecordKind(
        references={"from_id": "memories"},
        owners=frozenset({"from_id", "to_id"}),
        natural_keys=(("from_id", "relation", "to_kind", "to_id"),),
        texts=frozenset({"note"}),
        values=frozenset({"note"}),
    ),
    "views": RecordKind(keys=("name",), values=frozenset({"query", "asking"})),
    "documents": RecordKind(
        natural_keys=(("namespace", "key"),),
        deleted_as=DeletedKind.DOCUMENT,
        item=ItemKind.DOCUMENT,
        texts=frozenset({"body", "text"}),
        values=frozenset({"body", "text", "lifetime_s"}),
    ),
}
ALIASES = "aliases"  # a kind without a table of its own: two ids of one record
# The tables that sync sends.
SYNCED_TABLES = frozenset(
    table for kind, layout in KINDS.items() for table in (kind, *layout.parts, *layout.shared_parts)
)
FIRST_KINDS = frozenset({ALIASES, "tombstones"})  # they stand at the beginning of a file
ORDER = {kind: number for number, kind in enumerate((ALIASES, *KINDS))}
LINKED_KINDS: Mapping[str, str] = {"memory": "memories", "project": "projects"}  # of links
