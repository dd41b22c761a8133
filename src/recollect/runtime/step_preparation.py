"""
Prepare a step: read the conversation, compile memory, choose the tools, and measure the prompt.

The system message is compiled again only if a block changed. Recalled memories are searched once
for each message of the user.
"""

from collections.abc import Sequence
from dataclasses import field, replace

from recollect.api.agent_tools import AgentTools
from recollect.domain.block import Block
from recollect.domain.context_bundle import Citation
from recollect.domain.conversation import Message, Summary
from recollect.domain.model_usage import ModelUsage, start_of_day
from recollect.lazy_dataclass import dataclass
from recollect.models.chat_turn import ANY_TOOL, ToolSpec, TurnRequest
from recollect.models.turn_response import to_json_text
from recollect.runtime.agent_settings import AgentSettings, agent_settings
from recollect.runtime.run_records import OpenedRun, require_running
from recollect.runtime.runtime_context import RuntimeContext
from recollect.runtime.tool_rules import AllowedTools, PastCall, allowed_tools, usage_text
from recollect.runtime.toolset import Toolset, toolset_of
from recollect.runtime.turn_check import HEARTBEAT
from recollect.runtime.turn_prompt import prompt_texts, system_text, turn_messages
from recollect.service.block_lookup import resolve_place, visible_blocks
from recollect.service.context_window import window_size
from recollect.service.task_context import context_for
from recollect.text.token_counter import TokenCounter, counter_for
from recollect.wire.requests.recollect import ContextForRequest
from recollect.wire.requests.shared import BlockPlaceFields

RECALL_TOKENS = 2_000  # of recalled memories in the prompt of a run
ESTIMATE_MARGIN = 1.15  # an estimated count may be too low
PER_MESSAGE_TOKENS = 4
_HEARTBEAT_SCHEMA = {
    "type": "boolean",
    "description": "Whether you want to continue after this call, without a message of the user.",
}


@dataclass(frozen=True)
class WindowState:
    """A conversation as it is read before a step."""

    messages: Sequence[Message]
    summary: Summary | None
    blocks: Sequence[Block]
    spent: ModelUsage


@dataclass(frozen=True, kw_only=True)
class PreparedStep:
    """What the model is asked, what it may do, and whether the prompt fits."""

    request: TurnRequest
    allowed: AllowedTools
    used_ids: frozenset[str]
    tokens: int
    fits: bool


@dataclass
class StepPreparation:
    """Prepares the steps of one run."""

    context: RuntimeContext
    opened: OpenedRun
    settings: AgentSettings = field(init=False)
    toolset: Toolset = field(init=False)
    retrieval_id: str | None = None
    citations: tuple[Citation, ...] = ()
    estimate_factor: float = 1.0  # how much more the server counted than we did

    def __post_init__(self) -> None:
        agent, conversation = self.opened.agent, self.opened.conversation
        self.settings = agent_settings(agent)
        memory = AgentTools(
            self.context.transport,
            agent.id,
            project=conversation.project_id,
            conversation=conversation.id,
            trusted=self.settings.edits_shared_blocks,
        )
        self.toolset = toolset_of(
            self.settings,
            self.context.registry,
            memory,
            runs_agent_file_code=self.context.services.runs_agent_file_code,
        )
        self._model = agent.model
        self._counter: TokenCounter = counter_for(agent.model)
        self._rules_text = usage_text(self.settings.rules)
        self._compiled_from: tuple[object, ...] | None = None
        self._system = ""
        self._injected: str | None = None
        self._counts: dict[str, int] = {}

    @property
    def window_tokens(self) -> int:
        """The size of the model's window."""
        agent = replace(self.opened.agent, model=self._model)
        return window_size(self.context.services, None, agent)

    def use_model(self, name: str) -> None:
        """Measure for the model that answers, which may not be the one that the agent names."""
        if name and name != self._model:
            self._model, self._counter = name, counter_for(name)
            self._counts = {}

    def read(self) -> WindowState:
        """Read the conversation; raise `RunLost` if the run was closed."""
        services, conversation = self.context.services, self.opened.conversation
        fields = BlockPlaceFields(agent=self.opened.agent.id, conversation=conversation.id)
        with services.store.read() as tables:
            require_running(tables, self.opened.run)
            place = resolve_place(tables, fields)
            summaries = tables.conversations.last_summaries([conversation.id])
            return WindowState(
                tables.messages.in_context(conversation.id),
                summaries.get(conversation.id),
                visible_blocks(tables, place),
                tables.jobs.spent_since(start_of_day(services.clock.now())),
            )

    def prepare(
        self, window: WindowState, past: Sequence[PastCall], *, reminder: str = ""
    ) -> PreparedStep:
        """Return what the model is asked next."""
        system = self._compile(window.blocks)
        if self._injected is None:
            self._injected = self._recall(system)
        messages = turn_messages(
            window.messages,
            summary=window.summary,
            injected={self.opened.first.id: self._injected},
            reminder=reminder,
        )
        allowed = allowed_tools(self.settings.rules, self.toolset.tools, past)
        specs = tuple(self._spec(name) for name in self.toolset.tools if name in allowed.names)
        choice = ""
        if allowed.is_call_required and specs:
            choice = specs[0].name if len(specs) == 1 else ANY_TOOL
        max_tokens = min(self.settings.max_tokens, self.window_tokens // 4)
        request = TurnRequest(
            system=system,
            messages=messages,
            tools=specs,
            tool_choice=choice,
            max_tokens=max_tokens,
        )
        tokens = self._measure(request)
        return PreparedStep(
            request=request,
            allowed=allowed,
            used_ids=frozenset(call.id for message in messages for call in message.calls),
            tokens=tokens,
            fits=tokens <= self.window_tokens - max_tokens,
        )

    def _compile(self, blocks: Sequence[Block]) -> str:
        compiled_from = tuple((block.id, block.version, block.updated_at) for block in blocks)
        if compiled_from != self._compiled_from:
            self._system = system_text(self.opened.agent, blocks, self._rules_text)
            self._compiled_from = compiled_from
        return self._system

    def _recall(self, system: str) -> str:
        """Return what is remembered about the user's message, and the time; it is not stored."""
        opened = self.opened
        room = max(min(RECALL_TOKENS, self.window_tokens // 8), 100)
        bundle = context_for(
            self.context.services,
            ContextForRequest(
                task=opened.first.content,
                agent=opened.agent.id,
                conversation=opened.conversation.id,
                history=False,
                budget_tokens=self._count(system) + room,
            ),
            embeds_pending=False,  # the user's message is pending, and the model sees it anyway
        )
        self.retrieval_id = bundle.retrieval_id
        self.citations = bundle.citations
        return bundle.text.removeprefix(bundle.prefix).strip()

    def _spec(self, name: str) -> ToolSpec:
        spec = self.toolset.tools[name].spec
        if not self.settings.heartbeats:
            return spec
        properties = {**spec.parameters.get("properties", {}), HEARTBEAT: _HEARTBEAT_SCHEMA}
        required = [*spec.parameters.get("required", ()), HEARTBEAT]
        parameters = {**spec.parameters, "properties": properties, "required": required}
        return ToolSpec(spec.name, spec.description, parameters)

    def _measure(self, request: TurnRequest) -> int:
        texts = prompt_texts(request.system, request.messages)
        tools = to_json_text(
            [[spec.name, spec.description, spec.parameters] for spec in request.tools]
        )
        total = sum(map(self._count, texts)) + self._count(tools)
        total += PER_MESSAGE_TOKENS * len(request.messages)
        margin = 1.0 if self._counter.exact else ESTIMATE_MARGIN
        return int(total * max(margin, self.estimate_factor))

    def _count(self, text: str) -> int:
        if text not in self._counts:
            self._counts[text] = self._counter.count(text)
        return self._counts[text]

    def learn_count(self, prepared: PreparedStep, input_tokens: int) -> None:
        """Correct later estimates by what the server counted."""
        if prepared.tokens:
            margin = 1.0 if self._counter.exact else ESTIMATE_MARGIN
            counted = input_tokens * max(margin, self.estimate_factor) / prepared.tokens
            self.estimate_factor = max(self.estimate_factor, min(counted, 3.0))
