"""
Messages that a client sends to an agent: store them, and let the agent answer if it can.

Without a chat model the messages are stored and the response says so: memory can be used, but
nobody answers. With one, the last message starts a run of the agent (`rec.agents.stream`).
"""

import json
from collections.abc import Generator, Iterator, Sequence
from typing import Any
from uuid import uuid4

from pydantic import Field
from starlette.responses import JSONResponse, Response

from recollect.app.local_recollect import LocalRecollect
from recollect.domain import agent_run
from recollect.domain.agent import Agent
from recollect.domain.conversation import Conversation, Message
from recollect.errors import InvalidInput, NotFound, RecollectError
from recollect.server.event_streams import stream_response
from recollect.server.letta_v1.letta_call import LettaBody
from recollect.server.letta_v1.letta_ids import letta_id
from recollect.server.letta_v1.letta_message_json import (
    LettaMessage,
    approval_request,
    letta_messages,
)
from recollect.server.letta_v1.letta_unsupported_routes import LettaRouteUnsupported
from recollect.text.message_text import parts_text
from recollect.wire.requests.runs import MAX_STEPS

NOTE_HEADER = "x-recollect-note"
NO_MODEL = (
    "the messages are stored, and the agent does not answer: no chat model is configured; set "
    "RECOLLECT_CHAT_BACKEND and RECOLLECT_CHAT_MODEL"
)
NO_USER_MESSAGE = (
    "the messages are stored, and the agent does not answer: the last one is not the user's"
)
DONE = "[DONE]"
_STOPS = ("stop_reason", "usage_statistics", "error_message")


class ToolCallDecision(LettaBody):
    """A client's decision about one tool call."""

    tool_call_id: str
    approve: bool = False
    reason: str | None = None


class SentMessage(LettaBody):
    """A message of a client: words, or decisions about tool calls (the type `approval`)."""

    type: str | None = None
    role: str | None = None
    content: str | list[dict[str, Any]] | None = None
    name: str | None = None
    otid: str | None = None
    approvals: list[ToolCallDecision] | None = None
    approve: bool | None = None
    reason: str | None = None


class MessagesBody(LettaBody):
    """What a client sends to an agent."""

    messages: list[SentMessage] | None = None
    input: str | list[dict[str, Any]] | None = None
    max_steps: int = Field(MAX_STEPS, ge=1)
    streaming: bool | None = None
    stream_tokens: bool = False
    override_model: str | None = None
    include_return_message_types: list[str] | None = None

    def all_messages(self) -> list[SentMessage]:
        """Return the messages; *input* is a single one of the user."""
        if self.input is not None:
            return [SentMessage(role="user", content=self.input)]
        if not self.messages:
            raise InvalidInput("there is no message: send `messages` or `input`")
        return self.messages


def respond_to_messages(
    rec: LocalRecollect,
    agent: Agent,
    conversation: Conversation,
    body: MessagesBody,
    *,
    streaming: bool,
) -> Response:
    """Store messages and return the agent's answer, as one JSON object or as events."""
    messages = body.all_messages()
    approvals = [message for message in messages if message.type == "approval"]
    drafts = [_draft(message) for message in messages if message.type != "approval"]
    if approvals and drafts:
        raise InvalidInput(
            "a request has either approvals or messages, not both: send the approvals first, and "
            "the messages when the run has ended"
        )
    note = ""
    if approvals:
        events = _decisions(rec, agent, approvals)
    elif not rec.agents.can_run or drafts[-1]["role"] != "user":
        note = NO_USER_MESSAGE if rec.agents.can_run else NO_MODEL
        rec.conversations.append_many(conversation, drafts)
        events = _no_events()
    else:
        *earlier, last = drafts
        if earlier:
            rec.conversations.append_many(conversation, earlier)
        events = rec.agents.stream(
            agent,
            _text(last["content"]),
            conversation=conversation,
            model=body.override_model or "",
            max_steps=body.max_steps,
        )
    parts = letta_events(events, body)
    headers = {NOTE_HEADER: note} if note else {}
    if streaming:
        return stream_response(_with_end(parts), _dump, headers)
    return JSONResponse(_response(list(parts), note), headers=headers)


def _no_events() -> Iterator[agent_run.RunEvent]:
    yield from ()


def _draft(message: SentMessage) -> dict[str, Any]:
    """Return a message of a client as the arguments of `append`."""
    if "tool" in (message.type, message.role):
        raise LettaRouteUnsupported(
            "tools that run in the client are not served; register them with Recollect"
        )
    draft = {
        "role": message.role or "user",
        "content": message.content,
        "name": message.name or "",
    }
    return {**draft, "metadata": {"otid": message.otid}} if message.otid else draft


def _text(content: Any) -> str:
    return content if isinstance(content, str) else parts_text(tuple(content or ()), tool=False)


def _decisions(
    rec: LocalRecollect, agent: Agent, messages: Sequence[SentMessage]
) -> Iterator[agent_run.RunEvent]:
    """Yield the events of runs that go on because a client approved or denied tool calls."""
    waiting = {approval.id: approval for approval in rec.agents.approvals(agent=agent)}
    for message in messages:
        decisions = message.approvals
        if not decisions:  # the older form decides about everything that waits
            approve = message.approve is True
            decisions = [
                ToolCallDecision(tool_call_id=call_id, approve=approve) for call_id in waiting
            ]
        for decision in decisions:
            approval = waiting.pop(decision.tool_call_id, None)
            if approval is None:
                raise NotFound(f"no tool call {decision.tool_call_id!r} waits for approval")
            reason = decision.reason or message.reason or ""
            yield from rec.agents.stream_decision(approval, decision.approve, reason=reason)


def letta_events(
    events: Iterator[agent_run.RunEvent], body: MessagesBody
) -> Generator[LettaMessage, None, None]:
    """
    Yield what happens in a run as Letta's messages; the last ones say why it stopped.

    Closing this iterator closes *events*, which cancels the run.
    """
    kinds, result, step = body.include_return_message_types, None, _Step(body.stream_tokens)
    try:
        for event in events:
            if isinstance(event, agent_run.RunEnded):
                result = event.result
            for part in step.parts_of(event):
                if kinds is None or part["message_type"] in kinds:
                    yield part
    finally:
        close = getattr(events, "close", None)
        if close is not None:
            close()
    if result is not None and result.error:
        yield {
            "message_type": "error_message",
            "run_id": letta_id("run", result.run_id),
            "error_type": result.stop_reason.value,
            "message": result.error,
        }
    yield _stop_reason(result)
    yield _usage(result)


class _Step:
    """What the model wrote in the current step, before its message is stored."""

    def __init__(self, sends_tokens: bool) -> None:
        self._sends_tokens = sends_tokens
        self._begin()

    def _begin(self) -> None:
        self._thought = ""
        self._id = letta_id("message", str(uuid4()))  # of the tokens: the message has no id yet

    def parts_of(self, event: agent_run.RunEvent) -> Iterator[LettaMessage]:
        """Yield what Letta shows of an event."""
        match event:
            case agent_run.TextDelta() if self._sends_tokens:
                yield _delta("assistant_message", self._id, content=event.text)
            case agent_run.ReasoningDelta() if self._sends_tokens:
                yield _delta("reasoning_message", self._id, reasoning=event.text)
            case agent_run.ReasoningDelta():
                self._thought += event.text
            case agent_run.ModelRetried():
                self._begin()
            case agent_run.MessageStored():
                yield from _message_events(
                    event.message, self._thought, tokens_sent=self._sends_tokens
                )
                self._begin()
            case agent_run.ApprovalRequested():
                yield approval_request(event.approval)


def _message_events(message: Message, thought: str, *, tokens_sent: bool) -> Iterator[LettaMessage]:
    parts = letta_messages(message)
    if thought:
        date = message.created_at.isoformat()
        yield {**_delta("reasoning_message", parts[0]["id"], reasoning=thought), "date": date}
    for part in parts:
        if not (tokens_sent and part["message_type"] == "assistant_message"):
            yield part


def _delta(kind: str, message_id: str, **fields: Any) -> LettaMessage:
    return {"id": message_id, "date": None, "message_type": kind, **fields}


def _stop_reason(result: agent_run.RunResult | None) -> LettaMessage:
    reason = agent_run.StopReason.END_TURN if result is None else result.stop_reason
    return {"message_type": "stop_reason", "stop_reason": reason.value}


def _usage(result: agent_run.RunResult | None) -> LettaMessage:
    usage = agent_run.RunUsage() if result is None else result.usage
    return {
        "message_type": "usage_statistics",
        "prompt_tokens": usage.input_tokens,
        "completion_tokens": usage.output_tokens,
        "total_tokens": usage.input_tokens + usage.output_tokens,
        "step_count": usage.steps,
        "run_ids": [] if result is None else [letta_id("run", result.run_id)],
    }


def _response(parts: Sequence[LettaMessage], note: str) -> dict[str, Any]:
    by_kind = {part["message_type"]: part for part in parts}
    error = by_kind.get("error_message")
    response = {
        "messages": [part for part in parts if part["message_type"] not in _STOPS],
        "stop_reason": by_kind["stop_reason"],
        "usage": by_kind["usage_statistics"],
    }
    note = note or (error["message"] if error is not None else "")
    return {**response, "note": note} if note else response


def _with_end(parts: Iterator[LettaMessage]) -> Iterator[LettaMessage | str]:
    """Yield *parts* and Letta's end of a stream; an error becomes a part."""
    try:
        yield from parts
    except RecollectError as error:
        yield {
            "message_type": "error_message",
            "run_id": "",
            "error_type": type(error).__name__,
            "message": str(error),
        }
    yield DONE


def _dump(part: LettaMessage | str) -> bytes:
    return part.encode() if isinstance(part, str) else json.dumps(part).encode()
