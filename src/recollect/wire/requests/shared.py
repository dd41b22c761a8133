"""Fields that several requests have in common."""

from typing import Any

from pydantic import BaseModel, ConfigDict, model_validator

from recollect.domain.block import Block, BlockAuthor
from recollect.wire import fields
from recollect.wire.fields import option


class PlaceFields(BaseModel):
    """The place a request comes from."""

    model_config = ConfigDict(defer_build=True)

    project: fields.Place | None = option(
        None, "The project: name, git remote or path ('.' is here)."
    )
    repo: fields.Place | None = option(None, "The repository: name, git remote or path.")
    agent: fields.Id | None = option(None, "The agent, by name or id.")
    session: fields.Text | None = option(None, "The session.")


class InboxFilterFields(PlaceFields):
    """What the candidates in the inbox must satisfy."""

    scopes: fields.Scopes | None = option(None, "Only of this scope. Repeatable.")
    types: fields.MemoryTypes | None = option(None, "Only of this type. Repeatable.")
    tags: fields.Tags = option((), "Only with this tag. Repeatable.")
    since: fields.Moment | None = option(None, "Only what was observed since then (2026-05-08).")
    until: fields.EndMoment | None = option(None, "Only what was observed until then.")
    asked_at: fields.ZonedMoment | None = option(None, "The time of the question. Default: now.")
    everywhere: fields.Flag = option(True, "In every project and agent.")
    limit: fields.Limit = option(50, "Maximum number of results.")


class FilterFields(InboxFilterFields):
    """What the memories in an answer must satisfy."""

    statuses: fields.Statuses | None = option(None, "Only of this status. Repeatable.")
    everywhere: fields.Flag = option(False, "In every project and agent.")
    limit: fields.Limit = option(10, "Maximum number of results.")


class CaptureFields(PlaceFields):
    """What a caller may say about captured material."""

    scope: fields.ScopeName | None = option(None, "Who sees the memories.")
    title: fields.Title = option("", "The title of the capture.")
    user: fields.Name = option("", "The name of the speaker to treat as the user.")
    observed_at: fields.Moment | None = option(
        None, "When it was said, if the file does not say (2026-05-08)."
    )


class BlockPlaceFields(BaseModel):
    """Whose block is meant: an agent's, a project's or a conversation's."""

    model_config = ConfigDict(defer_build=True)

    agent: fields.Id | None = None
    project: fields.Place | None = None
    conversation: fields.Id | None = None

    @property
    def is_empty(self) -> bool:
        """Whether no place is given."""
        return self.agent is None and self.project is None and self.conversation is None


class BlockFields(BlockPlaceFields):
    """One block, by its label and place; by its id alone if no place is given."""

    label: fields.Text

    @model_validator(mode="before")
    @classmethod
    def _label_of_block(cls, data: Any) -> Any:
        """Accept a `Block` as *label*: its label if a place is given, otherwise its id."""
        block = data.get("label") if isinstance(data, dict) else None
        if not isinstance(block, Block):
            return data
        places = ("agent", "project", "conversation")
        has_place = any(data.get(place) is not None for place in places)
        return {**data, "label": block.label if has_place else block.id}


class BlockEditFields(BlockFields):
    """How a block is edited: by whom, why, and which version the editor had read."""

    by: fields.Writer = BlockAuthor.USER
    author: fields.Name = ""  # the agent that writes; default: the agent that has the block
    expected_version: fields.Version | None = None
    reason: fields.Summary = ""
