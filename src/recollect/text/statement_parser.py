"""
Parse a sentence into subject, attribute and value, and extract its names and content words.

"The port of staging is 8080" and "staging's port is 8081" are about the same attribute of the same
subject and differ in its value. `parse_statement` handles a few plain sentence shapes whose
attribute has one value at a time (a person is born in one place, a server listens on one port). It
returns None for all others: liking tea does not contradict liking coffee.

The smaller functions return parts of a sentence: names, content words, the frame that is left
without the names, and whether it is negated.
"""

import re
from functools import lru_cache

from recollect.lazy_dataclass import dataclass
from recollect.text.lazy_pattern import LazyPattern


@dataclass(frozen=True, slots=True)
class Statement:
    """The *attribute* of *subject* is *value*, each in normalised form."""

    subject: str
    attribute: str
    value: str


USER_SUBJECT = "user"
MAX_NAMES = 12  # replaced in a statement; a text with more is a list

_PREPOSITION = r"(?:in|at|on|by|to|from|with|for|as|under|via|through|of|over|near)"
# Participles that have one place, actor or means at a time.
_PARTICIPLE = (
    r"(?:born|founded|created|written|performed|directed|produced|located|based|headquartered"
    r"|hosted|deployed|stored|built|run|called|named|pinned|owned|maintained|led|headed|employed"
    r"|educated|married|engaged|associated|affiliated|due|scheduled|served|published|generated"
    r"|configured|defined|mounted|exposed|set|limited|encrypted|authored|composed|painted|invented"
    r"|designed|developed|managed|licensed|registered|assigned|kept|held)"
)
_SINGLE_VALUED_VERB = LazyPattern(
    rf"^(?P<subject>.{{2,90}}?) (?P<attribute>(?:(?:is|are|was|were|gets?|got) (?:now "
    rf"|currently |always )?{_PARTICIPLE}(?: {_PREPOSITION})?"
    r"|(?:is|are|was|were) (?:now |currently )?(?:an? citizen of|famous for|known for"
    r"|the (?:capital|author|ceo|owner|maintainer|head|chairperson|director|founder|lead) of"
    r"|fluent in|at|on|under|behind)|died (?:in|on|at)|plays? (?:the position of|for|as)"
    r"|works? (?:in the city of|at|for|as)|worked (?:in the city of|at|for|as)"
    r"|speaks? the language of|graduated from|lives? (?:in|at|on|under|near)|listens? on|runs? on"
    r"|defaults? to|costs?|starts? (?:at|on)|ends? (?:at|on)|expires? (?:at|on|in)|returns"
    r"|reports? to|points? to|weighs?|measures?|requires?))(?: (?:the )?(?:city|country|continent"
    r"|sport|religion|language|port|state|field|branch|folder|directory|version"
    r"|position) (?:of )?)? ?(?P<value>.+)$"
)
_ATTRIBUTE_OF_SUBJECT = LazyPattern(
    r"^(?:the )?(?P<attribute>(?!one|some|many|most|all|part|lot|none|kind|each|any|both|two"
    r"|three)[\w-]+(?: [\w-]+){0,3}) (?:of|for) (?P<subject>.{2,80}?) (?:is|are|was|were)(?: now"
    r"| currently)?(?: located)?(?: (?:in|at|on|called|named))?(?: the (?:city|country|language"
    r"|sport) of)? (?P<value>.+)$"
)
_POSSESSIVE = LazyPattern(
    r"^(?P<subject>my|our|[\w.-]+(?: [\w.-]+){0,3}'s) (?P<attribute>[\w-]+(?: [\w-]+){0,3}?) "
    r"(?:is|are|was|were)(?: now| currently)?(?: (?:in|at|on|called|named))? (?P<value>.+)$"
)
_SUBJECT_IS_VALUE = LazyPattern(
    r"^(?:the |this |that )?(?P<subject>[\w./-]+(?: [\w./-]+){0,4}?) (?:is|are|was|were)(?: now"
    r"| currently)?(?: (?:in|at|on|under))? (?P<value>.+)$"
)
_USER_ATTRIBUTES: dict[str, LazyPattern] = {
    "home": LazyPattern(
        r"\b(?:i|we)(?:'m|'re| am| are)? (?:now |currently |still )?(?:live|living|reside"
        r"|based)(?: back)? (?:in|at|near) (?P<value>.+)$"
        r"|\bi(?:'ve| have)? (?:just |now )?(?:moved|relocated)(?: back)? to (?P<value2>.+)$"
    ),
    "origin": LazyPattern(r"\bi(?:'m| am) (?:originally )?from (?P<value>.+)$"),
    "employer": LazyPattern(
        r"\bi (?:now |currently )?(?:work|am working|started working) (?:at|for) "
        r"(?P<value>.+)$|\bi joined (?!an? |the |you|in\b)(?P<value2>.+)$"
    ),
    "occupation": LazyPattern(r"\bi (?:now |currently )?work as (?:an? |the )?(?P<value>.+)$"),
    "name": LazyPattern(
        r"\b(?:my (?:first |full )?name is|my name's|i'm called|i am called|call me|i go "
        r"by) (?P<value>[\w' -]+)"
    ),
    "age": LazyPattern(
        r"\bi(?:'m| am) (?P<value>\d{1,3}|(?:twen|thir|for|fif|six|seven|eigh|nine)ty(?:-\w+)?)"
        r"(?: years old)?$"
    ),
    "system": LazyPattern(
        r"\bi(?:'m| am) (?:on|running) (?P<value>(?:mac|windows|linux|ubuntu|debian|fedora"
        r"|arch|nixos).*)$"
    ),
    "language of answers": LazyPattern(
        r"\b(?:answer|reply|respond)(?: to me)?(?: only)? in (?P<value>\w+)"
    ),
}
_CURRENT_PLACE = LazyPattern(r"\bi(?:'m| am) in (?P<value>[\w-]+(?: [\w-]+)?) now\b")
_PREFERS = LazyPattern(
    r"\bi (?:\w+ )?prefer (?P<value>[^,.;]{2,40}?) (?:over|to|rather than|instead of|and not) "
    r"(?P<other>[^,.;]{2,40}?)(?: (?:for|in|when|because)\b.*)?$"
)
_USED_FOR = LazyPattern(
    r"\b(?:we|i) (?:now |currently |always |only )?(?:use|run|chose|picked|go with|went with) "
    r"(?P<value>[^,.;]{1,40}?) (?:for|as) (?:the |our |my |all |a |an "
    r")?(?P<attribute>[^,.;]{2,50})$"
)
# Attributes that have a single value, whatever the value looks like.
_SINGLE_VALUED_NOUN = LazyPattern(
    r"\b(?:name|e-?mail|handle|username|birthday|birthdate|age|time ?zone|deadline|due date|port"
    r"|address|url|phone(?: number)?|title|job|role|employer|native language|mother tongue"
    r"|favou?rite [\w -]+|preferred [\w -]+|default [\w -]+|budget|limit|timeout|capital|author"
    r"|owner|maintainer|ceo|chief executive officer|chairperson|director|founder|president|head"
    r"|headquarters|official language|language|version|branch|main branch|database|framework"
    r"|package manager|editor|shell|os|operating system|colou?r|size|price|salary|status|license"
    r"|password|currency|region|host|hostname|domain|type|genre|university|univeristy|spouse|wife"
    r"|husband|partner|boss|manager|landlord|doctor|dentist|flight|seat|hotel|major|thesis topic"
    r"|release date|start date|end date)$"
)
_EXACT_VALUE = LazyPattern(
    r"^[`'\"]?(?:v?\d[\w.:/%-]*|https?://\S+|[\w.-]*/[\w./-]+|[\w-]+\.[a-z]{2,}\S*|`[^`]+`)"
)
_OPENING_WORDS = LazyPattern(
    r"^(?:(?:no|nope|wrong|actually|correction|hold on|wait|sorry|ok|well|so|and|but|that's "
    r"wrong|that's not right|fyi|btw)[\s,:;.!–—-]+)+"
)
_CONTRAST_OR_REASON = LazyPattern(r",? (?:not|and not|instead of|rather than|since|because)\b.*$")
_TRAILING_TIME_WORD = LazyPattern(r",? (?:any ?more|any longer|now)$")
_MARKS = " .!;,"
_SPACE = LazyPattern(r"\s+")
_NAME = LazyPattern(
    r"[^\W\d_a-zß-ÿ][\w'’.-]*(?:\s+(?:of |de |van |von |the )?[^\W\d_a-zß-ÿ][\w'’.-]*)*"
)
_WORD = LazyPattern(r"\w(?:[\w'+#.-]*[\w+#])?")
_NEGATION = LazyPattern(
    r"\b(?:not|never|no longer|none|nobody|nothing|without|dislikes?|hates?|avoids?|refuses?"
    r"|lacks?|stopped|quit|any ?more|any longer|exclusively|solely|instead|rarely|no)\b|n't\b",
    flags=re.IGNORECASE,
)
_STOP_WORD = LazyPattern(
    r"^(?:an?|the|of|in|on|at|to|for|and|or|is|was|are|were|has|have|had|been|be|by|with|as|that"
    r"|which|who|from|his|her|their|its|it|he|she|they|this|these|also|both|while|i|i'm|i've|my|me"
    r"|we|we're|our|us|you|your|so|but|if|then|am|do|does|did|will|would|can|could|should|may|might"
    r"|must|not|no|never|now|just|very|really)$"
)


@lru_cache(maxsize=4096)
def parse_statement(text: str) -> Statement | None:
    """Return *text* as subject, attribute and value, or None if it has no such plain shape."""
    if match := _CURRENT_PLACE.search(_straighten_apostrophes(text.lower())):
        return Statement(USER_SUBJECT, "home", _value(match["value"]))
    whole = _normalize(text)
    if match := _PREFERS.search(whole):
        pair = sorted((_value(match["value"]), _value(match["other"])))
        return Statement(USER_SUBJECT, f"prefers of {' and '.join(pair)}", _value(match["value"]))
    sentence = _CONTRAST_OR_REASON.sub("", whole).rstrip(_MARKS)
    for attribute, pattern in _USER_ATTRIBUTES.items():
        if match := pattern.search(sentence):
            value = next(value for value in match.groupdict().values() if value)
            return Statement(USER_SUBJECT, attribute, _value(value))
    if match := _USED_FOR.search(sentence):
        return Statement("we", f"use for {_value(match['attribute'])}", _value(match["value"]))
    for pattern in (_ATTRIBUTE_OF_SUBJECT, _POSSESSIVE):
        if match := pattern.match(sentence):
            subject, attribute, value = match["subject"], match["attribute"], match["value"]
            is_single = _SINGLE_VALUED_NOUN.search(attribute) or _EXACT_VALUE.match(value)
            if is_single and not _NEGATION.search(value):
                return _build_statement(subject, attribute, value)
    if match := _SINGLE_VALUED_VERB.match(sentence):
        return _build_statement(match["subject"], _verb(match["attribute"]), match["value"])
    if (match := _SUBJECT_IS_VALUE.match(sentence)) and (
        _EXACT_VALUE.match(match["value"]) or _SINGLE_VALUED_NOUN.search(match["subject"])
    ):
        return _build_statement("", match["subject"], match["value"])
    return None


def names_in(text: str) -> frozenset[str]:
    """Return the names in *text*: capitalised words, at the start only if there are several."""
    names = set()
    for match in _NAME.finditer(text):
        name = re.sub(r"['’]s$", "", match.group().rstrip(".'’-"))
        is_marked = " " in name or match.start() > 0
        if is_marked and len(name) > 1 and not _STOP_WORD.match(name.lower()):
            names.add(name)
    return frozenset(names)


def content_words(text: str) -> frozenset[str]:
    """Return the stems of the words of *text* that are not stop words."""
    return frozenset(content_words_in_order(text))


def content_words_in_order(text: str) -> tuple[str, ...]:
    """Return the same stems in order, because "tabs over spaces" differs from the reverse."""
    words = _WORD.findall(_straighten_apostrophes(text.lower()))
    return tuple([stemmed for stemmed in map(_content_stem, words) if stemmed is not None])


@lru_cache(maxsize=16_384)
def _content_stem(word: str) -> str | None:
    """Return the stem of *word*, None if it is a stop word."""
    return None if _STOP_WORD.match(word) else stem(word)


def words_without_negation(text: str) -> tuple[str, ...]:
    """Return the content words in order without negations: what is affirmed or denied."""
    words = content_words_in_order(text)
    return tuple(word for word in words if word != "alway" and not _NEGATION.search(word))


def sentence_frame(text: str, names: frozenset[str]) -> tuple[str, ...]:
    """Return the words of *text* in order, with each name replaced by one marker."""
    for name in sorted(names, key=len, reverse=True)[:MAX_NAMES]:
        text = text.replace(name, "\u0000")
    return tuple(re.findall(r"\u0000|[\w'-]+", text.lower()))


def is_negated(text: str) -> bool:
    """Return whether *text* denies, excludes or ends something."""
    return bool(_NEGATION.search(_straighten_apostrophes(text)))


def stem(word: str) -> str:
    """Return *word* without the most common endings."""
    word = word[:-2] if word.endswith(("'s", "’s")) else word
    for ending in ("ing", "ed", "es", "s"):
        if len(word) > len(ending) + 3 and word.endswith(ending):
            return word[: -len(ending)]
    return word


def _normalize(text: str) -> str:
    sentence = _SPACE.sub(" ", _straighten_apostrophes(text.lower())).strip()
    sentence = _OPENING_WORDS.sub("", sentence).rstrip(_MARKS)
    return _TRAILING_TIME_WORD.sub("", sentence).rstrip(_MARKS)


def _straighten_apostrophes(text: str) -> str:
    return text.replace("’", "'")


def _build_statement(subject: str, attribute: str, value: str) -> Statement:
    owner = re.sub(r"^(?:the|this|that|all|our|my) ", "", subject.removesuffix("'s")).strip()
    attribute_name = re.sub(r"^(?:the|our|my) ", "", attribute).strip()
    return Statement(" ".join(map(stem, owner.split())), stem(attribute_name), _value(value))


def _verb(attribute: str) -> str:
    return re.sub(r"^(?:is|are|was|were|gets?|got) (?:now |currently |always )?", "", attribute)


def _value(text: str) -> str:
    return re.sub(r"^(?:the|an?|only) ", "", text.strip(" .!,;'\"`")).strip()
