"""Requests for an agent's archive of passages."""

from recollect.domain.memory import Memory
from recollect.domain.retrieval import Hit
from recollect.wire.fields import EndMoment, Id, Moment, Text, Texts, WholeNumber, ZonedMoment
from recollect.wire.request import VerbRequest

TOKEN_LIMIT = 8_192  # of one passage


class InsertPassageRequest(VerbRequest[Memory], route="POST /agents/{agent}/archive"):
    """Keep a passage in an agent's archive: a memory of agent scope."""

    agent: Id
    content: Text
    tags: Texts = ()
    title: Text = ""
    observed_at: Moment | None = None
    token_limit: WholeNumber = TOKEN_LIMIT


class SearchPassagesRequest(VerbRequest[list[Hit]], route="POST /agents/{agent}/archive/search"):
    """Return the passages that answer *query*, best first; the newest where it is empty."""

    agent: Id
    query: Text = ""
    tags: Texts = ()
    tag_match: Text = "any"
    since: Moment | None = None
    until: EndMoment | None = None
    asked_at: ZonedMoment | None = None
    limit: WholeNumber = 10
