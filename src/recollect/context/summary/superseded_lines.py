"""
Find the lines of a summary that a later statement supersedes.

A later statement supersedes an earlier one if it rejects what that names ("forget magic links",
"100 was too tight"), gives the same attribute another value ("the standup is at 10:15"), or says by
a word that something changed and is about the same thing. Words alone decide, so two statements
about one topic that both hold are left alone unless one of these signs is there.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace

from recollect.context.summary.summary_lines import Heading, SummaryLine
from recollect.lazy_dataclass import dataclass
from recollect.text.language_data import ENGLISH, Language, detect_language
from recollect.text.lazy_pattern import LazyPattern
from recollect.text.search_words import query_without_stop_words, searchable_text
from recollect.text.sentence_classifier import normalize_sentence
from recollect.text.statement_parser import (
    Statement,
    content_words,
    content_words_in_order,
    is_negated,
    parse_statement,
)

MAX_SAME_WORD = 20  # earlier lines with a word that are compared, newest first
SHARED_WORDS = 2  # that a changed statement has in common with the earlier one
MIN_SUPERSEDING_WEIGHT = 3.0  # of a line that supersedes another
SUPERSEDED_WEIGHT = 0.5  # factor for a line that a message in the window supersedes
MAX_PREVIOUS_CHARS = 100

_LINKS = r"(?:(?:the|an?|my|our|his|her|with|on|in|at|to|by|for|of|about|using) )*"
_THING = r"(?P<thing>[\w.'/:-]+(?: [\w.'/:-]+)?)"
_CLAUSE = r"(?:^|[,;.:] |\band |\bbut |\bso |\bbecause )"
_REJECTIONS = (
    LazyPattern(
        r"\b(?:forget(?: about)?|cancel(?:l?ed|l?ing)?|scrap(?:ped)?|drop(?:ped|ping)?"
        r"|ditch(?:ed|ing)?|axed|no more|instead of|rather than|g[oe]t rid of|abandon(?:ed)?"
        r"|stop(?:ped)?(?: using)?|quit|gave up|sold|swapped|deleted|removed|killed|retired|pulled"
        r"|(?:away|moved|switch(?:ed)?|changed?|migrated?|over|up|down|on) from"
        rf"|replac(?:ed?|es|ing)|no longer(?: \w+)?) {_LINKS}{_THING}"
    ),
    LazyPattern(
        rf"{_CLAUSE}{_LINKS}(?P<thing>[\w.'/:-]+?(?: [\w.'/:-]+?)?)(?:'s|'re)? "
        r"(?:(?:is|are|was|were|has|have|had|got|gets)(?:n't)? )?(?:been |just |all |being )*"
        r"(?:too|out|off|gone|cancell?ed|booked|closed|sold|full|dead|broken|over|history|wrong"
        r"|unavailable|no good|no longer|fell through|won't do|doesn't work|can't|dropped|went bust"
        r"|shut|retired|deleted|removed|killed|ripped|stopped|ended|replaced|deprecated|no option"
        r"|not an option)\b"
    ),
    LazyPattern(rf"\b{_THING} (?:any ?more|no longer)\b"),
)
# These reject something only if the rest of the sentence is about the same matter.
_DENIALS = (
    LazyPattern(rf"\b(?:not|isn't|aren't|wasn't|used to be|was|no) {_LINKS}{_THING}"),
    LazyPattern(
        rf"{_CLAUSE}{_LINKS}(?P<thing>[\w.'/:-]+) (?:won't|doesn't|didn't|isn't|aren't|never|quit"
        r"|left|moved|has moved)\b"
    ),
)
_CHANGE = LazyPattern(
    r"\b(?:instead|any ?more|no longer|actually|from now on|as of|changed|switch\w*"
    r"|mov(?:ed|ing|es)|forget|cancel\w*|dropp?\w*|scrap\w*|replac\w*|make it|turns out|wrong"
    r"|correction|i meant|wait|postponed|pushed|back to|after all|raised|lowered|went (?:up|down)"
    r"|bumped|extended|shortened|quit|used to|renamed|scratch that|never mind|not .+ but|won't do"
    r"|too \w+|now|set)\b"
)
_VALUE = LazyPattern(
    r"\d|^(?:mon|tues|wednes|thurs|fri|satur|sun)day|^(?:january|february|march|april|june|july"
    r"|august|september|october|november|december)$|^(?:one|two|three|four|five|six|seven|eight|nine"
    r"|ten|eleven|twelve|twenty|thirty|forty|fifty|hundred)$"
)
_KINDS_OF_VALUES = (
    LazyPattern(r"\d{1,2}(?:st|nd|rd|th)$"),
    LazyPattern(r"\d{1,2}(?::\d\d|[ap]m)"),
    LazyPattern(r"(?:mon|tues|wednes|thurs|fri|satur|sun)day"),
)
_ENDING = LazyPattern(r"(?<=[a-z]{3})(?:ing|ed|e)$")  # "moving", "move" and "moved" are one word
# Words that say nothing about what a sentence is about.
_COMMON = LazyPattern(
    r"^(?:thing|time|day|week|month|year|people|person|way|still|already|please|same|use|want|need"
    r"|get|go|like|new|more|only|every|make|take|now|there|when|what|how|all|any|some|one|than|about"
    r"|out|up|just|too|then|because|instead|anymore|actually|always|don't|doesn't|it's|that's|was|set"
    r"|been|again|ok|yes|thank)$"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Claim:
    """A line, and what the comparison needs of it."""

    index: int
    text: str
    values: frozenset[str]
    topic: frozenset[str]
    words: frozenset[str]  # values and topic
    has_one_value: bool
    is_change: bool
    is_negated: bool
    rejected: tuple[frozenset[str], ...]
    denied: tuple[frozenset[str], ...]
    statement: Statement | None


def merge_superseded(
    lines: Sequence[SummaryLine], *, upcoming: Sequence[SummaryLine] = ()
) -> list[SummaryLine]:
    """
    Return *lines* in order of time, without those that a later one supersedes.

    The later line carries the text of the earlier one, so that the summary can tell both. A line
    that is superseded by one of *upcoming*, which are not in the summary, stays and says so.
    """
    ordered = sorted(lines, key=lambda line: (line.position, line.order))
    remaining: dict[int, SummaryLine] = dict(enumerate(ordered))
    by_word: dict[str, list[_Claim]] = defaultdict(list)
    for index, line in enumerate([*ordered, *upcoming]):
        if line.section is not Heading.STATED or line.is_assistants or line.superseded_by >= 0:
            continue
        claim = _claim(index, line.text)
        for earlier in _superseded_claims(claim, by_word):
            old = remaining.get(earlier.index)
            if old is None or (line.is_pasted and not old.is_pasted):
                continue  # what others wrote must not revoke what the user said
            if index in remaining:
                remaining[index] = _superseding_line(remaining[index], remaining.pop(earlier.index))
            elif old.superseded_by < 0:
                weight = SUPERSEDED_WEIGHT * old.weight
                remaining[earlier.index] = replace(old, superseded_by=line.position, weight=weight)
        for word in claim.words:
            by_word[word].append(claim)
    return _join_superseded([remaining[index] for index in sorted(remaining)])


def _join_superseded(lines: Sequence[SummaryLine]) -> list[SummaryLine]:
    """Move a line that was superseded by a message into the line that now tells the message."""
    newer = {
        line.position: number
        for number, line in reversed(list(enumerate(lines)))
        if line.section is Heading.STATED and not line.is_assistants
    }
    joined: dict[int, SummaryLine] = dict(enumerate(lines))
    for number, line in enumerate(lines):
        target = newer.get(line.superseded_by) if line.superseded_by >= 0 else None
        if target is not None and target in joined and target != number:
            joined[target] = _superseding_line(joined[target], joined.pop(number))
    return [joined[number] for number in sorted(joined)]


def supersedes(new: str, old: str) -> bool:
    """Return whether the later statement *new* says that *old* does not hold any more."""
    return _supersedes(_claim(1, new), _claim(0, old))


def _superseding_line(line: SummaryLine, old: SummaryLine) -> SummaryLine:
    """Return *line* with the text of *old*; of several that it supersedes the weightiest."""
    if line.previous and old.weight <= line.previous_weight:
        return line
    text = old.text if len(old.text) <= MAX_PREVIOUS_CHARS else f"{old.text[:MAX_PREVIOUS_CHARS]}…"
    weight = max(line.weight, old.weight, MIN_SUPERSEDING_WEIGHT)
    return replace(line, previous=text, previous_weight=old.weight, weight=weight)


def _superseded_claims(claim: _Claim, by_word: dict[str, list[_Claim]]) -> Iterator[_Claim]:
    """Yield the earlier claims that *claim* supersedes: the closest one, and its repetitions."""
    candidates = {
        earlier.index: earlier
        for word in claim.words
        for earlier in by_word.get(word, ())[-MAX_SAME_WORD:]
    }
    for index in sorted(candidates, reverse=True):
        if _supersedes(claim, candidates[index]):
            yield candidates[index]


def _claim(index: int, text: str) -> _Claim:
    plain_text = normalize_sentence(text)
    words = _topic_words(plain_text)
    values = frozenset(word for word in words if _VALUE.search(word))
    numbers = [word for word in content_words_in_order(plain_text) if _VALUE.search(word)]
    return _Claim(
        index=index,
        text=text,
        values=values,
        topic=words - values,
        words=words,
        has_one_value=len(numbers) == 1,
        is_change=_tells_of_change(plain_text),
        is_negated=is_negated(text),
        rejected=tuple(_things(plain_text, _REJECTIONS)),
        denied=tuple(_things(plain_text, _DENIALS)),
        statement=parse_statement(text),
    )


def _supersedes(new: _Claim, old: _Claim) -> bool:
    if new.words <= old.words:
        return False  # the same again, or a part of it
    if not old.is_negated and any(thing & old.words for thing in new.rejected):
        return True
    shared = new.topic & old.topic
    for thing in new.denied:
        denied = thing & old.words
        others = shared - denied
        if denied and (others or new.is_change) and (denied == thing or others):
            return True
    if _has_another_value(new.statement, old.statement):
        return True
    if new.is_change and shared and _differ_in_kind_of_value(new.values, old.values):
        return True
    if new.is_change and shared and len(shared) >= min(SHARED_WORDS, len(old.topic)):
        has_new_value = bool(old.values and new.values - old.values)
        return has_new_value or 2 * len(shared) >= len(old.topic)
    # With more values one may be the name of a thing: "bay 4 holds 12" and "bay 5 holds 10".
    has_another = new.has_one_value and old.has_one_value and new.values != old.values
    is_same_topic = old.topic <= new.topic or (new.topic <= old.topic and len(new.topic) > 1)
    return has_another and bool(shared) and is_same_topic


def _differ_in_kind_of_value(new: frozenset[str], old: frozenset[str]) -> bool:
    """Return whether both name a day, a time or a weekday, and not the same one."""
    for kind in _KINDS_OF_VALUES:
        new_values = {value for value in new if kind.match(value)}
        old_values = {value for value in old if kind.match(value)}
        if new_values and old_values and not new_values & old_values:
            return True
    return False


def _things(plain_text: str, patterns: Sequence[LazyPattern]) -> Iterator[frozenset[str]]:
    """Yield the content words of each thing that *plain_text* rejects by *patterns*."""
    for pattern in patterns:
        for match in pattern.finditer(plain_text):
            words = _topic_words(match["thing"])
            if words:
                yield words


def _tells_of_change(plain_text: str) -> bool:
    language = detect_language(plain_text)
    if language.code == ENGLISH:
        return _CHANGE.search(plain_text) is not None
    return language.has_cue("change", plain_text)


def _topic_words(plain_text: str) -> frozenset[str]:
    language = detect_language(plain_text)
    if language.code != ENGLISH:
        content = content_words(searchable_text(query_without_stop_words(plain_text)))
        return frozenset(_without_ending(word, language) for word in content)
    words = (word for word in content_words(plain_text) if not _COMMON.match(word))
    return frozenset(_ENDING.sub("", word) for word in words)


def _without_ending(word: str, language: Language) -> str:
    endings = (end for end in language.endings if word.endswith(end) and len(word) > len(end) + 3)
    return word.removesuffix(next(endings, ""))


def _has_another_value(new: Statement | None, old: Statement | None) -> bool:
    if new is None or old is None:
        return False
    if (new.subject, new.attribute) != (old.subject, old.attribute):
        return False
    return new.value not in old.value and old.value not in new.value
