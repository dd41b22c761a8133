"""
Search messages by words, by vectors, and by the time the query names.

A query that names a time ("what did we decide last Friday?") first gets the matching messages of
that time, and then what matches at other times. A query that names only a time gets the messages of
that time, in order. Reads only; the same store and the same query give the same hits.
"""

from collections.abc import Sequence

from recollect.domain.conversation import Message, MessageFilters, MessageHit, MessageParts, Role
from recollect.domain.scope import ItemKind, Owner
from recollect.lazy_dataclass import dataclass
from recollect.retrieval.pipeline import RankedCandidate, as_sentence, fuse, rank
from recollect.retrieval.relevance_threshold import Threshold
from recollect.retrieval.signals import index_signals, speaker_signal
from recollect.retrieval.time_query import TimeRange, sample_evenly
from recollect.store.protocol import Tables
from recollect.store.search_index import IndexQuery, QueryVector, SearchCandidate
from recollect.text.speaker_intent import intended_speaker


@dataclass(frozen=True, kw_only=True)
class ResolvedMessageQuery:
    """A query for messages, with its owner and filters resolved."""

    text: str  # '' if the query names only a time
    agent_id: str | None
    owner: Owner
    filters: MessageFilters
    limit: int
    offset: int = 0  # hits that are left out before
    time_range: TimeRange | None = None
    include_all: bool = False  # also return messages of that time that share no word
    use_words: bool = True
    correct_spelling: bool = False
    below_threshold: bool = False  # also return what is not relevant enough

    @property
    def rank_limit(self) -> int:
        """How many hits are ranked: those before the offset too."""
        return self.offset + self.limit


def find_messages(
    tables: Tables, query: ResolvedMessageQuery, vector: QueryVector | None
) -> list[MessageHit]:
    """Return the messages that answer *query*, best first."""
    if not query.text.strip():
        return _list_messages(tables, query)[query.offset :]
    hits: list[MessageHit] = []
    if query.time_range is not None:
        filters = query.time_range.narrow_messages(query.filters)
        hits = _rank_messages(tables, query, filters, vector, in_time=True)
        if query.include_all:
            hits += _without(_list_messages(tables, query), hits)
    if len(hits) < query.rank_limit:
        others = _rank_messages(tables, query, query.filters, vector, in_time=False)
        hits += _without(others, hits)
    return hits[query.offset : query.rank_limit]


def _without(hits: list[MessageHit], excluded: list[MessageHit]) -> list[MessageHit]:
    known_ids = {hit.message.id for hit in excluded}
    return [hit for hit in hits if hit.message.id not in known_ids]


def _list_messages(tables: Tables, query: ResolvedMessageQuery) -> list[MessageHit]:
    """Return the messages of a time in order; of too many, an even sample of the user's."""
    filters = query.time_range.narrow_messages(query.filters) if query.time_range else query.filters
    speakers = tables.messages.speakers(query.agent_id, filters)
    if len(speakers) > query.limit:
        speakers = [(id_, role) for id_, role in speakers if role is Role.USER] or speakers
    sample: list[tuple[str, Role]] = []
    while speakers and len(sample) < query.rank_limit:  # page by page, so that pages are disjoint
        page = sample_evenly(speakers, query.limit)
        sample += page
        ids_of_page = set(page)
        speakers = [speaker for speaker in speakers if speaker not in ids_of_page]
    sample = sample[: query.rank_limit]
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
    # The speaker counts only in hybrid mode: a search by one index uses nothing else.
    speaker = intended_speaker(query.text) if query.use_words and vector else ""
    result = tables.search_index.search(
        IndexQuery(
            kind=ItemKind.MESSAGE,
            text=query.text if query.use_words else "",
            vector=vector,
            owners=[query.owner],
            filters=filters,
            limit=query.rank_limit,
            within_time_range=True,
            # People answer each other in half sentences; to an assistant they speak in whole ones.
            use_preceding=not speaker,
            correct_spelling=query.correct_spelling,
        )
    )
    threshold = Threshold.for_candidates(result, query.text, has_documents=False)
    signals = index_signals(result.candidates, result.similarity_stats)
    if speaker:
        signals.insert(2, speaker_signal(speaker))
    ranked = rank(
        result.candidates,
        signals,
        # In the requested time range a word in common is enough.
        admits=lambda c: (
            query.below_threshold or threshold.admits(c) or (in_time and c.word_match is not None)
        ),
        relevances=fuse(result.candidates, signals),
    )
    best = ranked[: query.rank_limit]
    ranks = _IndexRanks.of([message.candidate for message in ranked])
    mode = "hybrid" if query.use_words and vector else "vector" if vector else "fts"
    messages = tables.messages.get_many([message.id for message in best])
    return [
        MessageHit(
            message=message,
            score=hit.score,
            parts=ranks.parts(hit, mode, in_time),
            explanation=_explain(hit.candidate, message, in_time),
            matched_words=hit.words,
        )
        for message, hit in zip(messages, best, strict=True)
    ]


@dataclass(frozen=True)
class _IndexRanks:
    """The rank of each candidate in each index alone."""

    words: dict[str, int]
    vectors: dict[str, int]

    @classmethod
    def of(cls, candidates: Sequence[SearchCandidate]) -> "_IndexRanks":
        newest_first = sorted(candidates, key=_recency_key, reverse=True)
        by_words = [(-c.word_match.score, c.record.id) for c in newest_first if c.word_match]
        compared = ((c.vector_match, c.record.id) for c in newest_first)
        by_vectors = [(-match.similarity, id_) for match, id_ in compared if match]
        return cls(_ranks(by_words), _ranks(by_vectors))

    def parts(self, ranked: RankedCandidate, mode: str, in_time: bool) -> MessageParts:
        return MessageParts(
            **ranked.parts,
            vector_rank=self.vectors.get(ranked.id),
            fts_rank=self.words.get(ranked.id),
            search_mode=mode,
            in_time=in_time,
        )


def _ranks(scores: list[tuple[float, str]]) -> dict[str, int]:
    """Return the rank of each record, lowest score first; equal scores keep their order."""
    ordered = sorted(scores, key=lambda pair: round(pair[0], 6))
    return {id_: rank for rank, (_, id_) in enumerate(ordered, start=1)}


def _recency_key(candidate: SearchCandidate) -> tuple[float, int]:
    record = candidate.record
    return (record.at.timestamp() if record.at else 0.0, record.sequence)


def _explain(candidate: SearchCandidate, message: Message, in_time: bool) -> str:
    reasons = []
    if candidate.word_match is not None:
        words = ", ".join(f"“{word}”" for word in candidate.word_match.words[:6])
        reasons.append(f"matches {words}")
    if candidate.vector_match is not None and candidate.vector_match.similarity > 0:
        reasons.append(f"similarity {candidate.vector_match.similarity:.2f}")
    if in_time:
        reasons.append("in the requested time range")
    return as_sentence([*reasons, f"{message.role}, {_describe_time(message)}"])


def _describe_time(message: Message) -> str:
    return f"said on {message.created_at:%Y-%m-%d %H:%M} UTC."
