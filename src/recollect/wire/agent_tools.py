"""
The tools of an agent under the names Letta gave them, for whoever builds an agent's loop.

Each is a plain function of what a model sends, done in the agent's name: limits and read-only marks
hold, and what cannot be done is an error whose text can be handed back to the model.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from os import PathLike
from typing import Any

from recollect.domain.agent import Agent
from recollect.domain.conversation import Conversation

Texts = str | Sequence[str]
Moment = str | datetime | None


class AgentTools:
    """What one agent can do with its memory, in a project and a conversation if it is in one."""

    def __init__(
        self,
        memory: Any,  # whatever has the verbs of a memory: an open one, or one behind a server
        agent: Agent | str,
        *,
        project: str | PathLike[str] | None = None,
        conversation: Conversation | str | None = None,
    ) -> None:
        self._memory = memory
        self._agent = agent
        self._conversation = conversation
        self._how: dict[str, Any] = {
            "project": project,
            "conversation": conversation,
            "by": "agent",
        }

    def core_memory_append(self, label: str, content: str) -> str:
        """Add lines to a block; return what it says now."""
        return str(self._memory.append_block(self._agent, label, content, **self._how).value)

    def core_memory_replace(self, label: str, old_content: str, new_content: str) -> str:
        """Replace a text that occurs once in a block; return what it says now."""
        block = self._memory.replace_in_block(
            self._agent, label, old_content, new_content, **self._how
        )
        return str(block.value)

    def memory_replace(self, label: str, old_str: str, new_str: str) -> str:
        """Do the same, under its newer name."""
        return self.core_memory_replace(label, old_str, new_str)

    def memory_insert(self, label: str, new_str: str, insert_line: int = -1) -> str:
        """Insert a text after so many lines of a block; return what it says now."""
        block = self._memory.insert_in_block(self._agent, label, new_str, insert_line, **self._how)
        return str(block.value)

    def memory_rethink(self, label: str, new_memory: str) -> str:
        """Rewrite a block; return what it says now."""
        return str(self._memory.set_block(self._agent, label, new_memory, **self._how).value)

    def archival_memory_insert(self, content: str, tags: Texts | None = None) -> str:
        """Keep a passage; return its id."""
        return str(self._memory.archival_insert(self._agent, content, tags=tags or ()).id)

    def archival_memory_search(
        self,
        query: str,
        tags: Texts | None = None,
        tag_match_mode: str = "any",
        top_k: int = 10,
        start_datetime: Moment = None,
        end_datetime: Moment = None,
    ) -> Mapping[str, Any]:
        """Return the passages that answer *query*, as Letta's tool does."""
        hits = self._memory.archival_search(
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
        """Return what was said that answers *query*, by words, meaning and time."""
        found: Mapping[str, Any] = self._memory.conversation_search(
            self._agent,
            query,
            roles=roles,
            limit=limit,
            start_date=start_date,
            end_date=end_date,
            asked_in=self._conversation,
        )
        return found
