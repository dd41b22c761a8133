"""
A dialect: how one vendor's protocol is read and written, as five functions on wire JSON.

`learning()` picks the dialect of a call (`recognise.py`) and knows nothing else about vendors. The
functions are pure. They get what others wrote and take any JSON: what cannot be read counts as not
there, and nothing reachable from an argument is ever changed.

A *saying* is a message as `append_messages` takes it: a dict with `role`, `content`, and where
there are any `tool_calls`, `tool_call_id`, `name` and `metadata`.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from recollect.client.intercept.sse import Event

Json = dict[str, Any]
Saying = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Dialect:
    """One protocol of language models."""

    name: str
    asked: Callable[[object], str]
    """The words of the last user message that has any, '' where none has: what to recall for."""
    with_memory: Callable[[object, str], Json]
    """A new request body that tells the model *text* too; the old one where there is no place."""
    said: Callable[[object], list[Saying]]
    """What is new in a request: what users and tools said since the model's last answer."""
    replied: Callable[[object], list[Saying]]
    """What the model said in a whole answer: one assistant's saying, or none."""
    assembled: Callable[[Iterable[Event]], Json]
    """The answer that a stream's events make up, as far as they went."""
