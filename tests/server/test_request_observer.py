"""Requests have an id and a route: in responses, in problem bodies and in the log."""

import json
import logging
import re
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from starlette.testclient import TestClient

from recollect import LocalRecollect
from recollect.config import Settings
from recollect.errors import InvalidInput
from recollect.server.log_format import REQUEST_LOG, JsonFormatter, log_config
from recollect.server.request_ids import use_request_id
from recollect.server.web_app import web_app

pytestmark = pytest.mark.door

NEW_ID = re.compile(r"[0-9a-f]{16}")


@pytest.fixture
def client(words_only: LocalRecollect) -> Iterator[TestClient]:
    app = web_app(words_only, Settings())

    @app.get("/broken")
    def broken() -> str:
        raise RuntimeError("a secret")

    with TestClient(app, base_url="http://127.0.0.1:8283", raise_server_exceptions=False) as opened:
        yield opened


def test_an_id_of_the_caller_is_returned(client: TestClient) -> None:
    response = client.get("/health", headers={"X-Request-Id": "build-7:a.b_C"})

    assert response.headers["x-request-id"] == "build-7:a.b_C"


@pytest.mark.parametrize("sent", ["", "x" * 65, "a b", "a\u00e9".encode("latin-1"), "-x", "a\tb"])
def test_an_id_that_is_long_or_strange_is_replaced(client: TestClient, sent: Any) -> None:
    response = client.get("/health", headers={"X-Request-Id": sent})

    assert NEW_ID.fullmatch(response.headers["x-request-id"])


def test_each_request_without_an_id_gets_another_one(client: TestClient) -> None:
    ids = {client.get("/health").headers["x-request-id"] for _ in range(5)}

    assert len(ids) == 5


@pytest.mark.parametrize(
    ("method", "address", "headers", "status"),
    [
        ("GET", "/nowhere", {}, 404),
        ("GET", "/api/memories/none", {}, 404),
        ("POST", "/api/search", {}, 422),
        ("GET", "/v1/agents/none", {}, 404),
        ("GET", "/health", {"origin": "https://elsewhere.example"}, 403),
        ("GET", "/broken", {}, 500),
    ],
)
def test_a_problem_body_has_the_id(
    client: TestClient, method: str, address: str, headers: dict[str, str], status: int
) -> None:
    response = client.request(method, address, headers={"x-request-id": "r1", **headers})

    assert response.status_code == status
    assert response.json()["request_id"] == response.headers["x-request-id"] == "r1"


def test_the_log_has_the_route_and_not_the_names_in_the_path(
    client: TestClient, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO, logger=REQUEST_LOG):
        client.post("/agents", json={"name": "anna/work"})
        client.get("/agents/anna%2Fwork")
        client.get("/api/memories/none")
        client.get("/v1/agents/none")
        client.get("/ui/agents/anna")
        client.get("/anna")
        client.request("ANNA", "/agents/anna")

    lines = [record.getMessage() for record in caplog.records if record.name == REQUEST_LOG]
    assert lines == [
        "POST /agents 200",
        "GET /agents/{name} 200",
        "GET /api/memories/{memory_id} 404",
        "GET /v1 404",
        "GET /ui 401",
        "GET other 404",
        "other /agents/{name} 405",
    ]


def test_a_json_line_has_the_id_the_fields_and_the_traceback() -> None:
    try:
        raise InvalidInput("two\nlines")
    except InvalidInput:
        record = logging.LogRecord("x", logging.ERROR, "", 0, "a %s", ("b\n",), sys.exc_info())
    record.fields = {"status": 500}

    with use_request_id("r1"):
        line = JsonFormatter().format(record)

    assert "\n" not in line
    fields = json.loads(line)
    assert fields.pop("time").endswith("+00:00")
    assert "InvalidInput: two\nlines" in fields.pop("exception")
    assert fields == {
        "level": "error",
        "logger": "x",
        "message": "a b\n",
        "request_id": "r1",
        "status": 500,
    }


@pytest.mark.parametrize(
    ("verbose", "as_json", "level"),
    [(False, False, "WARNING"), (True, False, "WARNING"), (True, True, "INFO")],
)
def test_requests_are_logged_as_json_only_if_both_are_chosen(
    verbose: bool, as_json: bool, level: str
) -> None:
    config = log_config(verbose=verbose, as_json=as_json)

    assert config["loggers"][REQUEST_LOG]["level"] == level
