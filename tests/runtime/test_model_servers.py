"""
Agents run against servers that speak OpenAI's and Anthropic's API, and against what goes wrong.

The server refuses what a vendor refuses, so a run that ends well has sent valid requests. The
packages of the vendors read the same responses.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anthropic
import openai
import pytest

from agent_runs import log_of, unanswered_calls
from recollect import LocalRecollect
from recollect.config import Settings
from recollect.domain import agent_run as events
from recollect.models.chat_turn import ToolSpec, Turn, TurnMessage, TurnRequest
from recollect.models.http_chat import HttpChatModel
from recollect.models.turn_response import to_json_text
from vendor_server import ScriptedCall, ScriptedResponse, VendorServer

pytestmark = pytest.mark.vendor

DIALECTS = ("openai", "anthropic")
each_dialect = pytest.mark.parametrize("dialect", DIALECTS)
SPEC = ToolSpec("add", "Add.", {"type": "object", "properties": {"a": {"type": "integer"}}})


def add(a: int, b: int = 0) -> int:
    """Add two numbers."""
    return a + b


@pytest.fixture(autouse=True)
def _no_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recollect.runtime.driver.FIRST_WAIT_S", 0.0)
    monkeypatch.setenv("NO_PROXY", "*")


@contextmanager
def agent_on(
    server: VendorServer, dialect: str, path: Path, **runtime: Any
) -> Iterator[LocalRecollect]:
    settings = Settings(
        db=str(path),
        embedding_backend="none",
        chat_backend=dialect,
        chat_model="m",
        openai_url=server.openai_url,
        openai_key="k",
        anthropic_url=server.anthropic_url,
        anthropic_key="k",
    )
    with LocalRecollect(settings) as rec:
        rec.agents.create("ada", system_prompt="You are Ada.", metadata={"runtime": runtime})
        rec.agents.add_tool(add)
        yield rec


def calls(*arguments: dict[str, Any]) -> ScriptedResponse:
    return ScriptedResponse(calls=[ScriptedCall("add", item) for item in arguments])


ANSWER = ScriptedResponse(text="Fünf ✓")
BAD = ScriptedResponse(calls=[ScriptedCall("add", raw_arguments='{"a": ')])


@each_dialect
def test_a_run_with_several_tool_calls_sends_what_the_vendor_accepts(
    vendor: VendorServer, dialect: str, path: Path
) -> None:
    vendor.script(calls({"a": 2, "b": 3}, {"a": 1}), calls({"a": 7}), ANSWER, ANSWER)
    with agent_on(vendor, dialect, path) as rec:
        result = rec.agents.run("ada", "2 + 3?")

        assert (result.stop_reason, result.text, result.usage.steps) == ("end_turn", "Fünf ✓", 3)
        tools = [text for role, text in log_of(rec, result.conversation_id) if role == "tool"]
        assert tools == ["5", "1", "7"]
        assert rec.agents.run("ada", "Again?").stop_reason == "end_turn"
        recorded = rec.models.calls()
        assert [call.model for call in recorded] == [f"{dialect}:m"] * 4
        assert all(call.output_tokens for call in recorded)
    systems = [
        request.body.get("system") or request.body["messages"][0] for request in vendor.requests
    ]
    assert systems == [systems[0]] * 4


@each_dialect
def test_a_stream_that_is_split_at_every_byte_is_read(
    vendor: VendorServer, dialect: str, path: Path
) -> None:
    vendor.script(
        ScriptedResponse(text="Wait ✓ ", calls=[ScriptedCall("add", {"a": 5})], byte_by_byte=True),
        ScriptedResponse(text="Fünf 🦓", byte_by_byte=True),
    )
    with agent_on(vendor, dialect, path) as rec:
        happened = list(rec.agents.stream("ada", "5?"))

    text = "".join(event.text for event in happened if isinstance(event, events.TextDelta))
    assert text == "Wait ✓ Fünf 🦓"
    last = happened[-1]
    assert isinstance(last, events.RunEnded)
    assert last.result.stop_reason == "end_turn"


Script = list[ScriptedResponse]
FAULTS: list[tuple[str, Script, str, int]] = [
    ("busy", [ScriptedResponse(status=429, retry_after=0), ANSWER], "end_turn", 2),
    ("overloaded", [ScriptedResponse(status=529)] * 2 + [ANSWER], "end_turn", 3),
    ("busy for long", [ScriptedResponse(status=429, retry_after=900)], "llm_api_error", 1),
    ("down", [ScriptedResponse(status=500)] * 4, "llm_api_error", 4),
    ("key refused", [ScriptedResponse(status=401)], "llm_api_error", 1),
    (
        "cut off in the stream",
        [ScriptedResponse(text="a b c", break_after=3), ANSWER],
        "end_turn",
        2,
    ),
    ("error in the stream", [ScriptedResponse(text="a b c", error_after=3), ANSWER], "end_turn", 2),
    ("no token counts", [ScriptedResponse(text="Hi.", counts_tokens=False)], "end_turn", 1),
    ("malformed arguments", [BAD, calls({"a": 1}), ANSWER], "end_turn", 3),
    ("malformed for good", [BAD] * 3, "invalid_tool_call", 3),
    (
        "answer cut by the limit",
        [ScriptedResponse(text="Half", truncated=True)],
        "max_tokens_exceeded",
        1,
    ),
    (
        "too long for the model",
        [ScriptedResponse(status=400, error_text="prompt is too long: 9 > 8 maximum")],
        "context_window_overflow_in_system_prompt",
        1,
    ),
]


@each_dialect
@pytest.mark.parametrize(("name", "script", "reason", "asked"), FAULTS, ids=[f[0] for f in FAULTS])
def test_what_goes_wrong_at_a_server_is_tried_again_or_is_a_stop_reason(
    vendor: VendorServer,
    dialect: str,
    path: Path,
    name: str,
    script: Script,
    reason: str,
    asked: int,
) -> None:
    vendor.script(*script)
    with agent_on(vendor, dialect, path) as rec:
        result = rec.agents.run("ada", "Hello?")

        assert (result.stop_reason, len(vendor.requests)) == (reason, asked), result.error
        assert (result.error == "") == (reason == "end_turn")
        assert unanswered_calls(rec.conversations.messages(result.conversation_id)) == []
        assert len(rec.models.calls()) == asked  # failed calls are in the ledger, too
        assert all(call.output_tokens or call.error for call in rec.models.calls())
        vendor.script(ANSWER)
        assert rec.agents.run("ada", "And now?").stop_reason == "end_turn"


@each_dialect
def test_a_forced_tool_is_asked_for_in_the_vendors_words(
    vendor: VendorServer, dialect: str, path: Path
) -> None:
    vendor.script(calls({"a": 1}), ANSWER)
    rule = {"type": "run_first", "tool_name": "add"}
    with agent_on(vendor, dialect, path, tool_rules=[rule]) as rec:
        rec.agents.run("ada", "Go.")

    forced = {
        "openai": {"type": "function", "function": {"name": "add"}},
        "anthropic": {"type": "tool", "name": "add"},
    }
    assert vendor.requests[0].body["tool_choice"] == forced[dialect]
    assert "tool_choice" not in vendor.requests[1].body


def openai_reads(server: VendorServer) -> tuple[str, list[tuple[str, str]]]:
    client = openai.OpenAI(base_url=server.openai_url, api_key="k", max_retries=0)
    with client:
        tool: Any = {"type": "function", "function": {"name": "add", "parameters": {}}}
        text, arguments = "", dict[int, list[str]]()
        for chunk in client.chat.completions.create(
            model="m",
            messages=[{"role": "user", "content": "Hi."}],
            tools=[tool],
            stream=True,
        ):
            for choice in chunk.choices:
                text += choice.delta.content or ""
                for call in choice.delta.tool_calls or []:
                    function = call.function
                    assert function is not None
                    entry = arguments.setdefault(call.index, ["", ""])
                    entry[0] += function.name or ""
                    entry[1] += function.arguments or ""
        return text, [(name, written) for name, written in arguments.values()]


def anthropic_reads(server: VendorServer) -> tuple[str, list[tuple[str, str]]]:
    client = anthropic.Anthropic(base_url=server.anthropic_url, api_key="k", max_retries=0)
    with (
        client,
        client.messages.stream(
            model="m",
            max_tokens=50,
            messages=[{"role": "user", "content": "Hi."}],
            tools=[{"name": "add", "input_schema": {"type": "object"}}],
        ) as stream,
    ):
        message = stream.get_final_message()
    text = "".join(block.text for block in message.content if block.type == "text")
    used = [block for block in message.content if block.type == "tool_use"]
    return text, [(block.name, to_json_text(block.input)) for block in used]


@pytest.mark.parametrize(
    ("dialect", "sdk"), [("openai", openai_reads), ("anthropic", anthropic_reads)]
)
def test_the_vendors_package_reads_the_same_answer_from_the_same_server(
    vendor: VendorServer,
    dialect: Any,
    sdk: Callable[[VendorServer], tuple[str, list[tuple[str, str]]]],
) -> None:
    answer = ScriptedResponse(
        text="Gleich ✓",
        calls=[ScriptedCall("add", {"a": 1}), ScriptedCall("add", {"a": "ü"})],
    )
    vendor.script(answer, answer)
    theirs = sdk(vendor)
    url = vendor.openai_url if dialect == "openai" else vendor.anthropic_url
    model = HttpChatModel(kind=dialect, url=url, model="m", key="k")
    request = TurnRequest(
        system="", messages=(TurnMessage(role="user", text="Hi."),), tools=(SPEC,), max_tokens=50
    )
    *_, turn = model.stream_turn(request)

    assert isinstance(turn, Turn)
    assert (turn.text, [(call.name, call.arguments) for call in turn.calls]) == theirs
