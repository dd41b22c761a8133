"""
The memory server keeps to its design document, which is read as data.

Every endpoint, field, status, default and setting that the document names is asked for; what the
server has beyond that is its own.
"""

import re
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

import pytest
from fastapi.testclient import TestClient

from conftest import DATA
from design_document import Endpoint, Setting, endpoints, settings
from in_process_server import LOCAL
from recollect import LocalRecollect
from recollect.config import Settings, load_settings
from recollect.server.web_app import web_app
from tables import each_row

pytestmark = pytest.mark.door
TEXT = (DATA / "memory_server.md").read_text(encoding="utf-8")
ENDPOINTS = endpoints(TEXT)
SETTINGS = settings(TEXT)
BY_NAME = {str(one): one for one in ENDPOINTS}
WITH_BODY = [one for one in ENDPOINTS if one.request]
OF_AN_AGENT = [one for one in ENDPOINTS if str(one) not in ("GET /health", "POST /agents")]
NOBODY = "nobody_of_this_name"


@pytest.fixture
def client(rec: LocalRecollect) -> Iterator[TestClient]:
    """A client of the server over an empty memory."""
    with TestClient(web_app(rec, Settings()), base_url=LOCAL) as opened:
        yield opened


def asked(client: TestClient, endpoint: Endpoint, body: Any = None, **path: str) -> Any:
    """Send the example of an endpoint, or *body*, and return the response."""
    values = {"name": "my_agent", "agent_name": "my_agent", "label": "human"} | path
    url = endpoint.path.format(**values)
    body = endpoint.request if body is None else body
    return client.request(endpoint.method, url, **({} if body is None else {"json": body}))


def furnish(client: TestClient, *, besides: Endpoint | None = None) -> None:
    """Make the agent, the block and the messages of the examples, except what *besides* makes."""
    if besides is BY_NAME["POST /agents"]:
        return
    said = BY_NAME["POST /context/{agent_name}"].response["relevant_messages"][0]["content"]
    message = BY_NAME["POST /messages"]
    assert message.request is not None
    for name in ("POST /agents", "POST /memory-blocks", "POST /messages"):
        if besides is None or str(besides) != name:
            assert asked(client, BY_NAME[name]).status_code == 200
    assert asked(client, message, {**message.request, "content": said}).status_code == 200


def misfits(example: Any, answer: Any, at: str = "answer") -> list[str]:
    """Return where *answer* lacks a field of *example* or has another type there."""
    match example:
        case None:
            return []
        case dict():
            if not isinstance(answer, dict):
                return [f"{at} is no object"]
            lacking = [f"{at} has no {name!r}" for name in example if name not in answer]
            return lacking + [
                line
                for name in example.keys() & answer.keys()
                for line in misfits(example[name], answer[name], f"{at}.{name}")
            ]
        case list():
            if not isinstance(answer, list) or not answer:
                return [f"{at} is no array with anything in it"]
            return [
                line
                for number, one in enumerate(answer)
                for line in misfits(example[0], one, f"{at}[{number}]")
            ]
        case int() | float():
            right = isinstance(answer, int | float) and not isinstance(answer, bool)
        case str() if re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", example):
            form = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z"
            right = isinstance(answer, str) and re.fullmatch(form, answer) is not None
        case _:
            right = isinstance(answer, type(example))
    return [] if right else [f"{at} is {answer!r} where the document has {example!r}"]


def test_the_document_is_understood() -> None:
    assert len(ENDPOINTS) == len(re.findall(r"^\*\*(?:GET|POST|PUT) /", TEXT, re.MULTILINE)) > 10
    assert len(SETTINGS) == TEXT.count("| MEMORY_") + TEXT.count("| OLLAMA_") > 8
    assert all(one.response is not None for one in ENDPOINTS)
    assert sum(one.request is not None for one in ENDPOINTS) == TEXT.count("Request:\n```json")
    assert misfits({"a": 1, "b": "x"}, {"a": "1"}) == [
        "answer has no 'b'",
        "answer.a is '1' where the document has 1",
    ]


def test_every_endpoint_is_there_and_documented(client: TestClient) -> None:
    paths = client.get("/openapi.json").json()["paths"]

    assert [
        str(endpoint)
        for endpoint in ENDPOINTS
        if endpoint.method.lower() not in paths.get(endpoint.path, {})
    ] == []


@pytest.mark.parametrize("endpoint", ENDPOINTS, ids=str)
def test_every_example_is_accepted_and_answered_in_the_documented_shape(
    client: TestClient, endpoint: Endpoint
) -> None:
    furnish(client, besides=endpoint)

    answer = asked(client, endpoint)

    assert answer.status_code == 200, answer.text
    assert misfits(endpoint.response, answer.json()) == []


@pytest.mark.parametrize("endpoint", WITH_BODY, ids=str)
def test_an_answer_repeats_what_was_said(client: TestClient, endpoint: Endpoint) -> None:
    furnish(client, besides=endpoint)

    answer = asked(client, endpoint).json()

    assert endpoint.request is not None
    if isinstance(answer, dict):
        told = {name: answer[name] for name in endpoint.request if name in answer}
        sent = {name: endpoint.request[name] or None for name in told}
        assert told == sent


@pytest.mark.parametrize("endpoint", WITH_BODY, ids=str)
def test_only_what_is_called_optional_may_be_left_out(
    client: TestClient, endpoint: Endpoint
) -> None:
    furnish(client, besides=endpoint)
    assert endpoint.request is not None
    statuses = {}

    for field in sorted(endpoint.request, key=lambda name: name in endpoint.optional):
        less = {name: value for name, value in endpoint.request.items() if name != field}
        statuses[field] = asked(client, endpoint, less).status_code

    assert statuses == {
        field: 200 if field in endpoint.optional else 422 for field in endpoint.request
    }


@pytest.mark.parametrize("endpoint", WITH_BODY, ids=str)
def test_values_of_another_type_are_refused(client: TestClient, endpoint: Endpoint) -> None:
    furnish(client, besides=endpoint)
    assert endpoint.request is not None

    for field in endpoint.request:
        answer = asked(client, endpoint, {**endpoint.request, field: ["x"]})
        assert answer.status_code == 422, field
        assert "detail" in answer.json()


@pytest.mark.parametrize("endpoint", [one for one in ENDPOINTS if 404 in one.statuses], ids=str)
def test_what_is_not_there_is_404(client: TestClient, endpoint: Endpoint) -> None:
    furnish(client)
    last = re.findall(r"{(\w+)}", endpoint.path)[-1]

    assert asked(client, endpoint, **{last: NOBODY}).status_code == 404


@each_row("endpoint", OF_AN_AGENT, ids=str)
def test_an_unknown_agent_is_404_and_is_not_made(client: TestClient, endpoint: Endpoint) -> None:
    body = endpoint.request and {
        name: NOBODY if name == "agent_name" else value for name, value in endpoint.request.items()
    }

    answer = asked(client, endpoint, body, name=NOBODY, agent_name=NOBODY)

    assert answer.status_code == 404
    assert "POST /agents" in answer.json()["detail"]
    assert client.get(f"/agents/{NOBODY}").status_code == 404


@pytest.mark.parametrize("endpoint", [one for one in ENDPOINTS if 409 in one.statuses], ids=str)
def test_what_is_there_already_is_409_and_nothing_changes(
    client: TestClient, endpoint: Endpoint
) -> None:
    furnish(client)
    former = client.get("/memory-blocks/my_agent").json()
    assert endpoint.request is not None

    again = asked(client, endpoint, {**endpoint.request, "value": "another"})

    assert again.status_code == 409
    assert client.get("/memory-blocks/my_agent").json() == former


def test_the_statuses_the_document_names_are_tried() -> None:
    named = {status for one in ENDPOINTS for status in one.statuses}

    assert named == {404, 409}


def test_every_role_the_document_names_is_accepted_and_no_other(client: TestClient) -> None:
    endpoint = BY_NAME["POST /messages"]
    furnish(client)
    roles = endpoint.choices("role")
    assert len(roles) == 3
    assert endpoint.request is not None

    for role in roles:
        answer = asked(client, endpoint, {**endpoint.request, "role": role})
        assert (answer.status_code, answer.json()["role"]) == (200, role)
    for role in ("", "User", "function", "root"):
        assert asked(client, endpoint, {**endpoint.request, "role": role}).status_code == 422


def test_messages_are_listed_newest_first_as_many_as_the_document_says(
    client: TestClient, rec: LocalRecollect
) -> None:
    endpoint = BY_NAME["GET /messages/{agent_name}"]
    default = endpoint.defaults["limit"]
    furnish(client)
    talk = rec.conversations.start(agent="my_agent")
    said = [{"role": "user", "content": f"number {n}"} for n in range(default + 5)]
    rec.conversations.append_many(talk, said)

    found = [one["content"] for one in asked(client, endpoint).json()]
    three = [one["content"] for one in client.get("/messages/my_agent?limit=3").json()]

    assert found == [one["content"] for one in reversed(said)][:default]
    assert three == found[:3]
    [limit] = client.get("/openapi.json").json()["paths"][endpoint.path]["get"]["parameters"][1:]
    assert (limit["name"], limit["schema"]["default"]) == ("limit", default)
    for wrong in ("0", "-1", "1001", "many"):
        assert client.get(f"/messages/my_agent?limit={wrong}").status_code == 422


def test_a_search_returns_as_many_as_the_document_says_by_similarity(client: TestClient) -> None:
    endpoint = BY_NAME["POST /messages/search"]
    furnish(client)
    default, most = endpoint.number("limit", "default"), endpoint.number("limit", "max")
    for number in range(most + 5):
        content = "My name" + " and other things" * (number % 7)
        body = {"agent_name": "my_agent", "role": "user", "content": content}
        assert client.post("/messages", json=body).status_code == 200
    question = {"agent_name": "my_agent", "query": "What's my name?"}

    found = {
        limit: asked(client, endpoint, question | ({} if limit is None else {"limit": limit}))
        for limit in (None, 1, most, most + 1, 0)
    }

    assert [found[limit].status_code for limit in found] == [200, 200, 200, 422, 422]
    assert [len(found[limit].json()) for limit in (None, 1, most)] == [default, 1, most]
    scores = [one["similarity"] for one in found[most].json()]
    assert all(isinstance(score, float) for score in scores)
    assert scores == sorted(scores, reverse=True)


def test_a_context_has_as_many_messages_as_the_document_says(
    client: TestClient, rec: LocalRecollect
) -> None:
    endpoint = BY_NAME["POST /context/{agent_name}"]
    furnish(client)
    [row] = [one for one in SETTINGS if one.name == "max_context_messages"]
    talk = rec.conversations.start(agent="my_agent")
    said = [{"role": "user", "content": f"My name is Alice, I said {n} times"} for n in range(30)]
    rec.conversations.append_many(talk, said)

    answer = asked(client, endpoint).json()

    assert len(answer["relevant_messages"]) == int(row.default)
    scores = [one["similarity"] for one in answer["relevant_messages"]]
    assert scores == sorted(scores, reverse=True)
    assert [one["label"] for one in answer["memory_blocks"]] == ["human"]


@pytest.mark.parametrize("row", SETTINGS, ids=str)
def test_every_setting_has_its_variable_and_its_default(row: Setting) -> None:
    values = {"MEMORY_EMBEDDING_BACKEND": "ollama", "MEMORY_SERVER_HOST": "::1"}
    other = str(int(row.default) + 1) if row.default.isdigit() else values.get(row.variable, "x")

    former, latter = asdict(load_settings({})), asdict(load_settings({row.variable: other}))

    changed = {name for name in former if former[name] != latter[name]}
    [field] = changed - {"embedder_is_explicit", "origins"}  # derived, not settings
    assert str(latter[field]) == other
    assert str(former[field]) == ("" if row.default.startswith("(") else row.default)
