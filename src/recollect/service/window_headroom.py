"""
Remember how many tokens a conversation's window can still take before it must be measured again.

Measuring a window reads its blocks, files and messages, which is too slow for every message. After
a measurement, half of what was free may be spent unmeasured: other processes, and blocks that grow,
use the same window. Lives in memory only; a conversation that is not known is measured.
"""

MAX_CONVERSATIONS = 1_000  # remembered at a time; the oldest are dropped
UNMEASURED_SHARE = 0.5  # of the free tokens


class WindowHeadroom:
    """The tokens that each conversation may still append without a measurement."""

    def __init__(self) -> None:
        self._tokens: dict[str, int] = {}

    def spend(self, conversation_id: str, tokens: int) -> bool:
        """Subtract *tokens*; return whether the window must be measured."""
        left = self._tokens.get(conversation_id, 0) - tokens
        self._tokens[conversation_id] = left
        return left <= 0

    def set_free(self, conversation_id: str, tokens: int) -> None:
        """Record that *tokens* were free when the window was measured."""
        self._tokens.pop(conversation_id, None)
        self._tokens[conversation_id] = int(UNMEASURED_SHARE * tokens)
        while len(self._tokens) > MAX_CONVERSATIONS:
            self._tokens.pop(next(iter(self._tokens)), None)
