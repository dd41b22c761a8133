"""
The one explicit rule by which a memory of another project may be seen.

Scope is a wall. It has two doors, and only memories of project or repo scope pass:

linked    a person or the engine linked the memory to this project, or to a memory of it. It then
          has to share a word with the question.
relevant  a decision or an artifact, knowledge made to be used again, that covers nearly all of the
          question's weight in words, several words at that, and is near in meaning where meaning
          can be compared. Conventions, episodes and hints never pass.

Agent and session memories never leave their owner.
"""

from recollect.domain.memory import MemoryType
from recollect.domain.retrieval import Asking
from recollect.domain.scope import ItemKind, Scope
from recollect.retrieval.candidates import Candidate, Meaning, coverage
from recollect.store.protocol import Tables
from recollect.store.values import Shelf, Standing

CROSSING_SCOPES = frozenset({Scope.PROJECT, Scope.REPO})
CROSSING_TYPES = frozenset({MemoryType.DECISION, MemoryType.ARTIFACT})
LEAST_SHARE = 0.75  # of the question's weight in words
LEAST_WORDS = 3
LEAST_SIMILARITY = 0.45
MOST = 50
BUDGET = 3_000  # postings: what covers the question has its rarest words, and those are read first


def linked_items(tables: Tables, asking: Asking) -> frozenset[int]:
    """Return the items of other projects that are linked to the asking one."""
    if asking.viewer.project_id is None or asking.owners is None:
        return frozenset()
    return frozenset(tables.links.reaching(asking.viewer.project_id))


def linked_candidates(
    tables: Tables, asking: Asking, shelves: list[Shelf], meaning: Meaning | None
) -> list[Candidate[Standing]]:
    """Return linked memories of other projects, each with what the legs say of it."""
    seqs = linked_items(tables, asking)
    if not seqs:
        return []
    here = set(asking.owners or ())
    near = tables.vectors.nearness(meaning.model_id, meaning.vector, seqs) if meaning else {}
    found = []
    for standing in tables.memories.standings(sorted(seqs), asking.filters):
        if standing.owner in here or standing.owner.scope not in asking.scopes:
            continue
        theirs = tables.words.shelves(ItemKind.MEMORY, [standing.owner])
        told = tables.words.match_item(asking.query, [*shelves, *theirs], standing.seq)
        words = told.matches[0] if told.matches else None
        share = coverage(words, told.question_weight)
        found.append(Candidate(standing, words, near.get(standing.seq), share, "linked"))
    return found


def relevant_candidates(
    tables: Tables, asking: Asking, meaning: Meaning | None
) -> list[Candidate[Standing]]:
    """Return memories of other projects that pass the bar of clear relevance."""
    if not asking.crossing or asking.viewer.project_id is None or asking.owners is None:
        return []
    here = set(asking.owners)
    shelves = [
        shelf
        for shelf in tables.words.shelves(ItemKind.MEMORY, None)
        if shelf.owner not in here and shelf.owner.scope in CROSSING_SCOPES & asking.scopes
    ]
    if not shelves:
        return []
    found = tables.words.match(asking.query, shelves, limit=MOST, budget=BUDGET)
    shares = {match.seq: coverage(match, found.question_weight) for match in found.matches}
    strong = {
        match.seq: match
        for match in found.matches
        if len(match.words) >= LEAST_WORDS and shares[match.seq] >= LEAST_SHARE
    }
    if not strong:
        return []
    near = tables.vectors.nearness(meaning.model_id, meaning.vector, strong) if meaning else {}
    candidates = (
        Candidate(
            standing,
            strong[standing.seq],
            near.get(standing.seq),
            shares[standing.seq],
            "relevant",
        )
        for standing in tables.memories.standings(strong, asking.filters)
        if standing.type in CROSSING_TYPES
    )
    return [candidate for candidate in candidates if _near_enough(candidate)]


def _near_enough(candidate: Candidate[Standing]) -> bool:
    return candidate.near is None or candidate.near.similarity >= LEAST_SIMILARITY
