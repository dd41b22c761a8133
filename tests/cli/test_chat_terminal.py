"""`recollect chat` in a real terminal: typed, pasted, interrupted, resized and killed."""

import json
import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from in_process_server import serve_in_thread
from recollect import LocalRecollect
from recollect.config import Settings
from terminal import InteractiveTerminal, environment, in_terminal
from vendor_server import ScriptedCall, ScriptedResponse, VendorServer

pytestmark = pytest.mark.door

pytest.importorskip("termios", reason="a terminal needs POSIX")

CTRL_C, CTRL_D, ENTER, ALT_ENTER, UP = "\x03", "\x04", "\r", "\x1b\r", "\x1b[A"
READY = "· /help"  # of the toolbar, which is drawn when the prompt reads keys
Chat = Callable[..., InteractiveTerminal]


def settings(path: Path, vendor: VendorServer | None, **more: str) -> dict[str, str]:
    chosen = {"RECOLLECT_EMBEDDING_BACKEND": "none"}
    if vendor is not None:
        chosen |= {
            "RECOLLECT_CHAT_BACKEND": "openai",
            "RECOLLECT_CHAT_MODEL": "gpt-4o-mini",
            "RECOLLECT_OPENAI_BASE_URL": vendor.openai_url,
            "RECOLLECT_OPENAI_API_KEY": "k",
        }
    return environment(path, **chosen, **more)


@pytest.fixture
def chat(path: Path, vendor: VendorServer) -> Iterator[Chat]:
    """Start a chat in a terminal, and end it with the test."""
    started: list[InteractiveTerminal] = []

    def start(*args: str, model: bool = True, **more: str) -> InteractiveTerminal:
        env = settings(path, vendor if model else None, **more)
        terminal = InteractiveTerminal("chat", *args, env=env)
        started.append(terminal)
        terminal.until(READY)
        return terminal

    yield start
    for terminal in started:
        terminal.close()


@pytest.fixture
def store(path: Path) -> Iterator[LocalRecollect]:
    """The same store, seen from here."""
    with LocalRecollect(Settings(db=str(path), embedding_backend="none")) as rec:
        yield rec


def said(rec: LocalRecollect) -> list[tuple[str, str]]:
    [conversation, *_] = rec.conversations.list()
    messages = rec.conversations.messages(conversation)
    return [(message.role.value, message.content) for message in messages]


def test_an_answer_streams_with_its_tokens_and_cost(
    chat: Chat, vendor: VendorServer, store: LocalRecollect
) -> None:
    vendor.script(ScriptedResponse(text="Hello **Bo**.\n\n```py\nx = 1\n```\n"))
    terminal = chat()
    terminal.type("Hi." + ENTER)
    shown = terminal.until("$0.000")
    assert "Hello Bo." in shown
    assert "x = 1" in shown
    terminal.until(READY)
    assert terminal.ends_with(CTRL_D) == 0

    assert said(store)[0] == ("user", "Hi.")
    [call] = store.models.calls()
    assert call.cost_usd is not None
    assert call.cost_usd > 0
    assert store.conversations.list()[0].ended_at is not None


def test_pasted_lines_are_one_message_and_lines_can_be_typed(
    chat: Chat, vendor: VendorServer, store: LocalRecollect
) -> None:
    vendor.script(ScriptedResponse(text="Read."))
    terminal = chat()
    terminal.type("\x1b[200~first line\nsecond line\n\x1b[201~")
    terminal.type("third" + ALT_ENTER + "fourth" + ENTER)
    terminal.until("Read.")

    assert said(store)[0] == ("user", "first line\nsecond line\nthird\nfourth")


def test_ctrl_c_stops_the_answer_and_not_the_chat(
    chat: Chat, vendor: VendorServer, store: LocalRecollect
) -> None:
    vendor.script(
        ScriptedResponse(text="One two three four five six.", hold_after=4),
        ScriptedResponse(text="Still here."),
    )
    terminal = chat()
    terminal.type("Count." + ENTER)
    terminal.until("One")
    os.killpg(terminal.process.pid, signal.SIGINT)
    terminal.until("stopped")
    vendor.release()
    terminal.until(READY)
    terminal.type("Are you there?" + ENTER)
    terminal.until("Still here.")

    roles = [role for role, _ in said(store)]
    assert roles[0] == "user"
    assert said(store)[-2:] == [("user", "Are you there?"), ("assistant", "Still here.")]
    runs = store.agents.runs(store.conversations.list()[0])
    assert [run.stop_reason for run in runs] == ["end_turn", "cancelled"]


def test_ctrl_c_at_the_prompt_clears_the_line(chat: Chat, vendor: VendorServer) -> None:
    vendor.script(ScriptedResponse(text="Yes."))
    terminal = chat()
    terminal.type("not this")
    terminal.until("not this")
    terminal.type(CTRL_C)
    terminal.until("/quit leaves")
    terminal.until(READY)
    terminal.type("this" + ENTER)
    terminal.until("Yes.")

    assert '"this' in json.dumps(vendor.requests[0].body["messages"])


def test_a_resize_in_mid_answer_keeps_the_chat_going(chat: Chat, vendor: VendorServer) -> None:
    text = "word " * 60 + "end."
    vendor.script(ScriptedResponse(text=text, hold_after=4), ScriptedResponse(text="Fine."))
    terminal = chat(COLUMNS="", LINES="")
    terminal.resize(24, 80)
    terminal.type("Go." + ENTER)
    terminal.until("word")
    terminal.resize(10, 60)
    vendor.release()
    terminal.until("tokens")
    terminal.press("And")
    terminal.resize(40, 150)
    terminal.type("?" + ENTER)
    terminal.until("Fine.")


def test_a_killed_chat_is_resumed(chat: Chat, vendor: VendorServer, store: LocalRecollect) -> None:
    vendor.script(
        ScriptedResponse(text="The code is 4711."),
        ScriptedResponse(text="Never finished", hold_after=2),
        ScriptedResponse(text="It was 4711."),
    )
    terminal = chat()
    terminal.type("What is the code?" + ENTER)
    terminal.until("4711")
    terminal.until(READY)
    terminal.type("Tell me more." + ENTER)
    vendor.wait_for_requests(2)
    terminal.process.kill()
    terminal.ends()

    resumed = chat("--resume")
    assert "The code is 4711." in resumed.shown
    resumed.type("Again?" + ENTER)
    resumed.until("It was 4711.")
    assert len(store.conversations.list()) == 1
    assert said(store)[-1] == ("assistant", "It was 4711.")
    sent = vendor.requests[-1].body["messages"]
    assert any("The code is 4711." in str(message["content"]) for message in sent)


def test_without_a_model_the_answer_is_what_memory_holds(chat: Chat, store: LocalRecollect) -> None:
    store.ingest("We deploy on Thursdays.", rationale="Fridays broke the build")
    terminal = chat(model=False)
    terminal.type("When do we deploy?" + ENTER)
    terminal.until("m1 We deploy on Thursdays.")
    terminal.until("No model is configured")
    terminal.until(READY)
    terminal.type("/why" + ENTER)
    terminal.until("m1")

    assert said(store) == [("user", "When do we deploy?")]


def test_a_tool_call_waits_for_a_key_and_shows_the_difference(
    chat: Chat, vendor: VendorServer, store: LocalRecollect
) -> None:
    rule = {"type": "requires_approval", "tool_name": "memory_replace"}
    store.agents.create("ada", metadata={"runtime": {"tool_rules": [rule]}})
    store.blocks.set("ada", "persona", "Ada is slow.")
    edit = {"label": "persona", "old_str": "slow", "new_str": "quick"}
    vendor.script(
        ScriptedResponse(calls=[ScriptedCall("memory_replace", edit)]),
        ScriptedResponse(text="Changed."),
    )
    terminal = chat()
    terminal.type("Be quick." + ENTER)
    shown = terminal.until("always for this tool")
    assert "-Ada is slow." in shown
    assert "+Ada is quick." in shown
    terminal.press("y")
    terminal.until("Changed.")
    assert store.blocks.get("ada", "persona").value == "Ada is quick."
    terminal.until(READY)
    terminal.type("/undo" + ENTER)
    terminal.until("Undone: the agent's edit of block persona")
    assert store.blocks.get("ada", "persona").value == "Ada is slow."


def test_commands_work_and_are_completed(
    chat: Chat, vendor: VendorServer, store: LocalRecollect, tmp_path: Path
) -> None:
    notes = tmp_path / "notes.txt"
    notes.write_text("The server is called zebra.")
    vendor.script(ScriptedResponse(text="Ok."))
    terminal = chat("--context-file", str(notes))

    def enter(text: str, expected: str) -> None:
        terminal.type(text + ENTER)
        terminal.until(expected)
        terminal.until(READY)

    terminal.type("/rem")
    terminal.until("store a memory")
    enter("ember The key is in the drawer.", "The key is in the drawer.")
    enter("/undo", "Undone: the memory")
    enter("/undo", "nothing to undo")
    enter("/files", "lines 1 to 1 of 1")
    enter("/context", "tokens (")
    enter("/block", "persona")
    enter("/model gpt-4o", "gpt-4o")
    enter("/inbox", "inbox is empty")
    enter("/nonsense", "There is no command /nonsense")
    enter("Hello.", "Ok.")
    enter("/compact", "nothing to compact")
    enter("/new", "another conversation")
    enter("/resume", "1 20")
    enter("/resume 1", "Continuing")
    enter("/forget drawer", "No memory matches")
    assert terminal.ends_with(CTRL_D) == 0

    assert vendor.requests[0].body["model"] == "gpt-4o"
    assert "zebra" in json.dumps(vendor.requests[0].body)
    assert [memory.status.value for memory in store.memories.list(statuses=["archived"])]


def test_earlier_messages_come_back_with_the_arrow(chat: Chat, vendor: VendorServer) -> None:
    vendor.script(ScriptedResponse(text="Noted."))
    vendor.set_default(ScriptedResponse(text="Again."))  # sleeptime asks the model, too
    first = chat()
    first.type("My favourite is blue." + ENTER)
    first.until("Noted.")
    first.until(READY)
    first.ends_with(CTRL_D)

    second = chat()
    second.press_until(UP, "My favourite is blue.")
    second.type(ENTER)
    second.until("Again.")


def test_an_unknown_agent_ends_the_chat_with_one_line(path: Path, store: LocalRecollect) -> None:
    env = settings(path, None)
    terminal = InteractiveTerminal("chat", "--agent", "nobody", env=env)
    try:
        assert terminal.ends() == 1
        assert "Error: " in terminal.shown
        assert "nobody" in terminal.shown
        assert "Traceback" not in terminal.shown
    finally:
        terminal.close()


def test_hostile_text_reaches_the_terminal_as_text(chat: Chat, vendor: VendorServer) -> None:
    vendor.script(ScriptedResponse(text="a\x1b]0;owned\x07b\x1b[2Jc [link](http://x.example/)"))
    terminal = chat()
    terminal.type("Hi." + ENTER)
    terminal.until("tokens")

    assert "\x1b]0;owned" not in terminal.raw
    assert "\x1b[2J" not in terminal.raw
    assert "http://x.example/" in terminal.shown


def test_the_chat_talks_through_a_server(path: Path, vendor: VendorServer, tmp_path: Path) -> None:
    vendor.script(ScriptedResponse(text="From afar."))
    served = Settings(
        db=str(path),
        embedding_backend="none",
        chat_backend="openai",
        chat_model="gpt-4o-mini",
        openai_url=vendor.openai_url,
        openai_key="k",
    )
    with LocalRecollect(served) as rec, serve_in_thread(rec) as url:
        env = settings(tmp_path / "none.db", None)
        terminal = InteractiveTerminal("chat", "--server", url, env=env)
        try:
            terminal.until("gpt-4o-mini")
            terminal.type("Hi." + ENTER)
            terminal.until("From afar.")
            terminal.until(READY)
            assert terminal.ends_with(CTRL_D) == 0
        finally:
            terminal.close()
        [conversation] = rec.conversations.list()

        assert conversation.ended_at is not None
        assert not (tmp_path / "none.db").exists()


def answer(path: Path, vendor: VendorServer | None, *args: str) -> tuple[int, Any]:
    result = in_terminal("recollect", "chat", *args, env=settings(path, vendor))
    return result.code, json.loads(result.text) if "--json" in args else result.text


def test_one_message_is_answered_for_a_script(
    path: Path, vendor: VendorServer, store: LocalRecollect
) -> None:
    store.ingest("The port is 8283.")
    vendor.script(
        ScriptedResponse(text="It is 8283 [m1]."),
        ScriptedResponse(text="As I said."),
        ScriptedResponse(status=400, error_text="bad"),
    )
    code, first = answer(path, vendor, "-p", "Which port?", "--json")

    assert (code, first["text"], first["stop_reason"]) == (0, "It is 8283 [m1].", "end_turn")
    assert first["citations"][0]["quote"] == "The port is 8283."
    assert first["usage"]["cost_usd"] > 0
    talk = first["conversation_id"]
    code, text = answer(path, vendor, "-p", "Sure?", "--resume", talk)
    assert (code, text.strip()) == (0, "As I said.")
    assert [role for role, _ in said(store)].count("user") == 2
    code, failed = answer(path, vendor, "-p", "And now?", "--json")
    assert (code, failed["stop_reason"]) == (1, "llm_api_error")


def test_one_message_without_a_model_returns_memories(path: Path, store: LocalRecollect) -> None:
    store.ingest("The port is 8283.")
    code, found = answer(path, None, "-p", "Which port is it?", "--json")

    assert (code, found["text"], found["model"]) == (0, "The port is 8283.", "")
    assert found["citations"][0]["quote"] == "The port is 8283."
