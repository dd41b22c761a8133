"""What a conversation is called where several are listed."""

from collections.abc import Iterable, Mapping

from recollect.api.recollect import Recollect
from recollect.domain.conversation import Conversation

FIRST_MESSAGES = 5  # among which the user's first one is looked for


def conversation_titles(rec: Recollect, conversations: Iterable[Conversation]) -> Mapping[str, str]:
    """Return by id the title of each conversation, or what the user said first, or ''."""
    return {
        conversation.id: conversation.title or _beginning(rec, conversation)
        for conversation in conversations
    }


def _beginning(rec: Recollect, conversation: Conversation) -> str:
    messages = rec.conversations.messages(conversation, limit=FIRST_MESSAGES)
    by_user = [message.content for message in messages if message.role == "user"]
    return next(iter(by_user or [message.content for message in messages]), "")
