"""
Decide what a candidate is compared with existing memories: new, duplicate, mergeable, conflicting.

Pure: a candidate and its near memories in, a decision out. Nothing here reads or writes the store.

Three checks, in this order. Is it a *duplicate*? Does it *contradict* a memory: by another value of
an attribute that has one value at a time, by negating it, by saying what replaced it, by an
explicit correction, by a similar statement about the same names that differs in one part, or
because the learned judge of pairs holds it to be an update or a correction? Does it say *more*
than a memory? If none applies, it is new. The thresholds were chosen on half of the
scopes of letta-update and confirmed on the other half; benchmarks/consolidation measures them.
"""

from collections.abc import Callable, Sequence

from recollect.domain.memory import Memory, Status
from recollect.domain.provenance import REVISION_RULE, StatementFlag
from recollect.domain.transcript import Voice
from recollect.engine.judges.neighbourhood_features import EarlierStatement
from recollect.engine.judges.pairs import MIN_CHANGE, change_probabilities
from recollect.engine.quoted_utterances import own_evidence
from recollect.lazy_dataclass import dataclass
from recollect.text.change_cues import announces_change
from recollect.text.fingerprint import fingerprint
from recollect.text.lazy_pattern import LazyPattern
from recollect.text.replacements import replaces
from recollect.text.statement_parser import (
    USER_SUBJECT,
    Statement,
    content_words,
    is_negated,
    parse_statement,
    words_without_negation,
)
from recollect.text.statement_similarity import (
    MAX_CHARS,
    are_competing,
    statement_parts,
    statement_similarity,
)

MIN_SIMILARITY_DUPLICATE = 0.97  # similarity of two wordings of one sentence
MIN_SIMILARITY_MERGE = 0.85
MIN_SIMILARITY_CHANGE = 0.1  # of two statements that the judge of pairs compares
MIN_CHANGE_STATED = 0.3  # for the judge of pairs, if one of two was not proposed for review
MIN_DURABILITY_CHANGED = 0.1  # of a statement that was not proposed, if a later one changes it
MIN_WORDS_CHANGE = 3  # "idea 1" and "idea 2" say nothing that could have changed
MIN_LIKENESS_CONFLICT = 1.55  # of two statements about the same names
MIN_LIKENESS_CORRECTION = 1.75  # if the candidate says that it is a correction
SIGNS = LazyPattern(r"[<>=≤≥±%$€£#+-]|\d+")  # "< 5 MB" is not "> 5 MB"
# "The importer works now" does not change in which language it is written.
_STATE_OF_THE_MOMENT = LazyPattern(
    r"\b(?:works?|working|runs|running|failing|broken|stuck|ready|done|fine|passing|green)"
    r"(?: (?:now|again|fine))?[.!]*$"
)
REVISED = "it gives another value for what was said just before"
JUDGED_CHANGE = "it seems to change what was said earlier"
_UNSPACED = LazyPattern("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]")
NEGATED = "one says what the other denies"
_EXPLICIT_FLAGS = {StatementFlag.CORRECTION, StatementFlag.UPDATE, StatementFlag.EXPLICIT}
_CURRENT = frozenset({Status.ACTIVE, Status.INBOX})
_COMPARABLE = _CURRENT | {Status.STATED}  # what was said in passing may be changed, too


@dataclass(frozen=True)
class NearMemory:
    """A memory of the same owner and its similarity (None without an embedder)."""

    memory: Memory
    similarity: float | None
    is_same_utterance: bool = False  # it quotes the same words of the same session
    is_same_source: bool = False  # both come from the same source
    is_same_place: bool = True  # both were said in the same project to the same agent


@dataclass(frozen=True)
class New:
    """No existing memory says it or contradicts it."""


@dataclass(frozen=True)
class Duplicate:
    """An existing memory says the same."""

    of: Memory


@dataclass(frozen=True)
class MergeInto:
    """It says what *into* says, and one of the two has more detail."""

    into: Memory
    candidate_says_more: bool  # otherwise *into* does


@dataclass(frozen=True)
class Contradicts:
    """It and *other* can hardly both be true."""

    other: Memory
    why: str
    is_correction: bool  # explicit, and said later
    is_certain: bool = True  # parsed, not inferred from similarity
    others: tuple[Memory, ...] = ()  # further certain conflicts


Decision = New | Duplicate | MergeInto | Contradicts


def consolidate(
    candidate: Memory,
    neighbours: Sequence[NearMemory],
    *,
    read_lead_in: Callable[[], str] = str,
) -> Decision:
    """
    Return what *candidate* is compared with its *neighbours*, nearest first.

    *read_lead_in* returns the words that were said just before it, which may name what it is
    about. It is called only if a neighbour may be what the candidate changes.
    """
    others = [other for other in neighbours if other.memory.id != candidate.id]
    memories = [other for other in others if other.memory.status is not Status.STATED]
    if same := next((other for other in memories if _is_duplicate(candidate, other)), None):
        if _has_more_detail(candidate, same.memory) and same.memory.status in _CURRENT:
            return MergeInto(same.memory, candidate_says_more=True)
        return Duplicate(same.memory)
    conflict = _find_conflict(candidate, _comparable(candidate, others), read_lead_in)
    if conflict is not None and conflict.is_certain:
        return conflict
    for near in others:
        if near.memory.status in _CURRENT and _is_mergeable(candidate, near):
            more = content_words(candidate.content) > content_words(near.memory.content)
            return MergeInto(near.memory, candidate_says_more=more)
    return conflict or New()


def find_change(
    statement: Memory,
    neighbours: Sequence[NearMemory],
    *,
    read_lead_in: Callable[[], str] = str,
) -> Contradicts | None:
    """Return what a statement that is not worth a review by itself changes, or None."""
    others = [other for other in neighbours if other.memory.id != statement.id]
    if any(_is_duplicate(statement, other) for other in others):
        return None
    return _find_conflict(statement, _comparable(statement, others), read_lead_in)


def find_contradictions(
    memory: Memory, neighbours: Sequence[NearMemory]
) -> list[tuple[Memory, str]]:
    """Return what *memory* certainly contradicts, and why: parsed, neither inferred nor judged."""
    others = [other for other in neighbours if other.memory.id != memory.id]
    if any(_is_duplicate(memory, other) for other in others):
        return []
    return [
        (other.memory, why)
        for other in others
        if other.memory.status in _CURRENT
        if (why := _parsed_conflict(memory.content, other.memory.content))
    ]


def _comparable(candidate: Memory, others: Sequence[NearMemory]) -> list[NearMemory]:
    """
    Return which of *others* the candidate may change: what is known, and what was said in passing.

    A remark of the moment ("still red") is nothing that changes later. What was said to another
    agent may be about another person: nobody has judged what a mere statement is about.
    """
    comparable = []
    for near in others:
        memory = near.memory
        is_mere_statement = Status.STATED in (memory.status, candidate.status)
        if is_mere_statement and memory.agent_id != candidate.agent_id:
            continue
        is_remark = memory.status is Status.STATED and memory.confidence < MIN_DURABILITY_CHANGED
        quotes_it = candidate.provenance.rule == REVISION_RULE
        if memory.status in _COMPARABLE and (quotes_it or not is_remark):
            comparable.append(near)
    return comparable


def parse_ahead(text: str) -> None:
    """Parse *text* now and cache the result, so that a later decision is fast."""
    _parse(text)
    statement_parts(text[:MAX_CHARS])


def may_share_subject(first: Memory, other: Memory) -> bool:
    """Return whether two may be about one thing: "likes tea" of Ann differs from that of Bob."""
    pairs = ((first.title, other.title), (first.summary, other.summary))
    return all(mine == theirs or not mine or not theirs for mine, theirs in pairs)


def _is_duplicate(candidate: Memory, near: NearMemory) -> bool:
    if near.memory.type is not candidate.type or not _may_be_one(candidate, near):
        return False
    if near.is_same_utterance:
        return True
    # A superseded or contradicted fact that is said again is news; a rejected one is not.
    if near.memory.status in (Status.SUPERSEDED, Status.CONTRADICTED):
        return False
    mine, theirs = candidate.content, near.memory.content
    if fingerprint(mine) == fingerprint(theirs):
        return True
    same_words = words_without_negation(mine) == words_without_negation(theirs)
    same_polarity = is_negated(mine) == is_negated(theirs)
    alike = same_words and same_polarity and SIGNS.findall(mine) == SIGNS.findall(theirs)
    return alike and (near.similarity is None or near.similarity >= MIN_SIMILARITY_DUPLICATE)


def _may_be_one(candidate: Memory, near: NearMemory) -> bool:
    """Return whether two may become one memory; what was said in two places stays apart."""
    days = (candidate.provenance.days, near.memory.provenance.days)
    if all(days) and days[0] != days[1]:
        return False  # "on Wednesday" of another week
    return near.is_same_place and may_share_subject(candidate, near.memory)


def _has_more_detail(candidate: Memory, other: Memory) -> bool:
    """Return whether it has what the other lacks: a reason, say, or the user's voice."""
    indirect = {Voice.PASTED, Voice.TOOL, Voice.SYSTEM, Voice.OTHER}
    if candidate.provenance.voice is Voice.USER and other.provenance.voice in indirect:
        return True
    if _is_by_others(candidate) and not _is_by_others(other):
        return False
    return any(
        getattr(candidate, field) and not getattr(other, field)
        for field in ("rationale", "alternatives", "title", "summary", "tags")
    )


def _is_by_others(memory: Memory) -> bool:
    """Return whether nobody typed it; a memory that a person wrote has no voice."""
    return memory.provenance.voice not in (None, Voice.USER)


def _find_conflict(
    candidate: Memory, current: Sequence[NearMemory], read_lead_in: Callable[[], str]
) -> Contradicts | None:
    if (revised := _revised(candidate, current)) is not None:
        return Contradicts(revised, REVISED, is_correction=False)
    flags = candidate.provenance.flags
    conflicts = []
    corrects = StatementFlag.CORRECTION in flags
    for near in current:
        why, is_certain = _conflict_with(candidate, near, corrects=corrects)
        if why:
            weight = statement_similarity(candidate.content, near.memory.content, near.similarity)
            conflicts.append((is_certain, weight, near.memory, why))
    if not conflicts:
        changed = _judged_change(candidate, current, read_lead_in)
        if changed is None:
            return None
        return Contradicts(changed, JUDGED_CHANGE, is_correction=False, is_certain=False)
    # Parsed before inferred, another value before a negation, the most similar first.
    conflicts.sort(key=lambda item: (-item[0], item[3] == NEGATED, -item[1], item[2].id))
    is_certain, _, best, why = conflicts[0]
    later = candidate.observed_at >= best.observed_at
    corrects = is_certain and later and not _EXPLICIT_FLAGS.isdisjoint(flags)
    # Of inferred conflicts only the most similar counts; every parsed one does.
    others = tuple(memory for certain, _, memory, _ in conflicts[1:] if certain)
    return Contradicts(best, why, is_correction=corrects, is_certain=is_certain, others=others)


def _revised(candidate: Memory, current: Sequence[NearMemory]) -> Memory | None:
    """Return the memory of the earlier sentence that *candidate* quotes and revises."""
    if candidate.provenance.rule != REVISION_RULE:
        return None
    own = own_evidence(candidate)
    quoted = {(e.source_id, e.start) for e in candidate.evidence if e not in own}
    for near in current:
        if any((e.source_id, e.start) in quoted for e in own_evidence(near.memory)):
            return near.memory
    return None


def _conflict_with(candidate: Memory, near: NearMemory, *, corrects: bool) -> tuple[str, bool]:
    """Return why two contradict each other, or '', and whether that is parsed, not inferred."""
    mine, theirs = candidate.content, near.memory.content
    if why := _parsed_conflict(mine, theirs):
        return why, True
    if _is_attribute_of_another(_parse(mine), _parse(theirs)):
        return "", False
    weight = statement_similarity(mine, theirs, near.similarity)
    # Two similar statements in one source are rarely meant to contradict each other.
    if weight >= MIN_LIKENESS_CONFLICT and are_competing(mine, theirs) and not near.is_same_source:
        return "both tell the same of the same names, differently", False
    if corrects and weight >= MIN_LIKENESS_CORRECTION:
        return "it corrects what was said", False
    return "", False


def _parsed_conflict(mine: str, theirs: str) -> str:
    """Return why two statements contradict each other, as far as they can be parsed, or ''."""
    mine_parsed, theirs_parsed = _parse(mine), _parse(theirs)
    if why := _value_conflict(mine_parsed, theirs_parsed):
        return why
    if replaces(mine, theirs):
        return "it says what took the place of it"
    if _is_attribute_of_another(mine_parsed, theirs_parsed):
        return ""
    return NEGATED if _is_negation(mine, theirs) else ""


def _judged_change(
    candidate: Memory, current: Sequence[NearMemory], read_lead_in: Callable[[], str]
) -> Memory | None:
    """
    Return what the judge of pairs holds to be changed by *candidate*, or None.

    Mere statements are judged more strictly. A candidate may change one only if it says so:
    candidates are worth a review anyway, and one that changes nothing known is mostly news.
    """
    if candidate.status is not Status.STATED:
        memories = [near for near in current if near.memory.status in _CURRENT]
        changed = _likeliest_change(candidate, memories, read_lead_in)
        if changed or len(memories) == len(current) or not announces_change(candidate.content):
            return changed
    return _likeliest_change(candidate, current, read_lead_in, at_least=MIN_CHANGE_STATED)


def _likeliest_change(
    candidate: Memory,
    current: Sequence[NearMemory],
    read_lead_in: Callable[[], str],
    *,
    at_least: float = MIN_CHANGE,
) -> Memory | None:
    """Return the memory that the user's later statement changes, as far as the judge can tell."""
    if _is_by_others(candidate) or _STATE_OF_THE_MOMENT.search(candidate.content):
        return None
    earlier = [near for near in current if _is_comparable(candidate, near)]
    if not any(_may_have_changed(candidate, near) for near in earlier):
        return None
    statements = [
        EarlierStatement(near.memory.content, near.similarity, near.is_same_place)
        for near in earlier
    ]
    content = candidate.content
    likeliest = _likeliest_of(candidate, content, earlier, statements, at_least)
    if likeliest is None and (words_before := read_lead_in()):
        text = f"{words_before} {content}"
        return _likeliest_of(candidate, text, earlier, statements, at_least)
    return likeliest


def _likeliest_of(
    candidate: Memory,
    text: str,
    earlier: Sequence[NearMemory],
    statements: Sequence[EarlierStatement],
    at_least: float,
) -> Memory | None:
    """Return what *text*, which the candidate says, changes. Only one of *earlier*, or none."""
    likely = [
        (-probability, near.memory.id, near.memory)
        for near, probability in zip(earlier, change_probabilities(text, statements), strict=True)
        if probability >= at_least and _may_have_changed(candidate, near)
    ]
    return min(likely)[-1] if likely else None


def _is_comparable(candidate: Memory, near: NearMemory) -> bool:
    """
    Return whether *near* is short and was said before the candidate.

    If both were said in one session, the candidate must be a correction ("actually, …").
    """
    if candidate.observed_at < near.memory.observed_at:
        return False
    is_correction = StatementFlag.CORRECTION in candidate.provenance.flags
    if near.is_same_source and not (is_correction and _is_before(near.memory, candidate)):
        return False
    return max(len(near.memory.content), len(candidate.content)) <= MAX_CHARS


def _is_before(memory: Memory, candidate: Memory) -> bool:
    """Return whether *memory* quotes what stands before the words of *candidate*."""
    mine = candidate.evidence[0]
    starts = [own.start for own in memory.evidence if own.source_id == mine.source_id]
    return bool(starts) and max(starts) < mine.start


def _may_have_changed(candidate: Memory, near: NearMemory) -> bool:
    """Return whether the judge may say that the candidate changes *near*."""
    earlier, later = near.memory.content, candidate.content
    if near.similarity is not None and near.similarity < MIN_SIMILARITY_CHANGE:
        return False
    if _is_attribute_of_another(_parse(later), _parse(earlier)):
        return False
    if min(_word_count(earlier), _word_count(later)) < MIN_WORDS_CHANGE:
        return False
    return not _has_nothing_new(earlier, later) and not _is_parallel(candidate, near.memory)


def _word_count(text: str) -> int:
    """Return about how many words *text* has; scripts without spaces have one in two characters."""
    unspaced = 0 if text.isascii() else len(_UNSPACED.findall(text))
    return len(text.split()) + unspaced // 2


def _has_nothing_new(earlier: str, later: str) -> bool:
    """Return whether one of two statements has all words of the other: nothing was replaced."""
    before, after = content_words(earlier), content_words(later)
    return before <= after or after <= before


def _is_parallel(candidate: Memory, other: Memory) -> bool:
    """
    Return whether both begin or end alike and the candidate does not say that anything changed.

    "The page uses OAuth" and "the page uses React" may both hold, and so may "the form uses OAuth";
    the rules compare such values.
    """
    if not _EXPLICIT_FLAGS.isdisjoint(candidate.provenance.flags):
        return False
    first, second = (text.lower().split() for text in (candidate.content, other.content))
    return first[:2] == second[:2] or first[-2:] == second[-2:]


def _parse(text: str) -> Statement | None:
    return parse_statement(text) if len(text) <= MAX_CHARS else None


def _value_conflict(first: Statement | None, other: Statement | None) -> str:
    if first is None or other is None:
        return ""
    if (first.subject, first.attribute) != (other.subject, other.attribute):
        return ""
    # "Lisbon" and "Lisbon, Portugal" are the same place.
    if first.value in other.value or other.value in first.value:
        return ""
    whose = "the user" if first.subject == USER_SUBJECT else first.subject or "the same thing"
    return f"another value for “{first.attribute}” of {whose}"


def _is_attribute_of_another(first: Statement | None, other: Statement | None) -> bool:
    """Return whether both name the same attribute of different things, which is no conflict."""
    if first is None or other is None:
        return False
    return first.attribute == other.attribute and first.subject != other.subject


def _is_negation(first: str, other: str) -> bool:
    mine = frozenset(words_without_negation(first))
    theirs = frozenset(words_without_negation(other))
    if is_negated(first) == is_negated(other) or not mine or not theirs:
        return False
    if mine == theirs:
        return True
    shared = len(mine & theirs)
    return shared >= 3 and shared >= 0.75 * max(len(mine), len(theirs))


def _is_mergeable(candidate: Memory, near: NearMemory) -> bool:
    if near.memory.type is not candidate.type or not _may_be_one(candidate, near):
        return False
    if _is_by_others(candidate) is not _is_by_others(near.memory):
        return False  # what others wrote must neither absorb nor extend the user's words
    mine, theirs = content_words(candidate.content), content_words(near.memory.content)
    nested = (mine <= theirs or theirs <= mine) and min(len(mine), len(theirs)) >= 2
    is_similar = near.similarity is None or near.similarity >= MIN_SIMILARITY_MERGE
    same_polarity = is_negated(candidate.content) == is_negated(near.memory.content)
    return nested and is_similar and same_polarity
