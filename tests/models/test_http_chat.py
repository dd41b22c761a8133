"""Chat models behind HTTP, against a real server on this machine."""

from typing import Any

import pytest

from chat_server import (
    ChatServer,
    Reply,
    anthropic_reply,
    chat_model,
    complete,
    completion,
    json_reply,
    openai_reply,
    raised_error,
)
from recollect.models.chat_model import Completion
from recollect.models.http_chat import ChatServerKind
from recollect.text.token_counter import estimate_tokens

pytestmark = pytest.mark.door

KINDS: tuple[ChatServerKind, ...] = ("openai", "ollama", "anthropic")


# Requests


@pytest.mark.parametrize(
    ("kind", "path", "expected"),
    [
        ("openai", "", "/chat/completions"),
        ("openai", "/v1/", "/v1/chat/completions"),
        ("ollama", "", "/v1/chat/completions"),
        ("ollama", "/v1", "/v1/chat/completions"),
        ("anthropic", "", "/v1/messages"),
        ("anthropic", "/v1", "/v1/messages"),
        ("anthropic", "/proxy/v1/", "/proxy/v1/messages"),
    ],
)
def test_an_address_is_taken_with_or_without_its_version(
    server: ChatServer, kind: ChatServerKind, path: str, expected: str
) -> None:
    server.replies = [completion(kind, "Hi.")]

    complete(chat_model(server, kind, path))

    assert [request.path for request in server.requests] == [expected]


def test_an_openai_server_is_asked_in_its_own_language(server: ChatServer) -> None:
    server.replies = [openai_reply("Hi.")]

    complete(chat_model(server, key="k3y"))

    assert server.requests[0].headers["Authorization"] == "Bearer k3y"
    assert server.requests[0].body == {
        "model": "m",
        "max_tokens": 50,
        "temperature": 0,
        "stream": False,
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "Hello?"},
        ],
    }


def test_an_anthropic_server_is_asked_in_its_own_language(server: ChatServer) -> None:
    server.replies = [anthropic_reply("Hi.")]

    complete(chat_model(server, "anthropic", key="k3y"))

    assert server.requests[0].headers["x-api-key"] == "k3y"
    assert server.requests[0].headers["anthropic-version"] == "2023-06-01"
    assert "Authorization" not in server.requests[0].headers
    assert server.requests[0].body == {
        "model": "m",
        "max_tokens": 50,
        "temperature": 0,
        "stream": False,
        "system": "Be brief.",
        "messages": [{"role": "user", "content": "Hello?"}],
    }


@pytest.mark.parametrize("kind", KINDS)
def test_without_a_key_or_a_system_text_none_is_sent(
    server: ChatServer, kind: ChatServerKind
) -> None:
    server.replies = [completion(kind, "Hi.")]

    chat_model(server, kind).complete("", "Hello?", max_tokens=50)

    assert not {"Authorization", "x-api-key"} & server.requests[0].headers.keys()
    assert "system" not in server.requests[0].body
    assert server.requests[0].body["messages"] == [{"role": "user", "content": "Hello?"}]


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_is_asked_before_the_first_prompt(server: ChatServer, kind: ChatServerKind) -> None:
    assert chat_model(server, kind).name == f"{kind}:m"
    assert server.requests == []


# What is answered


@pytest.mark.parametrize(
    "reply",
    [
        ("openai", openai_reply("Hi.", usage={"prompt_tokens": 7, "completion_tokens": 3})),
        ("anthropic", anthropic_reply("Hi.", usage={"input_tokens": 7, "output_tokens": 3})),
    ],
    ids=["openai", "anthropic"],
)
def test_an_answer_is_its_text_and_the_tokens_the_server_counted(
    server: ChatServer, reply: tuple[ChatServerKind, Reply]
) -> None:
    kind, server.replies = reply[0], [reply[1]]

    answered = chat_model(server, kind).complete("Be brief.", "Hello?", max_tokens=50)

    assert answered == Completion("Hi.", 7, 3)


@pytest.mark.parametrize("kind", ["openai", "anthropic"])
@pytest.mark.parametrize("count", [None, 0, -1, True, "7", 7.5, [7], 10**30])
def test_tokens_that_are_not_counted_are_estimated(
    server: ChatServer, kind: ChatServerKind, count: Any
) -> None:
    names = ("prompt_tokens", "completion_tokens", "input_tokens", "output_tokens")
    server.replies = [completion(kind, "Hi there.", usage=dict.fromkeys(names, count))]

    answered = chat_model(server, kind).complete("Be brief.", "Hello?", max_tokens=50)

    assert answered.input_tokens == estimate_tokens("Be brief.\nHello?")
    assert answered.output_tokens == estimate_tokens("Hi there.")


@pytest.mark.parametrize("kind", ["openai", "anthropic"])
@pytest.mark.parametrize("usage", [None, 7, [], "none"])
def test_a_usage_of_another_shape_is_no_reason_to_lose_the_text(
    server: ChatServer, kind: ChatServerKind, usage: Any
) -> None:
    server.replies = [completion(kind, "Hi.", usage=usage)]

    assert complete(chat_model(server, kind)) == "Hi."


@pytest.mark.parametrize("kind", ["openai", "anthropic"])
def test_a_text_in_parts_is_joined_and_what_is_no_text_left_out(
    server: ChatServer, kind: ChatServerKind
) -> None:
    thought = {"type": "thinking", "thinking": "Hm."}
    parts = [thought, {"type": "text", "text": "Hi "}, {"type": "text", "text": "there."}]
    server.replies = [completion(kind, parts)]

    assert complete(chat_model(server, kind)) == "Hi there."


def test_half_a_surrogate_pair_does_not_get_through(server: ChatServer) -> None:
    server.replies = [openai_reply("Hi \ud83d.")]

    assert complete(chat_model(server)) == "Hi \ufffd."


@pytest.mark.parametrize("kind", ["openai", "anthropic"])
@pytest.mark.parametrize("content", [None, "", " \n", [], [{"type": "tool_use"}]], ids=repr)
def test_an_answer_without_text_is_unavailable(
    server: ChatServer, kind: ChatServerKind, content: Any
) -> None:
    server.replies = [completion(kind, content)]

    assert "answered without text; ask again" in str(raised_error(chat_model(server, kind)))


def test_a_model_that_thought_until_its_tokens_were_used_up_is_said_to_have(
    server: ChatServer,
) -> None:
    server.replies = [openai_reply("", reason="length")]

    assert "it used all its tokens" in str(raised_error(chat_model(server)))


@pytest.mark.parametrize(
    "reply",
    [
        openai_reply(None, refusal="I cannot help with that."),
        openai_reply([{"type": "refusal", "refusal": "I cannot help with that."}]),
    ],
    ids=["field", "part"],
)
def test_a_refusal_is_unavailable_with_its_text(server: ChatServer, reply: Reply) -> None:
    server.replies = [reply]

    assert "refused: I cannot help with that.;" in str(raised_error(chat_model(server)))


def test_a_refusal_of_anthropic_is_unavailable(server: ChatServer) -> None:
    server.replies = [anthropic_reply("I", reason="refusal")]

    assert "refused to answer" in str(raised_error(chat_model(server, "anthropic")))


# Parameters a model refuses


def refuses(name: str) -> Reply:
    words = f"Unsupported parameter: '{name}' is not supported with this model."
    return json_reply({"error": {"message": words, "param": name}}, status=400)


def test_a_model_that_refuses_max_tokens_is_asked_with_its_newer_name(server: ChatServer) -> None:
    server.replies = [refuses("max_tokens"), openai_reply("Hi.")]

    assert complete(chat_model(server)) == "Hi."
    first, second = (request.body for request in server.requests)
    assert first.pop("max_tokens") == second.pop("max_completion_tokens") == 50
    assert first == second


@pytest.mark.parametrize("kind", KINDS)
def test_a_model_that_refuses_a_temperature_is_asked_without(
    server: ChatServer, kind: ChatServerKind
) -> None:
    server.replies = [refuses("temperature"), completion(kind, "Hi.")]

    assert complete(chat_model(server, kind)) == "Hi."
    first, second = (request.body for request in server.requests)
    assert first.pop("temperature") == 0
    assert first == second


def test_a_model_that_refuses_both_is_asked_as_it_likes_from_then_on(server: ChatServer) -> None:
    server.replies = [refuses("max_tokens"), refuses("temperature"), openai_reply("Hi.")]
    chat = chat_model(server)

    assert (complete(chat), complete(chat)) == ("Hi.", "Hi.")
    assert len(server.requests) == 4
    assert server.requests[3].body == server.requests[2].body
    assert not {"max_tokens", "temperature"} & server.requests[3].body.keys()


@pytest.mark.parametrize("name", ["max_tokens", "temperature"])
def test_a_refusal_that_goes_on_is_retried_once_and_then_unavailable(
    server: ChatServer, name: str
) -> None:
    server.replies = [refuses(name)]
    chat = chat_model(server)

    assert "answered 400" in str(raised_error(chat))
    assert len(server.requests) == 2


@pytest.mark.parametrize(
    ("kind", "reply"),
    [
        ("openai", refuses("top_p")),
        ("openai", Reply(b"max_tokens", status=500)),
        ("anthropic", refuses("max_tokens")),  # it has no other name there
    ],
)
def test_another_failure_is_not_retried(
    server: ChatServer, kind: ChatServerKind, reply: Reply
) -> None:
    server.replies = [reply]

    raised_error(chat_model(server, kind))

    assert len(server.requests) == 1


def test_what_did_not_help_is_not_kept_up(server: ChatServer) -> None:
    server.replies = [refuses("max_tokens"), Reply(status=500), openai_reply("Hi.")]
    chat = chat_model(server)
    raised_error(chat)

    complete(chat)

    assert server.requests[2].body["max_tokens"] == 50
