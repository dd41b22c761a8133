"""Find skills by words and by meaning: few and small, they are compared as they stand on disk."""

from collections.abc import Sequence

from recollect.domain import limits
from recollect.domain.skill import Skill, SkillHit, SkillReport
from recollect.errors import EmbedderUnavailable
from recollect.service import validate
from recollect.service.services import Services
from recollect.text.search_words import STOP_WORDS, searchable_text

WORDS_SHARE = 0.4
LEAST_SIMILARITY = 0.25
SHOWN_CHARS = 1_000  # of a skill: its description and how it begins


def search(
    services: Services, query: object, report: SkillReport, *, limit: object = 10
) -> list[SkillHit]:
    """Return the skills that answer *query*, best first."""
    wanted = validate.query_of(query)
    most = validate.count_of("limit", limit, most=limits.MAX_LIMIT)
    words = _words(wanted)
    if not words or not report.skills:
        return []
    near = _nearness(services, wanted, [_told(skill) for skill in report.skills])
    hits = []
    for skill, similarity in zip(report.skills, near, strict=True):
        matched = sorted(words & _words(f"{skill.name} {skill.description} {' '.join(skill.tags)}"))
        share = len(matched) / len(words)
        if not matched and (similarity or 0.0) < LEAST_SIMILARITY:
            continue
        meaning = share if similarity is None else max(similarity, 0.0)
        score = round(WORDS_SHARE * share + (1 - WORDS_SHARE) * meaning, 6)
        hits.append(SkillHit(skill=skill, score=score, matched_words=tuple(matched)))
    return sorted(hits, key=lambda hit: (-hit.score, hit.skill.name))[:most]


def _nearness(services: Services, query: str, texts: Sequence[str]) -> Sequence[float | None]:
    indexer = services.indexer()
    if indexer is None:
        return [None] * len(texts)
    # NumPy is loaded by a question, not with the verbs.
    from recollect.engine.embed_pending import call_embedder

    try:
        embedder = indexer.serving_embedder()
        vector = call_embedder(embedder.embed_query, query)
        rows = call_embedder(embedder.embed, list(texts))
    except EmbedderUnavailable:
        return [None] * len(texts)
    found: list[float | None] = (rows @ vector).tolist()
    return found


def _told(skill: Skill) -> str:
    return f"{skill.name.replace('-', ' ')}. {skill.description}\n{skill.body}"[:SHOWN_CHARS]


def _words(text: str) -> set[str]:
    plain = "".join(ch if ch.isalnum() else " " for ch in searchable_text(text).lower())
    return {_stem(word) for word in plain.split() if word not in STOP_WORDS}


def _stem(word: str) -> str:
    for ending in ("ing", "es", "ed", "s"):
        if word.endswith(ending) and len(word) > len(ending) + 3:
            return word.removesuffix(ending)
    return word
