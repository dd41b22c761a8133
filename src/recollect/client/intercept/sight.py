"""What a model sees anyway: the texts of the messages in a request's body, in any dialect."""

from collections.abc import Mapping
from typing import Any

from recollect.text.message import text_in
from recollect.text.transcripts.fields import is_record


def in_sight(body: Mapping[str, Any]) -> list[str]:
    """Return what is said in a request, message by message."""
    said = body.get("messages", body.get("input"))
    if not isinstance(said, list):
        return []
    return [text for one in said if is_record(one) and (text := _text(one.get("content")))]


def _text(content: object) -> str:
    if isinstance(content, str):
        return content
    return text_in(content) if isinstance(content, list) else ""
