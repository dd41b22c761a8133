"""
Turn requests, announcements, reports and corrections into instructions for a skill.

“I'll run the tests now” and “Ran the tests.” both become “Run the tests”. This file only parses
sentences; skill_steps.py decides which of them become steps.
"""

import re
from collections.abc import Iterator
from enum import StrEnum

from recollect.lazy_dataclass import dataclass
from recollect.text.fence import fenced_spans
from recollect.text.lazy_pattern import LazyPattern
from recollect.text.search_words import STOP_WORDS
from recollect.text.sentence_splitter import sentence_spans

MAX_LINE_CHARS = 220  # of one line of a skill
_MAX_TEXT_CHARS = 20_000

# Verbs of repeatable actions. Verbs of inspection and conversation are not included.
_VERB_NAMES = """
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
_INSPECTION_VERB_NAMES = """
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


def _verb_forms() -> dict[str, str]:
    """Return every verb form that can begin a report, mapped to its imperative."""
    forms = dict(_IRREGULAR)
    for verb in (_VERB_NAMES + _INSPECTION_VERB_NAMES).split():
        stem = verb[:-1] if verb.endswith("e") else verb
        past_form = f"{verb[:-1]}ied" if re.search(r"[^aeiou]y$", verb) else f"{stem}ed"
        forms |= {verb: verb, past_form: verb, f"{stem}ing": verb}
        if re.search(r"(?:^|[^aeiou])[aeiou][bdgklmnprtz]$", verb):  # commit, committed
            forms |= {f"{verb}{verb[-1]}ed": verb, f"{verb}{verb[-1]}ing": verb}
    return forms


_VERB_FORMS = _verb_forms()
_INSPECTION_VERBS = frozenset(_INSPECTION_VERB_NAMES.split()) - frozenset(_VERB_NAMES.split())

_CODE = LazyPattern(
    r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)|^[ \t]*>[^\n]*$", flags=re.DOTALL | re.MULTILINE
)
_TAGGED = LazyPattern(
    r"<(?P<tag>system-reminder|command-[a-z]+|local-command-[a-z]+|environment_context)\b[^>]*>"
    r".*?(?:</(?P=tag)>|\Z)",
    flags=re.DOTALL,
)
_LEAD_IN = (
    r"(?:(?:ok(?:ay)?|great|perfect|good|nice|excellent|sure|alright|right|done|now|next|then"
    r"|first(?:ly)?|second(?:ly)?|third|finally|lastly|after that|afterwards|so|and|also|but"
    r"|of course|certainly|absolutely|yes|committed|fixed|got it|to start|to begin)[,!.:]?\s+)*"
)
_FUTURE = LazyPattern(
    rf"(?i){_LEAD_IN}(?:i'?ll|i’ll|i will|let me|let's|let’s|i'?m going to|i am going to|i need to"
    r"|we need to|we'?ll|i should|we should|i have to|going to|you (?:can|should|need to|have to))"
    r"\s+(?:(?:now|also|first|then|next|just|quickly|go ahead and|try to|start by|begin by"
    r"|proceed to|need to)\s+)*(?P<rest>.+)",
    flags=re.DOTALL,
)
_PAST = LazyPattern(
    rf"(?i){_LEAD_IN}(?:i'?ve|i’ve|i have|we'?ve|we have|i|we)\s+"
    r"(?:(?:now|also|just|successfully|already)\s+)*(?P<rest>.+)",
    flags=re.DOTALL,
)
_PLAIN = LazyPattern(rf"(?i){_LEAD_IN}(?P<rest>.+)", flags=re.DOTALL)
_REFERS_BACK = LazyPattern(
    r"(?i:\S+ (?:it|that|this|them|those|these|so|one|up)(?: (?:now|here|again|out))?$)"
    r"|(?i:\S+ (?:that|this|these|those) \S+$)"
)
_SEQUENCE_WORD = LazyPattern(
    r"(?i)(?:first|second|third|then|next|after that|afterwards|finally|lastly|now)\b[, ]"
)
_FILLER = LazyPattern(
    r"(?i)\s+(?:for you|now|real quick|right away|as well|too|again|once more)(?=[.!:…]*$)"
)
_ITEM = LazyPattern(r"^[ \t]*(?:\d{1,2}[.)]|[-*][ ]\[[ xX]\])[ \t]+(.+)$", flags=re.MULTILINE)
_FIRST_WORD = LazyPattern(r"[A-Za-z][A-Za-z-]*")

_REQUEST = LazyPattern(
    r"(?i)^(?:(?:hi|hello|hey|good (?:morning|evening|afternoon))\b[^,.!?\n]{0,20}[,.!?]\s*)?"
    r"(?:(?:so|ok(?:ay)?|now|then|please|also|and|next)[, ]+)*"
    r"(?:(?:can|could|would|will) (?:you|we)(?: please)?(?: also)?(?: help me(?: to)?)?"
    r"|how (?:do|can|would|should) (?:i|we|you)|how to|is there a way to"
    r"|i (?:want|need|would like)(?: you)? to|i'd like(?: you)? to|let'?s|help me(?: to)?"
    r"|please)?[, ]*(?P<rest>.+)",
    flags=re.DOTALL,
)
_SMALL_TALK = LazyPattern(
    r"(?i)^(?:(?:hi|hello|hey|thanks?|thank you|thx|ok(?:ay)?|yes|yep|yeah|sure|cool|great|perfect"
    r"|nice|continue|go on|go ahead|proceed|good (?:morning|evening)|please|do it|lgtm"
    r"|looks good|sounds good|there|claude|you|so much)\b[\s,.!?]*)+$"
)
_CORRECTION = LazyPattern(
    r"(?i)^(?:please |and |but |oh |hey |hm+,? )*(?:no\b|nope\b|not\b|don'?t\b|don’t\b|do not\b"
    r"|stop\b|never\b|wait\b|actually\b|wrong\b|incorrect\b|that'?s (?:not|wrong)|that is (?:not"
    r"|wrong)|this is (?:not|wrong)|you (?:shouldn'?t|should not|forgot|missed|should have|broke"
    r"|must not|still)|instead\b|rather\b|i (?:said|meant|told you|asked)\b|undo\b|revert\b"
    r"|use \S+(?: \S+){0,3} (?:instead|not|rather)\b|always\b|we (?:never|always|don'?t)\b"
    r"|it should(?:n'?t)?\b)"
)
_NO_CORRECTION = LazyPattern(
    r"(?i)^(?:no (?:problem|worries|need|idea|rush|thanks)|no,? (?:thanks|thank|that'?s (?:all|it"
    r"|fine|ok))|not (?:sure|yet|bad|now|at all)|don'?t worry|never ?mind|actually,? (?:thanks"
    r"|that'?s (?:fine|ok|right|great))|wait(?: for)? (?:a|for)|that'?s not bad|no\W*$)"
)
_NEW_GOAL = LazyPattern(
    r"(?i)\bi meant\b|what i (?:actually |really )?(?:want|need|meant)|change of plan|new plan"
    r"|scrap (?:that|it)|forget (?:that|it|about)|on second thought"
    r"|\bactually,? (?:let'?s|make it|do|can you|could you|i want|i need|i'?d)"
)
_PROHIBITS = LazyPattern(r"(?i)\b(?:don'?t|do not|never|stop|not|no|avoid|without|instead of)\b")
_REPORTS_FAULT = LazyPattern(
    r"(?i)\b(?:errors?|fail(?:s|ed|ure)?|(?:does|did)(?:n'?t| not) work|not (?:found|working)"
    r"|traceback|exception|still (?:broken|the same|get)|crash(?:es|ed)?)\b"
)
_CAUSE = LazyPattern(
    r"(?i)\b(?:turns out|the (?:real |actual |root )?(?:problem|issue|cause|reason|culprit|error)"
    r" (?:is|was)|(?:fails|failed|failing|happens|happened) because|that'?s because"
    r"|the fix (?:is|was)|caused by|make sure (?:to|that|you)|be careful|note that|important:)"
)


class Tense(StrEnum):
    """Whether an agent announces an action, reports it, or instructs the reader."""

    FUTURE = "ahead"
    PAST = "behind"
    IMPERATIVE = "order"  # “Then restart it.”


@dataclass(frozen=True)
class Instruction:
    """A sentence rewritten as an instruction."""

    text: str
    tense: Tense
    is_inspection: bool = False


def spoken_sentences(text: str) -> Iterator[str]:
    """Yield the spoken sentences of a message, without code, quotes and injected text."""
    text = text[:_MAX_TEXT_CHARS]
    for start, end in reversed(fenced_spans(text)):
        text = text[:start] + text[end:]
    text = _TAGGED.sub("\n", _CODE.sub("\n", text))
    for start, end in sentence_spans(text):
        yield " ".join(text[start:end].split())


def parse_instruction(sentence: str) -> Instruction | None:
    """Return the instruction in an agent's *sentence*, or None if it names no action."""
    for pattern, tense in ((_FUTURE, Tense.FUTURE), (_PAST, Tense.PAST), (_PLAIN, None)):
        match = pattern.match(sentence)
        word = match and _FIRST_WORD.match(match["rest"])
        if match is None or word is None or word.group().lower() not in _VERB_FORMS:
            continue
        verb, base = word.group().lower(), _VERB_FORMS[word.group().lower()]
        if tense is Tense.FUTURE and verb != base:
            continue  # “you can turned”: not a verb here
        if tense is Tense.PAST and verb == base and base not in _IRREGULAR.values():
            continue
        if tense is None:
            tense = _tense(sentence, verb, base)
        rest = _trim(base.capitalize() + match["rest"][word.end() :])
        if len(rest.split()) < 2 or _REFERS_BACK.match(rest):
            return None
        return Instruction(clip(rest), tense, is_inspection=base in _INSPECTION_VERBS)
    return None


def _tense(sentence: str, verb: str, base: str) -> Tense:
    if verb == base:
        return Tense.IMPERATIVE
    return Tense.FUTURE if verb.endswith("ing") else Tense.PAST


def to_imperative(note: str) -> str:
    """Return a call's description as an instruction: “Running tests” becomes “Run tests”."""
    instruction = parse_instruction(note)
    return instruction.text if instruction is not None else clip(note.rstrip("."))


def is_sequenced(sentence: str) -> bool:
    """Return whether *sentence* starts with a sequence word: first, then, next."""
    return _SEQUENCE_WORD.match(sentence) is not None


def listed_instructions(text: str) -> list[str]:
    """Return the instructions in a numbered list, or [] if most items are not instructions."""
    text = _CODE.sub("\n", text[:_MAX_TEXT_CHARS])
    items = [re.sub(r"\*\*|__", "", item).strip() for item in _ITEM.findall(text)]
    parsed = map(parse_instruction, items)
    steps = [instruction.text for instruction in parsed if instruction is not None]
    return steps if len(steps) >= 2 and len(steps) * 2 > len(items) else []


def find_request(text: str) -> str:
    """Return the user's request in *text* as an instruction, or ''."""
    requests = []
    for sentence in spoken_sentences(text):
        if _SMALL_TALK.match(sentence):
            continue
        match = _REQUEST.match(sentence)
        rest = _trim(match["rest"] if match else sentence).rstrip("?").strip()
        if len(rest.split()) >= 2:
            requests.append(rest[:1].upper() + rest[1:])
        if sum(map(len, requests)) > 80 or len(requests) == 2:
            break
    return clip(". ".join(request.rstrip(".") for request in requests))


def find_correction(text: str) -> str:
    """Return the sentence in which a user corrects the agent, or ''."""
    sentences = list(spoken_sentences(text))
    for number, sentence in enumerate(sentences):
        whole = sentence
        if len(sentence.split()) < 3 and number + 1 < len(sentences):
            whole = f"{sentence} {sentences[number + 1]}"  # “No. Use pnpm.”
        if _CORRECTION.match(whole) and not _NO_CORRECTION.match(whole):
            return clip(whole) if len(whole.split()) >= 3 else ""
    return ""


def changes_goal(text: str) -> bool:
    """Return whether a correction changes the goal, not the way it is reached."""
    return _NEW_GOAL.search(text) is not None


def prohibits(text: str) -> bool:
    """Return whether a correction says what not to do."""
    return _PROHIBITS.search(text) is not None


def reports_fault(text: str) -> bool:
    """Return whether a user reports that a proposal did not work."""
    return _REPORTS_FAULT.search(text[:_MAX_TEXT_CHARS]) is not None


def find_cause(text: str) -> str:
    """Return the sentence in which an agent names the cause of a problem, or ''."""
    causes = (sentence for sentence in spoken_sentences(text) if _CAUSE.search(sentence))
    return next((clip(cause) for cause in causes if "?" not in cause), "")


def key_words(text: str) -> frozenset[str]:
    """Return the stems of the words of *text* that are not stop words."""
    words = re.findall(r"[a-z0-9][a-z0-9_.-]*[a-z0-9]|[a-z0-9]", text.lower())
    return frozenset(
        re.sub(r"(?:ing|ed|es|s|e)$", "", word) if len(word) > 4 else word
        for word in words
        if word not in STOP_WORDS
    )


def are_similar(left: str, right: str, share: float = 0.6) -> bool:
    """Return whether two texts share at least *share* of the shorter one's key words."""
    left_words, right_words = key_words(left), key_words(right)
    if not left_words or not right_words:
        return left == right
    return len(left_words & right_words) >= share * min(len(left_words), len(right_words))


def clip(text: str) -> str:
    """Return *text* on one line, cut at the end of a word."""
    text = " ".join(text.split())
    if len(text) <= MAX_LINE_CHARS:
        return text
    return text[: MAX_LINE_CHARS - 1].rpartition(" ")[0].rstrip(",;:") + " …"


def _trim(text: str) -> str:
    text = text.strip().rstrip(".!:…").strip()
    return _FILLER.sub("", text).strip()
