"""
The wording of a skill: requests, announcements, reports and corrections, made into instructions.

“I'll run the tests now” and “Ran the tests.” both become “Run the tests”. Only vocabulary and
sentences; which of them make a skill is decided in steps.py.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from recollect.text.fence import fenced_spans
from recollect.text.patterns import Pattern
from recollect.text.sentences import sentences
from recollect.text.words import STOP_WORDS

MOST_CHARS = 220  # of one line of a skill
_MOST_TEXT = 20_000

# Verbs that do something one could repeat. Looking and talking are not among them.
_VERBS = """
add adjust apply attach authorize backup bind bootstrap bring build bump call change choose clean
clear clone close collect combine commit compile compress configure connect convert copy create
cut declare define delete deploy derive disable document download drop edit enable encrypt ensure
escape execute expand export expose extend extract fill fix flush force format generate give grant
group guard handle hide implement import improve include increase initialize inject insert install
integrate introduce invoke isolate join keep label launch limit link lint load lock log login make
map mark mask merge migrate mock modify mount move name normalize open optimize order output
override package parse patch pin place plan point populate port post prepare prevent print promote
publish pull push put query queue raise rebase rebuild record redeploy redirect reduce refactor
register release reload remove rename render reorder replace reproduce request rerun reset resolve
restart restore restrict retry return revert rewrite rollback rotate route run save scale schedule
seed select send serve set share sign simplify skip sort specify split squash stage start stash
stop store submit subscribe substitute swap switch sync tag test throw tighten toggle train
transform translate trigger trim truncate tune turn undo unify uninstall unpin unzip update upgrade
upload use validate vendor verify wipe wire wrap write zip
"""
_LOOKING = """
check look see read inspect examine explore investigate search find review understand grep list
view analyze study trace open confirm identify locate determine debug
"""
_IRREGULAR = {
    "built": "build", "rebuilt": "rebuild", "wrote": "write", "written": "write", "ran": "run",
    "reran": "rerun", "made": "make", "sent": "send", "kept": "keep", "took": "take", "put": "put",
    "set": "set", "reset": "reset", "cut": "cut", "split": "split", "brought": "bring",
    "chose": "choose", "chosen": "choose", "rewrote": "rewrite", "rewritten": "rewrite",
    "gave": "give", "given": "give", "found": "find", "saw": "see", "read": "read",
    "understood": "understand", "bound": "bind", "hid": "hide", "undid": "undo", "undone": "undo",
}  # fmt: skip


def _forms() -> dict[str, str]:
    """Return every form of a verb that a report may begin with, and its imperative."""
    forms = dict(_IRREGULAR)
    for verb in (_VERBS + _LOOKING).split():
        stem = verb[:-1] if verb.endswith("e") else verb
        past = f"{verb[:-1]}ied" if re.search(r"[^aeiou]y$", verb) else f"{stem}ed"
        forms |= {verb: verb, past: verb, f"{stem}ing": verb}
        if re.search(r"(?:^|[^aeiou])[aeiou][bdgklmnprtz]$", verb):  # commit, committed
            forms |= {f"{verb}{verb[-1]}ed": verb, f"{verb}{verb[-1]}ing": verb}
    return forms


_FORMS = _forms()
_LOOKING_VERBS = frozenset(_LOOKING.split()) - frozenset(_VERBS.split())

_CODE = Pattern(
    r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)|^[ \t]*>[^\n]*$", flags=re.DOTALL | re.MULTILINE
)
_TAGGED = Pattern(
    r"<(?P<tag>system-reminder|command-[a-z]+|local-command-[a-z]+|environment_context)\b[^>]*>"
    r".*?(?:</(?P=tag)>|\Z)",
    flags=re.DOTALL,
)
_LEAD = (
    r"(?:(?:ok(?:ay)?|great|perfect|good|nice|excellent|sure|alright|right|done|now|next|then"
    r"|first(?:ly)?|second(?:ly)?|third|finally|lastly|after that|afterwards|so|and|also|but"
    r"|of course|certainly|absolutely|yes|committed|fixed|got it|to start|to begin)[,!.:]?\s+)*"
)
_AHEAD = Pattern(
    rf"(?i){_LEAD}(?:i'?ll|i’ll|i will|let me|let's|let’s|i'?m going to|i am going to|i need to"
    r"|we need to|we'?ll|i should|we should|i have to|going to|you (?:can|should|need to|have to))"
    r"\s+(?:(?:now|also|first|then|next|just|quickly|go ahead and|try to|start by|begin by"
    r"|proceed to|need to)\s+)*(?P<rest>.+)",
    flags=re.DOTALL,
)
_BEHIND = Pattern(
    rf"(?i){_LEAD}(?:i'?ve|i’ve|i have|we'?ve|we have|i|we)\s+"
    r"(?:(?:now|also|just|successfully|already)\s+)*(?P<rest>.+)",
    flags=re.DOTALL,
)
_PLAIN = Pattern(rf"(?i){_LEAD}(?P<rest>.+)", flags=re.DOTALL)
_POINTS = Pattern(
    r"(?i:\S+ (?:it|that|this|them|those|these|so|one|up)(?: (?:now|here|again|out))?$)"
    r"|(?i:\S+ (?:that|this|these|those) \S+$)"
)
_ORDERED = Pattern(
    r"(?i)(?:first|second|third|then|next|after that|afterwards|finally|lastly|now)\b[, ]"
)
_FOR_YOU = Pattern(
    r"(?i)\s+(?:for you|now|real quick|right away|as well|too|again|once more)(?=[.!:…]*$)"
)
_ITEM = Pattern(r"^[ \t]*(?:\d{1,2}[.)]|[-*][ ]\[[ xX]\])[ \t]+(.+)$", flags=re.MULTILINE)
_FIRST_WORD = Pattern(r"[A-Za-z][A-Za-z-]*")

_ASKING = Pattern(
    r"(?i)^(?:(?:hi|hello|hey|good (?:morning|evening|afternoon))\b[^,.!?\n]{0,20}[,.!?]\s*)?"
    r"(?:(?:so|ok(?:ay)?|now|then|please|also|and|next)[, ]+)*"
    r"(?:(?:can|could|would|will) (?:you|we)(?: please)?(?: also)?(?: help me(?: to)?)?"
    r"|how (?:do|can|would|should) (?:i|we|you)|how to|is there a way to"
    r"|i (?:want|need|would like)(?: you)? to|i'd like(?: you)? to|let'?s|help me(?: to)?"
    r"|please)?[, ]*(?P<rest>.+)",
    flags=re.DOTALL,
)
_NO_REQUEST = Pattern(
    r"(?i)^(?:(?:hi|hello|hey|thanks?|thank you|thx|ok(?:ay)?|yes|yep|yeah|sure|cool|great|perfect"
    r"|nice|continue|go on|go ahead|proceed|good (?:morning|evening)|please|do it|lgtm"
    r"|looks good|sounds good|there|claude|you|so much)\b[\s,.!?]*)+$"
)
_CORRECTS = Pattern(
    r"(?i)^(?:please |and |but |oh |hey |hm+,? )*(?:no\b|nope\b|not\b|don'?t\b|don’t\b|do not\b"
    r"|stop\b|never\b|wait\b|actually\b|wrong\b|incorrect\b|that'?s (?:not|wrong)|that is (?:not"
    r"|wrong)|this is (?:not|wrong)|you (?:shouldn'?t|should not|forgot|missed|should have|broke"
    r"|must not|still)|instead\b|rather\b|i (?:said|meant|told you|asked)\b|undo\b|revert\b"
    r"|use \S+(?: \S+){0,3} (?:instead|not|rather)\b|always\b|we (?:never|always|don'?t)\b"
    r"|it should(?:n'?t)?\b)"
)
_NO_CORRECTION = Pattern(
    r"(?i)^(?:no (?:problem|worries|need|idea|rush|thanks)|no,? (?:thanks|thank|that'?s (?:all|it"
    r"|fine|ok))|not (?:sure|yet|bad|now|at all)|don'?t worry|never ?mind|actually,? (?:thanks"
    r"|that'?s (?:fine|ok|right|great))|wait(?: for)? (?:a|for)|that'?s not bad|no\W*$)"
)
_NEW_GOAL = Pattern(
    r"(?i)\bi meant\b|what i (?:actually |really )?(?:want|need|meant)|change of plan|new plan"
    r"|scrap (?:that|it)|forget (?:that|it|about)|on second thought"
    r"|\bactually,? (?:let'?s|make it|do|can you|could you|i want|i need|i'?d)"
)
_PROHIBITS = Pattern(r"(?i)\b(?:don'?t|do not|never|stop|not|no|avoid|without|instead of)\b")
_REPORTS_FAULT = Pattern(
    r"(?i)\b(?:errors?|fail(?:s|ed|ure)?|(?:does|did)(?:n'?t| not) work|not (?:found|working)"
    r"|traceback|exception|still (?:broken|the same|get)|crash(?:es|ed)?)\b"
)
_CAUSE = Pattern(
    r"(?i)\b(?:turns out|the (?:real |actual |root )?(?:problem|issue|cause|reason|culprit|error)"
    r" (?:is|was)|(?:fails|failed|failing|happens|happened) because|that'?s because"
    r"|the fix (?:is|was)|caused by|make sure (?:to|that|you)|be careful|note that|important:)"
)


class Aspect(StrEnum):
    """When a sentence of an agent says that something is done."""

    AHEAD = "ahead"
    BEHIND = "behind"
    ORDER = "order"  # an instruction: “Then restart it.”


@dataclass(frozen=True)
class Instruction:
    """A sentence as an instruction."""

    text: str
    aspect: Aspect
    looking: bool = False


def said(text: str) -> Iterator[str]:
    """Yield the sentences of a message that somebody said: no code, no quotes, no injected text."""
    text = text[:_MOST_TEXT]
    for start, end in reversed(fenced_spans(text)):
        text = text[:start] + text[end:]
    text = _TAGGED.sub("\n", _CODE.sub("\n", text))
    for start, end in sentences(text):
        yield " ".join(text[start:end].split())


def instruction(sentence: str) -> Instruction | None:
    """Return what *sentence* of an agent says to do, was done, or is about to be done."""
    for pattern, aspect in ((_AHEAD, Aspect.AHEAD), (_BEHIND, Aspect.BEHIND), (_PLAIN, None)):
        match = pattern.match(sentence)
        word = match and _FIRST_WORD.match(match["rest"])
        if match is None or word is None or word.group().lower() not in _FORMS:
            continue
        written, base = word.group().lower(), _FORMS[word.group().lower()]
        if aspect is Aspect.AHEAD and written != base:
            continue  # “you can turned”: no verb after all
        if aspect is Aspect.BEHIND and written == base and base not in _IRREGULAR.values():
            continue
        if aspect is None:
            aspect = _aspect(sentence, written, base)
        rest = _trimmed(base.capitalize() + match["rest"][word.end() :])
        if len(rest.split()) < 2 or _POINTS.match(rest):
            return None
        return Instruction(clip(rest), aspect, looking=base in _LOOKING_VERBS)
    return None


def _aspect(sentence: str, written: str, base: str) -> Aspect:
    if written == base:
        return Aspect.ORDER
    return Aspect.AHEAD if written.endswith("ing") else Aspect.BEHIND


def imperative(note: str) -> str:
    """Return what a call says of itself as an instruction: “Running tests” as “Run tests”."""
    found = instruction(note)
    return found.text if found is not None else clip(note.rstrip("."))


def is_ordered(sentence: str) -> bool:
    """Tell whether *sentence* says of itself that it comes in a row: first, then, next."""
    return _ORDERED.match(sentence) is not None


def enumerated(text: str) -> list[str]:
    """Return the items of a message's numbered list that say what to do; none if few of them do."""
    text = _CODE.sub("\n", text[:_MOST_TEXT])
    items = [re.sub(r"\*\*|__", "", item).strip() for item in _ITEM.findall(text)]
    steps = [found.text for item in items if (found := instruction(item)) is not None]
    return steps if len(steps) >= 2 and len(steps) * 2 > len(items) else []


def request(text: str) -> str:
    """Return what a user asks for in *text*, as an instruction; '' where nothing is asked."""
    asked = []
    for sentence in said(text):
        if _NO_REQUEST.match(sentence):
            continue
        match = _ASKING.match(sentence)
        rest = _trimmed(match["rest"] if match else sentence).rstrip("?").strip()
        if len(rest.split()) >= 2:
            asked.append(rest[:1].upper() + rest[1:])
        if sum(map(len, asked)) > 80 or len(asked) == 2:
            break
    return clip(". ".join(one.rstrip(".") for one in asked))


def correction(text: str) -> str:
    """Return the sentence in which a user puts something right, '' where there is none."""
    found = list(said(text))
    for number, sentence in enumerate(found):
        whole = sentence
        if len(sentence.split()) < 3 and number + 1 < len(found):
            whole = f"{sentence} {found[number + 1]}"  # “No. Use pnpm.”
        if _CORRECTS.match(whole) and not _NO_CORRECTION.match(whole):
            return clip(whole) if len(whole.split()) >= 3 else ""
    return ""


def changes_goal(text: str) -> bool:
    """Tell whether a correction is about what is wanted, not about how it was done."""
    return _NEW_GOAL.search(text) is not None


def prohibits(text: str) -> bool:
    """Tell whether a correction says what not to do."""
    return _PROHIBITS.search(text) is not None


def reports_fault(text: str) -> bool:
    """Tell whether a user says that what was proposed did not work."""
    return _REPORTS_FAULT.search(text[:_MOST_TEXT]) is not None


def cause(text: str) -> str:
    """Return the sentence in which an agent says what was wrong, '' where there is none."""
    return next((clip(one) for one in said(text) if _CAUSE.search(one) and "?" not in one), "")


def key_words(text: str) -> frozenset[str]:
    """Return the words that make *text* what it is, cut to their stems."""
    words = re.findall(r"[a-z0-9][a-z0-9_.-]*[a-z0-9]|[a-z0-9]", text.lower())
    return frozenset(
        re.sub(r"(?:ing|ed|es|s|e)$", "", word) if len(word) > 4 else word
        for word in words
        if word not in STOP_WORDS
    )


def alike(one: str, other: str, share: float = 0.6) -> bool:
    """Tell whether most of what the shorter of two texts says stands in the other too."""
    first, second = key_words(one), key_words(other)
    if not first or not second:
        return one == other
    return len(first & second) >= share * min(len(first), len(second))


def clip(text: str) -> str:
    """Return *text* on one line, cut at the end of a word."""
    text = " ".join(text.split())
    if len(text) <= MOST_CHARS:
        return text
    return text[: MOST_CHARS - 1].rpartition(" ")[0].rstrip(",;:") + " …"


def _trimmed(text: str) -> str:
    text = text.strip().rstrip(".!:…").strip()
    return _FOR_YOU.sub("", text).strip()
