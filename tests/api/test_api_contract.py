"""The Python API: one request model per verb, the same signatures locally and remotely."""

import inspect
import subprocess
import sys
from collections.abc import Iterator
from functools import cached_property
from importlib import import_module
from itertools import chain
from pathlib import Path
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import pytest

import recollect
from recollect.api.recollect import Recollect
from recollect.api.verb_group import VerbGroup
from recollect.app.local_transport import handler_of
from recollect.service.handlers import blocks, maintenance, memories
from recollect.service.handlers import recollect as top_verbs
from recollect.service.handlers.file_transfers import FILE_HANDLERS
from recollect.wire.request import VerbRequest
from recollect.wire.request_registry import request_classes
from support import open_memory
from tables import each_row

ROOT = Path(__file__).parents[2]

NOUNS = sorted(
    name for name, value in vars(Recollect).items() if isinstance(value, cached_property)
)
# Carried out on the caller's side, with the requests of other verbs.
CLIENT_SIDE = {"AgentTools", "add_file", "tools"}


def noun_class(noun: str) -> type[VerbGroup]:
    module = import_module(f"recollect.api.{noun}")
    [found] = [
        value
        for value in vars(module).values()
        if isinstance(value, type)
        and issubclass(value, VerbGroup)
        and value.__module__ == module.__name__
    ]
    return found


def verbs() -> Iterator[tuple[str, Any]]:
    owners: list[type[VerbGroup]] = [Recollect, *map(noun_class, NOUNS)]
    for owner in owners:
        for name, value in vars(owner).items():
            if (
                inspect.isfunction(value)
                and not name.startswith("_")
                and value is not Recollect.close
            ):
                yield f"{owner.__name__}.{name}", value


def request_of(verb: Any) -> type[VerbRequest[Any]] | None:
    """Return the request model a verb sends: the one its code names."""
    names = [name for name in verb.__code__.co_names if name.endswith("Request")]
    by_name = {request.__name__: request for request in request_classes().values()}
    return by_name[names[0]] if names else None


@each_row(("name", "verb"), list(verbs()), ids=[name for name, _ in verbs()])
def test_a_verb_takes_what_its_request_model_takes(name: str, verb: Any) -> None:
    request = request_of(verb)
    if verb.__name__ in CLIENT_SIDE:
        return
    assert request is not None
    parameters = dict(list(inspect.signature(verb).parameters.items())[1:])
    parameters.pop("path", None)  # the file of a download or upload is not part of the request

    assert parameters.keys() == request.model_fields.keys()
    for field_name, parameter in parameters.items():
        field = request.model_fields[field_name]
        if parameter.default not in (inspect.Parameter.empty, ...):
            assert parameter.default == field.default, field_name


@each_row(("name", "verb"), list(verbs()), ids=[name for name, _ in verbs()])
def test_a_verb_returns_what_its_request_model_says(name: str, verb: Any) -> None:
    request = request_of(verb)
    if request is None:
        return
    returned = get_type_hints(verb, include_extras=True)["return"]
    if get_origin(returned) is Iterator:
        assert Annotated[get_args(returned)[0], *request.event_type.__metadata__] == (
            request.event_type
        )
    else:
        assert returned == (request.response_type() or type(None))


def test_every_request_model_is_sent_by_a_verb_and_has_a_handler() -> None:
    sent = {request for _, verb in verbs() if (request := request_of(verb)) is not None}

    assert sent == set(request_classes().values())
    for request in sent - FILE_HANDLERS.keys():
        assert callable(handler_of(request))


def test_every_handler_that_loads_late_names_a_function_of_the_service() -> None:
    tables = (blocks.HANDLERS, maintenance.HANDLERS, memories.HANDLERS, top_verbs.HANDLERS)
    for handler in chain.from_iterable(table.values() for table in tables):
        module, _, function = handler.__qualname__.partition(".")

        assert callable(getattr(import_module(f"recollect.service.{module}"), function))


def test_no_two_verbs_have_the_same_route() -> None:
    routes = [request.route for request in request_classes().values()]

    assert len(set(routes)) == len(routes)


def test_local_and_remote_stores_have_the_same_signatures(tmp_path: Path) -> None:
    with (
        open_memory(tmp_path / "memory.db", words_only=True) as local,
        recollect.connect("http://127.0.0.1:9") as remote,
    ):
        for name in ("search", "ingest", "context_for", *NOUNS):
            if name in NOUNS:
                for verb in vars(noun_class(name)):
                    if not verb.startswith("_"):
                        assert inspect.signature(
                            getattr(getattr(local, name), verb)
                        ) == inspect.signature(getattr(getattr(remote, name), verb))
            else:
                assert inspect.signature(getattr(local, name)) == inspect.signature(
                    getattr(remote, name)
                )


def test_a_store_has_at_most_forty_public_names(tmp_path: Path) -> None:
    with open_memory(tmp_path / "memory.db", words_only=True) as rec:
        assert len([name for name in dir(rec) if not name.startswith("_")]) <= 40


@pytest.mark.door
def test_the_type_checker_rejects_a_verb_that_only_a_local_store_has(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "import recollect\n"
        "recollect.open().engine.drain_in_steps()\n"
        "recollect.connect().search('x', limit=3)\n"
        "recollect.connect().engine.drain_in_steps()\n"
    )
    result = subprocess.run(
        # In the repository: its settings are strict, and what it has cached is not read again.
        [sys.executable, "-m", "mypy", program],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=280,
    )

    errors = [line for line in result.stdout.splitlines() if ": error: " in line]
    assert len(errors) == 1, result.stdout
    assert 'program.py:4: error: "RemoteRecollect" has no attribute "engine"' in errors[0]
