"""Agents."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from types import EllipsisType
from typing import Any

from recollect.api.agent_tools import AgentTools
from recollect.api.arguments import AgentLike, ConversationLike, FilePath, Place
from recollect.api.verb_group import VerbGroup
from recollect.domain.agent import Agent, AgentReceipt
from recollect.domain.agent_run import Approval, Run, RunEvent, RunResult, result_of_events
from recollect.domain.agent_transfer import AgentExport, AgentImport, AgentMerge
from recollect.domain.context_bundle import WindowOverview
from recollect.domain.conversation import Conversation, Message
from recollect.domain.sleeptime import SleeptimeRun
from recollect.wire.material_files import file_path
from recollect.wire.requests import agents as requests
from recollect.wire.requests import runs as run_requests
from recollect.wire.requests import sleeptime as sleeptime_requests
from recollect.wire.requests.agents import WARN_AT
from recollect.wire.requests.runs import MAX_STEPS


class Agents(VerbGroup):
    """Create, copy, merge, export and delete agents."""

    def create(
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
        return self._send(requests.CreateAgentRequest, locals())

    def get(self, agent: AgentLike) -> Agent:
        """Return one agent."""
        return self._send(requests.GetAgentRequest, locals())

    def update(
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
        return self._send(requests.UpdateAgentRequest, locals())

    def pin(self, agent: AgentLike, where: str = "global", *, project: Place = None) -> Agent:
        """Pin an agent: *where* is `global`, `local` to a project, or '' to unpin it."""
        return self._send(requests.PinAgentRequest, locals())

    def delete(self, agent: AgentLike) -> AgentReceipt:
        """Delete an agent and everything it owns; shared blocks stay. Return a receipt."""
        return self._send(requests.DeleteAgentRequest, locals())

    def clone(self, agent: AgentLike, name: str, *, conversations: bool = False) -> Agent:
        """Make an independent copy with its own blocks and archive; shared blocks stay shared."""
        return self._send(requests.CloneAgentRequest, locals())

    def branch(
        self,
        agent: AgentLike,
        name: str,
        *,
        at: Message | Conversation | str | tuple[Conversation | str, int] | None = None,
    ) -> Agent:
        """
        Make a copy that can be merged back later.

        *at* is the last message the copy knows: a message, a conversation (its last message), or a
        conversation and a position. Blocks and archive are copied as they are now.
        """
        return self._send(requests.BranchAgentRequest, locals())

    def merge(
        self,
        into: AgentLike,
        other: AgentLike,
        *,
        take: Mapping[str, str] | None = None,
        dry_run: bool = False,
    ) -> AgentMerge:
        """
        Merge the blocks and passages of *other* into *into*; *other* does not change.

        A block that both changed is a conflict and stays as it is, unless *take* says for its label
        `ours`, `theirs` or the text to use.
        """
        return self._send(requests.MergeAgentsRequest, locals())

    def context_window(
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
        return self._send(requests.GetContextWindowRequest, locals())

    def export(
        self, agent: AgentLike, path: FilePath, *, format: str = "recollect", plain: bool = False
    ) -> AgentExport:
        """
        Write an agent to one file (`.gz` compresses).

        The format `recollect` keeps everything; `af` is Letta's, and the notes of the result list
        what it cannot hold. The file is not encrypted: of an encrypted store it is written only if
        *plain* is set.
        """
        fields = {"agent": agent, "format": format, "plain": plain}
        request = requests.ExportAgentRequest.of(fields)
        target = file_path(path)
        return replace(self._transport.download(request, target), path=str(target))

    def import_(
        self, path: FilePath, name: str | None = None, *, trust: bool = False
    ) -> AgentImport:
        """
        Create an agent, with new ids, from a file of either format; *name* renames it.

        What the file says is shown to that agent only. A file that you *trust* may be larger, and
        its projects keep their git remotes.
        """
        request = requests.ImportAgentRequest.of({"name": name, "trust": trust})
        return self._transport.upload(request, file_path(path))

    def tools(
        self,
        agent: AgentLike,
        *,
        project: Place = None,
        conversation: ConversationLike | None = None,
        trusted: bool = False,
    ) -> AgentTools:
        """
        Return the memory tools of an agent under Letta's names.

        Edits of shared blocks are proposals that the user accepts; *trusted* applies them at once.
        """
        return AgentTools(
            self._transport, agent, project=project, conversation=conversation, trusted=trusted
        )

    def run(
        self,
        agent: AgentLike,
        message: str,
        *,
        conversation: ConversationLike | None = None,
        project: Place = None,
        model: str = "",
        max_steps: int = MAX_STEPS,
    ) -> RunResult:
        """
        Send a message to an agent, and let it answer and call tools until it stops.

        The result says why it stopped. If a tool call needs a person's approval, it has
        `approvals`, and `decide` continues the run.
        """
        return result_of_events(self._stream(run_requests.RunAgentRequest, locals()))

    def stream(
        self,
        agent: AgentLike,
        message: str,
        *,
        conversation: ConversationLike | None = None,
        project: Place = None,
        model: str = "",
        max_steps: int = MAX_STEPS,
    ) -> Iterator[RunEvent]:
        """
        Send a message, as `run` does, and yield each event as it happens; `RunEnded` is the last.

        Closing the iterator cancels the run; what the model has written so far is stored.
        """
        return self._stream(run_requests.RunAgentRequest, locals())

    def approvals(
        self, *, agent: AgentLike | None = None, conversation: ConversationLike | None = None
    ) -> list[Approval]:
        """Return the tool calls that wait for a decision, the first to expire first."""
        return self._send(run_requests.ListApprovalsRequest, locals())

    def decide(
        self, approval: Approval | str, approve: bool, *, reason: str = "", always: bool = False
    ) -> RunResult:
        """
        Approve or deny a tool call. With the last decision of a run, the run continues.

        *reason* is told the model if the call is denied; *always* approves every later call of this
        tool by this agent.
        """
        return result_of_events(self._stream(run_requests.DecideApprovalRequest, locals()))

    def stream_decision(
        self, approval: Approval | str, approve: bool, *, reason: str = "", always: bool = False
    ) -> Iterator[RunEvent]:
        """Approve or deny a tool call, as `decide` does, and yield the events of the run."""
        return self._stream(run_requests.DecideApprovalRequest, locals())

    def cancel(self, conversation: ConversationLike) -> Run | None:
        """Stop the open run of a conversation and deny what waits; None if there is none."""
        return self._send(run_requests.CancelRunRequest, locals())

    def runs(self, conversation: ConversationLike, *, limit: int = 50) -> list[Run]:
        """Return the runs of a conversation, the latest first."""
        return self._send(run_requests.ListRunsRequest, locals())

    def sleep(self, conversation: ConversationLike) -> SleeptimeRun | None:
        """
        Read what no run of sleeptime has read of a conversation, and propose edits of memory.

        Memories become candidates or, if the policy allows it, active; edits of blocks wait in the
        inbox. Return None if there is nothing to read.
        """
        return self._send(sleeptime_requests.RunSleeptimeRequest, locals())

    def sleeptime_runs(self, agent: AgentLike, *, limit: int = 50) -> list[SleeptimeRun]:
        """Return the runs of sleeptime of an agent, the latest first."""
        return self._send(sleeptime_requests.ListSleeptimeRunsRequest, locals())

    def sleeptime_run(self, run_id: str) -> SleeptimeRun:
        """Return one run of sleeptime, with its edits and what it learnt."""
        return self._send(sleeptime_requests.GetSleeptimeRunRequest, locals())

    def undo_sleeptime(self, run_id: str) -> SleeptimeRun:
        """
        Undo a run of sleeptime: blocks get their earlier text back, memories are archived.

        What a person decided or changed since then stays; `remaining` names it.
        """
        return self._send(sleeptime_requests.UndoSleeptimeRequest, locals())

    def list(self, *, pinned: str | None = None, project: Place = None) -> list[Agent]:
        """Return agents, pinned ones first; *pinned* and *project* filter by their pins."""
        return self._send(requests.ListAgentsRequest, locals())
