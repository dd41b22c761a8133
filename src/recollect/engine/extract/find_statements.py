"""
Find the statements in a source that are worth remembering, each with its span as evidence.

turns → sentences → classification → guards → details. Pure: the same source gives the same
statements in the same order, so the extract stage can be run again safely.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime

from recollect.domain.candidate import ExtractedStatement, NotProposed, StatementSubject, VoicedSpan
from recollect.domain.memory import MemoryType
from recollect.domain.provenance import REVISION_RULE, MentionedDate, StatementFlag
from recollect.domain.transcript import Voice
from recollect.engine.extract.classify_sentence import (
    Classification,
    ExtractionMode,
    Sentence,
    classify_part,
    classify_sentence,
)
from recollect.engine.extract.clauses import clauses_of
from recollect.engine.extract.utterances import Utterance, utterances
from recollect.engine.judges.sentence_features import SentenceContext
from recollect.engine.source_text import SourceTurn
from recollect.lazy_dataclass import dataclass
from recollect.text.all_projects_request import asks_for_all_projects
from recollect.text.confidentiality_request import asks_for_confidentiality, mentions_secrecy
from recollect.text.decision_details import alternatives_in, rationale_in
from recollect.text.explicit_request import is_explicit_request
from recollect.text.lazy_pattern import LazyPattern
from recollect.text.revision import revises
from recollect.text.sentence_classifier import (
    is_fiction_or_pasted_text,
    is_joke,
    is_prompt_injection,
    lead_in_length,
    normalize_sentence,
)
from recollect.text.statement_dates import named_days, observed_at, upcoming_dates

_OBJECTION = LazyPattern(
    r"^(?:(?:(?:no(?:,? no)*(?=[,.:;!–—-]| (?:it|the|i|i'm|we|my|that|he|she|they|there|you)\b)"
    r"|nope|nah|wrong|incorrect|correction|hold on|wait|actually|not quite|sorry"
    r"|(?:that|this|it)(?:'s| is| was| info is| information is) (?:wrong|not (?:right|true"
    r"|correct|quite right)"
    r"|incorrect|outdated|out of date|old|a mistake|no longer true)"
    r"|you(?:'ve| have)? (?:got|have|had|mixed|confused|misunderstood|misread) (?:that|it|this|me)"
    r"(?: mixed up| wrong| up| the wrong way round)?|i misspoke|i was wrong|my mistake|let me "
    r"correct (?:that|myself))"
    r"\b[\s,:;.!–—-]+(?:actually,? )?){1,3}|you (?:keep|kept) \w+ing [\w ]{1,30}, )(?P<rest>.*)$"
)
_UPDATE = LazyPattern(
    r"\b(?:no longer|any ?more|any longer|as of (?:today|now|this \w+)|switched (?:from|to)"
    r"|moved (?:from|off|over)|migrated from|replaced [\w .+#-]{2,60} (?:with|by)"
    r"|changed (?:to|from|my mind)|renamed|used to)\b|(?<!right )(?<!by )(?<!for )\bnow\b(?! "
    r"that| on)"
)
_NOT_A_FACT = LazyPattern(r"^(?:yes|no|ok|thanks|cool|nice|great|lol|haha|hmm)\b[.!\s]*$")

_REFERS_BACK = LazyPattern(  # "Orla rang. They only want twenty now."
    r"(?i)(?!it(?:['’]s| is| was) (?:\w+ ){1,2}(?:whether|that|to|if)\b)"
    r"(?:they|it|he|she|that|those|these|both|neither|same|her|his|their|its)(?:['’]\w+)?\b"
    r"|(?:sie|er|es|ils?|elles?|ellos|ellas|esso|loro|eles|elas)\b"
)
_QUALIFIES = LazyPattern(  # "Use bullet lists again. Still keep it short."
    r"(?i)(?:still(?! \w+ing\b)|but(?! (?:first|now|then|anyway|please|can|could|would|let)\b)"
    r"|only(?! (?:kidding|joking))|just not|except|though|although|as long as|unless|provided)\b"
)
_SAYS_NOTHING = LazyPattern(
    r"(?i)(?:hi|hello|hey|good (?:morning|evening|afternoon|day)|thanks?|thank you|ok(?:ay)?|yes|no"
    r"|sure|cool|great|nice|right|well|sorry)\b(?:\W*\w+){0,3}\W*$"
)
# A sentence with one of these holds as a whole, also its second half.
_WHOLE = frozenset({StatementFlag.EXPLICIT, StatementFlag.CORRECTION, StatementFlag.INSTRUCTION})
MAX_REFERENT_CHARS = 100  # of a sentence that is repeated because the next one refers to it
MAX_QUALIFICATION_CHARS = 60  # of a sentence that only limits the one before
MAX_DOUBTFUL_CHARS = 600  # a longer message that may be pasted is a document
MAX_CONTEXT_CHARS = 200  # of the message before: its end shows whether it is a question
REVISION_CONFIDENCE = 0.5
Flags = tuple[StatementFlag, ...]
Statements = Iterator[ExtractedStatement]


@dataclass(frozen=True)
class EarlierSentences:
    """What the user said last, and how long the assistant's reply to it was."""

    sentences: Sequence[Utterance] = ()
    reply_chars: int = 0


NOTHING_EARLIER = EarlierSentences()


def find_statements(content: str, turns: Sequence[SourceTurn], mode: ExtractionMode) -> Statements:
    """Yield the statements worth remembering, in the order of the source."""
    previous_message, reply_chars = "", 0
    before: list[Utterance] = []  # the sentences of the user's last message
    in_confidence: Flags = ()  # from the message on that asks for it
    for turn in turns:
        is_of_user = turn.voice in (Voice.USER, Voice.PASTED)
        if is_of_user or (mode.reported and turn.voice is Voice.ASSISTANT):
            sentences = utterances(content, turn, all_of_it=mode.states_everything)
            if any(asks_for_confidentiality(sentence.text) for sentence in sentences):
                in_confidence = (StatementFlag.CONFIDENTIAL,)
            earlier = EarlierSentences(before, reply_chars) if is_of_user else NOTHING_EARLIER
            for statement in _statements_in_turn(sentences, mode, previous_message, earlier):
                flags = dict.fromkeys((*statement.flags, *in_confidence))
                yield replace(statement, flags=tuple(flags))
            if is_of_user:
                before, reply_chars = sentences, 0
        if turn.voice is Voice.ASSISTANT:
            reply_chars += turn.end - turn.start
            previous_message = content[max(turn.start, turn.end - MAX_CONTEXT_CHARS) : turn.end]


def _statements_in_turn(
    sentences: Sequence[Utterance],
    mode: ExtractionMode,
    previous_message: str,
    earlier: EarlierSentences,
) -> Statements:
    is_correction = False
    checked = 0
    for number, utterance in enumerate(sentences):
        previous_sentence = sentences[number - 1].text if number else ""
        context = SentenceContext(number, len(sentences), previous_sentence, previous_message)
        sentence = _sentence(utterance.text, context, follows_objection=is_correction)
        statement = _statement_in_sentence(utterance, sentence, mode)
        is_correction = statement is None and _is_bare_objection(sentence.normalized)
        revised = None
        if not mode.states_everything and utterance.turn.voice is Voice.USER:
            revised = _revised_sentence(utterance, sentences[:number], earlier)
        if revised is not None:
            yield _revision(utterance, revised, statement, mode)
            continue
        if statement is None:
            continue
        if not mode.states_everything:
            # Checked only after a statement was found: most messages contain none.
            texts = (normalize_sentence(s.text) for s in sentences[checked : number + 1])
            if any(map(is_fiction_or_pasted_text, texts)):
                return  # the rest is a story, a role, or a text to work on
            checked = number + 1
            if not utterance.begins_line and number:
                statement = _with_referent(statement, sentences[number - 1])
            if parts := list(_statements_in_clauses(statement, utterance, context)):
                yield from parts
                continue
            if number + 1 < len(sentences) and _only_qualifies(sentences, number + 1, mode):
                statement = _with_qualification(statement, sentences[number + 1])
        yield _with_reason(statement, sentences[number + 1 :])


def _statements_in_clauses(
    statement: ExtractedStatement, sentence: Utterance, context: SentenceContext
) -> Statements:
    """Yield a statement for each clause of a sentence that is worth remembering as a whole."""
    is_whole = statement.type is MemoryType.DECISION or not _WHOLE.isdisjoint(statement.flags)
    clauses = clauses_of(sentence) if statement.is_proposed and not is_whole else []
    if len(clauses) < 2:
        return
    for clause in clauses:
        part = _sentence(clause.text, context, follows_objection=False)
        kind = classify_part(part, statement.confidence)
        yield _build_statement(clause, kind, statement.flags)


def _sentence(text: str, context: SentenceContext, *, follows_objection: bool) -> Sentence:
    normalized = normalize_sentence(text)
    statement = normalized[lead_in_length(normalized) :]
    objection = _OBJECTION.match(statement)
    return Sentence(
        text,
        normalized,
        objection["rest"] if objection else statement,
        is_correction=follows_objection or bool(objection),
        context=context,
    )


def _statement_in_sentence(
    utterance: Utterance, sentence: Sentence, mode: ExtractionMode
) -> ExtractedStatement | None:
    text = sentence.normalized[lead_in_length(sentence.normalized) :]
    classification = classify_sentence(sentence, mode)
    if classification is None or _NOT_A_FACT.match(text):
        return None
    if is_joke(text):
        classification = replace(classification, not_proposed=NotProposed.JOKE)
    if not classification.is_proposed and not _is_of_message(utterance.turn):
        return None
    flags = content_flags(text)
    if utterance.turn.voice is Voice.USER and is_explicit_request(sentence.normalized):
        flags = (StatementFlag.EXPLICIT, *flags)
    if _UPDATE.search(sentence.statement):
        flags = (StatementFlag.UPDATE, *flags)
    if sentence.is_correction:
        flags = (StatementFlag.CORRECTION, *flags)
    if utterance.turn.voice is Voice.USER and asks_for_all_projects(utterance.text):
        flags = (*flags, StatementFlag.EVERYWHERE)
    if classification.subject is StatementSubject.PERSON and mentions_secrecy(utterance.text):
        flags = (*flags, StatementFlag.CONFIDENTIAL)
    return _build_statement(utterance, classification, flags)


def _is_of_message(turn: SourceTurn) -> bool:
    """Return whether a turn is what the user said: typed, or a short message that may be pasted."""
    if turn.voice is Voice.PASTED:
        return turn.end - turn.start <= MAX_DOUBTFUL_CHARS
    return turn.voice is Voice.USER


def _build_statement(
    sentence: Utterance, classification: Classification, flags: Flags
) -> ExtractedStatement:
    content = _without_objection(sentence.text[lead_in_length(sentence.text) :])
    if content != sentence.text:
        content = content[:1].upper() + content[1:]  # its first words were removed
    is_decision = classification.type is MemoryType.DECISION
    observed = observed_at(sentence.text, said_at=sentence.at)
    if observed.date() != sentence.at.date():
        flags = (*flags, StatementFlag.PAST)
    return ExtractedStatement(
        type=classification.type,
        content=content,
        rule=classification.rule,
        confidence=classification.confidence,
        observed_at=observed,
        spans=(VoicedSpan(sentence.start, sentence.end, sentence.turn.voice),),
        rationale=rationale_in(content) if is_decision else "",
        alternatives=alternatives_in(content) if is_decision else (),
        flags=flags,
        subject=classification.subject,
        dates=mentioned_dates(content, classification.type, said_at=sentence.at),
        not_proposed=classification.not_proposed,
    )


def mentioned_dates(
    content: str, kind: MemoryType, *, said_at: datetime
) -> tuple[MentionedDate, ...]:
    """Return the days that *content* names; of a task also the start of a coming week or month."""
    if kind is MemoryType.TASK_HINT:
        return upcoming_dates(content, said_at=said_at)
    return named_days(content, said_at=said_at)


def _without_objection(text: str) -> str:
    """Return *text* without the words that reject something ("no, that's wrong:")."""
    objection = _OBJECTION.match(text.lower().replace("’", "'"))
    if objection is None or not objection["rest"].strip():
        return text
    return text[objection.start("rest") :] if len(text.lower()) == len(text) else text


def _revised_sentence(
    utterance: Utterance, before: Sequence[Utterance], earlier: EarlierSentences
) -> Utterance | None:
    """Return the sentence that *utterance* gives another value for, if it cannot stand alone."""
    for sentence in reversed(before):
        if _is_statement(sentence) and revises(utterance.text, sentence.text):
            return sentence
    for sentence in reversed(earlier.sentences):
        if _is_statement(sentence) and revises(
            utterance.text, sentence.text, reply_chars=earlier.reply_chars
        ):
            return sentence
    return None


def _is_statement(sentence: Utterance) -> bool:
    text = sentence.text.rstrip()
    is_said = sentence.turn.voice is Voice.USER and len(text) <= MAX_REFERENT_CHARS
    return is_said and not text.endswith("?") and not _SAYS_NOTHING.match(text)


def _revision(
    utterance: Utterance,
    revised: Utterance,
    statement: ExtractedStatement | None,
    mode: ExtractionMode,
) -> ExtractedStatement:
    """
    Return what *utterance* says of *revised*, quoting both: alone it says nothing.

    It is about what *revised* is about, and of its type.
    """
    sentence = _sentence(revised.text, SentenceContext(0, 1, "", ""), follows_objection=False)
    earlier = _statement_in_sentence(revised, sentence, mode)
    kind = Classification(REVISION_RULE, MemoryType.PROJECT, REVISION_CONFIDENCE)
    whole = statement or _build_statement(utterance, kind, ())
    about = earlier or whole
    text = revised.text.rstrip()
    end = "" if text[-1:] in ".!:;,…。！" else "."
    flags = dict.fromkeys((StatementFlag.UPDATE, *whole.flags))
    return replace(
        whole,
        type=about.type,
        subject=about.subject,
        rule=REVISION_RULE,
        confidence=max(whole.confidence, REVISION_CONFIDENCE),
        not_proposed=None,
        content=f"{text}{end} {utterance.text.strip()}",
        spans=(whole.spans[0], VoicedSpan(revised.start, revised.end, revised.turn.voice)),
        flags=tuple(flags),
    )


def _with_referent(statement: ExtractedStatement, previous: Utterance) -> ExtractedStatement:
    """Put the sentence before in front if the statement begins with a word that refers to it."""
    text = previous.text.rstrip()
    if not _REFERS_BACK.match(statement.content):
        return statement
    if len(text) > MAX_REFERENT_CHARS or text.endswith("?") or _SAYS_NOTHING.match(text):
        return statement
    first = statement.spans[0]
    end = "" if text[-1:] in ".!:;,…" else "."
    return replace(
        statement,
        content=f"{text}{end} {statement.content}",
        spans=(replace(first, start=previous.start), *statement.spans[1:]),
    )


def _only_qualifies(sentences: Sequence[Utterance], number: int, mode: ExtractionMode) -> bool:
    """Return whether a sentence limits the one before, and is not proposed by itself."""
    utterance = sentences[number]
    text = utterance.text.rstrip()
    if utterance.begins_line or len(text) > MAX_QUALIFICATION_CHARS or text.endswith("?"):
        return False
    if not _QUALIFIES.match(text):
        return False
    context = SentenceContext(number, len(sentences), sentences[number - 1].text, "")
    sentence = _sentence(text, context, follows_objection=False)
    statement = _statement_in_sentence(utterance, sentence, mode)
    return statement is None or not statement.is_proposed


def _with_qualification(statement: ExtractedStatement, after: Utterance) -> ExtractedStatement:
    """Add the sentence after a proposed statement, which limits it."""
    last = statement.spans[-1]
    if not statement.is_proposed or last.end > after.start:
        return statement
    end = "" if statement.content.rstrip()[-1:] in ".!:;,…" else "."
    return replace(
        statement,
        content=f"{statement.content.rstrip()}{end} {after.text.strip()}",
        spans=(*statement.spans[:-1], replace(last, end=after.end)),
    )


def _with_reason(statement: ExtractedStatement, rest: Sequence[Utterance]) -> ExtractedStatement:
    """Add the reason of a decision from the next sentence, if it is given there."""
    if statement.type is not MemoryType.DECISION or statement.rationale or not rest:
        return statement
    next_sentence = rest[0]
    reason = rationale_in(next_sentence.text, alone=True)
    if not reason:
        return statement
    span = VoicedSpan(next_sentence.start, next_sentence.end, next_sentence.turn.voice)
    return replace(statement, rationale=reason, spans=(*statement.spans, span))


def content_flags(text: str) -> Flags:
    """Return the warning flags of *text*, which must be normalized."""
    return (StatementFlag.INSTRUCTION,) if is_prompt_injection(text) else ()


def _is_bare_objection(text: str) -> bool:
    """Return whether a sentence only rejects something; the next one may correct it."""
    objection = _OBJECTION.match(f"{text.rstrip('.! ')}. ")
    return bool(objection) and not objection["rest"].strip()  # type: ignore[index]  # matched
