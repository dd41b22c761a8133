"""Verbs that move one agent: to a file and back, into a copy, and together again."""

from collections.abc import Mapping
from os import PathLike, fspath

from recollect.app.agents import AgentLike
from recollect.app.given import Verbs
from recollect.config import at_home
from recollect.domain.agent import Agent
from recollect.domain.conversation import Conversation, Message
from recollect.domain.portability import AgentExport, AgentImport, Merge
from recollect.service.moving import copies, merge, portability


class PortabilityVerbs(Verbs):
    """Verbs that move one agent. What reads a file changes everything or nothing."""

    def export_agent(
        self, agent: AgentLike, path: str | PathLike[str], *, format: str = "recollect"
    ) -> AgentExport:
        """
        Write an agent to one file (`.gz` compresses).

        The format `recollect` keeps everything; `af` is Letta's, and the notes of the result say
        what that leaves behind.
        """
        return portability.export_agent(self._deps, agent, at_home(fspath(path)), format=format)

    def import_agent(self, path: str | PathLike[str], name: str | None = None) -> AgentImport:
        """Make an agent, with new ids, from a file of either format; *name* gives it another."""
        return portability.import_agent(self._deps, at_home(fspath(path)), name=name)

    def clone_agent(self, agent: AgentLike, name: str, *, conversations: bool = False) -> Agent:
        """Make an independent copy: its own blocks and archive, shared blocks still shared."""
        return copies.clone(self._deps, agent, name, conversations=conversations)

    def branch_agent(
        self,
        agent: AgentLike,
        name: str,
        *,
        at: Message | Conversation | str | tuple[Conversation | str, int] | None = None,
    ) -> Agent:
        """
        Make a copy that remembers where it left, so that it can be merged back.

        *at* is the last thing that had been said: a message, a conversation (its last message), or
        a conversation and a position; blocks and archive are as they are now.
        """
        return copies.branch(self._deps, agent, name, at=at)

    def merge_agents(
        self,
        into: AgentLike,
        other: AgentLike,
        *,
        take: Mapping[str, str] | None = None,
        dry_run: bool = False,
    ) -> Merge:
        """
        Bring the blocks and passages of *other* into *into*; *other* stays as it is.

        A block both changed is a conflict, and nothing is written for it unless *take* says, by
        label, `ours`, `theirs` or a text.
        """
        return merge.merge(self._deps, into, other, take=take, dry_run=dry_run)
