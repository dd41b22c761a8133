"""Build a conversation message by message, and draft a skill from it."""

import json
from datetime import UTC, datetime
from typing import Any

from recollect.domain.conversation import Message, Role
from recollect.domain.skill import DraftLine, SkillDraft
from recollect.engine.learn.skill_draft import draft_skill

NOW = datetime(2026, 5, 8, tzinfo=UTC)


class ConversationBuilder:
    """A conversation, built with chained calls."""

    def __init__(self) -> None:
        self.messages: list[Message] = []

    def add(self, role: Role, content: str, **more: Any) -> "ConversationBuilder":
        number = len(self.messages) + 1
        self.messages.append(
            Message(
                id=f"id-{number}",
                conversation_id="c",
                position=number,
                role=role,
                content=content,
                created_at=NOW,
                **more,
            )
        )
        return self

    def user(self, content: str) -> "ConversationBuilder":
        return self.add(Role.USER, content)

    def agent(self, content: str) -> "ConversationBuilder":
        return self.add(Role.ASSISTANT, content)

    def call(
        self, tool: str, arguments: dict[str, Any], answer: str, *, say: str = ""
    ) -> "ConversationBuilder":
        """Add a tool call in OpenAI's format, and its result."""
        call_id = f"call-{len(self.messages)}"
        function = {"name": tool, "arguments": json.dumps(arguments)}
        self.add(Role.ASSISTANT, say, tool_calls=({"id": call_id, "function": function},))
        return self.add(Role.TOOL, answer, tool_call_id=call_id)

    def run(
        self, command: str, answer: str, *, say: str = "", note: str = ""
    ) -> "ConversationBuilder":
        arguments = {"command": command, **({"description": note} if note else {})}
        return self.call("bash", arguments, answer, say=say)

    def edit(self, path: str, *, say: str = "") -> "ConversationBuilder":
        return self.call("Edit", {"file_path": path}, "edited", say=say)

    def draft(self) -> SkillDraft:
        return draft_skill(self.messages, name="learnt", title="Learnt")


def line_texts(lines: tuple[DraftLine, ...]) -> list[str]:
    """Return the texts of the lines of a draft."""
    return [line.text for line in lines]
