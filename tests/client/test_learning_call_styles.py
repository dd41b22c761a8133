"""
Every way of asking inside `learning()`: what the model is told, the caller sees, memory keeps.

A table of (resource × way × awaited or not × kind of content). In each cell: memory reached the
model, the caller saw exactly what a bare call shows, the caller's arguments are as they were, and
what was said is kept once, in order.
"""

import copy
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from recollect import LocalRecollect, learning
from support import open_memory
from vendor_calls import CALL_STYLES, RESOURCES, observe, observe_async, question
from vendor_server import VendorServer, default_text

pytestmark = pytest.mark.vendor

TEXT = "Which language should I use?"
RESULT = "Python 3.14 is out."
PICTURE = "https://pictures.example/cat.png"
CALL = {"id": "call_1", "type": "function", "function": {"name": "news", "arguments": "{}"}}
SHAPE = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}
FUNCTION = {"name": "news", "parameters": SHAPE, "strict": True}
CHAT_TOOL = {"type": "function", "function": FUNCTION}
RESPONSES_TOOL = {"type": "function", **FUNCTION}
CLAUDE_TOOL = {"name": "news", "input_schema": SHAPE}


def chat(kind: str) -> dict[str, Any]:
    head = {"role": "system", "content": "Be kind."}
    turns: dict[str, list[dict[str, Any]]] = {
        "string": [head, {"role": "user", "content": TEXT}],
        "parts": [
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": TEXT},
                    {"type": "image_url", "image_url": {"url": PICTURE}},
                ],
            }
        ],
        "tool turn": [
            head,
            {"role": "user", "content": TEXT},
            {"role": "assistant", "tool_calls": [CALL]},
            {"role": "tool", "tool_call_id": "call_1", "content": RESULT},
        ],
    }
    more = {"tools": [CHAT_TOOL]} if kind == "tool turn" else {}
    return question("chat", TEXT, messages=turns[kind], **more)


def responses(kind: str) -> dict[str, Any]:
    user_item = {"role": "user", "content": [{"type": "input_text", "text": TEXT}]}
    turns: dict[str, Any] = {
        "string": TEXT,
        "parts": [
            {
                "role": "user",
                "content": [
                    {"type": "input_text", "text": TEXT},
                    {"type": "input_image", "image_url": PICTURE, "detail": "auto"},
                ],
            }
        ],
        "tool turn": [
            user_item,
            {"type": "function_call", "call_id": "call_1", "name": "news", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "call_1", "output": RESULT},
        ],
    }
    more: dict[str, Any] = {"instructions": "Be kind."} if kind == "string" else {}
    if kind == "tool turn":
        more["tools"] = [RESPONSES_TOOL]
    return question("responses", TEXT, input=turns[kind], **more)


def claude(resource: str, kind: str) -> dict[str, Any]:
    picture = {"type": "image", "source": {"type": "url", "url": PICTURE}}
    turns: dict[str, list[dict[str, Any]]] = {
        "string": [{"role": "user", "content": TEXT}],
        "parts": [{"role": "user", "content": [{"type": "text", "text": TEXT}, picture]}],
        "tool turn": [
            {"role": "user", "content": TEXT},
            {
                "role": "assistant",
                "content": [{"type": "tool_use", "id": "call_1", "name": "news", "input": {}}],
            },
            {
                "role": "user",
                "content": [{"type": "tool_result", "tool_use_id": "call_1", "content": RESULT}],
            },
        ],
    }
    cached = {"type": "text", "text": "Be kind.", "cache_control": {"type": "ephemeral"}}
    more: dict[str, Any] = {"system": "Be kind." if kind == "string" else [cached]}
    if kind == "tool turn":
        more["tools"] = [CLAUDE_TOOL]
    return question(resource, TEXT, messages=turns[kind], **more)


def asking_for(resource: str, kind: str) -> dict[str, Any]:
    if resource == "chat":
        return chat(kind)
    return responses(kind) if resource == "responses" else claude(resource, kind)


@pytest.fixture
def two_agents(tmp_path: Path) -> Iterator[LocalRecollect]:
    """A memory in which Anna knows a name and a preference."""
    with open_memory(tmp_path / "known.db") as rec:
        rec.agents.create("anna", default_blocks=False)
        rec.blocks.create("human", "Name: Alice", agent="anna")
        earlier = rec.conversations.start(agent="anna")
        rec.conversations.append(earlier, "user", "The language I use and prefer is Python.")
        rec.conversations.end(earlier)
        yield rec


def last_conversation(rec: LocalRecollect) -> list[tuple[str, str]]:
    """Return what was said in the latest conversation, in order."""
    latest = rec.conversations.list(agent="anna", limit=1)[0]
    return [(one.role.value, one.content) for one in rec.conversations.messages(latest)]


@pytest.mark.parametrize("resource", RESOURCES)
@pytest.mark.parametrize("way", CALL_STYLES)
@pytest.mark.parametrize("ask", [observe, observe_async], ids=["sync", "async"])
@pytest.mark.parametrize("kind", ["string", "parts", "tool turn"])
def test_every_way_of_asking_has_a_memory(
    vendor: VendorServer,
    two_agents: LocalRecollect,
    resource: str,
    way: str,
    ask: Callable[..., list[Any]],
    kind: str,
) -> None:
    arguments = asking_for(resource, kind)
    before = copy.deepcopy(arguments)
    bare = ask(vendor, resource, way, arguments)

    with learning(agent="anna", memory=two_agents):
        inside = ask(vendor, resource, way, arguments)

    sent = str(vendor.requests[-1].body)
    assert "Name: Alice" in sent, "blocks reach the model"
    assert "The language I use and prefer is Python." in sent, "so does what was said before"
    assert "Name: Alice" not in str(vendor.requests[0].body), "a bare call has no memory"
    assert inside == bare, "the caller sees what it would see without"
    assert arguments == before, "the caller's own objects are as they were"
    (first_role, first), (second_role, second) = last_conversation(two_agents)
    assert (first_role, first) == (("tool", RESULT) if kind == "tool turn" else ("user", TEXT))
    assert second_role == "assistant"
    assert second == default_text(TEXT) or (way == "parse" and default_text(TEXT) in second)


@pytest.mark.parametrize("resource", RESOURCES)
@pytest.mark.parametrize("kind", ["string", "parts", "tool turn"])
def test_only_the_memory_is_added_to_what_is_sent(
    vendor: VendorServer, two_agents: LocalRecollect, resource: str, kind: str
) -> None:
    arguments = asking_for(resource, kind)
    observe(vendor, resource, "create", arguments)

    with learning(agent="anna", memory=two_agents):
        observe(vendor, resource, "create", arguments)

    bare, with_memory = (request.body for request in vendor.requests)
    assert without_memory(with_memory) == bare
    sent, expected = vendor.requests[1].headers, vendor.requests[0].headers
    changed = {
        name for name in sent.keys() | expected.keys() if sent.get(name) != expected.get(name)
    }
    assert changed <= {"content-length", "x-stainless-retry-count", "idempotency-key", "host"}


def without_memory(body: dict[str, Any]) -> dict[str, Any]:
    """Return *body* without what `learning()` added, wherever that is."""
    left = copy.deepcopy(body)
    for name in ("messages", "input"):
        if isinstance(left.get(name), list):
            left[name] = [part for part in left[name] if not is_memory(part.get("content"))]
    for name in ("system", "instructions"):
        found = left.get(name)
        if isinstance(found, list):
            left[name] = [part for part in found if not is_memory(part["text"])]
        elif isinstance(found, str):
            left[name] = found.partition("The following is context from your memory:")[0].rstrip()
            if not left[name]:
                del left[name]
    return left


def is_memory(content: Any) -> bool:
    if isinstance(content, list):
        content = "".join(one.get("text", "") for one in content)
    return isinstance(content, str) and "The following is context from your memory:" in content
