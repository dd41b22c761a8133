"""
An agent's memory tools under Letta's names, for programs that run an agent loop.

Each tool is a plain function of the arguments a model sends, carried out in the agent's name:
limits and read-only blocks are enforced, and the text of an error can be returned to the model.
An edit of a shared block (`human`, `style`, `project`) is proposed to the user, and the result says
so. With `trusted=True` it is applied, and marked as the agent's words.
"""

from collections.abc import Mapping
from typing import Any

from recollect.api.archive import Archive
from recollect.api.arguments import AgentLike, ConversationLike, Moment, Place, Texts
from recollect.api.blocks import Blocks
from recollect.api.conversations import Conversations
from recollect.api.noun import Transport
from recollect.domain.block import Block, proposal_note


class AgentTools:
    """The memory tools of one agent, in a project and a conversation if it is in one."""

    def __init__(
        self,
        transport: Transport,
        agent: AgentLike,
        *,
        project: Place = None,
        conversation: ConversationLike | None = None,
        trusted: bool = False,
    ) -> None:
        self._trusted = trusted
        self._blocks = Blocks(transport)
        self._archive = Archive(transport)
        self._conversations = Conversations(transport)
        self._agent = agent
        self._conversation = conversation
        place: dict[str, Any] = {"project": project, "conversation": conversation}
        self._edit = {**place, "by": "agent"}

    def core_memory_append(self, label: str, content: str) -> str:
        """Append lines to a block; return its new value, or that the edit was proposed."""
        return self._result(self._blocks.append(self._agent, label, content, **self._edit))

    def core_memory_replace(self, label: str, old_content: str, new_content: str) -> str:
        """Replace a text that occurs once in a block; return as `core_memory_append`."""
        return self._result(
            self._blocks.replace(self._agent, label, old_content, new_content, **self._edit)
        )

    def memory_replace(self, label: str, old_str: str, new_str: str) -> str:
        """Do the same as `core_memory_replace`, under its newer name."""
        return self.core_memory_replace(label, old_str, new_str)

    def memory_insert(self, label: str, new_str: str, insert_line: int = -1) -> str:
        """Insert lines into a block after *insert_line* lines; return as `core_memory_append`."""
        return self._result(
            self._blocks.insert(self._agent, label, new_str, insert_line, **self._edit)
        )

    def memory_rethink(self, label: str, new_memory: str) -> str:
        """Replace the whole value of a block; return as `core_memory_append`."""
        return self._result(self._blocks.set(self._agent, label, new_memory, **self._edit))

    def _result(self, block: Block) -> str:
        """Return the result of an edit for the model."""
        if not block.proposal_id:
            return block.value
        if self._trusted:
            self._blocks.accept(block.proposal_id, by="agent")
            return self._blocks.get(None, block.id).value
        return proposal_note(block)

    def archival_memory_insert(self, content: str, tags: Texts | None = None) -> str:
        """Store a passage; return its id."""
        return self._archive.insert(self._agent, content, tags=tags or (), by="agent").id

    def archival_memory_search(
        self,
        query: str,
        tags: Texts | None = None,
        tag_match_mode: str = "any",
        top_k: int = 10,
        start_datetime: Moment = None,
        end_datetime: Moment = None,
    ) -> Mapping[str, Any]:
        """Return the passages that answer *query*, in the shape of Letta's tool."""
        hits = self._archive.search(
            self._agent,
            query,
            tags=tags or (),
            tag_match=tag_match_mode,
            since=start_datetime,
            until=end_datetime,
            limit=top_k,
        )
        return {
            "results": [
                {
                    "id": hit.memory.id,
                    "timestamp": hit.memory.observed_at.isoformat(),
                    "content": hit.memory.content,
                    "tags": list(hit.memory.tags),
                }
                for hit in hits
            ],
            "count": len(hits),
        }

    def conversation_search(
        self,
        query: str = "",
        roles: Texts | None = None,
        limit: int = 10,
        start_date: Moment = None,
        end_date: Moment = None,
    ) -> Mapping[str, Any]:
        """Return the messages that answer *query*, in the shape of Letta's tool."""
        return self._conversations.letta_search(
            self._agent,
            query,
            roles=roles,
            limit=limit,
            start_date=start_date,
            end_date=end_date,
            asked_in=self._conversation,
        )
