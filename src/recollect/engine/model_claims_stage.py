"""
The ask stage: have a language model read the source too, where one is configured.

The model proposes; the source disposes. A claim counts only if its quote stands verbatim in one
message of the source, and it then goes the same way as any other candidate. What the rules found is
in place before this runs and stays, whatever the model answers. Long sources are read in windows,
one call each; a call, its cost and its candidates are written together, so that a window that was
read is not paid for again.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

from recollect.domain.candidate import ExtractedStatement, VoicedSpan
from recollect.domain.capture_event import Event
from recollect.domain.job import JobKind
from recollect.domain.model_usage import ModelCall, start_of_next_day
from recollect.domain.memory import Memory
from recollect.domain.source import Source
from recollect.domain.transcript import Voice
from recollect.engine.model_claims_prompt import (
    MAX_REPLY_TOKENS,
    PROMPT,
    SYSTEM,
    ModelClaim,
    UnreadableReply,
    parse_claims,
)
from recollect.engine.engine_context import EngineContext
from recollect.engine.leased_job import LeasedJob, LeaseLost, NextStep, Postponed, Tally
from recollect.engine.extract.find_statements import content_flags
from recollect.engine.extract.extract_stage import add_candidates, load_event_and_source, build_candidates
from recollect.engine.source_text import SourceTurn, turns_in_source
from recollect.engine.budgeted_chat import MAX_ERROR_CHARS, record_call, budget_refusal
from recollect.errors import ModelUnavailable, RecollectError
from recollect.models.chat_model import ChatModel
from recollect.store.protocol import Tables
from recollect.text.clean_text import clean
from recollect.text.fence import fenced_spans
from recollect.text.redact import redact
from recollect.text.sentence_classifier import normalize_sentence

WINDOW_CHARS = 24_000
MAX_TOOL_CHARS = 400  # of a tool's output: enough to follow the talk around it
PURPOSE = "extract"
LEAST_QUOTE_CHARS, LEAST_QUOTE_WORDS = 8, 2
WINDOWS_READ = "windows read"  # how far the job has come, kept in its payload


def propose_claims(desk: EngineContext, held: LeasedJob) -> None:
    """Have the model read what it has not read yet of the held job's source."""
    model = desk.chat()
    if model is None:
        held.finish()  # it was switched off since
        return
    event, source = load_event_and_source(desk, held)
    windows = list(_windows(turns_in_source(source)))
    for number in range(int(held.payload.get(WINDOWS_READ, 0)), len(windows)):
        _read_window(desk, held, model, event, source, windows[number], number)
    held.finish([NextStep(JobKind.CONSOLIDATE, number=1)])


def _read_window(
    desk: EngineContext,
    held: LeasedJob,
    model: ChatModel,
    event: Event,
    source: Source,
    turns: Sequence[SourceTurn],
    number: int,
) -> None:
    now = desk.clock.now()
    if refusal := budget_refusal(desk):
        raise Postponed(f"{refusal}; it goes on tomorrow", start_of_next_day(now))
    asked_at = desk.clock.now()
    prompt = PROMPT.format(transcript=_render_transcript(source.content, turns))
    call = ModelCall(
        id=desk.clock.new_id(),
        event_id=event.id,
        model=model.name,
        purpose=PURPOSE,
        asked_at=asked_at,
    )
    try:
        answer = model.complete(SYSTEM, prompt, max_tokens=MAX_REPLY_TOKENS)
    except ModelUnavailable as error:
        record_call(desk, replace(call, error=str(error)[:MAX_ERROR_CHARS]))
        raise
    paid = replace(call, input_tokens=answer.input_tokens, output_tokens=answer.output_tokens)
    try:
        claims = parse_claims(answer.text)
    except UnreadableReply as error:
        record_call(desk, replace(paid, error=str(error)))
        raise ModelUnavailable(
            f"the model {model.name} answered, but {error}; it will be asked again, and the "
            "candidates found by rules are in place"
        ) from error
    found = [one for claim in claims if (one := verify_claim(claim, source, turns)) is not None]
    candidates = list(build_candidates(found, event, source, held, desk.clock, f"model {number}"))
    rejected = len(claims) - len(found)
    try:
        held.write(partial(_store_claims, desk, event.id, candidates, paid, rejected))
    except (LeaseLost, RecollectError) as error:  # paid is paid, and goes into the ledger
        record_call(desk, replace(paid, error=f"its answer could not be kept: {error}"))
        raise


def verify_claim(claim: ModelClaim, source: Source, turns: Sequence[SourceTurn]) -> ExtractedStatement | None:
    """Return *claim* as a find if its quote stands in one message of the source, else None."""
    if len(claim.quote) < LEAST_QUOTE_CHARS or len(claim.quote.split()) < LEAST_QUOTE_WORDS:
        return None  # it would stand anywhere, and support anything
    words = [re.escape(word) for word in claim.quote.split()]
    for match in re.finditer(r"\s+".join(words), source.content):
        turn = next((t for t in turns if t.start <= match.start() and match.end() <= t.end), None)
        if turn is None or turn.voice is Voice.SYSTEM or _is_injected(source.content, turn, match):
            continue
        texts = (claim.content, claim.rationale, *claim.alternatives)
        content, reason, *others = (redact(clean(text)).text for text in texts)
        told = normalize_sentence("\n".join([content, reason, *others, match.group()]))
        return ExtractedStatement(
            type=claim.type,
            content=content,
            rule="model",
            confidence=claim.confidence,
            observed_at=turn.at,
            spans=(VoicedSpan(match.start(), match.end(), turn.voice),),
            rationale=reason,
            alternatives=tuple(others),
            flags=content_flags(told),
        )
    return None


def _is_injected(content: str, turn: SourceTurn, quote: re.Match[str]) -> bool:
    first, last = quote.start() - turn.start, quote.end() - turn.start
    spans = fenced_spans(content[turn.start : turn.end])
    return any(start < last and first < end for start, end in spans)


def _store_claims(
    desk: EngineContext,
    event_id: str,
    candidates: list[Memory],
    paid: ModelCall,
    rejected: int,
    tables: Tables,
) -> Tally:
    tables.jobs.add_call(paid)
    tally = dict(add_candidates(desk, event_id, candidates, tables))
    return {**tally, "rejected without a quote": rejected, WINDOWS_READ: 1}


def _windows(turns: Sequence[SourceTurn]) -> Iterator[list[SourceTurn]]:
    window: list[SourceTurn] = []
    size = 0
    for turn in turns:
        length = min(turn.end - turn.start, WINDOW_CHARS)
        if window and size + length > WINDOW_CHARS:
            yield window
            window, size = [], 0
        window.append(turn)
        size += length if turn.voice is not Voice.TOOL else min(length, MAX_TOOL_CHARS)
    if any(turn.voice in (Voice.USER, Voice.ASSISTANT, Voice.OTHER) for turn in window):
        yield window


def _render_transcript(content: str, turns: Sequence[SourceTurn]) -> str:
    lines = []
    for number, turn in enumerate(turns, start=1):
        most = MAX_TOOL_CHARS if turn.voice is Voice.TOOL else WINDOW_CHARS
        said = content[turn.start : min(turn.end, turn.start + most)]
        for start, end in reversed(fenced_spans(said)):
            said = said[:start] + said[end:]
        who = f"{turn.voice.value} {turn.speaker}".strip()
        # The fence of the prompt must not be closed from inside.
        said = said.replace("</transcript", "<\\/transcript")
        lines.append(f"[{number}] {who} ({turn.at:%Y-%m-%d %H:%M}): {said}")
    return "\n".join(lines)
