"""
The server keeps to its own description, whatever it is sent: every operation, right and wrong.

Requests are made up from `/openapi.json` against a store with something in it. Ids and
names of that store are mixed in, so that some requests find what they ask for.
"""

import json
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.core.result import Ok
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
    unsupported_method,
)

from in_process_server import serve_in_thread
from populated_memory import populate_memory
from recollect import LocalRecollect
from recollect.config import Settings
from recollect.server.web_app import web_app
from support import open_memory

pytestmark = pytest.mark.fuzz
pytest_plugins = ["schemathesis.pytest.plugin"]

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    unsupported_method,
]
# Of each operation, besides those at the limits of its schema, which are always tried.
EXAMPLES = settings().max_examples // 12


def document() -> dict[str, Any]:
    """Return what the server says of itself."""
    with LocalRecollect(Settings(db=":memory:", embedding_backend="none")) as rec:
        return web_app(rec, Settings()).openapi()


DOCUMENT = document()
schema = schemathesis.openapi.from_dict(DOCUMENT)
schema.config.generation.update(modes=list(GenerationMode))


@dataclass(frozen=True)
class FuzzedServer:
    """A server, and what its store has to be named by each name of a path."""

    url: str
    known: Mapping[str, Sequence[str]]


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FuzzedServer]:
    """A server over a furnished memory that reads no files."""
    path = tmp_path_factory.mktemp("schemathesis") / "memory.db"
    with open_memory(path, words_only=True, reach=[]) as rec:
        known = populate_memory(rec)
        with serve_in_thread(rec) as url:
            yield FuzzedServer(url, known)


@schema.parametrize()
@settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=list(HealthCheck),
)
def test_every_operation_keeps_to_the_document(
    case: schemathesis.Case[Any], served: FuzzedServer
) -> None:
    # The same choice for the same request, or a failure could not be played again.
    chance = random.Random(json.dumps(case.path_parameters, sort_keys=True, default=repr))
    for name, values in served.known.items():
        if name in case.path_parameters and chance.random() < 0.7:
            case.path_parameters[name] = chance.choice(values)
    case.call_and_validate(base_url=served.url, checks=CHECKS)


def test_every_operation_of_the_document_is_tried() -> None:
    written = [
        (method.upper(), path) for path, found in DOCUMENT["paths"].items() for method in found
    ]

    tried: list[Any] = [one.ok() for one in schema.get_all_operations() if isinstance(one, Ok)]

    assert sorted((one.method.upper(), one.path) for one in tried) == sorted(written)
    assert len(written) > 100
