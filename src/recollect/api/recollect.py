"""
`Recollect`: one memory store with its verbs and nouns.

`recollect.open` returns a local one, `recollect.connect` one behind a server. Both are this class
on another transport, so a program written against one runs on the other.
"""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Self

from recollect.api.arguments import (
    AgentLike,
    ConversationLike,
    FilePath,
    Material,
    Moment,
    Place,
    Texts,
)
from recollect.api.verb_group import VerbGroup, passed_arguments
from recollect.domain.capture_event import Event
from recollect.domain.context_bundle import Bundle
from recollect.domain.link import Link
from recollect.domain.maintenance import Imported, Receipt
from recollect.domain.memory import Memory
from recollect.domain.retrieval import Hit, MemoryExplanation, Retrieval, WhyNot
from recollect.wire.material_files import file_path, material_of
from recollect.wire.requests import recollect as requests
from recollect.wire.requests.recollect import MESSAGE_LIMIT

if TYPE_CHECKING:
    # Each noun loads when it is first used: a hook that searches does not pay for the others.
    from recollect.api.agents import Agents
    from recollect.api.archive import Archive
    from recollect.api.blocks import Blocks
    from recollect.api.captures import Captures
    from recollect.api.conversations import Conversations
    from recollect.api.documents import Documents
    from recollect.api.files import Files
    from recollect.api.inbox import Inbox
    from recollect.api.jobs import Jobs
    from recollect.api.maintenance import Maintenance
    from recollect.api.memories import Memories
    from recollect.api.models import Models
    from recollect.api.projects import Projects
    from recollect.api.retrievals import Retrievals
    from recollect.api.skills import Skills
    from recollect.api.views import Views


class Recollect(VerbGroup):
    """
    One memory store. Safe to share between threads; after a fork, open it again.

    A project or repo is named by a plain name, a git remote or a path; an agent or conversation by
    its name, its id or the object itself; a time by a datetime or ISO 8601 text.
    """

    def ingest(
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
        """
        Store one memory with its evidence; when this returns it is on disk and full text finds it.

        *by* is user or agent: a memory written by an agent never counts as the user's statement,
        and is marked where it is shown. *author* is the name of that agent.
        """
        return self._send(requests.IngestRequest, locals())

    def capture_session(
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
        """
        Store the transcript of an agent's session; the engine extracts candidates from it later.

        *transcript* is text, a list of `{role, content}` messages, or a `Path` to a transcript of
        Claude Code, Codex, Cursor, Gemini CLI or ChatGPT (a `str` is always the text itself).
        *user* is the name of the speaker to treat as the user.
        """
        arguments = {**passed_arguments(locals()), "transcript": material_of(transcript)}
        return self._send(requests.CaptureSessionRequest, arguments)

    def capture_conversation(
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
        arguments = {**passed_arguments(locals()), "material": material_of(material)}
        return self._send(requests.CaptureConversationRequest, arguments)

    def search(
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
    ) -> list[Hit]:
        """
        Return the memories that answer *query*, best first, each with its score and explanation.

        If no memory passes the relevance threshold, the list holds only weak matches (`is_weak`),
        or is empty; `why_nothing` shows the closest match and what it lacked. With
        *below_threshold* the best *limit* are returned however good they are. With *related*,
        up to ten visible memories that are linked to these follow them (`reached` is `related`).
        *asked_at* is the time that relative dates in the query refer to (default: now).
        *everywhere* searches all projects and agents. If nobody reviewed any of the results, each
        says `only_unreviewed`.
        """
        return self._send(requests.SearchRequest, locals())

    def why_not(
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
        return self._send(requests.WhyNotRequest, locals())

    def why_nothing(
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
        return self._send(requests.WhyNothingRequest, locals())

    def context_for(
        self,
        task: str,
        *,
        project: Place = None,
        repo: Place = None,
        agent: AgentLike | None = None,
        session: str | None = None,
        conversation: ConversationLike | None = None,
        file: FilePath | None = None,
        budget_tokens: int = 2_000,
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
        """
        Return what an agent should know for *task*, with citations, within a token budget.

        An *agent* adds its system prompt and blocks, a *conversation* its summary, pins and last
        messages, a *file* what is known about it. *shares* divides the budget (system, blocks,
        history, relevant, margin); *form* is tags or markdown; tokens are counted for *model*.
        Pass `history=False` if you send the conversation to the model yourself. At most
        *message_limit* earlier messages are recalled; *visible_texts*, which the model sees anyway,
        are left out. With *quick* only words are compared, no meanings, and fewer memories are
        weighed: it takes less than half the processor time and finds less.
        """
        return self._send(requests.ContextForRequest, locals())

    def briefing(
        self,
        *,
        project: Place = None,
        repo: Place = None,
        agent: AgentLike | None = None,
        session: str | None = None,
        budget_tokens: int = 1_500,
        form: str = "tags",
        model: str = "",
    ) -> Bundle:
        """
        Return what an agent should know when a session starts, before the first question.

        It holds the newest facts, decisions, open points and sessions of the project, and the
        project's blocks, with citations. *form* is tags or markdown.
        """
        return self._send(requests.BriefingRequest, locals())

    def consolidate(self, ids: Sequence[str] | None = None) -> Mapping[str, int]:
        """Compare candidates with existing memories, apply the policy, and count the outcomes."""
        return self._send(requests.ConsolidateRequest, locals())

    def upsert_profile_fact(self, key: str, value: str) -> Memory:
        """Set a named fact about the user; its earlier value stays readable as superseded."""
        return self._send(requests.UpsertProfileFactRequest, locals())

    def link(self, a: str, relation: str, b: str, *, note: str = "") -> Link:
        """Link memory *a* to memory *b*, or to a project written as `project:NAME`."""
        return self._send(requests.LinkRequest, locals())

    def explain(self, some_id: str) -> MemoryExplanation | Retrieval:
        """Return the evidence, links and changes of a memory, or a logged retrieval."""
        return self._send(requests.ExplainRequest, locals())

    def promote(
        self, memory_id: str, *, reason: str = "", replaces: bool = False, scope: str | None = None
    ) -> Memory:
        """
        Make a candidate active; *replaces* also supersedes the memory it contradicts.

        A memory of an agent stays with the agent; `scope="global"` shows it to all agents.
        """
        return self._send(requests.PromoteRequest, locals())

    def reject(self, memory_id: str, reason: str = "") -> Memory:
        """Archive a candidate with the reason."""
        return self._send(requests.RejectRequest, locals())

    def undo(self, memory_id: str) -> Memory:
        """Undo the last change of a memory's status, and what else that change did."""
        return self._send(requests.UndoRequest, locals())

    def forget(self, memory_id: str, *, dry_run: bool = False) -> Receipt:
        """
        Remove a memory and its words from every table and index; return a receipt.

        The words are also removed from messages, summaries, logged queries, saved searches and
        session records. The receipt says what stays and why. *dry_run* removes nothing.
        """
        return self._send(requests.ForgetRequest, locals())

    def export(self, path: FilePath, *, plain: bool = False, synced: bool = False) -> int:
        """
        Write the whole store to one file (`.gz` compresses); return the number of rows.

        The export of an encrypted store is encrypted with its key, unless it is to be *plain*.
        If *synced*, it has only what sync sends: no jobs, runs and logged retrievals, no files and
        no paths of this machine. Devices that have synced then write the same bytes.
        """
        request = requests.ExportRequest.of({"plain": plain, "synced": synced})
        return self._transport.download(request, file_path(path))

    def import_(self, path: FilePath, *, trust: bool = False) -> Imported:
        """
        Add what is in an exported file, and merge memories and blocks that are here.

        An export that this store wrote is imported as it is. Of any other file the memories and
        blocks become candidates in the inbox, unless you *trust* it. What only one side changed
        is taken over, what was deleted there is deleted here; `conflicts` names what waits for you.
        """
        request = requests.ImportRequest.of({"trust": trust})
        return self._transport.upload(request, file_path(path))

    def drain(self) -> int:
        """Run every job that is due and embed what is pending; return how many steps that took."""
        return self._send(requests.DrainRequest, locals())

    @cached_property
    def memories(self) -> "Memories":
        """Read, list and change single memories."""
        from recollect.api.memories import Memories

        return Memories(self._transport)

    @cached_property
    def captures(self) -> "Captures":
        """Capture files, and follow the progress of captures."""
        from recollect.api.captures import Captures

        return Captures(self._transport)

    @cached_property
    def inbox(self) -> "Inbox":
        """Review candidates: list, promote, reject, undo."""
        from recollect.api.inbox import Inbox

        return Inbox(self._transport)

    @cached_property
    def agents(self) -> "Agents":
        """Create, copy, merge, export and delete agents."""
        from recollect.api.agents import Agents

        return Agents(self._transport)

    @cached_property
    def blocks(self) -> "Blocks":
        """Edit blocks: labelled text that is always in an agent's context."""
        from recollect.api.blocks import Blocks

        return Blocks(self._transport)

    @cached_property
    def conversations(self) -> "Conversations":
        """Record, search and compact conversations."""
        from recollect.api.conversations import Conversations

        return Conversations(self._transport)

    @cached_property
    def archive(self) -> "Archive":
        """Insert and search the passages of an agent's archive."""
        from recollect.api.archive import Archive

        return Archive(self._transport)

    @cached_property
    def skills(self) -> "Skills":
        """Find skills and load them into agents."""
        from recollect.api.skills import Skills

        return Skills(self._transport)

    @cached_property
    def files(self) -> "Files":
        """Open, index and search files for agents."""
        from recollect.api.files import Files

        return Files(self._transport)

    @cached_property
    def documents(self) -> "Documents":
        """Store JSON values by namespace and key, and search them."""
        from recollect.api.documents import Documents

        return Documents(self._transport)

    @cached_property
    def jobs(self) -> "Jobs":
        """List and retry the jobs of the learning pipeline."""
        from recollect.api.jobs import Jobs

        return Jobs(self._transport)

    @cached_property
    def models(self) -> "Models":
        """List and choose embedding models; list calls of language models."""
        from recollect.api.models import Models

        return Models(self._transport)

    @cached_property
    def views(self) -> "Views":
        """Save searches and run them again."""
        from recollect.api.views import Views

        return Views(self._transport)

    @cached_property
    def retrievals(self) -> "Retrievals":
        """List what was asked lately, and what was returned."""
        from recollect.api.retrievals import Retrievals

        return Retrievals(self._transport)

    @cached_property
    def projects(self) -> "Projects":
        """List the projects of the store."""
        from recollect.api.projects import Projects

        return Projects(self._transport)

    @cached_property
    def maintenance(self) -> "Maintenance":
        """Check, rebuild and maintain the store."""
        from recollect.api.maintenance import Maintenance

        return Maintenance(self._transport)

    def close(self) -> None:
        """Finish pending writes and close. Closing twice is the same as closing once."""
        self._transport.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()
