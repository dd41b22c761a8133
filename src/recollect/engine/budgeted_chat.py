"""
Call the chat model within the daily budget, and record what the call cost.

The chat model is optional. If none is configured, the budget is spent or the model is unavailable,
the result says why, and the caller continues without a reply.
"""

from dataclasses import replace

from recollect.domain.model_usage import ModelCall, start_of_day
from recollect.engine.engine_context import EngineContext
from recollect.errors import InvalidInput, ModelUnavailable
from recollect.lazy_dataclass import dataclass

MAX_ERROR_CHARS = 500


@dataclass(frozen=True)
class ModelReply:
    """The reply of a model and its name, or why there is no reply."""

    text: str = ""
    model: str = ""
    failure: str = ""


def complete_within_budget(
    engine: EngineContext, *, purpose: str, system: str, prompt: str, max_tokens: int
) -> ModelReply:
    """Return the reply of the model to *prompt*, or why there is none."""
    try:
        model = engine.chat()
    except (ModelUnavailable, InvalidInput) as error:  # InvalidInput: incomplete settings
        return ModelReply(failure=str(error))
    if model is None:
        return ModelReply(failure="no language model is configured")
    if refusal := budget_refusal(engine):
        return ModelReply(failure=refusal)
    call = ModelCall(
        id=engine.clock.new_id(),
        event_id=None,
        model=model.name,
        purpose=purpose,
        asked_at=engine.clock.now(),
    )
    try:
        reply = model.complete(system, prompt, max_tokens=max_tokens)
    except ModelUnavailable as error:
        record_call(engine, replace(call, error=str(error)[:MAX_ERROR_CHARS]))
        return ModelReply(failure=str(error))
    billed_call = replace(call, input_tokens=reply.input_tokens, output_tokens=reply.output_tokens)
    record_call(engine, billed_call)
    return ModelReply(text=reply.text, model=model.name)


def budget_refusal(engine: EngineContext) -> str:
    """Return why today's budget allows no further call, or ''."""
    with engine.store.read() as tables:
        spent = tables.jobs.spent_since(start_of_day(engine.clock.now()))
    return engine.budget.refusal(spent)


def record_call(engine: EngineContext, call: ModelCall) -> None:
    """Record a call and its cost."""
    priced_call = engine.prices.with_cost(call)
    engine.store.write(lambda tables: tables.jobs.add_call(priced_call))
