"""
The product as the daily-life benchmark calls it: `python daily.py dev --adapter THIS_FILE`.

The runner measures through a class `Product`; this subclass uses today's public API.
"""

from collections.abc import Sequence
from typing import Any

import daily

import recollect

Row = dict[str, Any]


class Product(daily.Product):  # type: ignore[misc]  # the runner is not part of the project
    """The runner's product, on the nouns of the API."""

    @staticmethod
    def version() -> str:
        with recollect.open(":memory:") as memory:
            status = memory.engine.embedder_status()
        return f"recollect {recollect.__version__}, embedder {status.name}"

    def store_conversation(self, session: Row) -> None:
        conversations = self.memory.conversations
        conversation = conversations.start(
            agent=session["agent"], project=session["project"], started_at=session["at"]
        )
        self._session_of_conversation[conversation.id] = session["session"]
        messages = daily.with_times(session)
        conversations.append_many(conversation, messages)
        ended_at = messages[-1]["created_at"]
        conversations.end(conversation, ended_at=ended_at, capture=True)
        self.memory.drain()

    def items(self) -> list[Any]:
        memories = self.memory.memories.list(
            everywhere=True, statuses=self.STATUSES, limit=daily.LIST_LIMIT
        )
        return [self._item(memory) for memory in memories]

    def inbox(self) -> list[Any]:
        return [
            daily.InboxEntry(
                item=self._item(entry.memory),
                also=tuple(self._item(memory) for memory in entry.duplicates),
                rivals=tuple(self._item(memory) for memory in entry.conflicts),
            )
            for entry in self.memory.inbox.list(limit=daily.LIST_LIMIT)
        ]

    def decide(self, item: Any, verdict: str) -> None:
        self.memory.inbox.decide(item.id, verdict)

    def compacted(self, messages: Sequence[Row], window_share: float) -> Any:
        conversations = self.memory.conversations
        session: Row = {"at": "2026-09-01T09:00:00Z", "messages": messages}
        timed = daily.with_times(session)
        scratch = conversations.start(agent="compaction", started_at=session["at"])
        size = sum(message.tokens for message in conversations.append_many(scratch, timed))
        conversation = conversations.start(agent="compaction", started_at=session["at"])
        compactions = 0
        step = 2 if window_share < 1 else len(timed)
        for start in range(0, len(timed), step):
            conversations.append_many(conversation, timed[start : start + step])
            result = conversations.compact(conversation, window_tokens=int(size * window_share))
            compactions += result is not None
        summaries = conversations.summaries(conversation)
        return daily.CompactedConversation(
            summary=summaries[-1].content.splitlines() if summaries else [],
            messages=[m.content for m in conversations.messages_in_context(conversation)],
            conversation_tokens=size,
            summary_tokens=summaries[-1].tokens if summaries else 0,
            compactions=compactions,
        )

    def _item(self, memory: Any) -> Any:
        texts = (memory.title, memory.key, memory.content, memory.rationale)
        projects, agents = self.memory.projects, self.memory.agents
        return daily.Item(
            id=memory.id,
            text="\n".join(text for text in texts if text),
            quotes=tuple(evidence.quote for evidence in memory.evidence),
            sessions=self._sessions(memory.id),
            type=memory.type.value,
            scope=memory.scope.value,
            status=memory.status.value,
            project=self._name(memory.project_id, self._project_names, projects.list),
            agent=self._name(memory.agent_id, self._agent_names, agents.list),
            is_session_record=memory.type.value == "episode",
        )
