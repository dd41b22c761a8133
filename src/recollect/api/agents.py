"""Agents."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import EllipsisType
from typing import Any

from recollect.api.agent_tools import AgentTools
from recollect.api.arguments import AgentLike, ConversationLike, FilePath, Place
from recollect.api.noun import Noun
from recollect.domain.agent import Agent, AgentReceipt
from recollect.domain.agent_transfer import AgentExport, AgentImport, AgentMerge
from recollect.domain.context_bundle import WindowOverview
from recollect.domain.conversation import Conversation, Message
from recollect.wire.material_files import file_path
from recollect.wire.requests import agents as requests
from recollect.wire.requests.agents import WARN_AT


class Agents(Noun):
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

    def list(self, *, pinned: str | None = None, project: Place = None) -> list[Agent]:
        """Return agents, pinned ones first; *pinned* and *project* filter by their pins."""
        return self._send(requests.ListAgentsRequest, locals())
