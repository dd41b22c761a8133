"""
Ask a chat model within the daily budget, and enter what it cost into the ledger.

A model is a help, never a need: where none is configured, the budget is spent or the model cannot
answer, there is no answer and a reason, and whoever asked goes on without.
"""

from dataclasses import dataclass, replace

from recollect.domain.model_usage import ModelCall, start_of_day
from recollect.engine.engine_context import EngineContext
from recollect.errors import InvalidInput, ModelUnavailable

MAX_ERROR_CHARS = 500


@dataclass(frozen=True)
class ModelReply:
    """What a model said, and which; or why it said nothing."""

    text: str = ""
    model: str = ""
    failure: str = ""


def complete_within_budget(desk: EngineContext, *, purpose: str, system: str, prompt: str, max_tokens: int) -> ModelReply:
    """Return what the model says to *prompt*, or why there is no answer."""
    try:
        model = desk.chat()
    except (
        ModelUnavailable,
        InvalidInput,
    ) as error:  # it cannot be reached, or is set up by halves
        return ModelReply(failure=str(error))
    if model is None:
        return ModelReply(failure="no language model is configured")
    if refusal := budget_refusal(desk):
        return ModelReply(failure=refusal)
    call = ModelCall(
        id=desk.clock.new_id(),
        event_id=None,
        model=model.name,
        purpose=purpose,
        asked_at=desk.clock.now(),
    )
    try:
        answer = model.complete(system, prompt, max_tokens=max_tokens)
    except ModelUnavailable as error:
        record_call(desk, replace(call, error=str(error)[:MAX_ERROR_CHARS]))
        return ModelReply(failure=str(error))
    record_call(
        desk,
        replace(call, input_tokens=answer.input_tokens, output_tokens=answer.output_tokens),
    )
    return ModelReply(text=answer.text, model=model.name)


def budget_refusal(desk: EngineContext) -> str:
    """Return why today's budget allows no further call, or ''."""
    with desk.store.read() as tables:
        spent = tables.jobs.spent_since(start_of_day(desk.clock.now()))
    return desk.budget.refusal(spent)


def record_call(desk: EngineContext, call: ModelCall) -> None:
    """Keep a call in the ledger."""
    desk.store.write(lambda tables: tables.jobs.add_call(call))
