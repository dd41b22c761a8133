"""
Build one episode per session: a short extractive summary of what was asked, decided and done.

It quotes the user's first request, the longest later ones and the decisions, so the episode has
evidence like any other memory. It is told to later sessions, so it quotes only what the user
plainly typed: neither pasted text, nor the assistant, which may repeat what a file or a page said.
Without such words there is no episode. What was done comes from recorded tool calls
(session_activity.py).
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from itertools import accumulate

from recollect.domain.candidate import ExtractedStatement, VoicedSpan
from recollect.domain.memory import MemoryType
from recollect.domain.provenance import StatementFlag
from recollect.domain.source import BLANKS, Source
from recollect.domain.transcript import Voice
from recollect.engine.extract.find_statements import content_flags
from recollect.engine.extract.session_activity import describe_activity
from recollect.engine.extract.utterances import Utterance, utterances
from recollect.engine.learn.recorded_calls import recorded_calls
from recollect.engine.source_text import SourceTurn
from recollect.text.fence import fenced_spans
from recollect.text.sentence_classifier import normalize_sentence

MAX_REQUESTS = 4
MAX_CHARS = 220
MAX_DECISIONS = 4
MAX_DECISION_CHARS = 160
MAX_RECORD_CHARS = 1_100
MIN_WORDS = 3
_SEPARATOR = " / "


def session_episode(
    source: Source,
    turns: Sequence[SourceTurn],
    *,
    title: str = "",
    statements: Sequence[ExtractedStatement] = (),
) -> ExtractedStatement | None:
    """
    Return the episode of a session, or None if nobody said anything.

    *statements* are those that were found in the session: its decisions are quoted.
    """
    if source.metadata.get("mode", "transcript") in ("note", "summary"):
        return None  # a note is not a session
    requests = _requests(source.content, turns)
    decisions = _decision_spans(statements)
    if not requests and not decisions:
        requests = _first_text(source.content, turns)
    if not requests and not decisions:
        return None
    decided = [source.content[span.start : span.end] for span in decisions]
    texts = {
        "Asked": "",
        "Decided": _SEPARATOR.join(_shorten(text, MAX_DECISION_CHARS) for text in decided),
        "Done": describe_activity(recorded_calls(source)),
    }
    requests = [request for request in requests if not _is_in(request, decisions)]
    requests = _fitting_requests(requests, MAX_RECORD_CHARS - sum(map(len, texts.values())))
    texts["Asked"] = _SEPARATOR.join(_shorten(request.text, MAX_CHARS) for request in requests)
    content = "\n".join(f"{name}: {text}" for name, text in texts.items() if text)
    spans = [VoicedSpan(u.start, min(u.end, u.start + MAX_CHARS), u.turn.voice) for u in requests]
    spans += [
        replace(span, end=min(span.end, span.start + MAX_DECISION_CHARS)) for span in decisions
    ]
    return ExtractedStatement(
        type=MemoryType.EPISODE,
        content=content,
        rule="episode",
        confidence=1.0,
        observed_at=_start_time(source, turns),
        spans=tuple(spans),
        title=_title(source, turns, title),
        flags=content_flags(normalize_sentence(content)),
    )


def _decision_spans(statements: Sequence[ExtractedStatement]) -> list[VoicedSpan]:
    """Return the quotes of the latest decisions that the user typed, in order."""
    unfit = {StatementFlag.INSTRUCTION, StatementFlag.CONFIDENTIAL}
    spans = [
        statement.spans[0]
        for statement in statements
        if statement.type is MemoryType.DECISION
        and statement.is_proposed
        and statement.voice is Voice.USER
        and unfit.isdisjoint(statement.flags)
    ]
    return sorted(spans, key=lambda span: span.start)[-MAX_DECISIONS:]


def _is_in(utterance: Utterance, spans: Sequence[VoicedSpan]) -> bool:
    return any(span.start <= utterance.start < span.end for span in spans)


def _fitting_requests(requests: Sequence[Utterance], max_chars: int) -> list[Utterance]:
    """Return the first of *requests* that fit into *max_chars*, one at least."""
    ends = accumulate(min(len(u.text), MAX_CHARS) + len(_SEPARATOR) for u in requests)
    fitting = sum(end <= max_chars for end in ends)
    return list(requests[: max(fitting, 1)])


def _title(source: Source, turns: Sequence[SourceTurn], name: str) -> str:
    day = f"{_start_time(source, turns):%Y-%m-%d}"
    return f"{name[:120] or 'Session'} ({day}, {_message_count(turns)} messages)"


def _message_count(turns: Sequence[SourceTurn]) -> int:
    """Return how many messages people and assistants wrote."""
    count, end, is_counted = 0, -1, False
    for turn in turns:
        is_counted = is_counted and turn.start == end  # turns that touch are parts of one message
        if not is_counted and turn.voice not in (Voice.TOOL, Voice.SYSTEM):
            count, is_counted = count + 1, True
        end = turn.end
    return count


def _requests(content: str, turns: Sequence[SourceTurn]) -> list[Utterance]:
    """Return the first sentence of the session and the longest first sentences of later turns."""
    typed = (turn for turn in turns if turn.voice is Voice.USER)
    sentences = (_first_sentence(content, turn) for turn in typed)
    first_of_each = [sentence for sentence in sentences if sentence is not None]
    if not first_of_each:
        return []
    longest = sorted(first_of_each[1:], key=lambda item: (-_word_count(item), item.start))
    rest = sorted(longest[: MAX_REQUESTS - 1], key=lambda sentence: sentence.start)
    return [first_of_each[0], *rest]


def _first_text(content: str, turns: Sequence[SourceTurn]) -> list[Utterance]:
    """Return the beginning of the first message, for a session without usable sentences."""
    order = (Voice.USER, Voice.OTHER)  # commands such as `/clear` are excluded
    conversation = [turn for turn in turns if turn.voice in order]
    for turn in sorted(conversation, key=lambda turn: (order.index(turn.voice), turn.start)):
        hidden = fenced_spans(content[turn.start : turn.end])
        end = turn.start + hidden[0][0] if hidden else turn.end
        text = content[turn.start : end].strip("".join(BLANKS) + " \n")[:MAX_CHARS]
        if text:
            start = content.index(text, turn.start)
            return [Utterance(text, start, start + len(text), turn)]
    return []


def _first_sentence(content: str, turn: SourceTurn) -> Utterance | None:
    return next(filter(_is_representative, utterances(content, turn)), None)


def _is_representative(utterance: Utterance) -> bool:
    """Return whether a sentence can represent its message: long enough, no prompt injection."""
    text = normalize_sentence(utterance.text)
    return len(text.split()) >= MIN_WORDS and StatementFlag.INSTRUCTION not in content_flags(text)


def _word_count(utterance: Utterance) -> int:
    words = normalize_sentence(utterance.text[:MAX_CHARS]).split()
    return len({word for word in words if len(word) > 3})


def _shorten(text: str, max_chars: int) -> str:
    line = " ".join(text.split())
    return line if len(line) <= max_chars else line[: max_chars - 1] + "…"


def _start_time(source: Source, turns: Sequence[SourceTurn]) -> datetime:
    return turns[0].at if turns else source.observed_at
