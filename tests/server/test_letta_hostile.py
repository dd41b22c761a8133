"""Requests to /v1 that no Letta client sends: each is refused with a reason, none is a bug."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from in_process_server import serve_in_thread
from recollect.server.letta_v1.letta_app import SERVED
from support import open_memory

pytestmark = pytest.mark.door

DEEP: Any = {"a": []}
for _ in range(150):
    DEEP = {"a": [DEEP]}

BODIES: list[Any] = [
    {},
    {"messages": 5},
    {"messages": [None]},
    {"messages": [{"role": "wizard", "content": "x"}]},
    {"messages": [{"role": "user", "content": 5}]},
    {"messages": [{"role": "user", "content": [{"type": "image"}]}]},
    {"messages": [{"role": "tool", "content": "x"}]},
    {"messages": [{"type": "approval", "approvals": [{"tool_call_id": "x", "approve": True}]}]},
    {"messages": [{"type": "approval", "approvals": ["x"]}]},
    {"messages": [], "input": ""},
    {"input": [{"type": "text"}], "streaming": "perhaps"},
    {"name": "x" * 10_000, "label": "a/b", "value": "\x00", "text": "", "query": ""},
    {"label": "<b>", "value": "x", "limit": -1, "tags": "x", "metadata": []},
    {"memory_blocks": [{"label": ""}], "block_ids": ["block-"], "tool_ids": ["tool-x"]},
    {"name": "n", "tool_rules": 7, "llm_config": "x", "context_window_limit": "y", "secrets": [1]},
    {"name": "deep", "metadata": DEEP, "text": "deep", "query": "x", "summary": 3},
    {"query": "x", "start_date": "never", "start_datetime": "never", "limit": 10**9},
    {"query": "x", "limit": 0, "agent_id": "nobody", "archive_id": "nothing"},
    {"passages": [{"text": "ok"}, {"text": ""}], "created_at": "yesterday-ish", "text": "t"},
    {"compaction_settings": {"mode": 3, "sliding_window_percentage": 7}},
    {"request_messages": [{}], "response_dict": {"choices": [{"message": None}]}},
    {"request_messages": [{"role": 3, "content": {"x": 1}}], "response_dict": {"content": 3}},
]
QUERIES = [
    {},
    {"limit": "-1"},
    {"limit": "x", "order": "sideways"},
    {"after": "nothing", "before": "nothing"},
    {"after": "message-\x00", "conversation_id": "nothing"},
    {"query": "", "top_k": "0", "tags": ""},
    {"agent_id": "nobody", "message_id": "nothing"},
]


@pytest.fixture
def http(tmp_path: Path) -> Iterator[httpx2.Client]:
    with (
        open_memory(tmp_path / "memory.db", words_only=True) as rec,
        serve_in_thread(rec) as url,
        httpx2.Client(base_url=f"{url}/v1") as client,
    ):
        yield client


def test_no_request_is_answered_with_an_internal_error(http: httpx2.Client) -> None:
    answers: dict[int, int] = {}
    for route in SERVED:
        things = _things(http) if "{" in route.path else {}
        for body in BODIES if route.method != "GET" else QUERIES:
            path = route.path.format(**things)
            sent: dict[str, Any] = {"params": body} if route.method == "GET" else {"json": body}
            with http.stream(route.method, path, **sent) as response:
                text = response.read().decode()
            answers[response.status_code] = answers.get(response.status_code, 0) + 1
            assert response.status_code < 500 or response.status_code == 501, (route, body, text)
            assert response.status_code < 400 or response.json()["detail"], (route, body)

    assert answers[200] > 100
    assert answers[422] > 100
    assert answers[404] > 50, "what was deleted by the first request"


def _things(http: httpx2.Client) -> dict[str, str]:
    """Create what the paths name."""
    blocks = [{"label": "human", "value": "Ada"}]
    agent = http.post("/agents/", json={"memory_blocks": blocks}).json()
    name = {"agent_id": agent["id"]}
    [passage] = http.post(f"/agents/{agent['id']}/archival-memory", json={"text": "p"}).json()
    http.post(f"/agents/{agent['id']}/messages", json={"input": "Hello."})
    [message] = http.get(f"/agents/{agent['id']}/messages").json()
    talk = http.post("/conversations/", params=name, json={}).json()
    return {
        **name,
        "block_label": "human",
        "block_id": agent["blocks"][0]["id"],
        "memory_id": passage["id"],
        "passage_id": passage["id"],
        "message_id": message["id"],
        "conversation_id": talk["id"],
        "archive_id": agent["id"].replace("agent-", "archive-"),
        "tool_id": agent["tools"][0]["id"],
    }


def test_a_body_that_is_not_a_json_object_is_refused(http: httpx2.Client) -> None:
    for content, kind in (
        (b"[]", "application/json"),
        (b"{", "application/json"),
        (b"{}", "text/plain"),
        (b"[" * 100_000, "application/json"),
    ):
        response = http.post("/blocks/", content=content, headers={"content-type": kind})
        assert response.status_code == 422, content
        assert "body" in response.json()["detail"]
    for body in (b"", b"no form", b"--x\r\n\r\n--x--"):
        headers = {"content-type": "multipart/form-data; boundary=x"}
        response = http.post("/agents/import", content=body, headers=headers)
        assert response.status_code == 422
        assert "file" in response.json()["detail"]


def test_approvals_and_messages_in_one_request_are_refused_and_nothing_is_stored(
    http: httpx2.Client,
) -> None:
    agent = http.post("/agents/", json={"name": "scout"}).json()["id"]
    decision = {"tool_call_id": "x", "approve": True}
    sent = [
        {"type": "approval", "approvals": [decision]},
        {"role": "user", "content": "I bake bread."},
    ]
    response = http.post(f"/agents/{agent}/messages", json={"messages": sent})

    assert response.status_code == 422
    assert "either approvals or messages" in response.json()["detail"]
    assert "bread" not in http.get(f"/agents/{agent}/messages").text


def test_a_path_names_nothing_by_odd_characters(http: httpx2.Client) -> None:
    for name in ("agent-", "%00", "..%2F..", "agent-%F0%9F%A6%93", "x" * 5_000, "agent-%2e%2e"):
        response = http.get(f"/agents/{name}")
        assert response.status_code in (404, 422), (name, response.text)
