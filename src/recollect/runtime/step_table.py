"""
The step loop as a table: state and event in, next state and effect out.

Theory of operation. A run is always in one state. Something happens (an event), and the table says
what comes next: another state with an effect to carry out, or a stop with its reason. The driver
(driver.py) carries out effects and reports what happened; it decides nothing. Before each effect
it writes one checkpoint: the result of the last effect, and the state of the run.

    STARTING ──► PREPARING ──► ASKING ──► RUNNING ──┐
                   ▲  │  ▲        │                 │
                   │  ▼  └────────┼─────────────────┘
                COMPACTING ◄──────┘

A pair that is not in the table cannot happen: `advance` raises.
"""

from collections.abc import Mapping
from enum import Enum, auto

from recollect.domain.agent_run import StopReason
from recollect.lazy_dataclass import dataclass


class StepState(Enum):
    """The state of a run."""

    STARTING = auto()
    PREPARING = auto()  # compile memory, choose tools, measure the prompt
    COMPACTING = auto()
    ASKING = auto()  # the model writes
    RUNNING = auto()  # tools run
    STOPPED = auto()


class StepEvent(Enum):
    """What happened."""

    BEGUN = auto()
    DECIDED = auto()  # a person decided on every call that waited
    PROMPT_READY = auto()
    PROMPT_TOO_LONG = auto()  # by our count
    STEPS_SPENT = auto()
    BUDGET_SPENT = auto()
    COMPACTED = auto()
    NOTHING_TO_COMPACT = auto()
    CONTEXT_OVERFLOWED = auto()  # by the server's count
    MODEL_FAILED = auto()
    ANSWER_UNUSABLE = auto()
    ANSWER_CUT_OFF = auto()
    ANSWERED = auto()
    ANSWERED_TOO_EARLY = auto()  # a tool that is required before the end was not called
    REQUIRED_CALL_MISSING = auto()  # a rule required a tool call, and there was none
    CALLS_MADE = auto()
    CALLS_NEED_APPROVAL = auto()
    CALLS_INVALID = auto()  # the model is told, and may correct itself
    CALLS_INVALID_FOR_GOOD = auto()
    TOOLS_DONE = auto()
    TOOLS_DONE_BY_EXIT_RULE = auto()
    TOOLS_DONE_WITHOUT_HEARTBEAT = auto()


class Effect(Enum):
    """What the driver does next."""

    PREPARE = auto()
    COMPACT = auto()
    ASK_MODEL = auto()
    RUN_TOOLS = auto()


@dataclass(frozen=True)
class Move:
    """The next state with its effect, or the reason to stop."""

    state: StepState
    effect: Effect | None = None
    stop: StopReason | None = None


_PREPARE = Move(StepState.PREPARING, Effect.PREPARE)
_COMPACT = Move(StepState.COMPACTING, Effect.COMPACT)
_ASK = Move(StepState.ASKING, Effect.ASK_MODEL)
_RUN_TOOLS = Move(StepState.RUNNING, Effect.RUN_TOOLS)


def _stop(reason: StopReason) -> Move:
    return Move(StepState.STOPPED, stop=reason)


TABLE: Mapping[tuple[StepState, StepEvent], Move] = {
    (StepState.STARTING, StepEvent.BEGUN): _PREPARE,
    (StepState.STARTING, StepEvent.DECIDED): _RUN_TOOLS,
    #
    (StepState.PREPARING, StepEvent.PROMPT_READY): _ASK,
    (StepState.PREPARING, StepEvent.PROMPT_TOO_LONG): _COMPACT,
    (StepState.PREPARING, StepEvent.STEPS_SPENT): _stop(StopReason.MAX_STEPS),
    (StepState.PREPARING, StepEvent.BUDGET_SPENT): _stop(StopReason.INSUFFICIENT_CREDITS),
    (StepState.PREPARING, StepEvent.MODEL_FAILED): _stop(StopReason.LLM_API_ERROR),
    #
    (StepState.COMPACTING, StepEvent.COMPACTED): _PREPARE,
    (StepState.COMPACTING, StepEvent.NOTHING_TO_COMPACT): _stop(StopReason.CONTEXT_WINDOW_OVERFLOW),
    #
    (StepState.ASKING, StepEvent.ANSWERED): _stop(StopReason.END_TURN),
    (StepState.ASKING, StepEvent.ANSWERED_TOO_EARLY): _PREPARE,
    (StepState.ASKING, StepEvent.REQUIRED_CALL_MISSING): _stop(StopReason.NO_TOOL_CALL),
    (StepState.ASKING, StepEvent.ANSWER_CUT_OFF): _stop(StopReason.MAX_TOKENS_EXCEEDED),
    (StepState.ASKING, StepEvent.ANSWER_UNUSABLE): _stop(StopReason.INVALID_LLM_RESPONSE),
    (StepState.ASKING, StepEvent.MODEL_FAILED): _stop(StopReason.LLM_API_ERROR),
    (StepState.ASKING, StepEvent.CONTEXT_OVERFLOWED): _COMPACT,
    (StepState.ASKING, StepEvent.CALLS_MADE): _RUN_TOOLS,
    (StepState.ASKING, StepEvent.CALLS_NEED_APPROVAL): _stop(StopReason.REQUIRES_APPROVAL),
    (StepState.ASKING, StepEvent.CALLS_INVALID): _PREPARE,
    (StepState.ASKING, StepEvent.CALLS_INVALID_FOR_GOOD): _stop(StopReason.INVALID_TOOL_CALL),
    #
    (StepState.RUNNING, StepEvent.TOOLS_DONE): _PREPARE,
    (StepState.RUNNING, StepEvent.TOOLS_DONE_BY_EXIT_RULE): _stop(StopReason.TOOL_RULE),
    (StepState.RUNNING, StepEvent.TOOLS_DONE_WITHOUT_HEARTBEAT): _stop(StopReason.END_TURN),
}


def advance(state: StepState, event: StepEvent) -> Move:
    """Return what comes next, or raise `KeyError` if *event* cannot happen in *state*."""
    return TABLE[state, event]
