"""Types of the arguments that verbs take in several forms."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from os import PathLike
from typing import Any

from recollect.domain.agent import Agent
from recollect.domain.block import Block
from recollect.domain.conversation import Conversation, Message

Texts = str | Sequence[str]
Moment = str | datetime | None
Place = str | PathLike[str] | None  # a name, a git remote or a path
AgentLike = Agent | str
BlockLike = Block | str
ConversationLike = Conversation | str
MessageLike = Message | str
Content = str | Sequence[Any] | None  # text, or message parts as OpenAI and Anthropic write them
Material = str | Sequence[Mapping[str, Any]] | Mapping[str, Any] | PathLike[str]
FileRequest = str | PathLike[str] | Mapping[str, Any]
FilePath = str | PathLike[str]
