"""
Find messages: by words, by meaning, and by the time the question names.

A question that names a time ("what did we decide last Friday?") first gets what was said then, and
only after it what matches at other times. A question that names nothing but a time gets what was
said then, in order. Reads only; the same store and the same question give the same hits.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from recollect.domain.conversation import (
    Message,
    MessageFilters,
    MessageHit,
    MessageParts,
    MessageStanding,
    Role,
)
from recollect.domain.scope import ItemKind, Owner
from recollect.retrieval.bar import Bar
from recollect.retrieval.candidates import Candidate, Meaning, gather
from recollect.retrieval.fuse import Relevance, fuse
from recollect.retrieval.temporal import Then, spread
from recollect.store.protocol import Tables
from recollect.text.whose import whose_words

RRF_K = 60
SAID_BY_WHOM = 0.12  # for what was said by the one the question asks about
FEW = 5_000  # messages a filter leaves over: the legs are told which, instead of searching all


@dataclass(frozen=True, kw_only=True)
class MessageAsking:
    """A question about what was said, with its walls and filters resolved."""

    query: str  # '' where nothing but a time was asked for
    agent_id: str | None
    owner: Owner
    filters: MessageFilters
    limit: int
    then: Then | None = None
    whole: bool = False  # all that was said then is wanted, also what shares no word
    by_words: bool = True


def find_messages(
    tables: Tables, asking: MessageAsking, meaning: Meaning | None
) -> list[MessageHit]:
    """Return the messages that answer *asking*, best first."""
    if not asking.query.strip():
        return _listed(tables, asking)
    hits: list[MessageHit] = []
    if asking.then is not None:
        narrowed = asking.then.narrow(asking.filters)
        hits = _ranked(tables, asking, narrowed, meaning, in_time=True)
        if asking.whole:
            known = {hit.message.id for hit in hits}
            hits += [hit for hit in _listed(tables, asking) if hit.message.id not in known]
    if len(hits) < asking.limit:
        known = {hit.message.id for hit in hits}
        others = _ranked(tables, asking, asking.filters, meaning, in_time=False)
        hits += [hit for hit in others if hit.message.id not in known]
    return hits[: asking.limit]


def _listed(tables: Tables, asking: MessageAsking) -> list[MessageHit]:
    """Return what was said at a time, in order; of much, the user's words, evenly spread."""
    filters = asking.then.narrow(asking.filters) if asking.then else asking.filters
    said = tables.messages.speakers(asking.agent_id, filters)
    if len(said) > asking.limit:
        said = [one for one in said if one[1] is Role.USER] or said
    chosen = spread(said, asking.limit)
    found = tables.messages.get_many([message_id for message_id, _ in chosen])
    parts = MessageParts(search_mode="time", in_time=asking.then is not None)
    return [
        MessageHit(message=one, score=1.0, parts=parts, explanation=_when(one)) for one in found
    ]


def _ranked(
    tables: Tables,
    asking: MessageAsking,
    filters: MessageFilters,
    meaning: Meaning | None,
    *,
    in_time: bool,
) -> list[MessageHit]:
    shelves = tables.words.shelves(ItemKind.MESSAGE, [asking.owner])

    def admit(seqs: Iterable[int]) -> Sequence[MessageStanding]:
        return tables.messages.standings(seqs, filters)

    query = asking.query if asking.by_words else ""
    whose = whose_words(asking.query) if asking.by_words and meaning else ""  # a leg alone is pure
    among = tables.messages.few(asking.agent_id, filters, most=FEW)
    gathered = gather(
        tables,
        query,
        shelves,
        admit,
        meaning,
        limit=asking.limit,
        among=among,
        # People answer each other in half sentences; to an assistant they speak in whole ones.
        before=None if whose else tables.messages.before,
    )
    candidates = gathered.candidates
    lifts = [SAID_BY_WHOM if one.standing.role == whose else 0.0 for one in candidates]
    relevances = fuse(candidates, gathered.backdrop, lifts=lifts)
    bar = Bar.over(gathered, asking.query, documents=False)
    scored = [
        (candidate, relevance)
        for candidate, relevance in zip(candidates, relevances, strict=True)
        # At the time asked for, a word in common is enough: the time says as much.
        if bar.admits(candidate) or (in_time and candidate.words is not None)
    ]
    scored.sort(key=_order)
    best = scored[: asking.limit]
    ranks = _Ranks.among([candidate for candidate, _ in scored])
    mode = "hybrid" if asking.by_words and meaning else "vector" if meaning else "fts"
    messages = tables.messages.get_many([candidate.standing.id for candidate, _ in best])
    return [
        MessageHit(
            message=message,
            score=round(relevance.fused, 6),
            parts=ranks.parts(candidate, relevance, mode, in_time),
            explanation=_why(candidate, message, in_time),
            matched_words=candidate.words.words if candidate.words else (),
        )
        for message, (candidate, relevance) in zip(messages, best, strict=True)
    ]


def _order(scored: tuple[Candidate[MessageStanding], Relevance]) -> tuple[float, float, int]:
    candidate, relevance = scored
    standing = candidate.standing
    return (-round(relevance.fused, 6), -standing.created_at.timestamp(), -standing.seq)


@dataclass(frozen=True)
class _Ranks:
    """Where each leg alone would have put a candidate."""

    words: dict[int, int]
    vectors: dict[int, int]

    @classmethod
    def among(cls, candidates: Sequence[Candidate[MessageStanding]]) -> "_Ranks":
        newest_first = sorted(candidates, key=_newness, reverse=True)
        by_words = [(-one.words.score, one.standing.seq) for one in newest_first if one.words]
        by_near = [(-one.near.similarity, one.standing.seq) for one in newest_first if one.near]
        return cls(_ranked_by_score(by_words), _ranked_by_score(by_near))

    def parts(
        self,
        candidate: Candidate[MessageStanding],
        relevance: Relevance,
        mode: str,
        in_time: bool,
    ) -> MessageParts:
        fts_rank = self.words.get(candidate.standing.seq)
        vector_rank = self.vectors.get(candidate.standing.seq)
        rrf = sum(1 / (RRF_K + rank) for rank in (fts_rank, vector_rank) if rank)
        return MessageParts(
            keyword=round(relevance.keyword, 6),
            semantic=round(relevance.semantic, 6),
            relevance=round(relevance.fused, 6),
            rrf_score=round(rrf, 6),
            vector_rank=vector_rank,
            fts_rank=fts_rank,
            search_mode=mode,
            in_time=in_time,
        )


def _ranked_by_score(scored: list[tuple[float, int]]) -> dict[int, int]:
    """Return the rank of each item; of equals the newer, which comes first, ranks higher."""
    in_order = sorted(scored, key=lambda pair: round(pair[0], 6))
    return {seq: rank for rank, (_, seq) in enumerate(in_order, start=1)}


def _newness(candidate: Candidate[MessageStanding]) -> tuple[float, int]:
    return (candidate.standing.created_at.timestamp(), candidate.standing.seq)


def _why(candidate: Candidate[MessageStanding], message: Message, in_time: bool) -> str:
    reasons = []
    if candidate.words is not None:
        reasons.append("matches " + ", ".join(f"“{word}”" for word in candidate.words.words[:6]))
    if candidate.near is not None and candidate.near.similarity > 0:
        reasons.append(f"similarity {candidate.near.similarity:.2f}")
    if in_time:
        reasons.append("said at the time asked for")
    sentence = "; ".join([*reasons, f"{message.role}, {_when(message)}"])
    return sentence[0].upper() + sentence[1:]


def _when(message: Message) -> str:
    return f"said on {message.created_at:%Y-%m-%d %H:%M} UTC."
