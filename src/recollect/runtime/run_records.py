"""
The checkpoints of a run: each function here is one transaction, or a part of one.

Three rules hold in every state that is on disk. A conversation has at most one open run. A tool
call is stored as started before the tool runs, so it is never run twice. Closing a run answers
every call of it that has no answer, so the next message finds a conversation that a model accepts.

A run that was closed by somebody else (a new message, a cancel, an expired approval) is lost to
its driver: `RunLost` tells it, and nothing is written.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from recollect.context.tool_call_groups import tool_calls_of
from recollect.domain.agent import Agent
from recollect.domain.agent_run import Approval, CallState, Run, RunCall, RunState, StopReason
from recollect.domain.conversation import Conversation, Message, Role
from recollect.errors import IllegalTransition, InvalidInput, NotFound
from recollect.lazy_dataclass import dataclass
from recollect.models.chat_turn import json_object
from recollect.runtime.agent_settings import agent_settings, with_approved_tool
from recollect.service import validate
from recollect.service.agents import require_agent
from recollect.service.block_lookup import require_conversation
from recollect.service.conversations import add_to, draft_message
from recollect.service.current_conversation import current_conversation
from recollect.service.place_lookup import RequestPlace, ensure_place
from recollect.service.services import Services
from recollect.store.protocol import Tables
from recollect.wire.requests.conversations import AppendMessageRequest
from recollect.wire.requests.runs import (
    CancelRunRequest,
    DecideApprovalRequest,
    ListApprovalsRequest,
    ListRunsRequest,
    RunAgentRequest,
)

BY_NEW_MESSAGE = "the user sent another message"
BY_CANCEL = "the user cancelled it"
BY_ERROR = "the program stopped during the run"
BY_EXPIRY = "nobody decided in time"
MAX_APPROVALS = 1_000  # listed, or expired in one transaction


class RunLost(Exception):
    """The run was closed by somebody else; its driver has to stop."""


@dataclass(frozen=True, kw_only=True)
class OpenedRun:
    """A run with what its driver needs."""

    run: Run
    agent: Agent
    conversation: Conversation
    first: Message  # the user's


@dataclass(frozen=True)
class PlannedCall:
    """A call of the model as it is stored."""

    id: str
    name: str
    arguments: str
    needs_approval: bool = False


@dataclass(frozen=True)
class CallAnswer:
    """The answer to a call."""

    call: RunCall
    text: str
    succeeded: bool
    was_run: bool = True


def open_run(services: Services, request: RunAgentRequest) -> OpenedRun:
    """Store the message and a new run, after closing the open run of the conversation."""
    draft = _draft(services, role=Role.USER, content=request.message)

    def write(tables: Tables) -> OpenedRun:
        agent = require_agent(tables, request.agent)
        conversation = _conversation_of(tables, services, request, agent)
        close_open_run(tables, services, conversation, BY_NEW_MESSAGE)
        [first] = add_to(tables, services, conversation, [draft])
        now = services.clock.now()
        run = Run(
            id=services.clock.new_id(),
            conversation_id=conversation.id,
            max_steps=request.max_steps,
            first_position=first.position,
            started_at=now,
            updated_at=now,
        )
        tables.runs.add(run)
        return OpenedRun(run=run, agent=agent, conversation=conversation, first=first)

    return services.store.write(write)


def _conversation_of(
    tables: Tables, services: Services, request: RunAgentRequest, agent: Agent
) -> Conversation:
    if request.conversation is None and request.project is None:
        return current_conversation(tables, services, agent, services.clock.now())
    if request.conversation is None:
        where = RequestPlace.of(request.project, None, agent.id, None)
        places = ensure_place(tables, where, services.clock)
        conversation = Conversation(
            id=services.clock.new_id(),
            agent_id=agent.id,
            project_id=places.project_id,
            repo_id=places.repo_id,
            started_at=services.clock.now(),
        )
        tables.conversations.add(conversation)
        return conversation
    conversation = require_conversation(tables, request.conversation)
    if conversation.agent_id != agent.id:
        raise InvalidInput(f"conversation {conversation.id} is not one of agent {agent.name!r}")
    if conversation.ended_at is not None:
        raise IllegalTransition(
            f"conversation {conversation.id} ended on {conversation.ended_at:%Y-%m-%d %H:%M}; "
            "resume it first, or start another"
        )
    return conversation


def close_open_run(
    tables: Tables,
    services: Services,
    conversation: Conversation,
    why: str,
    stop: StopReason = StopReason.CANCELLED,
) -> Run | None:
    """End the open run of a conversation, answering what has no answer; None if there is none."""
    run = tables.runs.open_run(conversation.id)
    if run is None:
        return None
    texts = {
        CallState.PLANNED: f"Not run: {why}.",
        CallState.APPROVED: f"Not run: {why}.",
        CallState.AWAITING: f"Denied: {why}.",
        CallState.STARTED: f"Interrupted: {why}. It is not known whether the tool took effect; "
        "it was not run again.",
    }
    open_calls = [call for call in tables.runs.calls(run.id) if call.state in texts]
    answers = [
        CallAnswer(call, texts[call.state], False, was_run=call.state is CallState.STARTED)
        for call in open_calls
    ]
    store_answers(tables, services, conversation, answers)
    ended = replace(
        run,
        state=RunState.ENDED,
        stop_reason=stop,
        updated_at=services.clock.now(),
    )
    tables.runs.set(ended)
    return ended


def cancel_run(services: Services, request: CancelRunRequest) -> Run | None:
    """End the open run of a conversation; None if there is none."""

    def write(tables: Tables) -> Run | None:
        conversation = require_conversation(tables, request.conversation)
        return close_open_run(tables, services, conversation, BY_CANCEL)

    return services.store.write(write)


def abandon_run(services: Services, run: Run, why: str, stop: StopReason) -> None:
    """End a run whose driver stops early; do nothing if it is not running any more."""

    def write(tables: Tables) -> None:
        stored = tables.runs.get(run.id)
        if stored is not None and stored.state is RunState.RUNNING:
            conversation = require_conversation(tables, run.conversation_id)
            close_open_run(tables, services, conversation, why, stop)

    services.store.write(write)


def require_running(tables: Tables, run: Run) -> Run:
    """Return the run as it is stored, or raise `RunLost` if it is not running any more."""
    stored = tables.runs.get(run.id)
    if stored is None or stored.state is not RunState.RUNNING:
        raise RunLost(run.id)
    return stored


def store_turn(
    tables: Tables,
    services: Services,
    opened: OpenedRun,
    *,
    step: int,
    text: str,
    calls: Sequence[PlannedCall],
    expires_at: datetime,
) -> tuple[Message, list[RunCall]]:
    """Store what the model wrote, and its calls."""
    draft = _draft(
        services,
        role=Role.ASSISTANT,
        content=text,
        tool_calls=[
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": call.arguments},
            }
            for call in calls
        ],
    )
    [message] = add_to(tables, services, opened.conversation, [draft])
    rows = [
        RunCall(
            id=services.clock.new_id(),
            run_id=opened.run.id,
            conversation_id=opened.conversation.id,
            step=step,
            place=place,
            message_id=message.id,
            call_id=call.id,
            tool=call.name,
            state=CallState.AWAITING if call.needs_approval else CallState.PLANNED,
            expires_at=expires_at if call.needs_approval else None,
            updated_at=services.clock.now(),
        )
        for place, call in enumerate(calls)
    ]
    for row in rows:
        tables.runs.add_call(row)
    return message, rows


def store_answers(
    tables: Tables, services: Services, conversation: Conversation, answers: Iterable[CallAnswer]
) -> list[Message]:
    """Store the answers to calls; a call that has one already is left alone."""
    messages = []
    for answer in answers:
        stored = tables.runs.call(answer.call.id)
        if stored is None or stored.state is CallState.ANSWERED:
            continue
        draft = _draft(
            services,
            role=Role.TOOL,
            content=answer.text or "(no output)",
            tool_call_id=answer.call.call_id,
            name=answer.call.tool,
            metadata=_answer_metadata(answer),
        )
        messages += add_to(tables, services, conversation, [draft])
        set_call(tables, services, answer.call, CallState.ANSWERED)
    return messages


def _answer_metadata(answer: CallAnswer) -> dict[str, bool]:
    flags = {"failed": not answer.succeeded, "not_run": not answer.was_run}
    return {name: True for name, is_set in flags.items() if is_set}


def set_call(tables: Tables, services: Services, call: RunCall, state: CallState) -> RunCall:
    """Store the state of a call; return the call."""
    changed = replace(call, state=state, updated_at=services.clock.now())
    tables.runs.set_call(changed)
    return changed


def store_interrupted_text(services: Services, opened: OpenedRun, text: str) -> Message | None:
    """Store what the model wrote before it was cancelled, unless something was said since."""
    if not text.strip():
        return None
    draft = _draft(services, role=Role.ASSISTANT, content=text, metadata={"interrupted": True})

    def write(tables: Tables) -> Message | None:
        latest = tables.runs.of_conversation(opened.conversation.id, limit=1)
        is_gone = tables.conversations.get(opened.conversation.id) is None
        if is_gone or not latest or latest[0].id != opened.run.id:
            return None
        [message] = add_to(tables, services, opened.conversation, [draft])
        return message

    return services.store.write(write)


def decide(services: Services, request: DecideApprovalRequest) -> tuple[OpenedRun, bool]:
    """Store a decision; return the run, and whether it was the last one it waited for."""

    def write(tables: Tables) -> tuple[OpenedRun, bool] | str:
        now = services.clock.now()
        call = tables.runs.call(request.approval)
        if call is None:
            raise NotFound(
                f"there is no approval {request.approval!r} in this store; "
                "`rec.agents.approvals()` lists those that wait"
            )
        run = tables.runs.get(call.run_id)
        if call.state is not CallState.AWAITING or run is None or run.state is RunState.ENDED:
            raise IllegalTransition(
                f"the call of {call.tool} does not wait for a decision any more: it was decided, "
                "cancelled or replaced by a new message; see rec.agents.runs(conversation)"
            )
        opened = _load_run(tables, run)
        if call.expires_at is not None and call.expires_at <= now:
            close_open_run(tables, services, opened.conversation, BY_EXPIRY)
            return f"the call of {call.tool} expired on {call.expires_at:%Y-%m-%d %H:%M}"
        if request.approve:
            set_call(tables, services, call, CallState.APPROVED)
            if request.always:
                agent = with_approved_tool(opened.agent, call.tool)
                tables.agents.set(replace(agent, updated_at=now))
        else:
            reason = f": {request.reason.strip()}" if request.reason.strip() else "."
            text = f"The user denied this call{reason}"
            answer = CallAnswer(call, text, False, was_run=False)
            store_answers(tables, services, opened.conversation, [answer])
        waiting = any(item.state is CallState.AWAITING for item in tables.runs.calls(run.id))
        if not waiting:
            run = replace(run, state=RunState.RUNNING, stop_reason=None, updated_at=now)
            tables.runs.set(run)
        return replace(_load_run(tables, run), run=run), not waiting

    outcome = services.store.write(write)
    if isinstance(outcome, str):
        raise IllegalTransition(f"{outcome}; it counts as denied. Send the message again")
    return outcome


def _load_run(tables: Tables, run: Run) -> OpenedRun:
    conversation = require_conversation(tables, run.conversation_id)
    agent = tables.agents.get(conversation.agent_id or "")
    [first] = tables.messages.page(conversation.id, start=run.first_position, limit=1)
    if agent is None:
        raise NotFound(f"the agent of conversation {conversation.id} was deleted")
    return OpenedRun(run=run, agent=agent, conversation=conversation, first=first)


def expire_approvals(services: Services) -> int:
    """Close the runs whose approvals have expired; return how many."""

    def write(tables: Tables) -> int:
        now = services.clock.now()
        expired = tables.runs.awaiting(until=now, limit=MAX_APPROVALS)
        closed = 0
        for conversation_id in dict.fromkeys(call.conversation_id for call in expired):
            conversation = require_conversation(tables, conversation_id)
            closed += close_open_run(tables, services, conversation, BY_EXPIRY) is not None
        return closed

    with services.store.read() as tables:
        if not tables.runs.awaiting(until=services.clock.now(), limit=1):
            return 0
    return services.store.write(write)


def list_approvals(services: Services, request: ListApprovalsRequest) -> list[Approval]:
    """Return the calls that wait for a decision and have not expired."""
    with services.store.read() as tables:
        agent = require_agent(tables, request.agent) if request.agent is not None else None
        waiting = tables.runs.awaiting(after=services.clock.now(), limit=MAX_APPROVALS)
        approvals = [approval_of(tables, call) for call in waiting]
    return [
        approval
        for approval in approvals
        if (agent is None or approval.agent_id == agent.id)
        and request.conversation in (None, approval.conversation_id)
    ]


def approval_of(tables: Tables, call: RunCall) -> Approval:
    """Return a call that waits as an approval, with the arguments from its message."""
    conversation = require_conversation(tables, call.conversation_id)
    agent = tables.agents.get(conversation.agent_id or "")
    tool = agent_settings(agent).file_tools.get(call.tool) if agent else None
    return Approval(
        id=call.id,
        run_id=call.run_id,
        conversation_id=call.conversation_id,
        agent_id=conversation.agent_id,
        tool=call.tool,
        arguments=json_object(stored_arguments(tables, call)),
        requested_at=call.updated_at,
        expires_at=call.expires_at or call.updated_at,
        source_code=tool.source_code if tool else "",
    )


def stored_arguments(tables: Tables, call: RunCall) -> str:
    """Return the arguments of a call, from the message that made it."""
    message = tables.messages.get(call.message_id)
    calls = list(tool_calls_of(message)) if message is not None else []
    arguments = next((item.arguments for item in calls if item.id == call.call_id), "{}")
    return arguments if isinstance(arguments, str) else json.dumps(arguments)


def is_stored_unchanged(arguments: str) -> bool:
    """Return whether *arguments* of a call have no secret, so that they are stored as they are."""
    return bool(validate.json_of("arguments", arguments) == arguments)


def list_runs(services: Services, request: ListRunsRequest) -> list[Run]:
    """Return the runs of a conversation, the latest first."""
    with services.store.read() as tables:
        conversation = require_conversation(tables, request.conversation)
        return tables.runs.of_conversation(conversation.id, limit=request.limit)


def expiry(services: Services, seconds: float) -> datetime:
    """Return when an approval that is requested now expires."""
    return services.clock.now() + timedelta(seconds=seconds)


def _draft(services: Services, **fields: Any) -> Message:
    return draft_message(services, AppendMessageRequest.of({"conversation": "", **fields}))
