"""Letta's interface under /v1, through the real `letta-client`."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from letta_client import APIStatusError, ConflictError, Letta, NotFoundError
from letta_client import UnprocessableEntityError as Unprocessable
from letta_client.types.agents import AssistantMessage, UserMessage

from agent_runs import agent_store
from in_process_server import serve_in_thread
from letta_client_methods import client_methods
from recollect import LocalRecollect
from recollect.config import Settings
from recollect.models.scripted_turns import ScriptedTurnModel, call_turn
from recollect.server.letta_v1.letta_app import SERVED
from recollect.server.letta_v1.letta_turns import NO_MODEL, MessagesBody, letta_events
from support import open_memory

pytestmark = pytest.mark.vendor


@pytest.fixture(scope="module")
def rec(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalRecollect]:
    with open_memory(tmp_path_factory.mktemp("letta") / "memory.db") as rec:
        yield rec


@pytest.fixture(scope="module")
def url(rec: LocalRecollect) -> Iterator[str]:
    with serve_in_thread(rec) as url:
        yield url


@pytest.fixture(scope="module")
def client(url: str) -> Iterator[Letta]:
    with Letta(base_url=url) as client:
        yield client


@pytest.fixture
def agent_id(client: Letta) -> str:
    blocks: Any = [{"label": "human", "value": "Ada"}, {"label": "persona", "value": "I am kind."}]
    return client.agents.create(memory_blocks=blocks).id


def texts(messages: Any) -> list[str]:
    return [message.content for message in messages]


def say(client: Letta, agent_id: str, *words: str) -> None:
    for word in words:
        client.agents.messages.create(agent_id, messages=[{"role": "user", "content": word}])


# Every method


def test_every_method_of_the_client_is_served_or_answers_501_with_a_sentence(url: str) -> None:
    def shape(path: str) -> str:
        return re.sub(r"\{.*?\}", "{}", path)

    served = {(route.method, shape(route.path)) for route in SERVED}
    others = {
        dotted: request
        for dotted, request in client_methods().items()
        if (request[0], shape(request[1])) not in served
    }
    with httpx2.Client(base_url=f"{url}/v1") as http:
        for dotted, (method, path) in others.items():
            response = http.request(method, shape(path).replace("{}", "x") or "/", json={})
            assert response.status_code == 501, (dotted, response.text)
            assert " not " in response.json()["detail"] or "cannot" in response.json()["detail"]
            assert response.headers["x-should-retry"] == "false"


def test_paths_answer_with_and_without_a_slash_at_the_end(url: str) -> None:
    with httpx2.Client(base_url=url) as http:
        for path in ("/v1/agents", "/v1/agents/", "/v1/health/", "/v1/blocks"):
            assert http.get(path).status_code == 200, path
        assert http.get("/v1/nothing").status_code == 404
        assert http.get("/v1").status_code == 404


# Agents


def test_an_agent_comes_back_with_what_it_was_created_with(client: Letta) -> None:
    blocks: Any = [{"label": "human", "value": "Ada", "limit": 500, "description": "who"}]
    created = client.agents.create(
        name="scout",
        memory_blocks=blocks,
        tags=["travel", "eu"],
        model="openai/gpt-4o-mini",
        embedding="openai/text-embedding-3-small",
        system="You help with travel.",
        description="A guide.",
        metadata={"team": "blue"},
        timezone="Europe/Berlin",
        secrets={"API_KEY": "hunter2"},
    )

    agent = client.agents.retrieve(created.id)

    assert agent.name == "scout"
    assert agent.system == "You help with travel."
    assert sorted(agent.tags) == ["eu", "travel"]
    assert agent.model == "openai/gpt-4o-mini"
    assert agent.llm_config.model == "gpt-4o-mini"
    assert agent.llm_config.context_window == 128_000
    assert agent.embedding == "openai/text-embedding-3-small"
    assert agent.metadata == {"team": "blue"}
    assert agent.timezone == "Europe/Berlin"
    [block] = agent.blocks
    assert (block.label, block.value, block.limit, block.description) == (
        "human",
        "Ada",
        500,
        "who",
    )
    assert "conversation_search" in {tool.name for tool in agent.tools}
    assert "hunter2" not in agent.model_dump_json()


def test_two_agents_may_have_one_name(client: Letta, rec: LocalRecollect) -> None:
    ids = {client.agents.create(name="double").id for _ in range(3)}

    listed = list(client.agents.list(name="double"))

    assert {agent.id for agent in listed} == ids
    assert {agent.name for agent in listed} == {"double"}
    assert {"double", "double (2)", "double (3)"} <= {agent.name for agent in rec.agents.list()}


def test_an_agent_changes_only_in_what_is_named(client: Letta) -> None:
    created = client.agents.create(
        name="changing", tags=["old"], metadata={"a": 1}, model="openai/gpt-4o", system="S"
    )

    client.agents.update(created.id, description="new", tags=["new"])
    changed = client.agents.update(created.id, name="changed", model="anthropic/claude-sonnet-5")

    assert changed.name == "changed"
    assert changed.description == "new"
    assert changed.tags == ["new"]
    assert changed.metadata == {"a": 1}
    assert changed.system == "S"
    assert changed.llm_config.api_model_endpoint_type == "anthropic"
    assert client.agents.update(created.id, metadata={"b": 2}).metadata == {"b": 2}
    assert client.agents.retrieve(created.id).tags == ["new"]


def test_agents_are_listed_page_by_page_and_by_tags(client: Letta) -> None:
    names = [f"paged {number}" for number in range(5)]
    for number, name in enumerate(names):
        client.agents.create(name=name, tags=["paged", "even" if number % 2 == 0 else "odd"])

    pages = list(client.agents.list(tags=["paged"], limit=2, order="asc"))

    assert [agent.name for agent in pages] == names
    newest = client.agents.list(tags=["paged"], limit=2)
    assert [agent.name for agent in newest.items] == names[:-3:-1]
    both = client.agents.list(tags=["paged", "odd"], match_all_tags=True, order="asc")
    assert [agent.name for agent in both] == names[1::2]
    assert [agent.name for agent in client.agents.list(query_text="PAGED 3")] == ["paged 3"]
    assert {"even", "odd", "paged"} <= set(client.tags.list(limit=1000))
    assert client.tags.list(query_text="eve") == ["even"]


def test_lists_are_ordered_by_the_last_change_or_message(client: Letta, agent_id: str) -> None:
    names = ["ordered 0", "ordered 1"]
    agents = [client.agents.create(name=name, tags=["ordered"]) for name in names]
    client.agents.update(agents[0].id, description="Changed.")
    talks = [client.conversations.create(agent_id=agent_id).id for _ in range(3)]
    for place in (2, 0):
        text = [{"role": "user", "content": "Hello."}]
        list(client.conversations.messages.create(talks[place], messages=text))  # type: ignore[arg-type]

    changed = client.agents.list(tags=["ordered"], order_by="updated_at")
    assert [agent.name for agent in changed] == names
    for order_by in ("last_message_at", "last_run_completion"):
        listed = client.conversations.list(agent_id=agent_id, order_by=order_by)
        assert [talk.id for talk in listed] == [talks[0], talks[2], talks[1]]
    page = client.conversations.list(
        agent_id=agent_id, order_by="last_message_at", after=talks[0], limit=1
    )
    assert [talk.id for talk in page] == [talks[2]]


def test_a_deleted_agent_is_gone(client: Letta, agent_id: str) -> None:
    client.agents.delete(agent_id)

    with pytest.raises(NotFoundError) as refused:
        client.agents.retrieve(agent_id)

    assert "there is no agent" in refused.value.body["detail"]  # type: ignore[index]


def test_an_agent_with_a_bad_block_is_not_created(client: Letta, rec: LocalRecollect) -> None:
    blocks: Any = [{"label": "human", "value": "a"}, {"label": "human", "value": "b"}]

    with pytest.raises(ConflictError):
        client.agents.create(name="half", memory_blocks=blocks)

    assert "half" not in {agent.name for agent in rec.agents.list()}


def test_an_agent_that_another_door_created_is_shown(client: Letta, rec: LocalRecollect) -> None:
    rec.agents.create("from python", model="gpt-4o")

    agent = client.agents.retrieve("from python")

    assert agent.model == "openai/gpt-4o"
    assert {"persona", "human"} <= {block.label for block in agent.blocks}


def test_the_context_window_is_measured(client: Letta, agent_id: str, url: str) -> None:
    say(client, agent_id, "Hello there")

    window = httpx2.get(f"{url}/v1/agents/{agent_id}/context").json()

    assert window["num_messages"] == 1
    assert window["num_tokens_messages"] > 0
    assert "Ada" in window["core_memory"]
    assert window["context_window_size_current"] < window["context_window_size_max"]


# Blocks


def test_a_block_is_edited_by_its_label(client: Letta, agent_id: str) -> None:
    client.agents.blocks.update("human", agent_id=agent_id, value="Ada Lovelace", tags=["who"])

    block = client.agents.blocks.retrieve("human", agent_id=agent_id)

    assert (block.value, block.tags) == ("Ada Lovelace", ["who"])
    assert [block.label for block in client.agents.blocks.list(agent_id)] == ["persona", "human"]
    with pytest.raises(NotFoundError):
        client.agents.blocks.retrieve("nothing", agent_id=agent_id)


def test_value_and_limit_are_changed_together_or_not_at_all(client: Letta, agent_id: str) -> None:
    update = client.agents.blocks.update
    assert update("human", agent_id=agent_id, value="x" * 40, limit=50).limit == 50
    assert update("human", agent_id=agent_id, value="y" * 60, limit=60).value == "y" * 60
    assert update("human", agent_id=agent_id, value="z", limit=1).limit == 1

    with pytest.raises(Unprocessable, match="limit"):
        update("human", agent_id=agent_id, value="too long", limit=3)

    assert client.agents.blocks.retrieve("human", agent_id=agent_id).value == "z"


def test_a_client_may_write_a_block_that_is_read_only_for_agents(client: Letta) -> None:
    blocks: Any = [{"label": "rules", "value": "old", "read_only": True}]
    agent = client.agents.create(memory_blocks=blocks)

    changed = client.agents.blocks.update("rules", agent_id=agent.id, value="new")

    assert (changed.value, changed.read_only) == ("new", True)


def test_a_shared_block_is_one_value_for_all_agents(client: Letta) -> None:
    block = client.blocks.create(label="team", value="We use uv.", tags=["shared"])
    first = client.agents.create(block_ids=[block.id])
    second = client.agents.create()
    client.agents.blocks.attach(block.id, agent_id=second.id)

    client.agents.blocks.update("team", agent_id=first.id, value="We use pip.")

    assert client.agents.blocks.retrieve("team", agent_id=second.id).value == "We use pip."
    assert {agent.id for agent in client.blocks.agents.list(block.id)} == {first.id, second.id}
    assert client.agents.blocks.detach(block.id, agent_id=first.id).blocks == []
    assert [agent.id for agent in client.blocks.agents.list(block.id)] == [second.id]
    client.blocks.delete(block.id)
    assert client.agents.retrieve(second.id).blocks == []
    with pytest.raises(NotFoundError):
        client.blocks.retrieve(block.id)


def test_the_block_of_one_agent_can_be_given_to_another(client: Letta, agent_id: str) -> None:
    block = client.agents.blocks.retrieve("human", agent_id=agent_id)
    other = client.agents.create()

    client.agents.blocks.attach(block.id, agent_id=other.id)
    client.blocks.update(block.id, value="Grace")

    for holder in (agent_id, other.id):
        assert client.agents.blocks.retrieve("human", agent_id=holder).value == "Grace"
    client.agents.blocks.detach(block.id, agent_id=agent_id)
    assert client.blocks.retrieve(block.id).value == "Grace"


def test_the_blocks_of_an_agent_can_be_set(client: Letta, agent_id: str) -> None:
    block = client.blocks.create(label="goals", value="Win.")
    kept = client.agents.blocks.retrieve("persona", agent_id=agent_id)

    changed = client.agents.update(agent_id, block_ids=[block.id, kept.id])

    assert {block.label for block in changed.blocks} == {"goals", "persona"}


def test_an_agent_has_one_block_of_each_label(client: Letta, agent_id: str) -> None:
    block = client.blocks.create(label="human", value="Somebody else")

    with pytest.raises(ConflictError):
        client.agents.blocks.attach(block.id, agent_id=agent_id)


def test_blocks_are_found_by_their_fields(client: Letta) -> None:
    for label, value, tags in (("alpha", "one", ["x"]), ("alphabet", "two", ["x", "y"])):
        client.blocks.create(label=label, value=value, description=f"about {value}", tags=tags)

    def labels(**query: Any) -> list[str | None]:
        return [block.label for block in client.blocks.list(order="asc", **query)]

    assert labels(label="alpha") == ["alpha"]
    assert labels(label_search="ALPHA") == ["alpha", "alphabet"]
    assert labels(value_search="two") == ["alphabet"]
    assert labels(description_search="about one") == ["alpha"]
    assert labels(tags=["x", "y"], match_all_tags=True) == ["alphabet"]
    assert labels(label_search="alpha", connected_to_agents_count_gt=0) == []
    assert labels(label_search="alpha", connected_to_agents_count_eq=[0], limit=1) == [
        "alpha",
        "alphabet",
    ]


# Passages


def test_passages_are_inserted_listed_searched_and_deleted(client: Letta, agent_id: str) -> None:
    passport = "The passport expires in 2031."
    for text, tags in ((passport, ["papers"]), ("She likes night trains.", ["travel"])):
        client.agents.passages.create(agent_id, text=text, tags=tags)

    listed = client.agents.passages.list(agent_id)
    found = client.agents.passages.search(agent_id, query="when does the passport run out?")

    assert [passage.text for passage in listed] == [passport, "She likes night trains."]
    assert found.results[0].content == passport
    assert found.count == 2, "Letta returns the best however good they are"
    only = client.agents.passages.search(agent_id, query="passport", tags=["travel"], top_k=5)
    assert [result.content for result in only.results] == ["She likes night trains."]
    [best, *_] = client.passages.search(query="passport", agent_id=agent_id, limit=1)
    assert (best.passage.text, best.passage.tags) == (passport, ["papers"])
    assert passport in {hit.passage.text for hit in client.passages.search(query="passport")}
    assert listed[0].id is not None
    client.agents.passages.delete(listed[0].id, agent_id=agent_id)
    assert len(client.agents.passages.list(agent_id)) == 1


def test_passages_are_listed_from_an_id_on(client: Letta, agent_id: str) -> None:
    for number in range(5):
        client.agents.passages.create(agent_id, text=f"passage {number}")
    ids = [passage.id or "" for passage in client.agents.passages.list(agent_id)]

    def numbers(**query: Any) -> list[str]:
        return [passage.text[-1] for passage in client.agents.passages.list(agent_id, **query)]

    assert numbers(after=ids[1], limit=2) == ["2", "3"]
    assert numbers(before=ids[4], limit=2) == ["2", "3"]
    assert numbers(ascending=False, limit=2) == ["4", "3"]
    assert numbers(after=ids[4]) == []
    assert numbers(search="PASSAGE 3") == ["3"]
    assert numbers(search="passage", limit=2, after=ids[1]) == ["2", "3"]
    assert numbers(search="passage", before=ids[2], ascending=False) == ["4", "3"]
    assert numbers(search="train") == []


def test_the_passage_of_another_agent_is_not_deleted(client: Letta, agent_id: str) -> None:
    other = client.agents.create()
    [passage] = client.agents.passages.create(other.id, text="Mine.")
    assert passage.id is not None

    with pytest.raises(NotFoundError):
        client.agents.passages.delete(passage.id, agent_id=agent_id)

    assert len(client.agents.passages.list(other.id)) == 1


# Messages without a model


def test_without_a_model_messages_are_stored_and_the_response_says_so(
    client: Letta, agent_id: str
) -> None:
    raw = client.agents.messages.with_raw_response.create(agent_id, input="I live in Porto.")

    response: Any = raw.parse()
    assert (response.messages, response.stop_reason.stop_reason) == ([], "end_turn")
    assert response.note == NO_MODEL
    assert raw.headers["x-recollect-note"] == NO_MODEL
    [message] = client.agents.messages.list(agent_id)
    assert isinstance(message, UserMessage)
    assert message.content == "I live in Porto."
    with client.agents.messages.create(agent_id, input="And you?", streaming=True) as stream:
        assert [event.message_type for event in stream] == ["stop_reason", "usage_statistics"]
    assert texts(client.agents.messages.list(agent_id)) == ["And you?", "I live in Porto."]


def test_messages_are_listed_in_both_directions(client: Letta, agent_id: str) -> None:
    words = [f"word {number}" for number in range(6)]
    say(client, agent_id, *words)
    listed = client.agents.messages.list
    ids = [message.id for message in listed(agent_id, order="asc")]

    def page(**query: Any) -> list[str]:
        return texts(listed(agent_id, **query).items)

    everywhere: dict[str, Any] = {}
    for where in (everywhere, {"conversation_id": "default"}):
        assert texts(listed(agent_id, limit=2, order="asc", **where)) == words
        assert texts(listed(agent_id, limit=4, **where)) == words[::-1]
        assert page(order="asc", after=ids[1], limit=2, **where) == words[2:4]
        assert page(order="asc", before=ids[4], limit=2, **where) == words[2:4]
        assert page(order="desc", after=ids[4], limit=2, **where) == words[3:1:-1]
        assert page(order="desc", before=ids[1], limit=2, **where) == words[3:1:-1]
        assert page(order="asc", after=ids[0], before=ids[3], **where) == words[1:3]
        assert page(order="desc", after=ids[3], before=ids[0], **where) == words[2:0:-1]
    assert page(include_return_message_types=["assistant_message"]) == []


def test_messages_of_all_agents_are_listed_read_and_searched(client: Letta, agent_id: str) -> None:
    other = client.agents.create()
    say(client, agent_id, "The zebra lives in the attic.")
    say(client, other.id, "Nothing new today.")

    newest = client.messages.list(limit=2)
    found = client.messages.search(query="zebra attic", limit=3)
    own = client.messages.search(query="zebra", agent_id=agent_id, search_mode="fts")

    assert texts(newest) == ["Nothing new today.", "The zebra lives in the attic."]
    assert texts(client.messages.retrieve(newest[1].id)) == ["The zebra lives in the attic."]
    assert texts(found)[0] == "The zebra lives in the attic."
    assert (own[0].agent_id, own[0].message_type) == (agent_id, "user_message")


def test_a_captured_turn_is_stored(client: Letta, agent_id: str, url: str) -> None:
    turn = {
        "provider": "openai",
        "model": "gpt-4o",
        "request_messages": [{"role": "user", "content": "What is up?"}],
        "response_dict": {"role": "assistant", "content": "The sky."},
    }

    response = httpx2.post(f"{url}/v1/agents/{agent_id}/messages/capture", json=turn)

    assert response.json() == {"success": True, "messages_created": 2, "run_ids": []}
    assert texts(client.agents.messages.list(agent_id)) == ["The sky.", "What is up?"]


def test_reset_begins_a_new_conversation(client: Letta, agent_id: str) -> None:
    say(client, agent_id, "Before the reset.")
    assert len(client.agents.retrieve(agent_id).message_ids or ()) == 1

    for _ in range(2):
        reset = client.agents.messages.reset(agent_id)
        assert reset is not None
        assert reset.message_ids == []
    say(client, agent_id, "After it.")

    assert len(client.agents.retrieve(agent_id).message_ids or ()) == 1
    default = client.agents.messages.list(agent_id, conversation_id="default")
    assert texts(default) == ["After it."]
    assert texts(client.messages.search(query="reset", agent_id=agent_id))[0] == "Before the reset."


# Agent files


def test_an_agent_moves_as_a_file(client: Letta, agent_id: str) -> None:
    client.agents.update(agent_id, tags=["moving"], system="Be brief.")
    say(client, agent_id, "Remember the milk.")

    file = client.agents.export_file(agent_id)
    [moved_id] = client.agents.import_file(file=("agent.af", file.encode()), name="moved").agent_ids

    content = json.loads(file)
    assert {"agents", "groups", "blocks", "files", "sources", "tools"} <= content.keys()
    assert content["agents"][0]["tags"] == ["moving"]
    moved = client.agents.retrieve(moved_id)
    assert (moved.name, moved.system, moved.tags) == ("moved", "Be brief.", ["moving"])
    assert {block.label: block.value for block in moved.blocks} == {
        "human": "Ada",
        "persona": "I am kind.",
    }
    assert texts(client.agents.messages.list(moved_id)) == ["Remember the milk."]
    say(client, moved_id, "And the bread.")
    assert len(client.agents.retrieve(moved_id).message_ids or ()) == 2, "the same conversation"


def test_messages_can_be_left_out_of_a_file(client: Letta, agent_id: str) -> None:
    say(client, agent_id, "A secret.")

    scrubbed = client.agents.export_file(agent_id, scrub_messages=True)
    file = client.agents.export_file(agent_id).encode()
    [stripped] = client.agents.import_file(
        file=file, strip_messages=True, append_copy_suffix=True, model="openai/gpt-4o"
    ).agent_ids

    assert json.loads(scrubbed)["agents"][0]["messages"] == []
    assert list(client.agents.messages.list(stripped)) == []
    assert client.agents.retrieve(stripped).name.endswith("_copy")
    assert client.agents.retrieve(stripped).model == "openai/gpt-4o"
    with pytest.raises(Unprocessable):
        client.agents.import_file(file=b"not an agent")


# Errors and the guard


def test_a_body_that_does_not_fit_is_refused_with_the_reason(client: Letta) -> None:
    wrong: Any = 7

    with pytest.raises(Unprocessable) as refused:
        client.blocks.create(label=wrong, value="x")

    assert "body.label" in refused.value.body["detail"]  # type: ignore[index]


def test_fields_of_newer_clients_are_accepted(client: Letta) -> None:
    agent = client.agents.create(name="newer", extra_body={"field_of_2030": {"deep": [1]}})

    file = json.loads(client.agents.export_file(agent.id))

    assert file["agents"][0]["field_of_2030"] == {"deep": [1]}


def test_the_guard_applies(rec: LocalRecollect) -> None:
    token = "t0ken-" + "a" * 20
    with serve_in_thread(rec, token=token) as url:
        with pytest.raises(APIStatusError) as refused:
            Letta(base_url=url, max_retries=0).agents.list()
        assert refused.value.status_code == 401
        assert list(Letta(base_url=url, api_key=token).agents.list(name="no such agent")) == []
        page = {"authorization": f"Bearer {token}", "origin": "https://evil.example"}
        assert httpx2.get(f"{url}/v1/agents", headers=page).status_code == 403
        host = {"authorization": f"Bearer {token}", "host": "evil.example"}
        assert httpx2.get(f"{url}/v1/agents", headers=host).status_code == 403


# With a model


def test_with_a_model_the_agent_answers_and_uses_its_memory() -> None:
    edit = {"label": "human", "old_str": "Ada", "new_str": "Ada of Porto"}
    model = ScriptedTurnModel([call_turn(("memory_replace", edit)), "Noted, Ada of Porto."])
    settings = Settings(db=":memory:", embedding_backend="none")
    with LocalRecollect(settings, chat=model) as rec, serve_in_thread(rec) as url:
        client = Letta(base_url=url)
        blocks: Any = [{"label": "human", "value": "Ada"}]
        agent = client.agents.create(name="runner", memory_blocks=blocks, system="Be kind.")

        response = client.agents.messages.create(agent.id, input="I moved to Porto.")

        kinds = [message.message_type for message in response.messages]
        assert kinds == ["tool_call_message", "tool_return_message", "assistant_message"]
        assert isinstance(response.messages[-1], AssistantMessage)
        assert response.messages[-1].content == "Noted, Ada of Porto."
        assert (response.stop_reason.stop_reason, response.usage.step_count) == ("end_turn", 2)
        assert client.agents.blocks.retrieve("human", agent_id=agent.id).value == "Ada of Porto"
        listed = [message.message_type for message in client.agents.messages.list(agent.id)]
        assert listed == [*kinds[::-1], "user_message"]
        tools = {tool.name for tool in model.requests[0].tools}
        assert {"memory_replace", "conversation_search"} <= tools


def test_an_agent_edits_the_blocks_that_it_shares_at_once() -> None:
    edit = {"label": "team", "old_str": "pip", "new_str": "uv"}
    model = ScriptedTurnModel([call_turn(("memory_replace", edit)), "Done."])
    settings = Settings(db=":memory:", embedding_backend="none")
    with LocalRecollect(settings, chat=model) as rec, serve_in_thread(rec) as url:
        client = Letta(base_url=url)
        block = client.blocks.create(label="team", value="We use pip.")
        first = client.agents.create(block_ids=[block.id], metadata={"mine": 1})
        second = client.agents.create(block_ids=[block.id])
        client.agents.update(first.id, metadata={"mine": 2})

        client.agents.messages.create(first.id, input="We use uv now.")

        assert client.agents.blocks.retrieve("team", agent_id=second.id).value == "We use uv."
        assert client.agents.retrieve(first.id).metadata == {"mine": 2}
        assert rec.blocks.get(None, block.id.removeprefix("block-")).unconfirmed_author


def test_the_answer_is_streamed_by_steps_or_by_tokens() -> None:
    model = ScriptedTurnModel(["One two three.", "Four five."])
    settings = Settings(db=":memory:", embedding_backend="none")
    with LocalRecollect(settings, chat=model) as rec, serve_in_thread(rec) as url:
        client = Letta(base_url=url)
        agent = client.agents.create()

        with client.agents.messages.create(agent.id, input="Count.", streaming=True) as stream:
            steps = list(stream)
        with client.agents.messages.create(
            agent.id, input="More.", streaming=True, stream_tokens=True
        ) as stream:
            tokens = list(stream)

        ends = ["stop_reason", "usage_statistics"]
        assert [event.message_type for event in steps] == ["assistant_message", *ends]
        assert [event.message_type for event in tokens] == [*["assistant_message"] * 2, *ends]
        assert texts(tokens[:2]) == ["Four", "five."]


def test_a_stream_that_is_closed_cancels_the_run(tmp_path: Path) -> None:
    search = call_turn(("conversation_search", {"query": "tea"}))
    with agent_store(tmp_path / "memory.db", search, "Never said.") as (rec, model):
        agent = rec.agents.get("ada")
        talk = rec.conversations.start(agent=agent)
        parts = letta_events(
            rec.agents.stream(agent, "Hello?", conversation=talk), MessagesBody(max_steps=5)
        )

        assert next(parts)["message_type"] == "tool_call_message"
        parts.close()

        [run] = rec.agents.runs(talk)
        assert run.stop_reason == "cancelled"
        assert len(model.requests) == 1


def test_a_tool_call_waits_for_the_clients_approval() -> None:
    insert = {"label": "human", "new_str": "Likes tea."}
    model = ScriptedTurnModel([call_turn(("memory_insert", insert)), "Done."])
    settings = Settings(db=":memory:", embedding_backend="none")
    with LocalRecollect(settings, chat=model) as rec, serve_in_thread(rec) as url:
        client = Letta(base_url=url)
        blocks: Any = [{"label": "human", "value": "Ada"}]
        rules: Any = [{"type": "requires_approval", "tool_name": "memory_insert"}]
        agent = client.agents.create(memory_blocks=blocks, tool_rules=rules)

        asked = client.agents.messages.create(agent.id, input="I like tea.")
        request: Any = asked.messages[-1]
        approval = {"approve": True, "tool_call_id": request.tool_call.tool_call_id}
        answer: Any = [{"type": "approval", "approvals": [approval]}]
        done = client.agents.messages.create(agent.id, messages=answer)

        assert asked.stop_reason.stop_reason == "requires_approval"
        assert request.message_type == "approval_request_message"
        assert done.stop_reason.stop_reason == "end_turn"
        assert "tea" in client.agents.blocks.retrieve("human", agent_id=agent.id).value


def test_a_model_that_fails_is_a_stop_reason_with_the_error() -> None:
    settings = Settings(db=":memory:", embedding_backend="none")
    model = ScriptedTurnModel([])
    with LocalRecollect(settings, chat=model) as rec, serve_in_thread(rec) as url:
        client = Letta(base_url=url)
        agent = client.agents.create()

        response: Any = client.agents.messages.create(agent.id, input="Hello?")

        assert response.stop_reason.stop_reason == "llm_api_error"
        assert "script more" in response.note
        assert client.agents.messages.cancel(agent.id) == {}
