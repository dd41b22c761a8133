"""Captured messages in a real store: read back, found by search, calls matched to results."""

from collections.abc import Iterator
from typing import Any

import pytest

import recollect
from recollect import LocalRecollect, Message
from recollect.client.intercept.anthropic_messages import MESSAGES
from recollect.client.intercept.dialect import Dialect
from recollect.client.intercept.openai_chat import CHAT
from recollect.client.intercept.openai_responses import RESPONSES
from recollect.context.tool_call_groups import group_tool_calls, tool_calls_of
from sample_responses import (
    chat_call,
    chat_response,
    function_call,
    messages_response,
    output_message,
    responses_response,
    tool_use,
)

Json = dict[str, Any]

URL = "data:image/png;base64," + "iVBORw0KGgo" * 16_000
ASK = {"role": "user", "content": "Where is the lamp?"}
TALK: dict[str, tuple[Dialect, list[Json], Json, Json]] = {
    # dialect, the two requests, and the two answers between and after them
    "chat": (
        CHAT,
        [
            {"messages": [ASK]},
            {
                "messages": [
                    ASK,
                    {"role": "assistant", "tool_calls": [chat_call("c1"), chat_call("c2")]},
                    {"role": "tool", "tool_call_id": "c1", "content": "In the tower."},
                    {"role": "tool", "tool_call_id": "c2", "content": ""},
                ]
            },
        ],
        chat_response({"tool_calls": [chat_call("c1"), chat_call("c2")]}),
        chat_response({"content": "It is in the tower."}),
    ),
    "responses": (
        RESPONSES,
        [
            {"input": "Where is the lamp?"},
            {
                "previous_response_id": "resp_1",
                "input": [
                    {"type": "function_call_output", "call_id": "c1", "output": "In the tower."},
                    {"type": "function_call_output", "call_id": "c2", "output": ""},
                ],
            },
        ],
        responses_response(function_call("c1"), function_call("c2")),
        responses_response(output_message("It is in the tower.")),
    ),
    "messages": (
        MESSAGES,
        [
            {"messages": [ASK]},
            {
                "messages": [
                    ASK,
                    {"role": "assistant", "content": [tool_use("c1"), tool_use("c2")]},
                    {
                        "role": "user",
                        "content": [
                            {
                                "type": "tool_result",
                                "tool_use_id": "c1",
                                "content": [{"type": "text", "text": "In the tower."}],
                            },
                            {"type": "tool_result", "tool_use_id": "c2"},
                        ],
                    },
                ]
            },
        ],
        messages_response(tool_use("c1", at="Łódź"), tool_use("c2")),
        messages_response({"type": "text", "text": "It is in the tower."}),
    ),
}


@pytest.fixture
def rec() -> Iterator[LocalRecollect]:
    with recollect.open(":memory:", embedding_backend="none") as opened:
        yield opened


def store_messages(rec: LocalRecollect, captured: list[Json]) -> list[Message]:
    conversation = rec.conversations.start(agent="listener")
    rec.conversations.append_many(conversation, captured)
    return rec.conversations.messages(conversation)


@pytest.mark.parametrize("name", TALK)
def test_a_turn_with_calls_is_read_back_in_order_with_calls_and_results_tied(
    rec: LocalRecollect, name: str
) -> None:
    dialect, requests, called, response = TALK[name]

    messages = store_messages(
        rec,
        [
            *dialect.new_messages(requests[0]),
            *dialect.reply_messages(called),
            *dialect.new_messages(requests[1]),
            *dialect.reply_messages(response),
        ],
    )

    assert [one.role.value for one in messages] == [
        "user",
        "assistant",
        "tool",
        "tool",
        "assistant",
    ]
    assert [one.content for one in messages] == [
        "Where is the lamp?",
        "",
        "In the tower.",
        "",
        "It is in the tower.",
    ]
    groups = group_tool_calls(messages)
    assert [group.indexes for group in groups] == [(0,), (1, 2, 3), (4,)]
    assert not any(group.pending for group in groups)
    assert [(call.id, call.name) for call in tool_calls_of(messages[1])] == [
        ("c1", "look"),
        ("c2", "look"),
    ]
    assert messages[4].metadata["model"]


def test_a_call_without_an_id_is_tied_to_the_answer_beside_it(rec: LocalRecollect) -> None:
    answer = chat_response({"function_call": {"name": "look", "arguments": "{}"}})
    request = {"messages": [{"role": "function", "name": "look", "content": "Red."}]}

    messages = store_messages(rec, [*CHAT.reply_messages(answer), *CHAT.new_messages(request)])

    assert [group.indexes for group in group_tool_calls(messages)] == [(0, 1)]
    assert not group_tool_calls(messages)[0].pending


@pytest.mark.parametrize(
    ("dialect", "request_body"),
    [
        (
            CHAT,
            {
                "messages": [
                    {
                        "role": "user",
                        "content": [
                            {"type": "text", "text": "Whose lamp?"},
                            {"type": "image_url", "image_url": {"url": URL}},
                        ],
                    }
                ]
            },
        ),
        (
            RESPONSES,
            {
                "input": [
                    {
                        "role": "user",
                        "content": [
                            {"type": "input_text", "text": "Whose lamp?"},
                            {"type": "input_image", "image_url": URL},
                        ],
                    }
                ]
            },
        ),
        (
            MESSAGES,
            {
                "messages": [
                    {
                        "role": "user",
                        "content": [
                            {"type": "text", "text": "Whose lamp?"},
                            {"type": "image", "source": {"type": "base64", "data": URL[22:]}},
                        ],
                    }
                ]
            },
        ),
    ],
)
def test_a_picture_is_stored_as_a_note_beside_the_words(
    rec: LocalRecollect, dialect: Dialect, request_body: Json
) -> None:
    (message,) = store_messages(rec, dialect.new_messages(request_body))

    assert message.content == "Whose lamp?"
    assert "(132 kB left out)" in str(message.parts)
    assert "iVBOR" not in str(message.parts)
    assert message.tokens < 2_000


def test_what_a_tool_said_in_parts_is_found_by_its_words(rec: LocalRecollect) -> None:
    result = {
        "type": "tool_result",
        "tool_use_id": "t1",
        "content": [
            {"type": "text", "text": "The zeppelin landed."},
            {"type": "image", "source": {"type": "url", "url": "https://example.org/z.png"}},
        ],
        "is_error": True,
    }
    request = {"messages": [{"role": "user", "content": [result]}]}

    (message,) = store_messages(rec, MESSAGES.new_messages(request))

    assert message.content == "The zeppelin landed."
    assert message.metadata == {"is_error": True}
    assert rec.conversations.search("zeppelin", agent="listener")[0].message.id == message.id


def test_a_turn_too_long_for_a_store_is_cut_rather_than_lost(rec: LocalRecollect) -> None:
    long = "word " * 500_000
    parts = [{"type": "text", "text": long}, {"type": "input_audio", "input_audio": {"data": "AA"}}]
    request = {
        "messages": [
            {"role": "tool", "tool_call_id": "c1", "content": long},
            {"role": "user", "content": [*parts, *parts, *parts]},
        ]
    }

    messages = store_messages(rec, CHAT.new_messages(request))

    assert all(400_000 < len(one.content) < 600_000 or one.parts for one in messages)
    assert all("left out)" in one.content for one in messages)
