"""Verbs about a model's context window: what fills it, and making room."""

from collections.abc import Sequence
from typing import Any

from recollect.app.agents import AgentLike
from recollect.app.conversations import ConversationLike
from recollect.app.given import Place as Project
from recollect.app.given import Verbs, path_of
from recollect.domain.context import WindowOverview
from recollect.domain.conversation import Compacted
from recollect.errors import InvalidInput
from recollect.service import compaction, window
from recollect.service.block_target import Place
from recollect.text.tokens import counter_for


class WindowVerbs(Verbs):
    """Verbs about a model's context window."""

    def compact(
        self,
        conversation: ConversationLike,
        *,
        window_tokens: int | None = None,
        mode: str = "sliding_window",
        keep_last: int = 10,
        threshold: float = 0.8,
        target: float = 0.5,
        summary_tokens: int | None = None,
        force: bool = False,
    ) -> Compacted | None:
        """
        Let a summary stand for older messages once *threshold* of the window is used.

        *mode* `all` takes out whatever may go, `sliding_window` the oldest until *target* is met.
        The last ones, pinned ones and decisions stay; a tool call is never parted from its result.
        Returns None where nothing had to leave, or could; *force* does it whatever the threshold.
        """
        return compaction.compact(
            self._deps,
            conversation,
            window_tokens=window_tokens,
            mode=mode,
            keep_last=keep_last,
            threshold=threshold,
            target=target,
            summary_tokens=summary_tokens,
            force=force,
        )

    def context_window(
        self,
        agent: AgentLike,
        *,
        project: Project = None,
        conversation: ConversationLike | None = None,
        window_tokens: int | None = None,
        tools: Sequence[Any] = (),
        warn_at: float = window.WARN_AT,
    ) -> WindowOverview:
        """Return how many tokens each section of an agent's window takes; warns if it is full."""
        return window.overview(
            self._deps,
            Place(agent=agent, project=path_of(project), conversation=conversation),
            window_tokens=window_tokens,
            tools=tools,
            warn_at=warn_at,
        )

    def count_tokens(self, text: str, *, model: str = "") -> int:
        """Return how many tokens *text* has for a model: exact for OpenAI's, else an estimate."""
        if not isinstance(text, str) or not isinstance(model, str):
            raise InvalidInput("count_tokens takes a text, and a model by its name")
        return counter_for(model).count(text)
