"""The verb that hands out an agent's tools."""

from recollect.app.agents import AgentLike
from recollect.app.blocks import BlockVerbs
from recollect.app.conversations import ConversationLike, ConversationVerbs
from recollect.app.given import Place
from recollect.wire.agent_tools import AgentTools


class ToolVerbs(BlockVerbs, ConversationVerbs):
    """The verb that hands out an agent's tools."""

    def tools(
        self,
        agent: AgentLike,
        *,
        project: Place = None,
        conversation: ConversationLike | None = None,
    ) -> AgentTools:
        """Return the memory tools of an agent, under the names Letta gave them."""
        return AgentTools(self, agent, project=project, conversation=conversation)
