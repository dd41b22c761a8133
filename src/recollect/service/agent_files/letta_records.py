"""The records of Letta's agent files (.af): the fields we model. A field that is null is absent."""

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, model_validator

from recollect.domain import limits
from recollect.domain.conversation import Role
from recollect.errors import InvalidInput
from recollect.service import validate
from recollect.service.agent_files.file_fields import (
    CharLimit,
    Flag,
    Id,
    JsonList,
    JsonObject,
    Moment,
    Name,
    field_check,
    text,
    texts,
)
from recollect.service.agents import MAX_PROMPT
from recollect.service.block_lookup import MAX_LABEL

# Letta's roles in ours. An approval is the assistant's question or the user's answer to it.
ROLES = {role.value: role for role in Role} | {"function": Role.TOOL, "summary": Role.SYSTEM}
APPROVAL = "approval"
MAX_IDS = 1_000_000

JsonRecord = dict[str, Any]
ShortText = Annotated[str, text(limits.MAX_NAME)]
LongText = Annotated[str, text(limits.MAX_CONTENT)]
Ids = Annotated[tuple[str, ...], texts(limits.MAX_NAME, max_items=MAX_IDS)]


def _role(_: str, value: Any, __: int) -> str:
    if not isinstance(value, str) or value not in {*ROLES, APPROVAL}:
        roles = ", ".join(sorted({*ROLES, APPROVAL}))
        raise InvalidInput(f"{value!r} is not known; use one of {roles}")
    return value


def _content(name: str, value: Any, _: int) -> str | tuple[Any, ...]:
    if isinstance(value, list):
        return tuple(value)
    if not isinstance(value, str):
        raise InvalidInput("must be text or a list of parts")
    return validate.plain_text_of(name, value)


class LettaRecord(BaseModel):
    """An object of an .af. Fields that are not listed are ignored here and carried along."""

    model_config = ConfigDict(extra="ignore", defer_build=True)

    @model_validator(mode="before")
    @classmethod
    def _without_nulls(cls, value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        return {name: field for name, field in value.items() if field is not None}


class LettaBlock(LettaRecord):
    """A block, which agents name by its id."""

    id: Id
    label: Annotated[str, text(MAX_LABEL)]
    value: LongText = ""
    limit: CharLimit | None = None
    description: LongText = ""
    read_only: Flag = False
    hidden: Flag = False
    metadata: JsonObject = {}


class LettaMessage(LettaRecord):
    """A message of an agent."""

    id: Id
    role: Annotated[str, field_check(_role)]
    content: Annotated[str | tuple[Any, ...] | None, field_check(_content)] = None
    name: ShortText = ""
    tool_calls: JsonList = ()
    tool_call_id: ShortText = ""
    tool_returns: tuple[JsonRecord, ...] = ()
    created_at: Moment | None = None


class LettaModelConfig(LettaRecord):
    """The model an agent runs on."""

    model: ShortText | None = None


class LettaAgent(LettaRecord):
    """An agent with its messages."""

    name: Name
    description: Annotated[str, text(limits.MAX_SUMMARY)] = ""
    system: Annotated[str, text(MAX_PROMPT)] = ""
    metadata: JsonObject = {}
    llm_config: LettaModelConfig = LettaModelConfig()
    model: ShortText = ""
    block_ids: Ids = ()
    tool_ids: Ids = ()
    in_context_message_ids: Ids = ()
    messages: tuple[LettaMessage, ...] = ()


class LettaFile(LettaRecord):
    """A whole file."""

    agents: Annotated[tuple[LettaAgent, ...], Field(min_length=1)]
    blocks: tuple[LettaBlock, ...] = ()
    groups: tuple[JsonRecord, ...] = ()
    files: tuple[JsonRecord, ...] = ()
    sources: tuple[JsonRecord, ...] = ()
    tools: tuple[JsonRecord, ...] = ()
    mcp_servers: tuple[JsonRecord, ...] = ()
    created_at: Moment | None = None
