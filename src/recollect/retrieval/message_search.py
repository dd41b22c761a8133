"""
Search messages by words, by vectors, and by the time the query names.

A query that names a time ("what did we decide last Friday?") first gets the matching messages of
that time, and then what matches at other times. A query that names only a time gets the messages of
that time, in order. Reads only; the same store and the same query give the same hits.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from recollect.domain.conversation import (
    Message,
    MessageCandidateRow,
    MessageFilters,
    MessageHit,
    MessageParts,
    Role,
)
from recollect.domain.scope import ItemKind, Owner
from recollect.retrieval.relevance_threshold import Threshold
from recollect.retrieval.score_fusion import Relevance, fuse_scores
from recollect.retrieval.search_candidates import Candidate, QueryVector, find_candidates
from recollect.retrieval.time_query import TimeRange, sample_evenly
from recollect.store.protocol import Tables
from recollect.text.speaker_intent import intended_speaker

RRF_K = 60
SPEAKER_BONUS = 0.12  # for messages of the speaker the query asks about
RESTRICT_BELOW = 5_000  # if a filter leaves fewer messages, only those are searched

MessageCandidate = Candidate[MessageCandidateRow]


@dataclass(frozen=True, kw_only=True)
class ResolvedMessageQuery:
    """A query for messages, with its owner and filters resolved."""

    text: str  # '' if the query names only a time
    agent_id: str | None
    owner: Owner
    filters: MessageFilters
    limit: int
    time_range: TimeRange | None = None
    include_all: bool = False  # also return messages of that time that share no word
    use_words: bool = True


def find_messages(
    tables: Tables, query: ResolvedMessageQuery, vector: QueryVector | None
) -> list[MessageHit]:
    """Return the messages that answer *query*, best first."""
    if not query.text.strip():
        return _list_messages(tables, query)
    hits: list[MessageHit] = []
    if query.time_range is not None:
        filters = query.time_range.narrow_messages(query.filters)
        hits = _rank_messages(tables, query, filters, vector, in_time=True)
        if query.include_all:
            hits += _without(_list_messages(tables, query), hits)
    if len(hits) < query.limit:
        others = _rank_messages(tables, query, query.filters, vector, in_time=False)
        hits += _without(others, hits)
    return hits[: query.limit]


def _without(hits: list[MessageHit], excluded: list[MessageHit]) -> list[MessageHit]:
    known_ids = {hit.message.id for hit in excluded}
    return [hit for hit in hits if hit.message.id not in known_ids]


def _list_messages(tables: Tables, query: ResolvedMessageQuery) -> list[MessageHit]:
    """Return the messages of a time in order; of too many, an even sample of the user's."""
    filters = query.time_range.narrow_messages(query.filters) if query.time_range else query.filters
    speakers = tables.messages.speakers(query.agent_id, filters)
    if len(speakers) > query.limit:
        speakers = [(id_, role) for id_, role in speakers if role is Role.USER] or speakers
    sample = sample_evenly(speakers, query.limit)
    messages = tables.messages.get_many([message_id for message_id, _ in sample])
    parts = MessageParts(search_mode="time", in_time=query.time_range is not None)
    return [
        MessageHit(message=message, score=1.0, parts=parts, explanation=_describe_time(message))
        for message in messages
    ]


def _rank_messages(
    tables: Tables,
    query: ResolvedMessageQuery,
    filters: MessageFilters,
    vector: QueryVector | None,
    *,
    in_time: bool,
) -> list[MessageHit]:
    partitions = tables.word_index.partitions(ItemKind.MESSAGE, [query.owner])

    def admit(item_ids: Iterable[int]) -> Sequence[MessageCandidateRow]:
        return tables.messages.candidate_rows(item_ids, filters)

    # The speaker counts only in hybrid mode: a search by one index uses nothing else.
    speaker = intended_speaker(query.text) if query.use_words and vector else ""
    pool = find_candidates(
        tables,
        query.text if query.use_words else "",
        partitions,
        admit,
        vector,
        limit=query.limit,
        among=tables.messages.item_ids_if_few(query.agent_id, filters, limit=RESTRICT_BELOW),
        # People answer each other in half sentences; to an assistant they speak in whole ones.
        preceding=None if speaker else tables.messages.preceding,
    )
    candidates = pool.candidates
    bonuses = [SPEAKER_BONUS if c.item.role == speaker else 0.0 for c in candidates]
    relevances = fuse_scores(candidates, pool.similarity_stats, bonuses=bonuses)
    threshold = Threshold.for_candidates(pool, query.text, has_documents=False)
    ranked = [
        (candidate, relevance)
        for candidate, relevance in zip(candidates, relevances, strict=True)
        # In the requested time range a word in common is enough.
        if threshold.admits(candidate) or (in_time and candidate.word_match is not None)
    ]
    ranked.sort(key=_sort_key)
    best = ranked[: query.limit]
    ranks = _IndexRanks.from_candidates([candidate for candidate, _ in ranked])
    mode = "hybrid" if query.use_words and vector else "vector" if vector else "fts"
    messages = tables.messages.get_many([candidate.item.id for candidate, _ in best])
    return [
        MessageHit(
            message=message,
            score=round(relevance.fused, 6),
            parts=ranks.parts(candidate, relevance, mode, in_time),
            explanation=_explain(candidate, message, in_time),
            matched_words=candidate.word_match.words if candidate.word_match else (),
        )
        for message, (candidate, relevance) in zip(messages, best, strict=True)
    ]


def _sort_key(ranked: tuple[MessageCandidate, Relevance]) -> tuple[float, float, int]:
    candidate, relevance = ranked
    row = candidate.item
    return (-round(relevance.fused, 6), -row.created_at.timestamp(), -row.item_id)


@dataclass(frozen=True)
class _IndexRanks:
    """The rank of each candidate in each index alone."""

    words: dict[int, int]
    vectors: dict[int, int]

    @classmethod
    def from_candidates(cls, candidates: Sequence[MessageCandidate]) -> "_IndexRanks":
        newest_first = sorted(candidates, key=_recency_key, reverse=True)
        by_words = [(-c.word_match.score, c.item.item_id) for c in newest_first if c.word_match]
        compared = ((c.vector_match, c.item.item_id) for c in newest_first)
        by_vectors = [(-match.similarity, item_id) for match, item_id in compared if match]
        return cls(_ranks(by_words), _ranks(by_vectors))

    def parts(
        self,
        candidate: MessageCandidate,
        relevance: Relevance,
        mode: str,
        in_time: bool,
    ) -> MessageParts:
        fts_rank = self.words.get(candidate.item.item_id)
        vector_rank = self.vectors.get(candidate.item.item_id)
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


def _ranks(scores: list[tuple[float, int]]) -> dict[int, int]:
    """Return the rank of each item, lowest score first; equal scores keep their order."""
    ordered = sorted(scores, key=lambda pair: round(pair[0], 6))
    return {item_id: rank for rank, (_, item_id) in enumerate(ordered, start=1)}


def _recency_key(candidate: MessageCandidate) -> tuple[float, int]:
    return (candidate.item.created_at.timestamp(), candidate.item.item_id)


def _explain(candidate: MessageCandidate, message: Message, in_time: bool) -> str:
    reasons = []
    if candidate.word_match is not None:
        words = ", ".join(f"“{word}”" for word in candidate.word_match.words[:6])
        reasons.append(f"matches {words}")
    if candidate.vector_match is not None and candidate.vector_match.similarity > 0:
        reasons.append(f"similarity {candidate.vector_match.similarity:.2f}")
    if in_time:
        reasons.append("in the requested time range")
    sentence = "; ".join([*reasons, f"{message.role}, {_describe_time(message)}"])
    return sentence[0].upper() + sentence[1:]


def _describe_time(message: Message) -> str:
    return f"said on {message.created_at:%Y-%m-%d %H:%M} UTC."
