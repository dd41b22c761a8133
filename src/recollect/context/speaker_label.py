"""
Name the author of a message, so that pasted text is never presented as the user's words.

A message of the user may contain retrieved documents, pages and output of programs. A model that
reads it later must know that.
"""

from recollect.domain.conversation import Message, Role
from recollect.domain.transcript import Voice
from recollect.text.message_voices import is_plainly_typed

PERHAPS_PASTED = "user, perhaps pasted"


def speaker_label(message: Message) -> str:
    """Return the role of *message*, or `PERHAPS_PASTED` if the user may not have typed it."""
    if message.role is Role.USER and message.name:
        return " ".join(message.name.split())  # several people, or another agent
    return PERHAPS_PASTED if is_perhaps_pasted(message) else message.role.value


def is_perhaps_pasted(message: Message) -> bool:
    """Return whether *message* is the user's, but contains text the user may not have typed."""
    if message.role is not Role.USER:
        return False
    return message.metadata.get("voice") == Voice.PASTED or not is_plainly_typed(message.content)
