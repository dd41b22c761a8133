"""Tell which chat model an agent runs on and what it costs, without creating or calling it."""

from recollect.domain.model_usage import ChatModelStatus
from recollect.models.model_names import agent_model_name
from recollect.service.agents import require_agent
from recollect.service.services import Services
from recollect.wire.requests.models import GetChatModelRequest


def chat_model_status(services: Services, request: GetChatModelRequest) -> ChatModelStatus:
    """Return the chat model of an agent, or of agents that name none."""
    own = ""
    if request.agent is not None:
        with services.store.read() as tables:
            own = require_agent(tables, request.agent).model
    engine, settings = services.engine, services.settings
    if not engine.uses_chat:
        return ChatModelStatus()
    if settings.chat_backend == "none":  # the program passed a model
        model = engine.chat()
        name = model.name if model is not None else ""
    else:
        name = f"{settings.chat_backend}:{agent_model_name(settings, own)}"
    price = engine.prices.price(name)
    if price is None:
        return ChatModelStatus(name=name)
    return ChatModelStatus(name=name, input_usd=price.input_usd, output_usd=price.output_usd)
