"""Requests for an agent's archive of passages."""

from typing import Annotated

from recollect.domain.block import BlockAuthor
from recollect.domain.memory import Memory
from recollect.domain.retrieval import Hit
from recollect.wire import fields
from recollect.wire.fields import option
from recollect.wire.request import VerbRequest

TOKEN_LIMIT = 8_192  # of one passage


class InsertPassageRequest(VerbRequest[Memory], route="POST /agents/{agent}/archive"):
    """Store a passage in an agent's archive: a memory of agent scope."""

    agent: fields.Id
    content: fields.Text
    tags: fields.Tags = option((), "A tag. Repeatable.")
    title: fields.Text = option("", "A short title.")
    observed_at: fields.Moment | None = option(
        None, "When it was true or said (2026-05-08). Default: now."
    )
    by: fields.Writer = BlockAuthor.USER
    token_limit: Annotated[int, fields.whole_number(1, 10**7)] = TOKEN_LIMIT


class ListPassagesRequest(VerbRequest[list[Memory]], route="GET /agents/{agent}/archive"):
    """Return a page of the passages in an agent's archive, by the time they were observed."""

    agent: fields.Id
    after: fields.Id | None = option(None, "Only what comes after this passage.")
    before: fields.Id | None = option(None, "Only what comes before this passage.")
    newest_first: fields.Flag = option(False, "The newest first.")
    limit: fields.Limit = option(100, "Maximum number of results.")


class SearchPassagesRequest(VerbRequest[list[Hit]], route="POST /agents/{agent}/archive/search"):
    """Return the passages that match *query*, best first; the newest if it is empty."""

    agent: fields.Id
    query: fields.Text = ""
    project: fields.Place | None = option(None, "Leave out passages of other projects.")
    tags: fields.Tags = option((), "Only with this tag. Repeatable.")
    tag_match: Annotated[str, fields.choice("any", "all")] = "any"
    since: fields.Moment | None = option(None, "Only what was observed since then (2026-05-08).")
    until: fields.EndMoment | None = option(None, "Only what was observed until then.")
    asked_at: fields.ZonedMoment | None = option(None, "The time of the question. Default: now.")
    below_threshold: fields.Flag = option(
        False, "Return the best matches even if they are below the threshold."
    )
    limit: fields.Limit = option(10, "Maximum number of results.")
    offset: fields.SearchOffset = option(0, "How many to skip.")
