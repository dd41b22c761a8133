"""
Runs of an agent: what a message to it started, their state, and why they stopped.

A run belongs to a conversation, which has at most one open run. Each tool call of the model is a
row of its own, so that after a crash it is known which calls were begun. A call that waits for a
person's decision is an approval; it expires.
"""

from collections.abc import Iterable, Mapping
from dataclasses import field
from datetime import datetime
from enum import StrEnum
from typing import Any, Literal

from recollect.domain.context_bundle import Citation
from recollect.domain.conversation import Message
from recollect.lazy_dataclass import dataclass


class RunState(StrEnum):
    """The state of a run."""

    RUNNING = "running"
    WAITING = "waiting"  # for the decision on a tool call
    ENDED = "ended"


class StopReason(StrEnum):
    """Why a run stopped. The names are Letta's."""

    END_TURN = "end_turn"  # the model answered without calling a tool
    TOOL_RULE = "tool_rule"  # a tool that ends the run was called
    NO_TOOL_CALL = "no_tool_call"  # a rule required a tool call, and the model made none
    REQUIRES_APPROVAL = "requires_approval"  # a person has to decide on a tool call
    MAX_STEPS = "max_steps"
    MAX_TOKENS_EXCEEDED = "max_tokens_exceeded"  # the model's answer was cut off
    INSUFFICIENT_CREDITS = "insufficient_credits"  # the daily budget for model calls is spent
    INVALID_TOOL_CALL = "invalid_tool_call"  # nothing of the model's message was run
    INVALID_LLM_RESPONSE = "invalid_llm_response"
    LLM_API_ERROR = "llm_api_error"
    CONTEXT_WINDOW_OVERFLOW = "context_window_overflow_in_system_prompt"
    CANCELLED = "cancelled"
    ERROR = "error"  # an unexpected exception stopped the run


class CallState(StrEnum):
    """The state of a tool call. Every call ends as `answered`."""

    PLANNED = "planned"
    AWAITING = "awaiting"  # approval
    APPROVED = "approved"
    STARTED = "started"
    ANSWERED = "answered"


@dataclass(frozen=True, kw_only=True)
class Run:
    """One run of an agent in a conversation."""

    id: str
    conversation_id: str
    state: RunState = RunState.RUNNING
    stop_reason: StopReason | None = None
    model: str = ""
    max_steps: int
    steps: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float | None = None  # of the steps whose model has a price
    first_position: int  # of the message that started it
    error: str = ""
    started_at: datetime
    updated_at: datetime


@dataclass(frozen=True, kw_only=True)
class RunCall:
    """One tool call of a run. Its arguments are in the message that made it."""

    id: str
    run_id: str
    conversation_id: str
    step: int
    place: int  # among the calls of its message
    message_id: str
    call_id: str  # the model's id of the call
    tool: str
    state: CallState = CallState.PLANNED
    expires_at: datetime | None = None  # of an approval
    updated_at: datetime


@dataclass(frozen=True, kw_only=True)
class Approval:
    """A tool call that waits for a person's decision. If none comes before it expires: denied."""

    id: str
    run_id: str
    conversation_id: str
    agent_id: str | None
    tool: str
    arguments: Mapping[str, Any]
    requested_at: datetime
    expires_at: datetime
    source_code: str = ""  # of a tool that came with an agent file


@dataclass(frozen=True, kw_only=True)
class RunUsage:
    """The steps and tokens of a run, and their cost; None if the price is not known."""

    steps: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float | None = None


@dataclass(frozen=True, kw_only=True)
class RunResult:
    """How a run stopped: the agent's text, its messages, and the calls that wait for a decision."""

    run_id: str
    conversation_id: str
    stop_reason: StopReason
    text: str = ""
    messages: tuple[Message, ...] = ()
    approvals: tuple[Approval, ...] = ()
    usage: RunUsage = field(default_factory=RunUsage)
    model: str = ""
    retrieval_id: str | None = None  # of the memories in the prompt; `explain` shows them
    citations: tuple[Citation, ...] = ()  # of the marks ([m1]) that the answer may contain
    error: str = ""


# The events of a run, in the order in which they may occur. Each has a different `type`.


@dataclass(frozen=True, kw_only=True)
class RunStarted:
    """The message is stored. `missing_tools` are those of the agent that cannot run here."""

    run_id: str
    conversation_id: str
    retrieval_id: str | None = None
    missing_tools: tuple[str, ...] = ()
    type: Literal["run_started"] = "run_started"


@dataclass(frozen=True, kw_only=True)
class ContextCompacted:
    """Older messages were replaced by a summary, to make room in the window."""

    evicted: int
    reason: str
    type: Literal["context_compacted"] = "context_compacted"


@dataclass(frozen=True, kw_only=True)
class ReasoningDelta:
    """A part of what the model thinks; it is not stored."""

    text: str
    type: Literal["reasoning_delta"] = "reasoning_delta"


@dataclass(frozen=True, kw_only=True)
class TextDelta:
    """A part of the model's answer."""

    text: str
    type: Literal["text_delta"] = "text_delta"


@dataclass(frozen=True, kw_only=True)
class ModelRetried:
    """The model is asked again: the deltas of this step so far do not count."""

    reason: str
    wait_s: float
    type: Literal["model_retried"] = "model_retried"


@dataclass(frozen=True, kw_only=True)
class MessageStored:
    """A message was added to the conversation: the model's, or the result of a tool."""

    message: Message
    type: Literal["message_stored"] = "message_stored"


@dataclass(frozen=True, kw_only=True)
class ToolStarted:
    """A tool runs now."""

    call_id: str
    tool: str
    arguments: Mapping[str, Any]
    type: Literal["tool_started"] = "tool_started"


@dataclass(frozen=True, kw_only=True)
class ToolEnded:
    """A tool has ended; the text is what the model is told."""

    call_id: str
    tool: str
    succeeded: bool
    text: str
    type: Literal["tool_ended"] = "tool_ended"


@dataclass(frozen=True, kw_only=True)
class ApprovalRequested:
    """A tool call waits for a person's decision."""

    approval: Approval
    type: Literal["approval_requested"] = "approval_requested"


@dataclass(frozen=True, kw_only=True)
class RunEnded:
    """The last event: the run has ended, or waits for a decision."""

    result: RunResult
    type: Literal["run_ended"] = "run_ended"


RunEvent = (
    RunStarted
    | ContextCompacted
    | ReasoningDelta
    | TextDelta
    | ModelRetried
    | MessageStored
    | ToolStarted
    | ToolEnded
    | ApprovalRequested
    | RunEnded
)


def result_of_events(events: Iterable[RunEvent]) -> RunResult:
    """Read *events* to the end, and return the result in the last one."""
    for event in events:
        if isinstance(event, RunEnded):
            return event.result
    raise AssertionError("the events of a run end with its result")
