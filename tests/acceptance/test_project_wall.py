"""What the user says in one client's project, facts about the user included, is told only there."""

import json
from pathlib import Path
from typing import Any

import pytest

import recollect
from hook_clients import CLAUDE_CODE, CURSOR, HookHome
from mcp_clients import call_values, in_process_server
from recollect import LocalRecollect, Scope, Status, learning
from recollect.mcp.caller_scope import Caller
from support import open_memory
from vendor_server import VendorServer

SECRET = "I am working on the secret acquisition of Globex for Acme."
QUESTION = "What am I working on, and is there a secret acquisition of Globex for Acme?"
EVERYWHERE = "In all my projects I prefer tabs over spaces."


def text_told_over_mcp(rec: LocalRecollect, project: Path | str | None) -> str:
    """Return everything that the MCP tools tell a client of *project*."""
    server = in_process_server(rec, Caller(project=None if project is None else str(project)))
    answers: list[Any] = [
        call_values(server, "context", task=QUESTION),
        call_values(server, "search", query=QUESTION),
        call_values(server, "review"),
        call_values(server, "status"),
    ]
    return json.dumps(answers)


def promote_everything(rec: LocalRecollect) -> None:
    rec.drain()
    rec.inbox.promote([item.memory.id for item in rec.inbox.list(grouped=False)])


@pytest.mark.door
def test_what_coding_agents_captured_in_one_project_is_told_in_no_other(home: HookHome) -> None:
    acme, globex = home.project("acme"), home.project("globex")
    for client, session in ((CLAUDE_CODE, "monday"), (CURSOR, "tuesday")):
        spoken = [("user", f"Hello on {session}."), ("user", SECRET), ("user", EVERYWHERE)]
        path = home.folder / f"{session}.jsonl"
        client.write_transcript(path, spoken, session=session, cwd=acme)
        home.run_hook(client.end, client.payload(session, acme, path) | {"reason": "other"})
    home.wait_for_captures(2)
    with recollect.open(home.db, embedding_backend="none") as rec:
        rec.drain()
        before_review = text_told_over_mcp(rec, globex)
        candidates = rec.inbox.list(grouped=False)
        rec.inbox.promote([item.memory.id for item in candidates])
        after_review, at_home, without_project = (
            text_told_over_mcp(rec, place) for place in (globex, acme, None)
        )
        facts = rec.memories.list(everywhere=True, types=["profile"], limit=50)
        elsewhere = rec.context_for("do I prefer tabs over spaces?", project=str(globex)).text

    at_start = CLAUDE_CODE.payload("wednesday", globex, None) | {"source": "startup"}
    with_prompt = CURSOR.payload("thursday", globex, None) | {"prompt": QUESTION}
    injected = home.run_hook(CLAUDE_CODE.start, at_start).output
    injected += home.run_hook(CURSOR.prompt, with_prompt).output
    in_acme = CURSOR.payload("friday", acme, None) | {"prompt": QUESTION}

    assert SECRET in at_home
    assert SECRET in home.run_hook(CURSOR.prompt, in_acme).output
    for text in (before_review, after_review, without_project, injected):
        assert "Globex" not in text.replace(QUESTION, "")
    assert {fact.scope for fact in facts if fact.content == SECRET} == {Scope.PROJECT}
    assert {fact.scope for fact in facts if fact.content == EVERYWHERE} == {Scope.GLOBAL}
    assert EVERYWHERE in elsewhere


@pytest.mark.vendor
@pytest.mark.parametrize("single_user", [True, False])
def test_what_is_said_within_learning_in_one_project_is_sent_in_no_other(
    tmp_path: Path, vendor: VendorServer, single_user: bool
) -> None:
    from vendor_calls import openai_client, question  # loads the packages of the vendors

    bodies = []
    with open_memory(tmp_path / "m.db", single_user=single_user) as rec:
        for project, text in (("acme", SECRET), ("acme", QUESTION), ("globex", QUESTION)):
            block = learning(agent="coder", project=project, memory=rec)
            with openai_client(vendor) as client, block:
                client.chat.completions.create(**question("chat", text))
            promote_everything(rec)
            bodies.append(str(vendor.requests[-1].body).replace(QUESTION, ""))

    assert SECRET in bodies[1]
    assert "Globex" not in bodies[2]


def test_a_person_takes_a_fact_out_of_its_project_and_back(rec: LocalRecollect) -> None:
    for session in ("monday", "tuesday"):
        rec.capture_session(
            [{"role": "user", "content": SECRET}, {"role": "assistant", "content": session}],
            project="acme",
            session=session,
        )
    promote_everything(rec)
    [fact] = rec.memories.list(project="acme", types=["profile"])
    assert "Globex" not in rec.briefing(project="globex").text

    shared = rec.promote(fact.id, scope="global")
    context = rec.context_for(QUESTION, project="globex").text
    rec.undo(shared.id)

    assert SECRET in context
    assert "Globex" not in rec.context_for("my work today", project="globex").text
    assert rec.memories.get(fact.id).status is Status.ACTIVE
