"""How our values become Letta's JSON: without a server and without a client."""

import json
from typing import Any

import pytest

from recollect import InvalidInput, NotFound
from recollect.domain.agent import Agent
from recollect.domain.conversation import Message, Role
from recollect.server.letta_v1.letta_agent_json import agent_state, llm_config
from recollect.server.letta_v1.letta_agent_metadata import shown_name, with_letta_metadata
from recollect.server.letta_v1.letta_form import form_parts
from recollect.server.letta_v1.letta_message_json import letta_messages
from recollect.server.letta_v1.letta_paging import PageQuery, page_of
from support import START

CALL = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": '{"at": "sky"}'}}


def message(role: str, content: str = "", **more: Any) -> Message:
    return Message(
        id="m1",
        conversation_id="t1",
        position=0,
        role=Role(role),
        content=content,
        created_at=START,
        **more,
    )


def kinds(shown: Message) -> list[str]:
    return [part["message_type"] for part in letta_messages(shown)]


def agent(**more: Any) -> Agent:
    return Agent(id="a1", name="anna", created_at=START, updated_at=START, **more)


def test_each_kind_of_content_of_a_message_is_a_message_of_letta() -> None:
    thought = ({"type": "thinking", "thinking": "Hm."}, {"type": "text", "text": "Look:"})
    whole = message("assistant", "Look:", parts=thought, tool_calls=(CALL,))

    reasoning, text, call = letta_messages(whole)

    assert reasoning["reasoning"] == "Hm."
    assert text["content"] == "Look:"
    assert call["tool_call"] == {"tool_call_id": "c1", "name": "look", "arguments": '{"at": "sky"}'}
    assert {part["id"] for part in (reasoning, text, call)} == {"message-m1"}
    assert kinds(message("developer", "Be kind.")) == ["system_message"]
    assert kinds(message("user", "Hello")) == ["user_message"]


def test_what_letta_agents_send_as_a_tool_call_is_text() -> None:
    arguments = json.dumps({"message": "Hello!"})
    sent = {"id": "c1", "function": {"name": "send_message", "arguments": arguments}}

    [shown] = letta_messages(message("assistant", tool_calls=(sent,)))

    assert (shown["message_type"], shown["content"]) == ("assistant_message", "Hello!")


def test_the_result_of_a_tool_says_whether_it_failed() -> None:
    failed = message("tool", "no sky", tool_call_id="c1", name="look", metadata={"failed": True})

    [shown] = letta_messages(failed)

    assert (shown["status"], shown["tool_return"]) == ("error", "no sky")
    assert shown["tool_returns"][0]["tool_call_id"] == "c1"


def test_an_image_is_shown_as_it_was_sent_and_text_as_text() -> None:
    image = {"type": "image", "source": {"type": "url", "url": "https://example.org/a.png"}}
    words = {"type": "text", "text": "What is this?"}

    [shown] = letta_messages(message("user", "What is this?", parts=(words, image)))
    [plain] = letta_messages(message("user", "What is this?", parts=(words,)))

    assert shown["content"] == [words, image]
    assert plain["content"] == "What is this?"


def test_a_page_is_cut_at_the_cursors_in_the_order_of_the_list() -> None:
    def page(**query: Any) -> str:
        lists = {name: [str(value)] for name, value in query.items()}
        return "".join(page_of("abcdef", PageQuery.model_validate(lists), str))

    assert page(order="asc") == "abcdef"
    assert page() == "fedcba"
    assert page(order="asc", limit=2, after="b") == "cd"
    assert page(order="asc", limit=2, before="e") == "cd"
    assert page(limit=2, after="e") == "dc"
    assert page(limit=2, before="b") == "dc"
    assert page(order="asc", after="a", before="d") == "bc"
    assert page(order="asc", after="f") == ""
    assert page(limit=0) == ""
    with pytest.raises(NotFound, match="cursor"):
        page(after="z")


def test_a_form_is_split_at_its_boundary() -> None:
    body = (
        b'--x\r\nContent-Disposition: form-data; name="name"\r\n\r\nscout\r\n'
        b'--x\r\nContent-Disposition: form-data; name="file"; filename="a.af"\r\n'
        b'Content-Type: application/json\r\n\r\n{"a":\r\n\r\n1}\r\n--x--\r\n'
    )

    assert form_parts('multipart/form-data; boundary="x"', body) == {
        "name": b"scout",
        "file": b'{"a":\r\n\r\n1}',
    }
    with pytest.raises(InvalidInput, match="boundary"):
        form_parts("multipart/form-data", body)


def test_a_line_that_begins_like_the_boundary_belongs_to_the_content() -> None:
    body = b"--x\r\nContent-Disposition: form-data; name=file\r\n\r\na\r\n--xy\r\nb\r\n--x--"

    assert form_parts("multipart/form-data; boundary=x", body) == {"file": b"a\r\n--xy\r\nb"}


def test_a_form_without_its_end_is_refused() -> None:
    body = b'--x\r\nContent-Disposition: form-data; name="file"\r\n\r\nhalf of a fi'

    for boundary in ("x", "y"):
        with pytest.raises(InvalidInput, match="incomplete"):
            form_parts(f"multipart/form-data; boundary={boundary}", body)


def test_the_window_of_a_model_is_the_given_one_or_known_by_its_name() -> None:
    assert llm_config("openai/gpt-4o", {})["context_window"] == 128_000
    assert llm_config("openai/gpt-4o", {"context_window_limit": 9_000})["context_window"] == 9_000
    given = {"llm_config": {"context_window": 7_000, "model_endpoint_type": "groq"}}
    config = llm_config("mine", given)
    assert (config["context_window"], config["model_endpoint_type"]) == (7_000, "groq")
    assert llm_config("somebody/mine", {})["model_endpoint_type"] == "openai"


def test_a_record_keeps_what_it_has_and_no_secrets() -> None:
    first = with_letta_metadata(
        None,
        {"mine": 1},
        {"tags": ["a"], "secrets": {"KEY": "hunter2"}},
        model="m",
        names=("anna", "Anna!"),
    )
    stored = agent(metadata=first)

    second = with_letta_metadata(stored, {"mine": 2}, {"timezone": "UTC+1"}, model="n")

    state = agent_state(agent(metadata=second), [], [])
    assert (state["tags"], state["timezone"], state["metadata"]) == (["a"], "UTC+1", {"mine": 2})
    assert state["name"] == shown_name(stored) == "Anna!"
    assert "hunter2" not in json.dumps(second)
    assert shown_name(Agent(**{**vars(stored), "name": "berta"})) == "berta", "renamed elsewhere"
