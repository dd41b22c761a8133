"""
Ask a chat model within the daily budget, and enter what it cost into the ledger.

A model is a help, never a need: where none is configured, the budget is spent or the model cannot
answer, there is no answer and a reason, and whoever asked goes on without.
"""

from dataclasses import dataclass, replace

from recollect.domain.ledger import ModelCall, day_of
from recollect.engine.desk import Desk
from recollect.errors import InvalidInput, ModelUnavailable

MOST_ERROR_CHARS = 500


@dataclass(frozen=True)
class Answer:
    """What a model said, and which; or why it said nothing."""

    text: str = ""
    model: str = ""
    why_not: str = ""


def ask_model(desk: Desk, *, purpose: str, system: str, prompt: str, max_tokens: int) -> Answer:
    """Return what the model says to *prompt*, or why there is no answer."""
    try:
        model = desk.chat()
    except (
        ModelUnavailable,
        InvalidInput,
    ) as error:  # it cannot be reached, or is set up by halves
        return Answer(why_not=str(error))
    if model is None:
        return Answer(why_not="no language model is configured")
    if refusal := over_budget(desk):
        return Answer(why_not=refusal)
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
        enter(desk, replace(call, error=str(error)[:MOST_ERROR_CHARS]))
        return Answer(why_not=str(error))
    enter(
        desk,
        replace(call, input_tokens=answer.input_tokens, output_tokens=answer.output_tokens),
    )
    return Answer(text=answer.text, model=model.name)


def over_budget(desk: Desk) -> str:
    """Return why today's budget allows no further call, or ''."""
    with desk.store.read() as tables:
        spent = tables.jobs.spent_since(day_of(desk.clock.now()))
    return desk.budget.refuses(spent)


def enter(desk: Desk, call: ModelCall) -> None:
    """Keep a call in the ledger."""
    desk.store.write(lambda tables: tables.jobs.add_call(call))
