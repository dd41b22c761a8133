"""
Conversations stored by Anthropic: a request may continue from an earlier response.

A request with `thread: {"type": "create"}` is stored with its response. One with `continue` has
only the new messages, and neither `system` nor `tools`, which stay the same. The tool runner of the
current package uses this. A thread that is missing or does not match is refused.
"""

import threading
from collections.abc import Mapping
from typing import Any

from vendor_responses import Body
from vendor_rules import RuleViolation, VendorRefusal

_FIXED_FIELDS = ("system", "tools")


class StoredThreads:
    """Stored requests by the id of their response."""

    def __init__(self) -> None:
        self._threads: dict[str, Body] = {}
        self._lock = threading.Lock()

    def with_history(self, body: Any) -> Any:
        """Return *body* with the earlier messages of its thread."""
        thread = body.get("thread") if isinstance(body, dict) else None
        if not thread or thread.get("type") != "continue":
            return body
        with self._lock:
            thread = self._threads.get(thread.get("previous_message_id"))
        if thread is None:
            raise VendorRefusal(RuleViolation(404, "thread: not found", "thread_not_found"))
        if any(key in body and body[key] != thread.get(key) for key in _FIXED_FIELDS):
            violation = RuleViolation(
                400, "thread: system or tools differ", "thread_fingerprint_mismatch"
            )
            raise VendorRefusal(violation)
        fixed = {key: thread[key] for key in _FIXED_FIELDS if key in thread}
        return body | fixed | {"messages": [*thread["messages"], *body["messages"]]}

    def store(self, whole: Body, response: Mapping[str, Any]) -> None:
        """Store the thread that ends with *response*, if the request asks for it."""
        if whole.get("thread"):
            turns = [*whole["messages"], {"role": "assistant", "content": response["content"]}]
            with self._lock:
                self._threads[response["id"]] = {**whole, "messages": turns}
