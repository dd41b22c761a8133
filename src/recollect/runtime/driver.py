"""
Drive a run: carry out the effects of the step table, and write one checkpoint between them.

The table (step_table.py) decides what comes next. A checkpoint (run_records.py) is one transaction
with all that the last effect made; tools and the model are called outside of it. If the run was
closed by somebody else in the meantime, the checkpoint writes nothing, and the driver stops.
"""

from collections.abc import Callable, Generator, Iterator
from dataclasses import replace

from recollect.domain import agent_run as events
from recollect.domain.agent_run import (
    CallState,
    Run,
    RunCall,
    RunResult,
    RunState,
    RunUsage,
    StopReason,
)
from recollect.domain.conversation import CompactionMode, Message, Role
from recollect.domain.model_usage import ModelCall
from recollect.domain.sleeptime import SleeptimeTrigger
from recollect.errors import (
    ContextOverflow,
    InvalidInput,
    InvalidModelResponse,
    ModelUnavailable,
    RecollectError,
)
from recollect.lazy_dataclass import dataclass
from recollect.models.chat_turn import (
    ToolChatModel,
    Turn,
    TurnReasoning,
    TurnText,
    json_object,
)
from recollect.runtime import run_records as records
from recollect.runtime.run_records import CallAnswer, OpenedRun, PlannedCall, RunLost
from recollect.runtime.runtime_context import RuntimeContext
from recollect.runtime.step_preparation import PreparedStep, StepPreparation
from recollect.runtime.step_table import Effect, Move, StepEvent, StepState, advance
from recollect.runtime.tool_rules import (
    PastCall,
    continues_run,
    ends_run,
    missing_before_exit,
)
from recollect.runtime.tool_runner import ReadyCall, ToolOutcome, batches, run_batch
from recollect.runtime.turn_check import HEARTBEAT, CheckedTurn, TurnRules, check_turn
from recollect.runtime.turn_prompt import prompt_texts
from recollect.service.compaction import compact
from recollect.service.sleeptime_requests import request_if_due
from recollect.store.protocol import Tables
from recollect.text import forgotten_words
from recollect.text.message_text import send_message_text
from recollect.text.token_counter import estimate_tokens
from recollect.wire.requests.conversations import CompactConversationRequest

PURPOSE = "agent"  # in the ledger of model calls
ATTEMPTS = 4  # to call the model in one step
FIRST_WAIT_S = 1.0  # before the second attempt; doubled with each further one
MAX_WAIT_S = 60.0
INVALID_TURNS = 3  # in a row, then the run stops
KEEP_LAST = (10, 2, 0)  # messages that stay, by how often the run was compacted in one step
MAX_ERROR_CHARS = 500
CANCEL_CHECK_S = 0.25  # how often a cancel is looked for while the model writes

Steps = Generator[events.RunEvent, None, StepEvent]


@dataclass
class _Pending:
    """What the last effect made, to be written by the next checkpoint."""

    turn: CheckedTurn | None = None
    usage: tuple[int, int] = (0, 0)
    model_call: ModelCall | None = None
    answers: tuple[CallAnswer, ...] = ()


class AgentRun:
    """One run in this process, from its first message or from a decision until it stops."""

    def __init__(self, context: RuntimeContext, opened: OpenedRun, *, model: str = "") -> None:
        self._context = context
        self._services = context.services
        self._opened = opened
        self._run = opened.run
        self._model_name = model or opened.run.model
        self._model: ToolChatModel | None = None
        self._preparation = StepPreparation(context, opened)
        self._prepared: PreparedStep | None = None
        self._past: list[PastCall] = []
        self._ready: list[list[ReadyCall]] = []
        self._pending = _Pending()
        self._partial: list[str] = []
        self._invalid_turns = 0
        self._compactions = 0
        self._reminder = ""
        self._error = ""
        self._started: list[ReadyCall] = []
        self._heartbeats: dict[str, bool] = {}

    def begin(self) -> Iterator[events.RunEvent]:
        """Answer the message that opened the run."""
        yield from self._drive(StepEvent.BEGUN)

    def resume(self) -> Iterator[events.RunEvent]:
        """Continue after the decision on the last call that waited."""
        self._load_open_calls()
        yield from self._drive(StepEvent.DECIDED)

    def _drive(self, event: StepEvent) -> Iterator[events.RunEvent]:
        state = StepState.STARTING
        effects: dict[Effect, Callable[[], Steps]] = {
            Effect.PREPARE: self._prepare,
            Effect.COMPACT: self._compact,
            Effect.ASK_MODEL: self._ask,
            Effect.RUN_TOOLS: self._run_tools,
        }
        try:
            yield self._started_event()
            while True:
                move = advance(state, event)
                yield from self._checkpoint(move)
                state = move.state
                if move.effect is None:
                    break
                event = yield from effects[move.effect]()
        except RunLost:
            records.store_interrupted_text(self._services, self._opened, "".join(self._partial))
        except GeneratorExit:  # the caller closed the events
            self._abandon(records.BY_CANCEL, StopReason.CANCELLED)
            raise
        except BaseException:
            self._abandon(records.BY_ERROR, StopReason.ERROR)
            raise
        if (indexer := self._services.indexer()) is not None:
            indexer.embed_in_background()  # what was said in the run
        yield events.RunEnded(result=self._result())

    def _started_event(self) -> events.RunStarted:
        return events.RunStarted(
            run_id=self._run.id,
            conversation_id=self._run.conversation_id,
            missing_tools=self._preparation.toolset.missing,
        )

    def _abandon(self, why: str, stop: StopReason) -> None:
        """Close the run, because its events are not read to the end, or because of an error."""
        try:
            records.abandon_run(self._services, self._run, why, stop)
            text = "".join(self._partial)
            records.store_interrupted_text(self._services, self._opened, text)
        except RecollectError:
            return  # the store does not answer; the next message closes the run

    # Effects

    def _prepare(self) -> Steps:
        if self._run.steps >= self._run.max_steps:
            self._error = f"the model was called {self._run.steps} times; raise max_steps"
            return StepEvent.STEPS_SPENT
        window = self._preparation.read()
        if refusal := self._services.engine.budget.refusal(window.spent):
            self._error = f"{refusal}; raise chat_calls_per_day or chat_tokens_per_day"
            return StepEvent.BUDGET_SPENT
        if self._model is None:
            try:
                self._model = self._context.model_for(self._opened.agent, self._model_name)
                self._preparation.use_model(self._model.name.partition(":")[2])
            except (ModelUnavailable, InvalidInput) as error:
                self._error = str(error)
                return StepEvent.MODEL_FAILED
        self._prepared = self._preparation.prepare(window, self._past, reminder=self._reminder)
        yield from ()
        return StepEvent.PROMPT_READY if self._prepared.fits else StepEvent.PROMPT_TOO_LONG

    def _compact(self) -> Steps:
        keep_last = KEEP_LAST[min(self._compactions, len(KEEP_LAST) - 1)]
        self._compactions += 1
        compacted = compact(
            self._services,
            CompactConversationRequest(
                conversation=self._run.conversation_id,
                window_tokens=self._preparation.window_tokens,
                mode=CompactionMode.SLIDING_WINDOW,
                keep_last=keep_last,
                force=True,
            ),
        )
        if compacted is None:
            if self._compactions < len(KEEP_LAST):
                return (yield from self._compact())
            self._error = self._error or (
                f"the instructions, blocks and last messages do not fit into a window of "
                f"{self._preparation.window_tokens:,} tokens; shorten blocks or use a model with "
                "a larger window"
            )
            return StepEvent.NOTHING_TO_COMPACT
        yield events.ContextCompacted(evicted=compacted.evicted, reason=compacted.reason)
        return StepEvent.COMPACTED

    def _ask(self) -> Steps:
        for attempt in range(1, ATTEMPTS + 1):
            self._partial = []
            call = self._new_model_call()
            try:
                turn = yield from self._read_turn()
            except ContextOverflow as error:
                self._record_failure(call, error)
                return StepEvent.CONTEXT_OVERFLOWED
            except InvalidModelResponse as error:
                self._record_failure(call, error)
                return StepEvent.ANSWER_UNUSABLE
            except ModelUnavailable as error:
                self._record_failure(call, error)
                if attempt == ATTEMPTS or not error.is_transient or self._is_budget_spent():
                    return StepEvent.MODEL_FAILED
                wait_s = error.retry_after_s
                if wait_s is None:
                    wait_s = FIRST_WAIT_S * 2.0 ** (attempt - 1)
                if wait_s > MAX_WAIT_S:
                    return StepEvent.MODEL_FAILED
                yield events.ModelRetried(reason=str(error), wait_s=wait_s)
                self._context.wait(wait_s)
                self._require_running()
            else:
                return self._take_turn(turn, call)
        raise AssertionError  # the last attempt returns

    def _read_turn(self) -> Generator[events.RunEvent, None, Turn]:
        assert self._model is not None
        assert self._prepared is not None
        turn: Turn | None = None
        checked_at = self._services.clock.now()
        for part in self._model.stream_turn(self._prepared.request):
            match part:
                case TurnText(text=text):
                    self._partial.append(text)
                    yield events.TextDelta(text=text)
                case TurnReasoning(text=text):
                    yield events.ReasoningDelta(text=text)
                case Turn():
                    turn = part
            now = self._services.clock.now()
            if (now - checked_at).total_seconds() >= CANCEL_CHECK_S:
                self._require_running()
                checked_at = now
        if turn is None:
            raise InvalidModelResponse(f"the model {self._model.name} ended without an answer")
        return turn

    def _take_turn(self, turn: Turn, call: ModelCall) -> StepEvent:
        """Check what the model wrote, for the next checkpoint; return which event it is."""
        assert self._prepared is not None
        prompt = self._prepared
        input_tokens, output_tokens = turn.input_tokens, turn.output_tokens
        if input_tokens is None:
            texts = prompt_texts(prompt.request.system, prompt.request.messages)
            input_tokens = sum(map(estimate_tokens, texts))
        else:
            self._preparation.learn_count(prompt, input_tokens)
        if output_tokens is None:
            written = [turn.text, *(item.arguments for item in turn.calls)]
            output_tokens = sum(map(estimate_tokens, written))
        settings = self._preparation.settings
        checked = check_turn(
            turn,
            TurnRules(
                tools=self._preparation.toolset.tools,
                allowed=prompt.allowed,
                rules=settings.rules,
                past=self._past,
                approved=settings.approved_tools,
                used_ids=prompt.used_ids,
                is_last_chance=self._invalid_turns + 1 >= INVALID_TURNS,
                is_stored_unchanged=records.is_stored_unchanged,
            ),
        )
        self._partial = []
        self._compactions = 0
        invalid = (StepEvent.CALLS_INVALID, StepEvent.CALLS_INVALID_FOR_GOOD)
        self._invalid_turns = self._invalid_turns + 1 if checked.event in invalid else 0
        self._error = checked.error
        self._reminder = ""
        if checked.event is StepEvent.ANSWERED_TOO_EARLY:
            missing = missing_before_exit(
                settings.rules, self._preparation.toolset.tools, self._past
            )
            self._reminder = f"(Before your turn ends, call: {', '.join(missing)}.)"
        self._pending = _Pending(
            turn=checked,
            usage=(input_tokens, output_tokens),
            model_call=self._services.engine.prices.with_cost(
                replace(call, input_tokens=input_tokens, output_tokens=output_tokens)
            ),
        )
        return checked.event

    def _run_tools(self) -> Steps:
        done: list[tuple[ReadyCall, ToolOutcome]] = []
        while self._started:
            batch = self._started
            for ready in batch:
                yield events.ToolStarted(
                    call_id=ready.call.call_id, tool=ready.tool.name, arguments=ready.arguments
                )
            outcomes = run_batch(batch)
            answers = []
            for ready, outcome in zip(batch, outcomes, strict=True):
                self._past.append(PastCall(ready.tool.name, outcome.text))
                answers.append(CallAnswer(ready.call, outcome.text, outcome.succeeded))
                yield events.ToolEnded(
                    call_id=ready.call.call_id,
                    tool=ready.tool.name,
                    succeeded=outcome.succeeded,
                    text=outcome.text,
                )
            done += zip(batch, outcomes, strict=True)
            self._pending = _Pending(answers=tuple(answers))
            self._started = []
            if self._ready:
                yield from self._checkpoint(Move(StepState.RUNNING, Effect.RUN_TOOLS))
        return self._after_tools(done)

    def _after_tools(self, done: list[tuple[ReadyCall, ToolOutcome]]) -> StepEvent:
        settings = self._preparation.settings
        rules, tools = settings.rules, self._preparation.toolset.tools
        names = [ready.tool.name for ready, _ in done]
        may_end = not missing_before_exit(rules, tools, self._past)
        if may_end and any(ends_run(rules, name) for name in names):
            return StepEvent.TOOLS_DONE_BY_EXIT_RULE
        if not settings.heartbeats or not done or not may_end:
            return StepEvent.TOOLS_DONE
        wants_more = any(
            self._heartbeats.get(ready.call.id) or not outcome.succeeded for ready, outcome in done
        )
        if wants_more or any(continues_run(rules, name) for name in names):
            return StepEvent.TOOLS_DONE
        return StepEvent.TOOLS_DONE_WITHOUT_HEARTBEAT

    # Checkpoints

    def _checkpoint(self, move: Move) -> Iterator[events.RunEvent]:
        """Write the result of the last effect and the state of the run, in one transaction."""
        pending, self._pending = self._pending, _Pending()
        starts_tools = move.effect is Effect.RUN_TOOLS
        if pending == _Pending() and move.stop is None and not starts_tools:
            return
        happened = self._services.store.write(
            lambda tables: self._write_checkpoint(tables, pending, move)
        )
        yield from happened

    def _write_checkpoint(
        self, tables: Tables, pending: _Pending, move: Move
    ) -> list[events.RunEvent]:
        services, opened = self._services, self._opened
        run = records.require_running(tables, self._run)
        happened: list[events.RunEvent] = []
        if pending.model_call is not None:
            tables.jobs.add_call(pending.model_call)
            run = replace(
                run,
                steps=run.steps + 1,
                input_tokens=run.input_tokens + pending.usage[0],
                output_tokens=run.output_tokens + pending.usage[1],
                cost_usd=_sum_of_costs(run.cost_usd, pending.model_call.cost_usd),
                model=self._model.name if self._model else "",
            )
        ready, heartbeats = list(self._ready), dict(self._heartbeats)
        if pending.turn is not None:
            stored, calls = self._write_turn(tables, pending.turn, run.steps)
            happened += [events.MessageStored(message=message) for message in stored]
            by_id = {call.id: call for call in pending.turn.calls}
            planned = [
                ReadyCall(
                    row, self._preparation.toolset.tools[row.tool], by_id[row.call_id].arguments
                )
                for row in calls
            ]
            heartbeats = {row.id: by_id[row.call_id].wants_heartbeat for row in calls}
            ready = list(batches(planned))
            happened += [
                events.ApprovalRequested(approval=records.approval_of(tables, row))
                for row in calls
                if row.state is CallState.AWAITING
            ]
        answered = records.store_answers(tables, services, opened.conversation, pending.answers)
        happened += [events.MessageStored(message=message) for message in answered]
        started: list[ReadyCall] = []
        if move.effect is Effect.RUN_TOOLS and ready:
            started = [
                replace(item, call=records.set_call(tables, services, item.call, CallState.STARTED))
                for item in ready.pop(0)
            ]
        run = replace(run, updated_at=services.clock.now(), error=self._error[:MAX_ERROR_CHARS])
        if move.stop is StopReason.REQUIRES_APPROVAL:
            run = replace(run, state=RunState.WAITING, stop_reason=move.stop)
        elif move.stop is not None:
            run = replace(run, state=RunState.ENDED, stop_reason=move.stop)
        tables.runs.set(run)
        if run.state is RunState.ENDED:
            request_if_due(tables, services, opened.conversation, SleeptimeTrigger.TURNS)
        # The transaction may be run again, so the state of this object changes last.
        self._run, self._ready, self._started = run, ready, started
        self._heartbeats = heartbeats
        return happened

    def _write_turn(
        self, tables: Tables, turn: CheckedTurn, step: int
    ) -> tuple[list[Message], list[RunCall]]:
        """Store the model's message; if its calls are invalid, with answers that say why."""
        if not turn.text.strip() and not turn.calls:
            return [], []
        services, opened = self._services, self._opened
        is_valid = not any(call.problem for call in turn.calls)
        message, calls = records.store_turn(
            tables,
            services,
            opened,
            step=step,
            text=turn.text,
            calls=[
                PlannedCall(
                    call.id, call.name, call.arguments_text, is_valid and call.needs_approval
                )
                for call in turn.calls
            ],
            expires_at=records.expiry(services, self._preparation.settings.approval_s),
        )
        if is_valid:
            return [message], calls
        answers = [
            CallAnswer(
                row,
                f"Error: {call.problem}" if call.problem else "Not run: another call is invalid.",
                False,
                was_run=False,
            )
            for row, call in zip(calls, turn.calls, strict=True)
        ]
        answered = records.store_answers(tables, services, opened.conversation, answers)
        return [message, *answered], []

    def _load_open_calls(self) -> None:
        """Read what a resumed run has called so far, and the calls that are to be run now."""
        tools = self._preparation.toolset.tools
        planned: list[ReadyCall] = []
        not_run: list[CallAnswer] = []
        with self._services.store.read() as tables:
            messages = {
                message.tool_call_id: message
                for message in tables.messages.page(
                    self._run.conversation_id, start=self._run.first_position, limit=10_000
                )
                if message.role is Role.TOOL
            }
            for call in tables.runs.calls(self._run.id):
                if call.state is CallState.ANSWERED:
                    answer = messages.get(call.call_id)
                    if answer is not None and not answer.metadata.get("not_run"):
                        self._past.append(PastCall(call.tool, answer.content))
                    continue
                arguments_text = records.stored_arguments(tables, call)
                if call.tool not in tools:
                    text = f"Not run: there is no tool {call.tool} here."
                    not_run.append(CallAnswer(call, text, False, was_run=False))
                elif forgotten_words.MARKER in arguments_text:
                    # What runs is what was approved, not what `forget` left of it.
                    text = "Not run: words of its arguments were forgotten while it waited."
                    not_run.append(CallAnswer(call, text, False, was_run=False))
                else:
                    arguments = json_object(arguments_text)
                    arguments.pop(HEARTBEAT, None)
                    planned.append(ReadyCall(call, tools[call.tool], arguments))
        self._ready = list(batches(planned))
        self._pending = _Pending(answers=tuple(not_run))

    # The model

    def _new_model_call(self) -> ModelCall:
        assert self._model is not None
        clock = self._services.clock
        return ModelCall(
            id=clock.new_id(),
            event_id=None,
            model=self._model.name,
            purpose=PURPOSE,
            asked_at=clock.now(),
        )

    def _record_failure(self, call: ModelCall, error: ModelUnavailable) -> None:
        self._error = str(error)
        failed = replace(call, error=str(error)[:MAX_ERROR_CHARS])
        self._services.store.write(lambda tables: tables.jobs.add_call(failed))

    def _is_budget_spent(self) -> bool:
        return bool(self._services.engine.budget.refusal(self._preparation.read().spent))

    def _require_running(self) -> None:
        with self._services.store.read() as tables:
            records.require_running(tables, self._run)

    # The result

    def _result(self) -> RunResult:
        result = run_result(self._context, self._run.id)
        prepared = self._preparation
        return replace(result, retrieval_id=prepared.retrieval_id, citations=prepared.citations)


def run_result(context: RuntimeContext, run_id: str) -> RunResult:
    """Return the stored state of a run as a result."""
    with context.services.store.read() as tables:
        run = tables.runs.get(run_id)
        if run is None:  # its conversation was deleted meanwhile
            return RunResult(run_id=run_id, conversation_id="", stop_reason=StopReason.CANCELLED)
        start = run.first_position + 1
        messages = tables.messages.page(run.conversation_id, start=start, limit=10_000)
        waiting = [call for call in tables.runs.calls(run.id) if call.state is CallState.AWAITING]
        approvals = tuple(records.approval_of(tables, call) for call in waiting)
    return RunResult(
        run_id=run.id,
        conversation_id=run.conversation_id,
        stop_reason=run.stop_reason or StopReason.ERROR,
        text=_last_text(messages),
        messages=tuple(messages),
        approvals=approvals,
        usage=_usage(run),
        model=run.model,
        error=run.error if run.stop_reason is not StopReason.END_TURN else "",
    )


def _usage(run: Run) -> RunUsage:
    return RunUsage(
        steps=run.steps,
        input_tokens=run.input_tokens,
        output_tokens=run.output_tokens,
        cost_usd=run.cost_usd,
    )


def _sum_of_costs(so_far: float | None, cost: float | None) -> float | None:
    return so_far if cost is None else (so_far or 0.0) + cost


def _last_text(messages: list[Message]) -> str:
    for message in reversed(messages):
        if message.role is Role.ASSISTANT:
            text = message.content or send_message_text(message.tool_calls)
            if text:
                return text
    return ""
