"""The dependencies of the agent runtime, passed in by the composition root."""

import time
from collections.abc import Callable
from dataclasses import field

from recollect.api.transport import Transport
from recollect.domain.agent import Agent
from recollect.lazy_dataclass import dataclass
from recollect.models.chat_turn import ToolChatModel
from recollect.runtime.toolset import ToolRegistry
from recollect.service.services import Services


@dataclass(frozen=True)
class RuntimeContext:
    """
    The services, the transport that memory tools use, the registered tools, and the models.

    `model_for` returns the model of an agent, or raises `ModelUnavailable` or `InvalidInput`; the
    text is the model that a request asks for, or ''.
    """

    services: Services
    transport: Transport
    model_for: Callable[[Agent, str], ToolChatModel]
    registry: ToolRegistry = field(default_factory=ToolRegistry)
    wait: Callable[[float], None] = time.sleep
