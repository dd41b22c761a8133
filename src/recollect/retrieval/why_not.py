"""
Why did a memory not come? The first rule that stopped it, in the pipeline's own order.

status → type → tags → time → scope wall → no match → below the bar → outranked
"""

from collections.abc import Callable

from recollect.domain.memory import Memory
from recollect.domain.retrieval import Asking, WhyNot
from recollect.domain.scope import ItemKind
from recollect.retrieval.bar import Bar
from recollect.retrieval.candidates import Meaning, coverage
from recollect.retrieval.crossing import (
    CROSSING_SCOPES,
    CROSSING_TYPES,
    LEAST_SHARE,
    LEAST_WORDS,
    linked_items,
)
from recollect.retrieval.retrieve import weigh
from recollect.store.protocol import Tables

SHOWN_CHARS = 80  # of a memory that came nearest


def why_not(tables: Tables, asking: Asking, meaning: Meaning | None, memory: Memory) -> WhyNot:
    """Return the rule that kept *memory* out of the answer to *asking*, or say that none did."""

    def verdict(rule: str, text: str, **detail: object) -> WhyNot:
        return WhyNot(memory_id=memory.id, query=asking.query, rule=rule, text=text, detail=detail)

    filtered = _filtered(memory, asking)
    if filtered is not None:
        return verdict(*filtered)
    weighed = weigh(tables, asking, meaning)
    ranked = weighed.ranked
    for position, one in enumerate(ranked, start=1):
        if one.candidate.standing.id == memory.id:
            if position <= asking.limit:
                return verdict(
                    "returned",
                    f"It does come, at place {position} of {len(ranked)}.",
                    rank=position,
                )
            return verdict(
                "outranked",
                f"It is relevant (score {one.score:.2f}) but stands at place {position}, and the "
                f"limit is {asking.limit}. Raise the limit or ask more precisely.",
                rank=position,
                score=one.score,
            )
    walled = _walled(tables, asking, memory)
    if walled is not None:
        return verdict(*walled)
    return _unmatched(tables, asking, meaning, memory, weighed.bar, verdict)


def _filtered(memory: Memory, asking: Asking) -> tuple[str, str] | None:
    filters = asking.filters
    if memory.status not in filters.statuses:
        shown = ", ".join(sorted(filters.statuses))
        return "status", f"Its status is {memory.status}; this search shows {shown}."
    if memory.type not in filters.types:
        wanted = ", ".join(sorted(filters.types))
        return "type", f"Its type is {memory.type}; this search asks for {wanted}."
    missing = filters.tags - set(memory.tags)
    if missing:
        return "tags", f"It lacks the tag {', '.join(sorted(missing))}."
    if filters.any_tags and not filters.any_tags & set(memory.tags):
        return "tags", f"It has none of the tags {', '.join(sorted(filters.any_tags))}."
    if filters.since is not None and memory.observed_at < filters.since:
        return "time", f"It was observed {memory.observed_at:%Y-%m-%d}, before the given time."
    if filters.until is not None and memory.observed_at > filters.until:
        return "time", f"It was observed {memory.observed_at:%Y-%m-%d}, after the given time."
    return None


def _walled(tables: Tables, asking: Asking, memory: Memory) -> tuple[str, str] | None:
    if memory.scope in asking.scopes and (asking.owners is None or memory.owner in asking.owners):
        return None
    seq = tables.memories.seq_of(memory.id)
    if seq in linked_items(tables, asking):
        return None
    wall = f"It is {memory.scope} memory of another owner, and this search does not see that."
    if memory.scope not in asking.scopes:
        return "scope", f"It is {memory.scope} memory, and this search asks for other scopes."
    if memory.scope in CROSSING_SCOPES and asking.viewer.project_id is not None:
        if not asking.crossing:
            wall += " Memories of other projects are shown only when linked (cross_project is off)."
        elif memory.type in CROSSING_TYPES:
            wall += (
                f" It is not linked to this project, and does not cover {LEAST_SHARE:.0%} of the "
                f"question with at least {LEAST_WORDS} words."
            )
        else:
            wall += f" A {memory.type} crosses projects only when linked."
    return "scope", wall


def _unmatched(
    tables: Tables,
    asking: Asking,
    meaning: Meaning | None,
    memory: Memory,
    bar: Bar,
    verdict: Callable[..., WhyNot],
) -> WhyNot:
    seq = tables.memories.seq_of(memory.id)
    if seq is None:
        return verdict("index", "It is missing from the index. Run `recollect rebuild`.")
    shelves = tables.words.shelves(ItemKind.MEMORY, [memory.owner])
    matched = tables.words.match_item(asking.query, shelves, seq)
    near = tables.vectors.nearness(meaning.model_id, meaning.vector, [seq]) if meaning else {}
    words = matched.matches[0] if matched.matches else None
    shared = "It shares too few words with the question" if words else "It shares no word with it"
    if seq not in near:
        return verdict("bar" if words else "no match", f"{shared}; its meaning was not compared.")
    share = coverage(words, matched.question_weight)
    told = bar.told(near[seq], share)
    return verdict("bar" if words else "no match", f"{shared}, and {told}.")


def why_nothing(tables: Tables, asking: Asking, meaning: Meaning | None) -> WhyNot:
    """Return what came nearest to *asking* and why it is not shown, or that something is."""

    def verdict(rule: str, text: str, memory_id: str = "", **detail: object) -> WhyNot:
        return WhyNot(memory_id=memory_id, query=asking.query, rule=rule, text=text, detail=detail)

    weighed = weigh(tables, asking, meaning)
    if weighed.ranked:
        first = weighed.ranked[0].candidate.standing.id
        return verdict("returned", f"{len(weighed.ranked)} memories come.", first)
    if weighed.refused is None:
        return verdict("no match", "No memory here shares a word with it or is near in meaning.")
    refused = weighed.refused
    content = " ".join(tables.memories.contents([refused.id]).get(refused.id, "").split())
    return verdict(
        "bar",
        f"The nearest is “{content[:SHOWN_CHARS]}”, and it is not near enough: "
        f"{refused.reached:.2f} speaks for it, and {refused.needed:.2f} is needed{refused.since}.",
        refused.id,
        reached=refused.reached,
        needed=refused.needed,
    )
