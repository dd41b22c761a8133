"""`recollect agent approvals`: tool calls that wait are listed and decided."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from agent_runs import agent_store
from chat_server import ChatServer, chat_server, openai_reply
from command_results import error_of, json_of, output_of
from recollect.cli.main import main
from recollect.models.scripted_turns import call_turn

pytestmark = pytest.mark.door

Run = Callable[..., Result]

APPEND = call_turn(("core_memory_append", {"label": "persona", "content": "Short answers."}))
RULES = {
    "tools": ["core_memory_append", "pay"],
    "tool_rules": [
        {"type": "requires_approval", "tool_name": "core_memory_append"},
        {"type": "requires_approval", "tool_name": "pay"},
    ],
}


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with chat_server() as server:
        server.replies = [openai_reply("Noted.")]
        yield server


@pytest.fixture
def run(path: Path, tmp_path: Path, server: ChatServer) -> Run:
    """Run the command on the store, with a chat model unless told otherwise."""

    def invoke(*args: str, **env: str) -> Result:
        settings = {
            "RECOLLECT_DB": str(path),
            "RECOLLECT_EMBEDDING_BACKEND": "none",
            "RECOLLECT_CHAT_BACKEND": "openai",
            "RECOLLECT_CHAT_MODEL": "m",
            "OPENAI_BASE_URL": server.url,
            "HOME": str(tmp_path),
        }
        return CliRunner().invoke(main, ["agent", "approvals", *args], env=settings | env)

    return invoke


@pytest.fixture
def waiting(path: Path) -> str:
    """An agent's edit of a block that waits for a decision."""
    with agent_store(path, APPEND, runtime=RULES) as (rec, _):
        [approval] = rec.agents.run("ada", "Be short.").approvals
    return approval.id


def block(path: Path) -> str:
    with agent_store(path) as (rec, _):
        return rec.blocks.get("ada", "persona").value


def test_a_call_is_listed_with_what_it_would_change_and_approved(
    run: Run, path: Path, waiting: str
) -> None:
    listed = output_of(run())
    approved = output_of(run("--approve", waiting))

    assert "core_memory_append waits for your decision" in listed
    assert "+Short answers." in listed
    assert "ada, until" in listed
    assert waiting in listed
    assert approved == "Approved.\nNoted.\n"
    assert block(path) == "Short answers."
    assert output_of(run("--agent", "ada")) == "No tool call waits for a decision.\n"


def test_a_denied_call_does_not_run_and_the_model_is_told_why(
    run: Run, path: Path, waiting: str, server: ChatServer
) -> None:
    result = json_of(run("--deny", waiting, "--reason", "I prefer coffee.", "--json"))

    assert result["text"] == "Noted."
    assert "I prefer coffee." in server.requests[0].body["messages"][-1]["content"]
    assert block(path) == ""


def test_without_a_chat_model_the_call_goes_on_waiting(run: Run, waiting: str) -> None:
    message = error_of(run("--approve", waiting, RECOLLECT_CHAT_BACKEND="none"))

    assert "no chat model is configured" in message
    assert [item["id"] for item in json_of(run("--json"))] == [waiting]


def test_a_function_of_another_program_cannot_be_approved_here(run: Run, path: Path) -> None:
    def pay(amount: int) -> str:
        """Pay."""
        return "paid"

    call = call_turn(("pay", {"amount": 5}))
    with agent_store(path, call, tools=[pay], runtime=RULES) as (rec, _):
        [approval] = rec.agents.run("ada", "Pay five.").approvals

    assert "the tool pay belongs to the program" in error_of(run("--approve", approval.id))
    assert output_of(run("--deny", approval.id)).startswith("Denied.")


def test_wrong_options_and_unknown_ids_are_errors_in_one_line(run: Run, waiting: str) -> None:
    assert "one call at a time" in error_of(run("--approve", waiting, "--deny", waiting), code=2)
    assert "--always belongs to --approve" in error_of(run("--always"), code=2)
    assert "--reason to --deny" in error_of(run("--approve", waiting, "--reason", "No."), code=2)
    assert "there is no approval" in error_of(run("--deny", "nobody"))
