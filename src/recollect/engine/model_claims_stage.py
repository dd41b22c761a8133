"""
The stage in which a chat model proposes claims about a source, if a model is configured.

A claim counts only if its quote occurs verbatim in one message of the source; then it is treated
like any other candidate. The candidates found by rules are stored before this stage and stay,
whatever the model replies. Long sources are read in windows, one call each. A call, its cost and
its candidates are written in one transaction, so that no window is paid for twice.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from recollect.domain.candidate import ExtractedStatement, VoicedSpan
from recollect.domain.capture_event import Event
from recollect.domain.job import JobKind
from recollect.domain.model_usage import ModelCall, start_of_next_day
from recollect.domain.provenance import MODEL_RULE
from recollect.domain.source import Source
from recollect.domain.transcript import Voice
from recollect.engine import model_claims_prompt as claims_prompt
from recollect.engine.budgeted_chat import MAX_ERROR_CHARS, budget_refusal, record_call
from recollect.engine.engine_context import EngineContext
from recollect.engine.extract import extract_stage
from recollect.engine.extract.find_statements import content_flags, mentioned_dates
from recollect.engine.leased_job import LeasedJob, LeaseLost, NextStep, Postponed, Tally
from recollect.engine.source_text import SourceTurn, turns_in_source
from recollect.errors import ModelUnavailable, RecollectError
from recollect.models.chat_model import ChatModel
from recollect.store.protocol import Tables
from recollect.text.clean_text import clean
from recollect.text.fence import fenced_spans
from recollect.text.redact import redact
from recollect.text.sentence_classifier import normalize_sentence

WINDOW_CHARS = 24_000
MAX_TOOL_CHARS = 400  # of a tool's output: enough to understand the messages around it
PURPOSE = "extract"
MIN_QUOTE_CHARS, MIN_QUOTE_WORDS = 8, 2
WINDOWS_READ = "windows read"  # the progress of the job, in its payload


def propose_claims(engine: EngineContext, leased_job: LeasedJob) -> None:
    """Let the model read the windows of the job's source that it has not read yet."""
    model = engine.chat()
    if model is None:
        leased_job.finish()  # the model was switched off meanwhile
        return
    event, source = extract_stage.load_event_and_source(engine, leased_job)
    windows = list(_windows(turns_in_source(source)))
    for number in range(int(leased_job.payload.get(WINDOWS_READ, 0)), len(windows)):
        _read_window(engine, leased_job, model, event, source, windows[number], number)
    leased_job.finish([NextStep(JobKind.CONSOLIDATE, number=1)])


def _read_window(
    engine: EngineContext,
    leased_job: LeasedJob,
    model: ChatModel,
    event: Event,
    source: Source,
    turns: Sequence[SourceTurn],
    number: int,
) -> None:
    if refusal := budget_refusal(engine):
        until = start_of_next_day(engine.clock.now())
        raise Postponed(f"{refusal}; it goes on tomorrow", until)
    transcript = _render_transcript(source.content, turns)
    prompt = claims_prompt.PROMPT.format(transcript=transcript)
    call = ModelCall(
        id=engine.clock.new_id(),
        event_id=event.id,
        model=model.name,
        purpose=PURPOSE,
        asked_at=engine.clock.now(),
    )
    try:
        max_tokens = claims_prompt.MAX_REPLY_TOKENS
        reply = model.complete(claims_prompt.SYSTEM, prompt, max_tokens=max_tokens)
    except ModelUnavailable as error:
        record_call(engine, replace(call, error=str(error)[:MAX_ERROR_CHARS]))
        raise
    billed_call = engine.prices.with_cost(
        replace(call, input_tokens=reply.input_tokens, output_tokens=reply.output_tokens)
    )
    try:
        claims = claims_prompt.parse_claims(reply.text)
    except claims_prompt.UnreadableReply as error:
        record_call(engine, replace(billed_call, error=str(error)))
        raise ModelUnavailable(
            f"the model {model.name} answered, but {error}; it will be asked again, and the "
            "candidates found by rules are in place"
        ) from error
    verified = (verify_claim(claim, source, turns) for claim in claims)
    statements = [statement for statement in verified if statement is not None]
    rejected = len(claims) - len(statements)
    candidates = extract_stage.build_candidates(
        engine, statements, event, source, leased_job, f"model {number}"
    )
    batch = list(candidates)

    def store(tables: Tables) -> Tally:
        tables.jobs.add_call(billed_call)
        tally = extract_stage.add_candidates(engine, event.id, batch, tables)
        return {**tally, "rejected without a quote": rejected, WINDOWS_READ: 1}

    try:
        leased_job.write(store)
    except (LeaseLost, RecollectError) as error:  # the call was billed, so it is recorded
        record_call(engine, replace(billed_call, error=f"its answer could not be kept: {error}"))
        raise


def verify_claim(
    claim: claims_prompt.ModelClaim, source: Source, turns: Sequence[SourceTurn]
) -> ExtractedStatement | None:
    """Return the statement of *claim* if one message of the source has its quote, else None."""
    if len(claim.quote) < MIN_QUOTE_CHARS or len(claim.quote.split()) < MIN_QUOTE_WORDS:
        return None  # so short a quote occurs anywhere and proves nothing
    words = [re.escape(word) for word in claim.quote.split()]
    for match in re.finditer(r"\s+".join(words), source.content):
        turn = next((t for t in turns if t.start <= match.start() and match.end() <= t.end), None)
        if turn is None or turn.voice is Voice.SYSTEM or _is_injected(source.content, turn, match):
            continue
        texts = (claim.content, claim.rationale, *claim.alternatives)
        content, reason, *others = (redact(clean(text)).text for text in texts)
        checked_text = normalize_sentence("\n".join([content, reason, *others, match.group()]))
        return ExtractedStatement(
            type=claim.type,
            content=content,
            rule=MODEL_RULE,
            confidence=claim.confidence,
            observed_at=turn.at,
            spans=(VoicedSpan(match.start(), match.end(), turn.voice),),
            rationale=reason,
            alternatives=tuple(others),
            flags=content_flags(checked_text),
            dates=mentioned_dates(content, claim.type, said_at=turn.at),
        )
    return None


def _is_injected(content: str, turn: SourceTurn, quote: re.Match[str]) -> bool:
    first, last = quote.start() - turn.start, quote.end() - turn.start
    spans = fenced_spans(content[turn.start : turn.end])
    return any(start < last and first < end for start, end in spans)


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
    if any(turn.voice not in (Voice.TOOL, Voice.SYSTEM) for turn in window):
        yield window


def _render_transcript(content: str, turns: Sequence[SourceTurn]) -> str:
    lines = []
    for number, turn in enumerate(turns, start=1):
        max_chars = MAX_TOOL_CHARS if turn.voice is Voice.TOOL else WINDOW_CHARS
        text = content[turn.start : min(turn.end, turn.start + max_chars)]
        for start, end in reversed(fenced_spans(text)):
            text = text[:start] + text[end:]
        speaker = f"{turn.voice.value} {turn.speaker}".strip()
        # The text must not close the <transcript> tag of the prompt.
        text = text.replace("</transcript", "<\\/transcript")
        lines.append(f"[{number}] {speaker} ({turn.at:%Y-%m-%d %H:%M}): {text}")
    return "\n".join(lines)
