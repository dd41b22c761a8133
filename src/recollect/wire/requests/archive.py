"""Requests for an agent's archive of passages."""

from typing import Annotated

from pydantic import Field

from recollect.domain.memory import Memory
from recollect.domain.retrieval import Hit
from recollect.wire import fields
from recollect.wire.request import VerbRequest

TOKEN_LIMIT = 8_192  # of one passage


class InsertPassageRequest(VerbRequest[Memory], route="POST /agents/{agent}/archive"):
    """Store a passage in an agent's archive: a memory of agent scope."""

    agent: fields.Id
    content: fields.Text
    tags: fields.Tags = Field(default=(), description="A tag. Repeatable.")
    title: fields.Text = Field(default="", description="A short title.")
    observed_at: fields.Moment | None = Field(
        default=None, description="When it was true or said (2026-05-08). Default: now."
    )
    token_limit: Annotated[int, fields.whole_number(1, 10**7)] = TOKEN_LIMIT


class SearchPassagesRequest(VerbRequest[list[Hit]], route="POST /agents/{agent}/archive/search"):
    """Return the passages that match *query*, best first; the newest if it is empty."""

    agent: fields.Id
    query: fields.Text = ""
    tags: fields.Tags = Field(default=(), description="Only with this tag. Repeatable.")
    tag_match: Annotated[str, fields.choice("any", "all")] = "any"
    since: fields.Moment | None = Field(
        default=None, description="Only what was observed since then (2026-05-08)."
    )
    until: fields.EndMoment | None = Field(
        default=None, description="Only what was observed until then."
    )
    asked_at: fields.ZonedMoment | None = Field(
        default=None, description="The time of the question. Default: now."
    )
    limit: fields.Limit = Field(default=10, description="How many at most.")
