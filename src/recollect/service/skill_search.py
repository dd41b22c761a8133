"""Search skills by words and by embedding. They are few, so they are read and compared on disk."""

from collections.abc import Sequence

from recollect.domain.skill import Skill, SkillHit
from recollect.errors import EmbedderUnavailable
from recollect.retrieval import ranking_constants as constants
from recollect.retrieval.pipeline import rank
from recollect.retrieval.signals import skill_signals
from recollect.service import validate
from recollect.service.place_lookup import RequestPlace
from recollect.service.services import Services
from recollect.service.skills import find_skills
from recollect.store.search_index import IndexedRecord, SearchCandidate, VectorMatch, WordMatch
from recollect.text.search_words import STOP_WORDS, searchable_text
from recollect.text.statement_parser import stem
from recollect.wire.requests.skills import SearchSkillsRequest

SHOWN_CHARS = 1_000  # of a skill: its description and how it begins


def search_skills(services: Services, request: SearchSkillsRequest) -> list[SkillHit]:
    """Return the skills that match the query, best first."""
    skills = find_skills(services, RequestPlace.of(request.project)).skills
    query = validate.query_of(request.query)
    words = _words(query)
    if not words or not skills:
        return []
    similarities = _similarities(services, query, [_embedded_text(skill) for skill in skills])
    candidates = _candidates(skills, words, similarities)
    signals = skill_signals()
    scores = [sum(signal.weight * signal.score(c) for signal in signals) for c in candidates]
    ranked = rank(candidates, signals, admits=_is_relevant, relevances=scores)
    by_name = {skill.name: skill for skill in skills}
    return [
        SkillHit(skill=by_name[hit.id], score=hit.score, matched_words=hit.words)
        for hit in ranked[: request.limit]
    ]


def _candidates(
    skills: Sequence[Skill], words: set[str], similarities: Sequence[float | None]
) -> list[SearchCandidate]:
    """Return each skill with its match; of equal ones the first by name is to come first."""
    in_order = sorted((skill.name for skill in skills), reverse=True)
    places = {name: place for place, name in enumerate(in_order)}
    candidates = []
    for skill, similarity in zip(skills, similarities, strict=True):
        matched = sorted(words & _words(f"{skill.name} {skill.description} {' '.join(skill.tags)}"))
        share = len(matched) / len(words)
        candidates.append(
            SearchCandidate(
                IndexedRecord(skill.name, places[skill.name]),
                WordMatch(share, tuple(matched), share) if matched else None,
                None if similarity is None else VectorMatch(similarity, 1),
                coverage=share,
            )
        )
    return candidates


def _is_relevant(candidate: SearchCandidate) -> bool:
    match = candidate.vector_match
    is_similar = match is not None and match.similarity >= constants.SKILL_MIN_SIMILARITY
    return candidate.word_match is not None or is_similar


def _similarities(services: Services, query: str, texts: Sequence[str]) -> Sequence[float | None]:
    indexer = services.indexer()
    if indexer is None:
        return [None] * len(texts)
    # Imported here: NumPy is loaded by a search, not by other verbs.
    from recollect.engine.embed_pending import call_embedder

    try:
        embedder = indexer.serving_embedder()
        vector = call_embedder(embedder.embed_query, query)
        rows = call_embedder(embedder.embed, list(texts))
    except EmbedderUnavailable:
        return [None] * len(texts)
    similarities: list[float | None] = indexer.query_scale.apply(rows @ vector).tolist()
    return similarities


def _embedded_text(skill: Skill) -> str:
    return f"{skill.name.replace('-', ' ')}. {skill.description}\n{skill.body}"[:SHOWN_CHARS]


def _words(text: str) -> set[str]:
    plain = "".join(ch if ch.isalnum() else " " for ch in searchable_text(text).lower())
    return {stem(word) for word in plain.split() if word not in STOP_WORDS}
