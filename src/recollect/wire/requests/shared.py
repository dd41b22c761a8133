"""Fields that several requests have in common."""

from typing import Any

from pydantic import BaseModel, ConfigDict, model_validator

from recollect.domain.block import Block, By
from recollect.wire.fields import (
    EndMoment,
    Flag,
    Id,
    Limit,
    MemoryTypes,
    Moment,
    Place,
    ScopeName,
    Scopes,
    Statuses,
    Text,
    Texts,
    WholeNumber,
    Writer,
    ZonedMoment,
)


class PlaceFields(BaseModel):
    """
    The place a request comes from."""

    model_config = ConfigDict(defer_build=True)

    project: Place | None = None
    repo: Place | None = None
    agent: Id | None = None
    session: Text | None = None


class InboxFilterFields(PlaceFields):
    """
    What the candidates in the inbox must satisfy."""

    scopes: Scopes | None = None
    types: MemoryTypes | None = None
    tags: Texts = ()
    since: Moment | None = None
    until: EndMoment | None = None
    asked_at: ZonedMoment | None = None
    everywhere: Flag = True
    limit: Limit = 50


class FilterFields(InboxFilterFields):
    """
    What the memories in an answer must satisfy."""

    statuses: Statuses | None = None
    everywhere: Flag = False
    limit: Limit = 10


class CaptureFields(PlaceFields):
    """
    What a caller may say about captured material."""

    scope: ScopeName | None = None
    title: Text = ""
    user: Text = ""
    observed_at: Moment | None = None


class BlockPlaceFields(BaseModel):
    """
    Whose block is meant: an agent's, a project's or a conversation's."""

    model_config = ConfigDict(defer_build=True)

    agent: Id | None = None
    project: Place | None = None
    conversation: Id | None = None


class BlockFields(BlockPlaceFields):
    """
    One block, by its label and place; by its id alone if no place is given."""

    label: Text

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
    """
    How a block is edited: by whom, why, and which version the editor had read."""

    by: Writer = By.USER
    expected_version: WholeNumber | None = None
    reason: Text = ""
