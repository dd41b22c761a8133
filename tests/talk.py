"""A conversation for tests, written down as it goes."""

import json
from datetime import UTC, datetime
from typing import Any

from recollect.domain.conversation import Message, Role
from recollect.domain.skill import DraftLine, SkillDraft
from recollect.engine.learn.skill_draft import draft_skill

NOW = datetime(2026, 5, 8, tzinfo=UTC)


class Talk:
    """A conversation, written down as it goes."""

    def __init__(self) -> None:
        self.messages: list[Message] = []

    def add(self, role: Role, content: str, **more: Any) -> "Talk":
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

    def user(self, content: str) -> "Talk":
        return self.add(Role.USER, content)

    def agent(self, content: str) -> "Talk":
        return self.add(Role.ASSISTANT, content)

    def call(self, tool: str, asked: dict[str, Any], answer: str, *, say: str = "") -> "Talk":
        """One call in OpenAI's form, and its answer."""
        name = f"call-{len(self.messages)}"
        function = {"name": tool, "arguments": json.dumps(asked)}
        self.add(Role.ASSISTANT, say, tool_calls=({"id": name, "function": function},))
        return self.add(Role.TOOL, answer, tool_call_id=name)

    def run(self, command: str, answer: str, *, say: str = "", note: str = "") -> "Talk":
        asked = {"command": command, **({"description": note} if note else {})}
        return self.call("bash", asked, answer, say=say)

    def edit(self, path: str, *, say: str = "") -> "Talk":
        return self.call("Edit", {"file_path": path}, "edited", say=say)

    def draft(self) -> SkillDraft:
        return draft_skill(self.messages, name="learnt", title="Learnt")


def texts(lines: tuple[DraftLine, ...]) -> list[str]:
    """Return what the lines of a draft say."""
    return [line.text for line in lines]
