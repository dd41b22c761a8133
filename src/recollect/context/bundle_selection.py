"""
Decide which hits and messages are included in a bundle.

Nobody asked for these lines, so they need a higher relevance than the results of a search: a hit
needs a share of the best hit's relevance, only the best few are included, and for a question the
list ends where the relevance drops by half. Relevance is relative to the similarity statistics of
the store, so no similarity of one model is compared with a constant here.

Weak matches are included in three cases. An instruction in a project gets the nearest decisions and
conventions of that project, because they hold for the work whatever its words. A question about the
speaker's own affairs gets the best two that share a word with it, because nothing but memory can
answer it. If a question about these affairs, or asked in a project, has no better answer, the best
weak match of the person or the project is included; to a question how something is done, only one
that shares a word with it.

What is no evidence is not included: questions of the user, short remarks, and, unless the request
asks for them or nothing else answers, replies of the assistant. A fact is told once: hits that say
the same are merged, and a message that only repeats a told fact is left out. Everything left out is
returned with its reason, for the log. Pure.
"""

from collections.abc import Callable, Sequence
from dataclasses import field
from datetime import date, datetime
from functools import lru_cache

from recollect.domain.context_bundle import DroppedItem
from recollect.domain.conversation import Message, MessageHit, Role
from recollect.domain.memory import MemoryType, Status
from recollect.domain.retrieval import Hit
from recollect.lazy_dataclass import dataclass
from recollect.text.request_kind import has_words_to_search, is_question
from recollect.text.search_words import searchable_text
from recollect.text.sentence_splitter import sentence_spans
from recollect.text.statement_parser import content_words_in_order, is_negated, stem

MIN_SHARE = 0.2  # of the best hit's relevance
MIN_SHARE_OF_PREVIOUS = 0.5  # of the relevance of the hit before; what follows a drop is noise
MAX_FACTS = 3  # included for a question
TASK_FACTS = 6  # included for an instruction, to which several conventions may apply
TASK_CONVENTIONS = 5  # of the project, included for an instruction however weakly they match
WEAK_FACTS = 2  # weak matches included for a question about the speaker's own affairs
MIN_MESSAGE_SHARE = 0.25  # of the best message's score
MAX_MESSAGES = 3
MIN_WORDS = 2  # of a message that tells something
SAME_SHARE = 0.85  # of a text's words in another one that says the same
MIN_CONTAINED_WORDS = 5  # of a text that another one tells
MAX_COMPARED_CHARS = 2_000
CACHED_TEXTS = 256  # each hit of a bundle is compared with each
MIN_MATCHED_SHARE = 0.3  # of the request's words, of a hit that no embedding was compared with
MAX_MATCHED_WORDS = 3  # more are never needed

CONVENTION_TYPES = frozenset({MemoryType.DECISION, MemoryType.PROJECT, MemoryType.ARTIFACT})

_Words = tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class RequestAim:
    """What a request asks for."""

    word_count: int = 0  # content words of the request
    is_instruction: bool = False
    is_own_affair: bool = False  # a question about the speaker or the speaker's work
    is_how_to: bool = False  # a question how anybody does something
    project_id: str = ""  # of the work at hand
    about_past: bool = False
    time_range: tuple[datetime, datetime] | None = None  # that it names; the end is outside
    speaker: str = ""  # "user" or "assistant", whose messages it asks for

    def is_in_time(self, at: datetime) -> bool:
        """Return whether *at* is in the time range that the request names."""
        return self.time_range is not None and self.time_range[0] <= at < self.time_range[1]


@dataclass(frozen=True, kw_only=True)
class SelectedHits:
    """The hits to include, the days on which each was also said, and what was left out."""

    hits: tuple[Hit, ...] = ()
    repeated_on: dict[str, tuple[date, ...]] = field(default_factory=dict)
    left_out: tuple[DroppedItem, ...] = ()


@dataclass(frozen=True, kw_only=True)
class SelectedMessages:
    """The messages to include, best first, how often each was said, and what was left out."""

    messages: tuple[MessageHit, ...] = ()
    times_said: dict[str, int] = field(default_factory=dict)
    left_out: tuple[DroppedItem, ...] = ()


def select_hits(hits: Sequence[Hit], aim: RequestAim) -> SelectedHits:
    """Return which of *hits*, best first, are included for a request."""
    best = max((hit.parts.relevance for hit in hits if not hit.is_weak), default=0.0)
    in_time = {hit.memory.id for hit in hits if aim.is_in_time(hit.memory.observed_at)}
    most = TASK_FACTS if aim.is_instruction or in_time else MAX_FACTS
    selected: list[Hit] = []
    repeated_on: dict[str, tuple[date, ...]] = {}
    left_out: list[DroppedItem] = []
    is_after_drop = False
    for hit in hits:
        memory = hit.memory
        if selected and not (in_time or aim.is_instruction or hit.is_weak):
            least = MIN_SHARE_OF_PREVIOUS * selected[-1].parts.relevance
            is_after_drop = is_after_drop or hit.parts.relevance < least
        same = next((other for other in selected if _say_the_same(other, hit)), None)
        if memory.status is Status.STATED and not aim.about_past:
            reason = "unreviewed statement; included only if the request asks about the past"
        elif in_time and memory.id not in in_time:
            reason = "not of the time that the request names"
        elif hit.is_weak and not _include_weak_match(hit, aim, selected):
            reason = "weak match"
        elif hit.parts.relevance < MIN_SHARE * best and not hit.is_weak and not in_time:
            reason = f"below {MIN_SHARE:.0%} of the best"
        elif is_after_drop:
            reason = f"after a drop below {MIN_SHARE_OF_PREVIOUS:.0%} of the hit before"
        elif _lacks_words(hit, aim):
            reason = f"only {len(hit.matched_words)} words in common, and no meaning was compared"
        elif same is not None:
            days = (*repeated_on.get(same.memory.id, ()), memory.observed_at.date())
            repeated_on[same.memory.id] = tuple(sorted(set(days)))
            reason = f"the same as {same.memory.id}"
        elif len(selected) >= most:
            reason = f"limit of {most} reached"
        else:
            selected.append(hit)
            continue
        left_out.append(DroppedItem(item_id=memory.id, reason=reason))
    return SelectedHits(hits=tuple(selected), repeated_on=repeated_on, left_out=tuple(left_out))


def select_messages(
    hits: Sequence[MessageHit],
    aim: RequestAim,
    *,
    memories: Sequence[Hit],
    limit: int,
    is_durable: Callable[[str], bool] = lambda _text: True,
) -> SelectedMessages:
    """
    Return which of the messages *hits*, best first, are included besides *memories*.

    *is_durable* says whether a text of the user is worth telling later.
    """
    quotes = [text for hit in memories for text in _memory_texts(hit)]
    memory_words = [_content_words(text) for text in quotes]
    best = max((hit.score for hit in hits), default=0.0)
    use_replies = (
        aim.about_past
        or aim.speaker == Role.ASSISTANT
        or not (memory_words or _has_statement(hits))
    )
    # Without any memory, what was said in passing may be all that answers.
    judge_durability = bool(memories) and not aim.about_past
    most = limit if aim.about_past else min(limit, max(MAX_MESSAGES - len(memories), 1))
    selected: dict[_Words, MessageHit] = {}
    times_said: dict[str, int] = {}
    left_out: list[DroppedItem] = []
    for hit in hits:
        message = hit.message
        if message.role is Role.ASSISTANT and not use_replies:
            reason = "a reply of the assistant, which the request does not ask for"
        elif hit.score < MIN_MESSAGE_SHARE * best:
            reason = f"below {MIN_MESSAGE_SHARE:.0%} of the best"
        elif len(words := _statement_words(message)) < MIN_WORDS and not aim.about_past:
            reason = "question or short remark"
        elif _is_repetition(hit, words, quotes, memory_words):
            reason = "repeats a memory of the bundle"
        elif words in selected:
            first = selected[words]
            times_said[first.message.id] = times_said.get(first.message.id, 1) + 1
            reason = f"the same as {first.message.id}"
        elif len(selected) >= most:
            reason = f"limit of {most} reached"
        elif judge_durability and message.role is Role.USER and not is_durable(message.content):
            reason = "not durable"
        else:
            selected[words] = hit
            continue
        left_out.append(DroppedItem(kind="message", item_id=message.id, reason=reason))
    return SelectedMessages(
        messages=tuple(selected.values()), times_said=times_said, left_out=tuple(left_out)
    )


def newer_sides_first(hits: Sequence[Hit]) -> list[Hit]:
    """Return *hits* with each that contradicts another one next to it, the newest first."""
    ordered: list[Hit] = []
    rest = list(hits)
    while rest:
        first = rest[0]
        group = [hit for hit in rest if hit is first or hit.memory.id in first.conflicts]
        ordered += sorted(group, key=lambda hit: hit.memory.observed_at, reverse=True)
        rest = [hit for hit in rest if hit not in group]
    return ordered


def _include_weak_match(hit: Hit, aim: RequestAim, selected: Sequence[Hit]) -> bool:
    if hit.reached != "visible":
        return False  # of another project
    if aim.is_instruction:
        conventions = sum(_is_convention(other, aim) for other in selected)
        return _is_convention(hit, aim) and conventions < TASK_CONVENTIONS
    if aim.is_own_affair and hit.matched_words and len(selected) < WEAK_FACTS:
        return True
    if aim.is_how_to and not hit.matched_words:
        return False
    is_of_project = hit.memory.project_id == aim.project_id != ""
    return not selected and (aim.is_own_affair or is_of_project)


def _is_convention(hit: Hit, aim: RequestAim) -> bool:
    """Return whether a hit is a decision, a convention or a procedure of the project at hand."""
    memory = hit.memory
    return memory.type in CONVENTION_TYPES and memory.project_id == aim.project_id != ""


def _lacks_words(hit: Hit, aim: RequestAim) -> bool:
    """Return whether a hit that no embedding was compared with has too few words in common."""
    if hit.parts.semantic or aim.about_past:  # what was said at a time has no word in common
        return False
    needed = min(max(round(MIN_MATCHED_SHARE * aim.word_count), 1), MAX_MATCHED_WORDS)
    return len(hit.matched_words) < needed


def _say_the_same(first: Hit, second: Hit) -> bool:
    """Return whether two hits state the same fact, with the same numbers and the same negation."""
    if MemoryType.EPISODE in (first.memory.type, second.memory.type):
        return False  # the record of a session has the words of many facts
    days = [hit.memory.provenance.days for hit in (first, second)]
    if all(days) and days[0] != days[1]:
        return False  # "on Wednesday" of another week
    texts = [hit.memory.content[:MAX_COMPARED_CHARS] for hit in (first, second)]
    words = [_content_words(text) for text in texts]
    if _numbers(words[0]) != _numbers(words[1]) or is_negated(texts[0]) != is_negated(texts[1]):
        return False
    shares = sorted((_share(words[0], words[1]), _share(words[1], words[0])))
    # A short text shares its words with many others; only a longer one can repeat another.
    is_contained = min(len(set(words[0])), len(set(words[1]))) >= MIN_CONTAINED_WORDS
    return shares[1 if is_contained else 0] >= SAME_SHARE


@lru_cache(maxsize=CACHED_TEXTS)
def _numbers(words: _Words) -> frozenset[str]:
    return frozenset(word for word in words if any(map(str.isdigit, word)))


def _share(words: _Words, others: _Words) -> float:
    """Return the share of *words* that is among *others*."""
    if not words:
        return 0.0
    other_words = set(others)
    return sum(word in other_words for word in words) / len(words)


def _memory_texts(hit: Hit) -> list[str]:
    quotes = (evidence.quote for evidence in hit.evidence)
    return [text[:MAX_COMPARED_CHARS] for text in dict.fromkeys((hit.memory.content, *quotes))]


def _is_repetition(
    hit: MessageHit, words: _Words, quotes: Sequence[str], quoted_words: Sequence[_Words]
) -> bool:
    """Return whether memories with *quotes* say what a message has about the query."""
    if any(_share(words, others) >= SAME_SHARE for others in quoted_words):
        return True
    rest = hit.message.content[:MAX_COMPARED_CHARS]
    for quote in quotes:
        rest = rest.replace(quote, " ")
    if len(rest) == len(hit.message.content[:MAX_COMPARED_CHARS]):
        return False
    rest_words = set(_content_words(rest))
    return not any(stem(word.lower()) in rest_words for word in hit.matched_words)


def _statement_words(message: Message) -> _Words:
    """Return the content words of a message without its questions."""
    text = message.content[:MAX_COMPARED_CHARS]
    return _user_words(text) if message.role is Role.USER else _content_words(text)


@lru_cache(maxsize=CACHED_TEXTS)
def _user_words(text: str) -> _Words:
    """Return the content words of what a user said, without the questions."""
    sentences = (text[start:end] for start, end in sentence_spans(text))
    statements = " ".join(sentence for sentence in sentences if not is_question(sentence))
    return _content_words(statements) if has_words_to_search(statements) else ()


@lru_cache(maxsize=CACHED_TEXTS)
def _content_words(text: str) -> _Words:
    return content_words_in_order(searchable_text(text))


def _has_statement(hits: Sequence[MessageHit]) -> bool:
    """Return whether the user told something in one of the messages."""
    users = (hit.message for hit in hits if hit.message.role is Role.USER)
    return any(len(_statement_words(message)) >= MIN_WORDS for message in users)
