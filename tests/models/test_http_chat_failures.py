"""Every failure of a chat model behind HTTP is one kind of error without secrets."""

import json
import pickle
import socket
import threading
import time
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from chat_server import (
    ChatServer,
    Reply,
    anthropic_reply,
    chat_model,
    complete,
    json_reply,
    openai_reply,
    raised_error,
)
from recollect.errors import ModelUnavailable
from recollect.models.http_chat import MAX_BYTES, ChatServerKind, HttpChatModel

pytestmark = pytest.mark.door

KINDS: tuple[ChatServerKind, ...] = ("openai", "ollama", "anthropic")
SHORT_S = 0.2


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("status", "next_step"),
    [
        (307, "set the address it redirects to"),
        (400, ""),
        (401, "check the key"),
        (404, "check the address and the model's name"),
        (429, "try again later"),
        (500, ""),
        (529, "try again later"),
    ],
)
def test_an_error_answer_is_unavailable_with_its_status_words_and_next_step(
    server: ChatServer, kind: ChatServerKind, status: int, next_step: str
) -> None:
    server.replies = [Reply(b"no\n luck", status=status, headers={"Location": "/else"})]

    message = str(raised_error(chat_model(server, kind)))

    assert f"the chat model at {server.url} answered {status}: no luck; {next_step}" in message
    assert len(server.requests) == 1


@pytest.mark.parametrize("status", [429, 503])
@pytest.mark.parametrize(
    ("written", "seconds"),
    [
        ("7", 7.0),
        ("1.5", 1.5),
        ("0", 0.0),
        ("9" * 500, 86_400.0),
        ("Wed, 21 Oct 2015 07:28:00 GMT", 0.0),
        ("Wed, 21 Oct 2015 07:28:00 -0000", 0.0),
        ("Fri, 31 Dec 9999 23:59:59 GMT", 86_400.0),
        ("-7", None),
        ("soon", None),
        ("1.2.3", None),
        ("nan", None),
        ("Wed, 99 Oct 2015 07:28:00 GMT", None),
    ],
)
def test_a_busy_server_may_say_how_long_to_wait(
    server: ChatServer, status: int, written: str, seconds: float | None
) -> None:
    server.replies = [Reply(status=status, headers={"Retry-After": written})]

    assert raised_error(chat_model(server)).retry_after_s == seconds


def test_a_date_to_wait_for_is_counted_from_now(server: ChatServer) -> None:
    later = format_datetime(datetime.now(UTC) + timedelta(hours=1), usegmt=True)
    server.replies = [Reply(status=429, headers={"Retry-After": later})]

    wait_s = raised_error(chat_model(server)).retry_after_s

    assert wait_s is not None
    assert 3500 < wait_s <= 3600


def test_a_server_that_is_not_busy_is_not_waited_for(server: ChatServer) -> None:
    server.replies = [Reply(status=401, headers={"Retry-After": "7"})]

    assert raised_error(chat_model(server)).retry_after_s is None


def test_the_error_keeps_its_wait_when_it_is_sent_to_another_process() -> None:
    sent = pickle.loads(pickle.dumps(ModelUnavailable("busy", retry_after_s=7.0)))

    assert (str(sent), sent.retry_after_s, sent.status) == ("busy", 7.0, 503)


@pytest.mark.parametrize("kind", ["openai", "anthropic"])
@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html>",
        b"\xff\xfe",
        b"null",
        b'"text"',
        b"7",
        b"[]",
        b"{}",
        b'{"choices": null, "content": 7}',
        b'{"choices": [], "content": {"type": "text", "text": 7}}',
        b'{"choices": ["Hi."], "content": [7]}',
        b'{"choices": {"0": {}}, "content": [["Hi."]]}',
        b'{"choices": [{"message": "Hi."}], "content": true}',
        b'{"choices": [{"message": {"content": 7}}], "content": [{"type": "text", "text": {}}]}',
        b'{"choices": [{"message": {"content": NaN}}], "content": NaN}',
        b'{"choices": [{"message": {"content": "Hi."}}], "content": "Hi.", "usage": NaN}',
        b'{"choices": [{"message": {"content": "Hi."}}], "content": "Hi.", "n": '
        + b"9" * 9999
        + b"}",
        b'{"error": {"message": "no luck"}}',
        b"[" * 100_000,
        b'{"a":' * 100_000,
    ],
    ids=lambda body: repr(body)[:76],
)
def test_an_answer_of_another_shape_is_unavailable(
    server: ChatServer, kind: ChatServerKind, body: bytes
) -> None:
    server.replies = [Reply(body)]

    assert f"{server.url} answered" in str(raised_error(chat_model(server, kind)))


@pytest.mark.parametrize("kind", ["openai", "anthropic"])
def test_an_error_inside_an_accepted_answer_is_shown(
    server: ChatServer, kind: ChatServerKind
) -> None:
    server.replies = [json_reply({"type": "error", "error": {"message": "overloaded"}})]

    assert "answered with an error: overloaded" in str(raised_error(chat_model(server, kind)))


def test_an_answer_that_is_too_large_is_unavailable(server: ChatServer) -> None:
    server.replies = [openai_reply("a" * MAX_BYTES)]

    assert "more than 4 MB" in str(raised_error(chat_model(server)))


def test_a_body_that_breaks_off_is_unavailable(server: ChatServer) -> None:
    whole = openai_reply("Hi.").body
    server.replies = [Reply(whole, missing=10)]

    assert f"{server.url} gave no response: " in str(raised_error(chat_model(server)))


@pytest.mark.parametrize(
    "slow",
    [
        Reply(openai_reply("Hi.").body, delay_s=60),
        Reply(openai_reply("Hi.").body, drip_s=0.1),
        Reply(openai_reply("Hi.").body, drip_s=0.1, sized=False),
        Reply(openai_reply("Hi.").body, drip_s=0.1, drip_head=True),
        Reply(
            b"a;" + b"x" * 999, drip_s=0.1, sized=False, headers={"Transfer-Encoding": "chunked"}
        ),
        Reply(b"no luck" * 99, status=500, drip_s=0.1),
    ],
    ids=["late", "body", "body without a size", "headers", "chunk size", "error"],
)
def test_the_whole_call_is_bounded_however_a_server_drips(server: ChatServer, slow: Reply) -> None:
    server.replies = [slow]
    chat = chat_model(server, timeout_s=SHORT_S)
    began = time.monotonic()

    message = str(raised_error(chat))

    assert time.monotonic() - began < 6  # of more than ten, for the shortest of them
    assert f"{server.url} did not answer in full within 0.2 s" in message


def test_a_retry_does_not_have_the_time_anew(server: ChatServer) -> None:
    server.replies = [Reply(b"max_tokens", status=400, delay_s=0.75 * SHORT_S)]
    chat = chat_model(server, timeout_s=SHORT_S)

    assert "did not answer in full within 0.2 s" in str(raised_error(chat))


def test_no_watcher_outlives_its_call(server: ChatServer) -> None:
    server.replies = [openai_reply("Hi.")]
    already = set(threading.enumerate())
    complete(chat_model(server))

    new = set(threading.enumerate()) - already
    assert not [thread for thread in new if isinstance(thread, threading.Timer)]


@pytest.mark.parametrize(
    ("kind", "remedy"),
    [
        ("openai", "check the address, the key and the model's name"),
        ("ollama", "is Ollama running, and was `ollama pull m` done?"),
        ("anthropic", "check the address, the key and the model's name"),
    ],
)
def test_a_refused_connection_is_unavailable_and_names_server_and_remedy(
    kind: ChatServerKind, remedy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_PROXY", "*")
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))  # bound but not listening: refuses, and nobody else gets it
        url = f"http://127.0.0.1:{bound.getsockname()[1]}"

        message = str(raised_error(HttpChatModel(kind=kind, url=url, model="m")))

    assert message.startswith(f"the chat model at {url} gave no response: ")
    assert message.endswith(remedy)


@pytest.mark.parametrize(
    "url",
    [
        "",
        "localhost:11434",
        "http://",
        "http://[x",
        "ftp://x",
        "a\nb",
        "http://a..b",
        "http://127.0.0.1:99999",
        "http://no-such-host.invalid",
    ],
)
def test_an_address_that_is_none_is_unavailable(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "*")

    assert raised_error(HttpChatModel(kind="openai", url=url, model="m")).status == 503


def test_a_proxy_that_cannot_be_used_is_unavailable(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("ALL_PROXY", "gopher://127.0.0.1:1")

    assert "gave no response" in str(
        raised_error(HttpChatModel(kind="openai", url="http://x", model="m"))
    )


def test_a_text_that_has_no_encoding_is_unavailable(server: ChatServer) -> None:
    with pytest.raises(ModelUnavailable, match=server.url):
        chat_model(server).complete("", "\ud800", max_tokens=50)


def test_it_works_again_when_the_server_does(server: ChatServer) -> None:
    server.replies = [Reply(status=503), openai_reply("Hi.")]
    chat = chat_model(server)
    raised_error(chat)

    assert complete(chat) == "Hi."


@pytest.mark.parametrize("kind", KINDS)
def test_a_key_that_the_server_repeats_is_not_shown(
    server: ChatServer, kind: ChatServerKind
) -> None:
    server.replies = [Reply(b"x" * 290 + b" wrong key: sk-s3cret-s3cret", status=401)]

    assert "s3cret" not in str(raised_error(chat_model(server, kind, key="sk-s3cret-s3cret")))


@pytest.mark.parametrize("kind", ["openai", "anthropic"])
@pytest.mark.parametrize("key", ["k3y\nk3y", "k3y\u201d"], ids=["newline", "quote"])
def test_a_key_that_cannot_be_sent_is_unavailable_and_not_shown(
    server: ChatServer, kind: ChatServerKind, key: str
) -> None:
    assert "k3y" not in str(raised_error(chat_model(server, kind, key=key)))
    assert server.requests == []


def test_a_key_is_sent_without_the_space_it_was_pasted_with(server: ChatServer) -> None:
    server.replies = [anthropic_reply("Hi.")]

    complete(chat_model(server, "anthropic", key=" k3y\n"))

    assert server.requests[0].headers["x-api-key"] == "k3y"


@pytest.mark.parametrize("password", ["hunter2", "hunter2@hunter2", "hunter2/hunter2", "hunter2#"])
def test_a_password_in_the_address_is_not_shown(server: ChatServer, password: str) -> None:
    server.replies = [Reply(status=500)]
    url = server.url.replace("http://", f"http://ana:{password}@")

    message = str(raised_error(HttpChatModel(kind="openai", url=url, model="m")))

    assert "hunter2" not in message
    assert server.url in message


def test_the_words_of_a_server_are_shown_on_one_printable_line(server: ChatServer) -> None:
    words = json.dumps({"error": "no\x1b[31m luck\u2028"}, ensure_ascii=False)
    server.replies = [Reply(words.encode() + b"\x1b[0m\r\n" + b"x" * 9999, status=500)]

    message = str(raised_error(chat_model(server)))

    assert message.isprintable()
    assert len(message) < 500
