"""Errors cross HTTP as problems and are raised again; internal details stay inside."""

import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest
from fastapi import FastAPI, Query
from pydantic import BaseModel
from starlette.testclient import TestClient

from recollect import LocalRecollect, errors
from recollect.config import Settings
from recollect.errors import (
    BlockConflict,
    InvalidInput,
    ModelUnavailable,
    NotFound,
    RecollectError,
    StoreBusy,
    TooManyRequests,
)
from recollect.server.web_app import web_app
from recollect.wire.problem import (
    error_from_problem,
    problem_from_error,
    problem_json,
    validation_problem,
)
from tables import each_row

pytestmark = pytest.mark.door

EVERY = [
    found
    for found in vars(errors).values()
    if isinstance(found, type) and issubclass(found, RecollectError)
]


def made(kind: type[RecollectError]) -> RecollectError:
    if kind is BlockConflict:
        return BlockConflict("it changed", yours="a", theirs="b\ud800", version=3)
    return kind("it happened; do this")


@each_row("kind", EVERY)
def test_every_error_comes_out_as_it_went_in(kind: type[RecollectError]) -> None:
    error = made(kind)

    read = json.loads(problem_json(problem_from_error(error)))
    back = error_from_problem(read, error.status)

    assert type(back) is kind
    assert str(back) == str(error)
    assert vars(back) == vars(error)
    assert back.status == error.status == read["status"]
    assert read["type"] == "about:blank"
    assert read["title"]


def test_a_problem_says_what_its_class_carries() -> None:
    conflict = BlockConflict("it changed", yours="a", theirs="b", version=3)
    busy = ModelUnavailable("busy", retry_after_s=2.5)

    assert problem_from_error(conflict) == {
        "type": "about:blank",
        "title": "Conflict",
        "status": 409,
        "detail": "it changed",
        "error": "BlockConflict",
        "yours": "a",
        "theirs": "b",
        "version": 3,
    }
    assert problem_from_error(busy)["retry_after_s"] == 2.5
    assert "retry_after_s" not in problem_from_error(ModelUnavailable("busy"))


def test_an_error_of_somebodys_own_kind_travels_as_the_nearest_of_ours() -> None:
    class UnlistedNotFound(NotFound):
        """Not in the tree."""

    assert problem_from_error(UnlistedNotFound("gone"))["error"] == "NotFound"


@each_row(
    ("body", "kind", "message"),
    [
        ({"error": "NotFound", "detail": "gone"}, NotFound, "gone"),
        ({"error": "NoSuchClass", "detail": "odd"}, RecollectError, "odd"),
        ({"error": "Exception", "detail": "odd"}, RecollectError, "odd"),
        ({"error": "annotations", "detail": "odd"}, RecollectError, "odd"),
        ({"error": 7, "detail": "odd"}, RecollectError, "odd"),
        ({"error": ["NotFound"], "detail": "odd"}, RecollectError, "odd"),
        ({"detail": [{"msg": "x"}]}, RecollectError, "the server responded with status 418"),
        ({"title": "Teapot"}, RecollectError, "Teapot"),
        ({}, RecollectError, "the server responded with status 418"),
        ({"error": "BlockConflict", "detail": "half"}, RecollectError, "half"),
        (
            {
                "error": "BlockConflict",
                "detail": "x",
                "yours": "a",
                "theirs": "b",
                "version": True,
            },
            RecollectError,
            "x",
        ),
        (
            {"error": "TooManyRequests", "detail": "x", "retry_after_s": 10**400},
            TooManyRequests,
            "x",
        ),
        (
            {"error": "TooManyRequests", "detail": "x", "retry_after_s": "soon"},
            TooManyRequests,
            "x",
        ),
    ],
)
def test_a_strange_body_is_still_an_error_of_ours(
    body: dict[str, Any], kind: type[RecollectError], message: str
) -> None:
    error = error_from_problem(body, 418)

    assert type(error) is kind
    assert str(error) == message
    assert error.status == 418
    assert RecollectError.status == 500
    assert NotFound.status == 404


def test_refused_values_are_listed_and_the_first_of_them_told() -> None:
    refused = [(f"body.{name}", "Field required") for name in "abcde"]

    found = validation_problem(refused)

    assert found["status"] == 422
    assert found["error"] == "InvalidInput"
    assert found["detail"].endswith("body.c: Field required; and 2 more")
    assert found["errors"][4] == {"where": "body.e", "message": "Field required"}


# Through the application


class RouteBody(BaseModel):
    """What a route of the test takes."""

    name: str
    count: int = 1


@pytest.fixture
def app(words_only: LocalRecollect) -> FastAPI:
    """The application with a few routes that fail."""
    made = web_app(words_only, Settings())

    @made.get("/fails/{kind}")
    def fails(kind: str) -> None:
        if kind == "inside":
            raise ZeroDivisionError("secret-detail in /some/path")
        error: type[RecollectError] = getattr(errors, kind)
        if error is TooManyRequests:
            raise TooManyRequests("slowly", retry_after_s=3.4)
        raise error("it happened; do this")

    @made.post("/wishes")
    def wish(wish: RouteBody, limit: int = Query(5, le=20)) -> int:
        return wish.count + limit

    return made


@pytest.fixture
def client(app: FastAPI) -> Iterator[TestClient]:
    """Asks the application."""
    with TestClient(app, base_url="http://127.0.0.1:8283") as asking:
        yield asking


@pytest.mark.parametrize("kind", [InvalidInput, NotFound, StoreBusy, errors.StoreFull])
def test_an_error_of_ours_is_answered_with_its_status_and_words(
    client: TestClient, kind: type[RecollectError]
) -> None:
    answer = client.get(f"/fails/{kind.__name__}")

    assert answer.status_code == kind.status
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["detail"] == "it happened; do this"
    assert type(error_from_problem(answer.json(), answer.status_code)) is kind


def test_a_wait_is_told_in_the_header_too(client: TestClient) -> None:
    answer = client.get("/fails/TooManyRequests")

    assert answer.headers["retry-after"] == "4"
    assert answer.json()["retry_after_s"] == 3.4


@each_row(
    ("body", "query", "where", "message"),
    [
        ({"name": 7}, "", "body.name", "valid string"),
        ({}, "", "body.name", "Field required"),
        ({"name": "x"}, "?limit=21", "query.limit", "less than or equal to 20"),
        ("[", "", "body", "is not JSON: Expecting value at character 1"),
    ],
)
def test_a_refused_value_is_told_with_its_place(
    client: TestClient, body: Any, query: str, where: str, message: str
) -> None:
    given = {"json": body} if isinstance(body, dict) else {"content": body}
    answer = client.post(f"/wishes{query}", headers={"content-type": "application/json"}, **given)

    assert answer.status_code == 422
    assert answer.json()["error"] == "InvalidInput"
    [one] = answer.json()["errors"]
    assert one["where"] == where
    assert message in one["message"]


def test_a_refused_value_is_not_said_back(client: TestClient) -> None:
    answer = client.post("/wishes", json={"name": "x", "count": "my-password-1"})

    assert answer.status_code == 422
    assert "my-password-1" not in answer.text


def test_bytes_that_are_no_text_are_refused(client: TestClient) -> None:
    answer = client.post(
        "/wishes", content=b'{"name": "\xff"}', headers={"content-type": "application/json"}
    )

    assert answer.status_code in (400, 422)
    assert answer.headers["content-type"] == "application/problem+json"


@pytest.mark.parametrize(
    ("method", "address", "status"), [("GET", "/nix", 404), ("PUT", "/health", 405)]
)
def test_an_unknown_address_or_method_is_a_problem(
    client: TestClient, method: str, address: str, status: int
) -> None:
    answer = client.request(method, address)

    assert answer.status_code == answer.json()["status"] == status
    assert answer.headers["content-type"] == "application/problem+json"
    assert "/openapi.json" in answer.json()["detail"]


def test_a_fault_inside_shows_a_number_and_the_log_has_the_rest(
    client: TestClient, caplog: pytest.LogCaptureFixture
) -> None:
    answer = client.get("/fails/inside")

    assert answer.status_code == 500
    number = answer.json()["detail"].partition("number ")[2].split()[0]
    assert (
        answer.json()["detail"] == f"internal error; see number {number} in the log of the server"
    )
    for hidden in ("ZeroDivision", "secret-detail", "/some/path", "Traceback", ".py"):
        assert hidden not in answer.text
    [record] = [one for one in caplog.records if one.levelno >= logging.ERROR]
    assert number in record.getMessage()
    assert record.exc_info is not None
    assert record.exc_info[0] is ZeroDivisionError


def test_a_path_forges_no_line_of_the_log(app: FastAPI, caplog: pytest.LogCaptureFixture) -> None:
    @app.get("/broken/{name:path}")
    def broken(name: str) -> None:
        raise ValueError(name)

    with TestClient(app, base_url="http://localhost:8283") as client:
        client.get("/broken/a%0dERROR%20forged%1b[2J")

    [record] = [one for one in caplog.records if one.levelno >= logging.ERROR]
    assert "/broken/a\\rERROR forged" in record.getMessage()
    assert record.getMessage().isprintable()


def test_the_description_promises_problems_and_no_page_fetches_scripts(client: TestClient) -> None:
    described = client.get("/openapi.json").json()

    answers = described["paths"]["/wishes"]["post"]["responses"]
    assert "application/problem+json" in answers["default"]["content"]
    assert "HTTPValidationError" not in json.dumps(described)
    for page in ("/docs", "/redoc"):
        assert client.get(page).status_code == 404


@each_row("address", ["/health", "/openapi.json", "/nix"])
def test_every_address_wants_the_token(words_only: LocalRecollect, address: str) -> None:
    app = web_app(words_only, Settings(token="s3cret"))

    with TestClient(app, base_url="http://127.0.0.1:8283") as client:
        refused = client.get(address)
        welcome = client.get(address, headers={"Authorization": "Bearer s3cret"})

    assert refused.status_code == 401
    assert refused.headers["www-authenticate"].startswith("Bearer")
    assert refused.json()["error"] == "TokenRefused"
    assert welcome.status_code in (200, 404)


def test_a_name_of_elsewhere_is_refused_by_the_whole_application(
    words_only: LocalRecollect,
) -> None:
    with TestClient(web_app(words_only, Settings()), base_url="http://evil.example") as client:
        assert client.get("/health").status_code == 403


def test_nothing_of_the_framework_reports_elsewhere(
    monkeypatch: pytest.MonkeyPatch, words_only: LocalRecollect
) -> None:
    monkeypatch.setenv("FASTAPI_OTEL_AUTO_CONFIGURE", "true")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9")

    with TestClient(web_app(words_only, Settings()), base_url="http://127.0.0.1:8283") as client:
        assert client.get("/health").status_code == 200
