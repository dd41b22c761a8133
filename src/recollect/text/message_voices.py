"""
Find which parts of a user's message the user typed.

A message in the user's name often contains text of others: files and selections that a client
attached, retrieved documents, pasted pages, output of programs. Whoever wrote that text must not
speak for the user. Two rules:

- What stands between tags gets the voice `tool`. A block reaches from its opening tag to the LAST
  closing tag of that name, because the text inside may contain closing tags too.
- The rest counts as typed only if it plainly is: one short line without any sign of another origin
  (see `_SIGNS_OF_OTHERS`). If in doubt it is pasted. Pasted text may become a candidate, and
  nothing more.

The rules know no client: the readers in text/transcripts have removed what they recognise.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import islice
from unicodedata import category

from recollect.domain.transcript import Voice
from recollect.lazy_dataclass import dataclass
from recollect.text.fence import INTRODUCTION
from recollect.text.lazy_pattern import LazyPattern
from recollect.text.search_words import STOP_WORDS
from recollect.text.sentence_classifier import is_reported_speech, normalize_sentence
from recollect.text.spoken_parts import spoken_spans

MAX_TYPED_CHARS = 500
MAX_TAGS = 2_000  # a text with more is a document, not a message

# <context> … </context>, or [CONTEXT] … [/CONTEXT]
_TAG = re.compile(
    r"<(?P<close>/?)(?P<name>[A-Za-z][\w.:-]*)(?:\s[^<>]*)?(?P<empty>/?)>"
    r"|\[(?P<close_bracket>/?)(?P<bracket_name>[A-Z][A-Z_ ]{2,30})\]"
)
# Words before a colon after which the user's own sentence follows; any other label may introduce
# the text of somebody else.
_OWN_LABEL = (
    r"\b(?:remember(?: (?:this|that|it))?(?: one)?"
    r"|forget|forget (?:it|this)|write (?:it|this|that) down|so would i|me too|same here"
    r"|remind me|notes?|notes? (?:for later|to self)|reminder|todo|fyi|ps|btw|by the way|decision"
    r"|decided|rule|preference|convention|one more thing|update|correction|heads[- ]up"
    r"|for the record|to be clear|i mean it"
    r"|keep in mind|from now on|going forward|in (?:the )?future|important|next|next steps?"
    r"|open question|i was wrong|wrong|actually|no|sorry|thanks)"
    r"(?:[ ,]+(?:please|pls|plz|permanently|for ?ever|for good|always|well|i mean it|too|as well"
    r"|this time|once and for all|for (?:me|us|later|next time)))*\s*[:：]"
)
# Words before a colon that say in which state something is: "db.py is frozen: don't change it".
_STATE = (
    r"^(?:[\w./~-]+\s+){1,4}(?:is|are)\s+(?:now\s+|still\s+|already\s+)?"
    r"(?:frozen|generated|deprecated|obsolete|legacy|vendored|read-only|off[- ]limits|broken|flaky"
    r"|slow)\s*[:：]"
)
_SIGNS_OF_OTHERS = LazyPattern(
    r"[\r\n\u2028\u2029\x0b\x0c\x1c-\x1e\x85]|\S\t+\S",  # more than one line, or cells of a table
    r"< ?[/!?|a-z]|[＜‹〈]|&(?:lt|gt|quot|amp|nbsp|#x?\w+);",  # a tag, or what looks like one
    r"```|~~~|-{3,}|={3,}|\*{3,}|_{3,}|#{2,}|\|.*\||<<|>>|\|>|\{\{|\}\}|\[/",  # a separator
    r"^\W*#|^\s*[>|\[]|^\s*\*\*",  # a heading, a quote, a table, a citation
    r"^\s*(?:(?:[-+*•‣◦]|\d{1,3}[.)])\s|//|/\*|--\s|;;|rem\s)",  # one item of a list, a comment
    r"^[(*]\s*(?:system|developer|admin)\b",  # "(system note) …"
    r"\[[\w ^.-]{1,40}\](?:\(|:)|\[\^?\d+\]|\[[A-Z_ ]{3,}\]",  # links, citations, [INST]
    r"[{\[,]\s*\"[\w-]+\"\s*:|\bHTTP/\d",  # JSON, HTTP
    # Four or more words in quotation marks.
    r"[\"“”„«»『「](?:[^\s\"“”«»』」]+\s+){3,}[^\"“”«»』」]*[\"”»』」]",
    r"[＂〝](?:[^\s＂〝〞]+\s+){3,}[^＂〝〞]*[＂〞]",
    r"(?:^|\s)['‘](?:[^\s'’‘]+\s+){3,}[^'’‘]*['’](?=\W|$)",
    r"^\W*(?:\d{4}-\d\d-\d\d|\d\d?:\d\d|\d\d?[./]\d\d?[./]\d{2,4})\b",  # a log, a chat
    # "Context: …", "User: …"
    rf"^(?![^:：]{{0,60}}{_OWN_LABEL}|{_STATE})[^:：]{{1,80}}[:：](?:\s|$)",
    rf"(?:[.!?;,]|\s[-–—])\s+(?![^:：]{{0,30}}{_OWN_LABEL})[\w' ]{{1,30}}[:：]\s",  # further on
    r"\b(?:user|human|assistant|system|tool|observation|context|question|answer|query|document"
    r"|source|passage|result|output|response)s?\s*(?:\d+\s*)?[:：=]",
    # Words that introduce a text, those of prompt templates included.
    r"\b(?:here(?:['’]s| is| are)|(?:see|as|text|content|page|message|mail|following|listed) below"
    r"|below (?:is|are)|the following|as follows|given (?:the|this|that|these)|based on (?:the|this"
    r"|that|these)|us(?:e|ing) (?:the|this|these|only) (?:\w+ )?(?:context|text|document|docs"
    r"|source|passage|information|result|snippet|excerpt|page|article)s?)\b",
    # A task whose text follows it.
    r"^(?:(?:please|can you|could you|now)\s+)*(?:translate|summari[sz]e|proofread|paraphrase"
    r"|rephrase|(?:fix|correct|check) the (?:grammar|spelling|wording))\b[^.!?–—]*[.!?–—-]\s+\S",
    # Whoever speaks of "the user" is another.
    r"\bthe (?:user|human) (?:ha[sd] |have )?(?:decided|wants?|wanted|prefers?|preferred|said"
    r"|says|asked|told|likes|confirmed|approved|agreed|chose|chooses)\b",
    r"\b(?:pasted|pasting|copied|quoted|quoting|unquote|verbatim|retrieved"
    r"|search results?|web ?page|forwarded|fwd|wrote|(?:kind|best|warm) regards|sincerely)\b",
    flags=re.IGNORECASE,
)
_BACKTICK_SPAN = re.compile(r"`([^`]*)`")
_OPTION = re.compile(r"\s--?[a-z]")
# Words of a rule; like the stop words they are not in a command.
_RULE_WORDS = frozenset(
    {"always", "never", "must", "shall", "don't", "don’t", "prefer", "remember", "use", "instead"}
)
_INJECTED = re.compile(
    rf"\s*(?:{re.escape(INTRODUCTION)}\s*)?<memory fingerprint=\"\d{{16}}\">.*?</memory>\s*",
    re.DOTALL,
)
_INVISIBLE = frozenset({"Cf", "Co", "Cn", "Cs"})  # format characters, private use, unassigned
_JOINERS = "\u200c\u200d"  # in Persian and Indian words and in emoji


@dataclass(frozen=True, slots=True)
class VoicedPart:
    """Characters *start* to *end* of a message, and whose text they are."""

    start: int
    end: int
    voice: Voice


def voiced_parts(text: str) -> list[VoicedPart]:
    """Return the parts of a user's message, in order, each with its voice; without gaps."""
    injected_end = _injected_length(text)
    injected = [VoicedPart(0, injected_end, Voice.SYSTEM)] if injected_end else []
    if injected_end < len(text) and is_plainly_typed(text[injected_end:]):
        return [*injected, VoicedPart(injected_end, len(text), Voice.USER)]
    parts = injected
    position = injected_end
    for start, end in _tagged_blocks(text, injected_end):
        if text[position:start].strip():
            parts.append(VoicedPart(position, start, Voice.PASTED))
            position = start
        parts.append(VoicedPart(position, end, Voice.TOOL))
        position = end
    if text[position:].strip() or not parts:
        parts.append(VoicedPart(position, len(text), Voice.PASTED))
    return parts


def is_plainly_typed(text: str) -> bool:
    """Return whether all of *text* is plainly typed: one short line, no sign of another origin."""
    line = text.strip()
    return len(line) <= MAX_TYPED_CHARS and _is_typed_line(line)


@lru_cache(maxsize=1_024)  # a bundle asks several times about each of its messages
def _is_typed_line(line: str) -> bool:
    if _SIGNS_OF_OTHERS.search(line) or _quotes_prose(line):
        return False
    # `isprintable` is quick, and true only if no character is invisible.
    if not line.isprintable() and any(
        category(char) in _INVISIBLE and char not in _JOINERS for char in line
    ):
        return False
    if is_reported_speech(normalize_sentence(line)):
        return False
    return list(spoken_spans(line)) == [(0, len(line))] if line else True


def _quotes_prose(line: str) -> bool:
    """Return whether backticks enclose four or more words that are not a command."""
    return any(
        len(span.split()) > 3 and not _is_command(span) for span in _BACKTICK_SPAN.findall(line)
    )


def _is_command(span: str) -> bool:
    """Return whether a span is a command: it has an option, and no word of a sentence."""
    words = {word.strip(".,;:!").lower() for word in span.split()}
    return _OPTION.search(span) is not None and not words & (STOP_WORDS | _RULE_WORDS)


def _injected_length(text: str) -> int:
    """Return how many characters at the start of *text* are memory that Recollect injected."""
    length = 0
    while match := _INJECTED.match(text, length):
        length = match.end()
    return length


def _tagged_blocks(text: str, start: int) -> Iterator[tuple[int, int]]:
    """Yield the span of each outermost block between tags after *start*."""
    tags = list(islice(_TAG.finditer(text, start), MAX_TAGS))
    last_close = {_tag_name(tag): tag.end() for tag in tags if _is_closing(tag)}
    position = 0
    for tag in tags:
        end = last_close.get(_tag_name(tag), 0)
        is_opening = not _is_closing(tag) and not tag["empty"]
        if is_opening and position <= tag.start() < end:
            yield tag.start(), end
            position = end


def _tag_name(tag: re.Match[str]) -> str:
    return (tag["name"] or tag["bracket_name"]).casefold()


def _is_closing(tag: re.Match[str]) -> bool:
    return bool(tag["close"] or tag["close_bracket"])
