"""
Read a statement: whose what is which?

"The port of staging is 8080" and "staging's port is 8081" are about the same attribute of the same
subject and differ in its value. `read_statement` gives that reading where a sentence has one of a
few plain shapes whose attribute has one value at a time (one is born in one place, a server listens
on one port), and None otherwise: liking tea does not speak against liking coffee.

The smaller functions take a sentence apart without understanding it: names, content words, the
frame that is left without the names, and whether it denies something.
"""

import re
from dataclasses import dataclass
from functools import lru_cache

from recollect.text.patterns import Pattern


@dataclass(frozen=True, slots=True)
class Statement:
    """*attribute* of *subject* is *value*, all in plain form."""

    subject: str
    attribute: str
    value: str


ME = "user"
MOST_NAMES = 12  # of a statement; a text with more is a list

_PREPOSITION = r"(?:in|at|on|by|to|from|with|for|as|under|via|through|of|over|near)"
# Participles whose place, doer or means is one at a time.
_PARTICIPLE = (
    r"(?:born|founded|created|written|performed|directed|produced|located|based|headquartered"
    r"|hosted|deployed|stored"
    r"|built|run|called|named|pinned|owned|maintained|led|headed|employed|educated|married"
    r"|engaged|associated"
    r"|affiliated|due|scheduled|served|published|generated|configured|defined|mounted|exposed"
    r"|set|limited|encrypted"
    r"|authored|composed|painted|invented|designed|developed|managed|licensed|registered"
    r"|assigned|kept|held)"
)
_ONE_AT_A_TIME = Pattern(
    rf"^(?P<subject>.{{2,90}}?) (?P<attribute>(?:(?:is|are|was|were|gets?|got) (?:now "
    rf"|currently |always )?{_PARTICIPLE}(?: {_PREPOSITION})?"
    r"|(?:is|are|was|were) (?:now |currently )?(?:an? citizen of|famous for|known for|the "
    r"(?:capital|author|ceo|owner|maintainer|head|chairperson|director|founder|lead) of|fluent "
    r"in|at|on|under|behind)"
    r"|died (?:in|on|at)|plays? (?:the position of|for|as)|works? (?:in the city of|at|for|as)"
    r"|worked (?:in the city of|at|for|as)"
    r"|speaks? the language of|graduated from|lives? (?:in|at|on|under|near)|listens? on|runs? "
    r"on|defaults? to|costs?"
    r"|starts? (?:at|on)|ends? (?:at|on)|expires? (?:at|on|in)|returns|reports? to|points? to"
    r"|weighs?|measures?|requires?)"
    r")(?: (?:the )?(?:city|country|continent|sport|religion|language|port|state|field|branch"
    r"|folder|directory|version|position) (?:of )?)?"
    r" ?(?P<value>.+)$"
)
_OF = Pattern(
    r"^(?:the )?(?P<attribute>(?!one|some|many|most|all|part|lot|none|kind|each|any|both|two"
    r"|three)[\w-]+(?: [\w-]+){0,3}) (?:of|for) "
    r"(?P<subject>.{2,80}?) (?:is|are|was|were)(?: now| currently)?(?: located)?(?: (?:in|at|on"
    r"|called|named))?"
    r"(?: the (?:city|country|language|sport) of)? (?P<value>.+)$"
)
_POSSESSED = Pattern(
    r"^(?P<subject>my|our|[\w.-]+(?: [\w.-]+){0,3}'s) (?P<attribute>[\w-]+(?: [\w-]+){0,3}?) "
    r"(?:is|are|was|were)(?: now| currently)?(?: (?:in|at|on|called|named))? (?P<value>.+)$"
)
_PLAIN = Pattern(
    r"^(?:the |this |that )?(?P<subject>[\w./-]+(?: [\w./-]+){0,4}?) (?:is|are|was|were)(?: now"
    r"| currently)?(?: (?:in|at|on|under))? (?P<value>.+)$"
)
_MINE: tuple[tuple[Pattern, str], ...] = (
    (
        Pattern(
            r"\b(?:i|we)(?:'m|'re| am| are)? (?:now |currently |still )?(?:live|living|reside"
            r"|based)(?: back)? (?:in|at|near) (?P<value>.+)$"
            r"|\bi(?:'ve| have)? (?:just |now )?(?:moved|relocated)(?: back)? to (?P<value2>.+)$"
        ),
        "home",
    ),
    (Pattern(r"\bi(?:'m| am) (?:originally )?from (?P<value>.+)$"), "origin"),
    (
        Pattern(
            r"\bi (?:now |currently )?(?:work|am working|started working) (?:at|for) "
            r"(?P<value>.+)$|\bi joined (?!an? |the |you|in\b)(?P<value2>.+)$"
        ),
        "employer",
    ),
    (Pattern(r"\bi (?:now |currently )?work as (?:an? |the )?(?P<value>.+)$"), "occupation"),
    (
        Pattern(
            r"\b(?:my (?:first |full )?name is|my name's|i'm called|i am called|call me|i go "
            r"by) (?P<value>[\w' -]+)"
        ),
        "name",
    ),
    (
        Pattern(
            r"\bi(?:'m| am) (?P<value>\d{1,3}|(?:twen|thir|for|fif|six|seven|eigh|nine)ty(?:-\w+)?)"
            r"(?: years old)?$"
        ),
        "age",
    ),
    (
        Pattern(
            r"\bi(?:'m| am) (?:on|running) (?P<value>(?:mac|windows|linux|ubuntu|debian|fedora"
            r"|arch|nixos).*)$"
        ),
        "system",
    ),
    (
        Pattern(r"\b(?:answer|reply|respond)(?: to me)?(?: only)? in (?P<value>\w+)"),
        "language of answers",
    ),
)
_IN_NOW = Pattern(r"\bi(?:'m| am) in (?P<value>[\w-]+(?: [\w-]+)?) now\b")
_PREFERS = Pattern(
    r"\bi (?:\w+ )?prefer (?P<value>[^,.;]{2,40}?) (?:over|to|rather than|instead of|and not) "
    r"(?P<other>[^,.;]{2,40}?)(?: (?:for|in|when|because)\b.*)?$"
)
_USED_FOR = Pattern(
    r"\b(?:we|i) (?:now |currently |always |only )?(?:use|run|chose|picked|go with|went with) "
    r"(?P<value>[^,.;]{1,40}?) (?:for|as) (?:the |our |my |all |a |an "
    r")?(?P<attribute>[^,.;]{2,50})$"
)
# Attributes of which a thing has one, whatever the value looks like.
_SINGLE = Pattern(
    r"\b(?:name|e-?mail|handle|username|birthday|birthdate|age|time ?zone|deadline|due date|port"
    r"|address|url|phone(?: number)?|title"
    r"|job|role|employer|native language|mother tongue|favou?rite [\w -]+|preferred [\w -]+"
    r"|default [\w -]+|budget|limit|timeout"
    r"|capital|author|owner|maintainer|ceo|chief executive officer|chairperson|director|founder"
    r"|president|head|headquarters"
    r"|official language|language|version|branch|main branch|database|framework|package manager"
    r"|editor|shell|os|operating system"
    r"|colou?r|size|price|salary|status|license|password|currency|region|host|hostname|domain"
    r"|type|genre|university|univeristy|spouse"
    r"|wife|husband|partner|boss|manager|landlord|doctor|dentist|flight|seat|hotel|major|thesis "
    r"topic|release date|start date|end date)$"
)
_EXACT = Pattern(
    r"^[`'\"]?(?:v?\d[\w.:/%-]*|https?://\S+|[\w.-]*/[\w./-]+|[\w-]+\.[a-z]{2,}\S*|`[^`]+`)"
)
_FRONT = Pattern(
    r"^(?:(?:no|nope|wrong|actually|correction|hold on|wait|sorry|ok|well|so|and|but|that's "
    r"wrong|that's not right|fyi|btw)[\s,:;.!–—-]+)+"
)
_TAIL = Pattern(r",? (?:not|and not|instead of|rather than|since|because)\b.*$")
_NOW = Pattern(r",? (?:any ?more|any longer|now)$")
_MARKS = " .!;,"
_SPACE = Pattern(r"\s+")
_NAME = Pattern(
    r"[^\W\d_a-zß-ÿ][\w'’.-]*(?:\s+(?:of |de |van |von |the )?[^\W\d_a-zß-ÿ][\w'’.-]*)*"
)
_WORD = Pattern(r"\w(?:[\w'+#.-]*[\w+#])?")
_DENIES = Pattern(
    r"\b(?:not|never|no longer|none|nobody|nothing|without|dislikes?|hates?|avoids?|refuses?"
    r"|lacks?|stopped|quit|any ?more"
    r"|any longer|exclusively|solely|instead|rarely|no)\b|n't\b",
    flags=re.IGNORECASE,
)
_STOP = Pattern(
    r"^(?:an?|the|of|in|on|at|to|for|and|or|is|was|are|were|has|have|had|been|be|by|with|as|that"
    r"|which|who|from|his|her|their|its|it|he|she|they|this|these|also|both|while|i|i'm|i've|my|me"
    r"|we|we're|our|us|you|your|so|but|if|then|am|do|does|did|will|would|can|could|should|may|might"
    r"|must|not|no|never|now|just|very|really)$"
)


@lru_cache(maxsize=4096)
def read_statement(text: str) -> Statement | None:
    """Return whose what is which, or None where *text* has no such plain shape."""
    if match := _IN_NOW.search(_straight(text.lower())):
        return Statement(ME, "home", _value(match["value"]))
    whole = _plainly(text)
    if match := _PREFERS.search(whole):
        pair = sorted((_value(match["value"]), _value(match["other"])))
        return Statement(ME, f"prefers of {' and '.join(pair)}", _value(match["value"]))
    said = _TAIL.sub("", whole).rstrip(_MARKS)
    for pattern, attribute in _MINE:
        if match := pattern.search(said):
            value = next(value for value in match.groupdict().values() if value)
            return Statement(ME, attribute, _value(value))
    if match := _USED_FOR.search(said):
        return Statement("we", f"use for {_value(match['attribute'])}", _value(match["value"]))
    for pattern in (_OF, _POSSESSED):
        if match := pattern.match(said):
            single = _SINGLE.search(match["attribute"]) or _EXACT.match(match["value"])
            if single and not _DENIES.search(match["value"]):
                return _statement(match["subject"], match["attribute"], match["value"])
    if match := _ONE_AT_A_TIME.match(said):
        return _statement(match["subject"], _verb(match["attribute"]), match["value"])
    if (match := _PLAIN.match(said)) and (
        _EXACT.match(match["value"]) or _SINGLE.search(match["subject"])
    ):
        return _statement("", match["subject"], match["value"])
    return None


def names_in(text: str) -> frozenset[str]:
    """Return the names in *text*: runs of capitals, a single one only inside the sentence."""
    found = set()
    for match in _NAME.finditer(text):
        name = match.group().rstrip(".'’-")
        name = re.sub(r"['’]s$", "", name)
        if (" " in name or match.start() > 0) and len(name) > 1 and not _STOP.match(name.lower()):
            found.add(name)
    return frozenset(found)


def content_words(text: str) -> frozenset[str]:
    """Return the stems of the words of *text* that carry its meaning."""
    return frozenset(words_in_order(text))


def words_in_order(text: str) -> tuple[str, ...]:
    """Return the same stems in the order of the text: "tabs over spaces" is not the reverse."""
    words = _WORD.findall(_straight(text.lower()))
    return tuple(stem(word) for word in words if not _STOP.match(word))


def essence(text: str) -> tuple[str, ...]:
    """Return the same without the words that deny: what is said or denied."""
    words = words_in_order(text)
    return tuple(word for word in words if word != "alway" and not _DENIES.search(word))


def frame_of(text: str, names: frozenset[str]) -> tuple[str, ...]:
    """Return the words of *text* in order, each name put down as one mark."""
    for name in sorted(names, key=len, reverse=True)[:MOST_NAMES]:
        text = text.replace(name, "\u0000")
    return tuple(re.findall(r"\u0000|[\w'-]+", text.lower()))


def denies(text: str) -> bool:
    """Say whether *text* denies, excludes or ends something."""
    return bool(_DENIES.search(_straight(text)))


def stem(word: str) -> str:
    """Return *word* without the commonest endings."""
    word = re.sub(r"['’]s$", "", word)
    for ending in ("ing", "ed", "es", "s"):
        if len(word) > len(ending) + 3 and word.endswith(ending):
            return word[: -len(ending)]
    return word


def _plainly(text: str) -> str:
    said = _SPACE.sub(" ", _straight(text.lower())).strip()
    return _NOW.sub("", _FRONT.sub("", said).rstrip(_MARKS)).rstrip(_MARKS)


def _straight(text: str) -> str:
    return text.replace("’", "'")


def _statement(subject: str, attribute: str, value: str) -> Statement:
    whose = re.sub(r"^(?:the|this|that|all|our|my) ", "", subject.removesuffix("'s")).strip()
    what = re.sub(r"^(?:the|our|my) ", "", attribute).strip()
    return Statement(" ".join(map(stem, whose.split())), stem(what), _value(value))


def _verb(attribute: str) -> str:
    return re.sub(r"^(?:is|are|was|were|gets?|got) (?:now |currently |always )?", "", attribute)


def _value(text: str) -> str:
    return re.sub(r"^(?:the|an?|only) ", "", text.strip(" .!,;'\"`")).strip()
