"""A script of a Letta user runs unchanged; it calls every method of the client that is served."""

import re
from pathlib import Path
from typing import Any

import pytest
from letta_client import Letta

from in_process_server import serve_in_thread
from letta_client_methods import RecordingLetta, client_methods
from recollect.server.letta_v1.letta_app import SERVED
from support import open_memory

pytestmark = [
    pytest.mark.vendor,
    pytest.mark.filterwarnings("ignore:deprecated:DeprecationWarning"),  # of letta-client
]


def run_script(client: Any) -> None:
    """Do what a program does with a Letta server. Nothing in here knows Recollect."""
    assert client.health().status == "ok"
    agent = _agents(client)
    _blocks(client, agent.id)
    _passages(client, agent.id)
    _messages(client, agent.id)
    _conversations(client, agent.id)
    _archives(client, agent.id)
    _files_and_catalogues(client, agent.id)
    client.agents.delete(agent.id)
    assert client.agents.list(name="scout").items == []


def _agents(client: Any) -> Any:
    agent = client.agents.create(
        name="scout",
        model="openai/gpt-4o-mini",
        embedding="openai/text-embedding-3-small",
        memory_blocks=[
            {"label": "human", "value": "The user is Ada."},
            {"label": "persona", "value": "I plan journeys."},
        ],
        tags=["travel"],
    )
    assert [listed.id for listed in client.agents.list(tags=["travel"])] == [agent.id]
    assert client.agents.update(agent.id, description="A guide.").description == "A guide."
    assert client.agents.retrieve(agent.id).name == "scout"
    assert client.tags.list() == ["travel"]
    assert "I plan journeys." in client.agents.recompile(agent.id)
    return agent


def _blocks(client: Any, agent_id: str) -> None:
    blocks = client.agents.blocks
    assert blocks.update("human", agent_id=agent_id, value="Ada, of Porto.").value.endswith(
        "Porto."
    )
    assert blocks.retrieve("human", agent_id=agent_id).value == "Ada, of Porto."
    shared = client.blocks.create(label="rules", value="Trains before planes.")
    other = client.agents.create(name="helper", block_ids=[shared.id])
    assert "rules" in {block.label for block in blocks.attach(shared.id, agent_id=agent_id).blocks}
    client.blocks.update(shared.id, value="Night trains before planes.")
    for holder in (agent_id, other.id):
        assert blocks.retrieve("rules", agent_id=holder).value.startswith("Night")
    assert len(list(client.blocks.agents.list(shared.id))) == 2
    assert client.blocks.retrieve(shared.id).label == "rules"
    assert [block.id for block in client.blocks.list(label="rules")] == [shared.id]
    blocks.detach(shared.id, agent_id=agent_id)
    assert [block.label for block in blocks.list(agent_id)] == ["persona", "human"]
    client.agents.delete(other.id)
    client.blocks.delete(shared.id)


def _passages(client: Any, agent_id: str) -> None:
    passages = client.agents.passages
    [kept] = passages.create(agent_id, text="The passport expires in 2031.", tags=["papers"])
    [spare] = passages.create(agent_id, text="The hotel was loud.")
    assert passages.search(agent_id, query="passport", tags=["papers"]).results[0].id == kept.id
    assert client.passages.search(query="passport", agent_id=agent_id)[0].passage.id == kept.id
    passages.delete(spare.id, agent_id=agent_id)
    assert [passage.id for passage in passages.list(agent_id)] == [kept.id]


def _messages(client: Any, agent_id: str) -> None:
    messages = client.agents.messages
    for text in ("I want to see Lisbon.", "In May, by night train.", "Two people."):
        messages.create(agent_id, messages=[{"role": "user", "content": text}])
    for _ in messages.stream(agent_id, messages=[{"role": "user", "content": "Thank you."}]):
        pass
    listed = list(messages.list(agent_id, order="asc"))
    assert [message.content for message in listed][:2] == [
        "I want to see Lisbon.",
        "In May, by night train.",
    ]
    found = client.messages.search(query="night train", agent_id=agent_id)
    assert found[0].message_id == listed[1].id
    assert client.messages.retrieve(listed[1].id)[0].content == "In May, by night train."
    assert client.messages.list(limit=1)[0].content == "Thank you."
    compacted = messages.compact(agent_id)
    assert compacted.num_messages_after < compacted.num_messages_before == 4
    messages.cancel(agent_id)
    assert messages.reset(agent_id).message_ids == []


def _conversations(client: Any, agent_id: str) -> None:
    talk = client.conversations.create(agent_id=agent_id, summary="Lisbon")
    said = ("Which museums are open?", "The tile museum.", "And on Mondays?", "Not that one.")
    for role, text in zip(("user", "assistant") * 2, said, strict=True):
        for _ in client.conversations.messages.create(
            talk.id, messages=[{"role": role, "content": text}], streaming=True
        ):
            pass
    listed = list(client.conversations.messages.list(talk.id, order="asc"))
    assert tuple(message.content for message in listed) == said
    fork = client.conversations.fork(talk.id, message_id=listed[1].id)
    copies = list(client.conversations.messages.list(fork.id, order="asc"))
    assert tuple(message.content for message in copies) == said[:2]
    compacted = client.conversations.messages.compact(talk.id, compaction_settings={"mode": "all"})
    assert compacted.num_messages_after < compacted.num_messages_before == 4
    assert compacted.summary
    assert len(client.conversations.retrieve(talk.id).in_context_message_ids) < 4
    assert "Ada, of Porto." in client.conversations.recompile(talk.id)
    assert client.conversations.update(talk.id, archived=True, summary="Tiles").summary == "Tiles"
    assert [one.id for one in client.conversations.list(agent_id=agent_id)] == [fork.id]
    client.conversations.cancel(fork.id)
    client.conversations.delete(fork.id)
    assert client.conversations.list(agent_id=agent_id) == []


def _archives(client: Any, agent_id: str) -> None:
    archive = client.archives.create(name="railways", description="Timetables")
    client.agents.archives.attach(archive.id, agent_id=agent_id)
    one = client.archives.passages.create(archive.id, text="The Lusitania left at 21:25.")
    many = client.archives.passages.create_many(
        archive.id, passages=[{"text": "The Sud Express left at 17:30.", "tags": ["old"]}]
    )
    found = client.agents.passages.search(agent_id, query="Lusitania")
    assert found.results[0].id == one.id
    old = client.passages.search(query="express", archive_id=archive.id, tags=["old"])
    assert [hit.passage.id for hit in old] == [many[0].id]
    assert archive.id in {listed.id for listed in client.archives.list(agent_id=agent_id)}
    assert client.archives.update(archive.id, name="trains").name == "trains"
    assert client.archives.retrieve(archive.id).description == "Timetables"
    client.archives.passages.delete(one.id, archive_id=archive.id)
    client.agents.archives.detach(archive.id, agent_id=agent_id)
    assert many[0].id not in {
        result.id for result in client.agents.passages.search(agent_id, query="Sud").results
    }
    client.archives.delete(archive.id)
    assert list(client.archives.list(name="trains")) == []


def _files_and_catalogues(client: Any, agent_id: str) -> None:
    file = client.agents.export_file(agent_id)
    [copy_id] = client.agents.import_file(file=("scout.af", file.encode())).agent_ids
    copy = client.agents.retrieve(copy_id)
    assert (copy.name, copy.tags, copy.description) == ("scout", ["travel"], "A guide.")
    assert {block.value for block in copy.blocks} == {"Ada, of Porto.", "I plan journeys."}
    client.agents.delete(copy_id)
    assert client.models.list() == []
    assert client.models.embeddings.list()[0].embedding_dim >= 0
    [tool] = client.tools.list(name="conversation_search")
    assert client.tools.retrieve(tool.id).json_schema["parameters"]["properties"]["query"]
    assert tool.id in {has.id for has in client.agents.tools.list(agent_id)}


def test_the_script_of_a_letta_user_runs_and_calls_every_served_method(tmp_path: Path) -> None:
    with open_memory(tmp_path / "memory.db") as rec, serve_in_thread(rec) as url:
        client = RecordingLetta(Letta(base_url=url))

        run_script(client)

    served = {(route.method, re.sub(r"\{.*?\}", "{}", route.path)) for route in SERVED}
    methods = {
        dotted
        for dotted, (method, path) in client_methods().items()
        if (method, re.sub(r"\{.*?\}", "{}", path)) in served
    }
    assert client.called == methods
    assert len(SERVED) >= 60, "tier 1 has 34 routes, tier 2 has 26 more"
