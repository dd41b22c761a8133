"""`learning()` with other requests, other patches, custom clients and any callable."""

import asyncio
import functools
import inspect
from collections.abc import Iterator
from typing import Any

import httpx2
import openai
import pytest

from fault_proxy import FaultProxy
from learning_checks import OPENING, memory_was_injected, stored_messages, user_texts
from recollect import LocalRecollect, learning
from vendor_calls import ask_chat, make_async_client, openai_client, question
from vendor_server import ScriptedResponse, VendorServer, default_text

pytestmark = pytest.mark.vendor

BODY = {"model": "m", "messages": [{"role": "user", "content": "Hello?"}]}
OTHERS = {
    "a page": ("GET", "http://api.test/v1/chat/completions", None),
    "a form": ("POST", "http://api.test/orders", {"messages": [{"role": "user"}]}),
    "a chat of people": ("POST", "http://api.test/rooms/7/messages", {"messages": ["Hello"]}),
    "embeddings": ("POST", "http://api.test/v1/embeddings", {"model": "m", "input": "Hello?"}),
    "answers to a survey": ("POST", "http://api.test/surveys/7/responses", {"input": "I am well"}),
    "a survey of talks": ("POST", "http://api.test/responses", {"conversation": 7, "input": "no"}),
    "counting tokens": ("POST", "http://api.test/v1/messages/count_tokens", BODY),
}


@pytest.mark.parametrize(
    "other",
    list(OTHERS),
)
def test_a_request_to_another_service_is_the_same_object_and_not_heard(
    two_agents: LocalRecollect, other: str
) -> None:
    method, url, body = OTHERS[other]
    seen: list[httpx2.Request] = []

    def respond(request: httpx2.Request) -> httpx2.Response:
        seen.append(request)
        return httpx2.Response(200, json={"choices": [], "output": []})

    request = httpx2.Request(method, url, json=body)
    with (
        httpx2.Client(transport=httpx2.MockTransport(respond)) as client,
        learning(agent="anna", memory=two_agents),
    ):
        response = client.send(request)

    assert seen == [request]
    assert seen[0] is request is response.request
    assert stored_messages(two_agents, "anna") == []


def test_a_body_that_can_be_read_once_is_sent_as_it_is(two_agents: LocalRecollect) -> None:
    def respond(request: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(200, content=request.read())

    pieces = [b'{"model": "m", "messages": [', b'{"role": "user", "content": "x"}]}']
    with (
        httpx2.Client(transport=httpx2.MockTransport(respond)) as client,
        learning(agent="anna", memory=two_agents),
    ):
        got = client.post("http://api.test/v1/chat/completions", content=iter(pieces))

    assert got.content == b"".join(pieces)


def test_a_client_with_a_send_of_its_own_is_heard_once(
    vendor: VendorServer, two_agents: LocalRecollect
) -> None:
    sent: list[httpx2.Request] = []

    class CountingClient(httpx2.Client):
        def send(self, request: httpx2.Request, **how: Any) -> httpx2.Response:
            sent.append(request)
            return super().send(request, **how)

    with (
        openai_client(vendor, http_client=CountingClient()) as client,
        learning(agent="anna", memory=two_agents),
    ):
        ask_chat(client, "Hello?")

    assert len(sent) == 1
    assert user_texts(two_agents, "anna") == ["Hello?"]
    assert str(vendor.requests[0].body).count(OPENING) == 1


def test_hooks_and_sign_in_of_the_callers_client_work_as_ever(
    vendor: VendorServer, two_agents: LocalRecollect
) -> None:
    seen: list[str] = []

    class HeaderAuth(httpx2.Auth):
        requires_response_body = True

        def auth_flow(self, request: httpx2.Request) -> Any:
            request.headers["x-signed"] = "yes"
            response = yield request
            seen.append(f"auth {response.status_code}")

    http = httpx2.Client(
        auth=HeaderAuth(),
        event_hooks={
            "request": [lambda request: seen.append(f"request {len(request.content) > 0}")],
            "response": [lambda response: response.read(), lambda _: seen.append("response")],
        },
    )
    with (
        openai_client(vendor, http_client=http) as client,
        learning(agent="anna", memory=two_agents),
    ):
        assert ask_chat(client, "plain").choices[0].message.content == default_text("plain")
        assert list(ask_chat(client, "streamed", stream=True))

    assert vendor.requests[0].headers["x-signed"] == "yes"
    assert seen == ["request True", "response", "auth 200"] * 2
    assert user_texts(two_agents, "anna") == ["plain", "streamed"]
    assert len(stored_messages(two_agents, "anna")) == 4


def test_a_proxy_of_the_callers_client_is_used_as_ever(
    vendor: VendorServer, proxy: FaultProxy, two_agents: LocalRecollect
) -> None:
    vendor_proxy = vendor.openai_url.removesuffix("/v1")
    http = httpx2.Client(proxy=vendor_proxy, trust_env=False)
    client = openai.OpenAI(
        api_key="k", base_url="http://model.invalid/v1", max_retries=0, http_client=http
    )
    with client, learning(agent="anna", server_url=proxy.url):
        ask_chat(client, "Hello?")

    assert vendor.requests[0].path == "http://model.invalid/v1/chat/completions"
    assert memory_was_injected(vendor) == [True]
    assert user_texts(two_agents, "anna") == ["Hello?"]


def test_async_clients_with_transports_of_their_own_are_heard(two_agents: LocalRecollect) -> None:
    async def respond(request: httpx2.Request) -> httpx2.Response:
        message = {"role": "assistant", "content": "Fine."}
        return httpx2.Response(200, json={"choices": [{"index": 0, "message": message}]})

    async def scene() -> None:
        http = httpx2.AsyncClient(transport=httpx2.MockTransport(respond))
        async with http, learning(agent="anna", memory=two_agents):
            await http.post("http://api.test/v1/chat/completions", json=BODY)

    asyncio.run(scene())
    assert [message.content for message in stored_messages(two_agents, "anna")] == [
        "Hello?",
        "Fine.",
    ]


@pytest.fixture
def bare_send() -> Iterator[Any]:
    """The method as it is without any patch, put back afterwards."""
    bare = httpx2.Client.send
    yield bare
    httpx2.Client.send = bare  # type: ignore[method-assign]


def laid_over(calls: list[Any]) -> Any:
    """Put a patch of somebody else's on whatever is there, and return it."""
    original = httpx2.Client.send

    def theirs(self: Any, request: Any, **how: Any) -> Any:
        calls.append(request)
        return original(self, request, **how)

    httpx2.Client.send = theirs  # type: ignore[method-assign]
    return theirs


def test_a_patch_laid_over_ours_inside_stays_and_is_called(
    vendor: VendorServer, two_agents: LocalRecollect, bare_send: Any
) -> None:
    calls: list[Any] = []
    with openai_client(vendor) as client:
        with learning(agent="anna", memory=two_agents):
            theirs = laid_over(calls)
            ask_chat(client, "one")
        assert httpx2.Client.send is theirs
        ask_chat(client, "after")

    assert len(calls) == 2
    assert user_texts(two_agents, "anna") == ["one"]


@pytest.mark.parametrize("taken_off", [False, True])
def test_a_block_after_one_that_was_patched_over_hears_and_tells_once(
    vendor: VendorServer, two_agents: LocalRecollect, bare_send: Any, taken_off: bool
) -> None:
    with openai_client(vendor) as client:
        with learning(agent="anna", memory=two_agents):
            ours = httpx2.Client.send
            laid_over([])
        if taken_off:  # who patched puts back what they found: ours, of a block that is over
            httpx2.Client.send = ours  # type: ignore[method-assign]
        with learning(agent="anna", memory=two_agents):
            ask_chat(client, "two")

    assert user_texts(two_agents, "anna") == ["two"]
    assert str(vendor.requests[-1].body).count(OPENING) == 1


def test_raw_helpers_kept_from_before_the_block_are_heard(
    vendor: VendorServer, two_agents: LocalRecollect
) -> None:
    with openai_client(vendor) as client:
        raw = client.chat.completions.with_raw_response
        streaming = client.chat.completions.with_streaming_response
        create = client.chat.completions.create
        raw.create(**question("chat", "before"))
        with learning(agent="anna", memory=two_agents):
            raw.create(**question("chat", "raw"))
            with streaming.create(**question("chat", "streaming")) as response:
                response.read()
            create(**question("chat", "bound"))

    assert user_texts(two_agents, "anna") == ["raw", "streaming", "bound"]


def test_a_failed_call_inside_raises_what_it_raises_outside(
    vendor: VendorServer, two_agents: LocalRecollect
) -> None:
    vendor.set_default(ScriptedResponse(status=429, retry_after=7))
    with openai_client(vendor) as client:
        with pytest.raises(openai.RateLimitError) as bare:
            ask_chat(client, "Hello?")
        with (
            learning(agent="anna", memory=two_agents),
            pytest.raises(openai.RateLimitError) as inside,
        ):
            ask_chat(client, "Hello?")

    assert str(inside.value) == str(bare.value)
    assert inside.value.response.headers == bare.value.response.headers


# Decorators


def test_methods_and_class_methods_may_be_decorated(
    vendor: VendorServer, two_agents: LocalRecollect
) -> None:
    class Helper:
        def __init__(self, client: Any) -> None:
            self.client = client

        @learning(agent="anna", memory=two_agents)
        def ask(self, text: str, *, loud: bool = False) -> str:
            """Ask politely."""
            return str(ask_chat(self.client, text.upper() if loud else text))

        @staticmethod
        @learning(agent="anna", memory=two_agents)
        def fixed(client: Any) -> None:
            ask_chat(client, "static")

        @classmethod
        @learning(agent="anna", memory=two_agents)
        def of_class(cls, client: Any) -> None:
            ask_chat(client, cls.__name__)

    with openai_client(vendor) as client:
        Helper(client).ask("quiet", loud=True)
        Helper.fixed(client)
        Helper.of_class(client)

    assert user_texts(two_agents, "anna") == ["QUIET", "static", "Helper"]
    assert str(inspect.signature(Helper.ask)) == "(self, text: str, *, loud: bool = False) -> str"
    assert Helper.ask.__doc__ == "Ask politely."


def test_a_callable_object_may_be_decorated(
    vendor: VendorServer, two_agents: LocalRecollect
) -> None:
    class CallableAsker:
        def __call__(self, client: Any) -> Any:
            return ask_chat(client, "called")

    with openai_client(vendor) as client:
        learning(agent="anna", memory=two_agents)(CallableAsker())(client)

    assert user_texts(two_agents, "anna") == ["called"]


class AsyncCallableAsker:
    async def __call__(self, client: Any) -> Any:
        return await ask_chat(client, "awaited")


async def _ask(client: Any) -> Any:
    return await ask_chat(client, "awaited")


def _asks_later(client: Any) -> Any:
    return _ask(client)


ASYNC_CALLABLES: dict[str, Any] = {
    "a coroutine function": _ask,
    "a partial of one": functools.partial(_ask),
    "a static method": staticmethod(_ask),
    "an object with an async call": AsyncCallableAsker(),
    "a function that returns a coroutine": _asks_later,
}


@pytest.mark.parametrize(
    "what",
    list(ASYNC_CALLABLES),
)
def test_whatever_is_awaited_is_inside_while_it_is_awaited(
    vendor: VendorServer, two_agents: LocalRecollect, what: str
) -> None:
    decorated = learning(agent="anna", memory=two_agents)(ASYNC_CALLABLES[what])

    async def scene() -> None:
        async with make_async_client("chat", vendor) as client:
            await decorated(client)

    asyncio.run(scene())
    assert user_texts(two_agents, "anna") == ["awaited"]


def test_an_error_of_a_decorated_function_comes_out_as_it_is(two_agents: LocalRecollect) -> None:
    @learning(agent="anna", memory=two_agents)
    def fails() -> None:
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        fails()
    assert not hasattr(httpx2.Client.send, "__wrapped__")
