"""Search skills by words and by embedding. They are few, so they are read and compared on disk."""

from collections.abc import Sequence

from recollect.domain.skill import Skill, SkillHit
from recollect.errors import EmbedderUnavailable
from recollect.service import validate
from recollect.service.place_lookup import RequestPlace
from recollect.service.services import Services
from recollect.service.skills import find_skills
from recollect.text.search_words import STOP_WORDS, searchable_text
from recollect.wire.requests.skills import SearchSkillsRequest

WORDS_SHARE = 0.4
LEAST_SIMILARITY = 0.25
SHOWN_CHARS = 1_000  # of a skill: its description and how it begins


def search_skills(services: Services, request: SearchSkillsRequest) -> list[SkillHit]:
    """Return the skills that match the query, best first."""
    skills = find_skills(services, RequestPlace.of(request.project)).skills
    query = validate.query_of(request.query)
    words = _words(query)
    if not words or not skills:
        return []
    similarities = _similarities(services, query, [_embedded_text(skill) for skill in skills])
    hits = []
    for skill, similarity in zip(skills, similarities, strict=True):
        matched = sorted(words & _words(f"{skill.name} {skill.description} {' '.join(skill.tags)}"))
        share = len(matched) / len(words)
        if not matched and (similarity or 0.0) < LEAST_SIMILARITY:
            continue
        meaning = share if similarity is None else max(similarity, 0.0)
        score = round(WORDS_SHARE * share + (1 - WORDS_SHARE) * meaning, 6)
        hits.append(SkillHit(skill=skill, score=score, matched_words=tuple(matched)))
    return sorted(hits, key=lambda hit: (-hit.score, hit.skill.name))[: request.limit]


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
    similarities: list[float | None] = (rows @ vector).tolist()
    return similarities


def _embedded_text(skill: Skill) -> str:
    return f"{skill.name.replace('-', ' ')}. {skill.description}\n{skill.body}"[:SHOWN_CHARS]


def _words(text: str) -> set[str]:
    plain = "".join(ch if ch.isalnum() else " " for ch in searchable_text(text).lower())
    return {_stem(word) for word in plain.split() if word not in STOP_WORDS}


def _stem(word: str) -> str:
    for ending in ("ing", "es", "ed", "s"):
        if word.endswith(ending) and len(word) > len(ending) + 3:
            return word.removesuffix(ending)
    return word
