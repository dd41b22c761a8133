"""
Conversations that Anthropic holds: a request may name the answer it goes on from.

A request with `thread: {"type": "create"}` is kept with its answer; one with `continue` brings only
what is new, and neither `system` nor `tools`, which stay as they were. The current package asks
this way in its tool runner. This file knows nothing of HTTP; a thread that is not found or does not
fit is refused, as in vendor_rules.py.
"""

import threading
from collections.abc import Mapping
from typing import Any

from vendor_answers import Body
from vendor_rules import Fault, Refused

_KEPT = ("system", "tools")


class Threads:
    """What was said so far, by the id of the answer it ended in."""

    def __init__(self) -> None:
        self._held: dict[str, Body] = {}
        self._lock = threading.Lock()

    def whole(self, body: Any) -> Any:
        """Return *body* with all that came before it in its thread."""
        thread = body.get("thread") if isinstance(body, dict) else None
        if not thread or thread.get("type") != "continue":
            return body
        with self._lock:
            held = self._held.get(thread.get("previous_message_id"))
        if held is None:
            raise Refused(Fault(404, "thread: not found", "thread_not_found"))
        if any(key in body and body[key] != held.get(key) for key in _KEPT):
            fault = Fault(400, "thread: system or tools differ", "thread_fingerprint_mismatch")
            raise Refused(fault)
        kept = {key: held[key] for key in _KEPT if key in held}
        return body | kept | {"messages": [*held["messages"], *body["messages"]]}

    def keep(self, whole: Body, answer: Mapping[str, Any]) -> None:
        """Hold the thread that *answer* is the end of, if the request wants that."""
        if whole.get("thread"):
            turns = [*whole["messages"], {"role": "assistant", "content": answer["content"]}]
            with self._lock:
                self._held[answer["id"]] = {**whole, "messages": turns}
