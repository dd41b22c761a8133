"""Importing stays cheap: what a program does not use yet is not loaded."""

import json
import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.door

HEAVY = (
    "numpy",
    "onnxruntime",
    "tokenizers",
    "httpx2",
    "click",
    "rich",
    "bpe_openai",
    "re2",
    "yaml",
    "fastapi",
    "pydantic",
    "starlette",
    "uvicorn",
)
MCP = {"mcp", "mcp_types"}
SERVER = {"fastapi", "starlette", "uvicorn", "httpx2", "numpy", "onnxruntime"}


def loaded(code: str) -> set[str]:
    """Return the modules a fresh interpreter has after *code*."""
    script = f"import json, sys\n{code}\nprint(json.dumps(sorted(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    return set(json.loads(done.stdout.splitlines()[-1]))


def test_importing_recollect_loads_no_dependency_and_little_of_itself() -> None:
    modules = loaded("import recollect")

    assert not modules & {*HEAVY, "apsw"}
    assert {name for name in modules if name.startswith("recollect")} == {"recollect"}


def test_writing_loads_neither_numpy_nor_a_model() -> None:
    modules = loaded(
        "import recollect\n"
        "with recollect.open(':memory:') as memory:\n"
        "    memory.ingest('Answers should be short.')"
    )

    assert "apsw" in modules
    assert not modules & (set(HEAVY) - {"pydantic"})  # which validates the arguments


def test_searching_by_words_alone_loads_no_model() -> None:
    modules = loaded(
        "import recollect\n"
        "with recollect.open(':memory:', embedding_backend='none') as memory:\n"
        "    memory.search('anything')"
    )

    assert not modules & {"onnxruntime", "tokenizers"}
    services = {name for name in modules if name.startswith("recollect.service.")}
    assert "recollect.service.search_memories" in services
    assert not {name.rpartition(".")[2] for name in services} & {"capture", "forget", "briefing"}


def test_a_server_that_is_warm_has_loaded_what_a_hook_at_a_tool_call_needs() -> None:
    warm = loaded(
        "import recollect\n"
        "with recollect.open(':memory:', embedding_backend='none') as memory:\n"
        "    memory.engine.warm_up()"
    )

    assert "recollect.service.action_advice" in warm


def test_a_hook_without_a_server_loads_no_part_of_the_engine_and_no_unused_search() -> None:
    answer = (
        "import tempfile, os, recollect\n"
        "db = os.path.join(tempfile.mkdtemp(), 'memory.db')\n"
        "from recollect.hooks.without_server import answer_from_file\n"
        "payload = {'cwd': '/', 'prompt': 'How long should answers be?', 'session_id': 's'}\n"
        "answer_from_file(db, payload, client='claude-code', kind='KIND', project='')"
    )
    at_start = loaded(answer.replace("KIND", "session-start"))
    at_prompt = loaded(answer.replace("KIND", "prompt"))

    assert "recollect.service.briefing" in at_start
    assert "recollect.retrieval.retrieve" in at_prompt - at_start
    unused = ("app.engine_control", "service.maintenance", "service.forget", "hooks.server_request")
    assert not (at_start | at_prompt) & {f"recollect.{name}" for name in unused}
    assert not (at_start | at_prompt) & {"numpy", "click"}


def test_commands_that_only_read_rows_load_neither_numpy_nor_a_model() -> None:
    for command in ("['status']", "['inbox', 'list']", "['show', 'x']"):
        modules = loaded(
            "import os\nfrom click.testing import CliRunner\nfrom recollect.cli.main import main\n"
            "os.environ['RECOLLECT_DB'] = ':memory:'\n"
            f"CliRunner().invoke(main, {command})"
        )

        assert "recollect.store.sqlite.store" in modules
        assert not modules & {"numpy", "onnxruntime", "rich", "jsonschema", "tokenizers", "httpx2"}


@pytest.mark.skipif(sys.platform != "linux", reason="the threads of a process are in /proc there")
def test_a_command_that_loads_numpy_starts_no_threads_for_it() -> None:
    command = (
        "import sys\nfrom recollect.entry import main\nsys.argv = ['recollect', '--version']\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        "import numpy, os\nprint(len(os.listdir('/proc/self/task')))"
    )
    env = {name: value for name, value in os.environ.items() if name != "OPENBLAS_NUM_THREADS"}
    done = subprocess.run(
        [sys.executable, "-c", command], env=env, capture_output=True, text=True, check=True
    )

    assert done.stdout.split()[-1] == "1"


def test_no_command_loads_the_server_but_the_one_that_serves() -> None:
    asked = "from click.testing import CliRunner\nfrom recollect.cli.main import main\n"

    assert not loaded(f"{asked}CliRunner().invoke(main, ['--help'])") & {*SERVER, "http.client"}
    assert not loaded(f"{asked}CliRunner().invoke(main, ['serve', '--help'])") & SERVER
    assert not loaded(f"{asked}CliRunner().invoke(main, ['stop', '--port', '9'])") & SERVER


def test_nothing_loads_the_mcp_package_but_what_speaks_mcp() -> None:
    asked = "from click.testing import CliRunner\nfrom recollect.cli.main import main\n"
    served = (
        "from recollect.server.web_app import web_app\n"
        "from recollect.app.local_recollect import LocalRecollect\n"
        "from recollect.config import Settings\n"
        "from starlette.testclient import TestClient\n"
        "settings = Settings(db=':memory:', embedding_backend='none')\n"
        "with LocalRecollect(settings) as memory:\n"
        "    with TestClient(web_app(memory, settings), base_url='http://localhost') as client:\n"
        "        assert client.get('/health').json()['status'] == 'ok'\n"
    )
    spoken = served + "        assert client.post('/mcp', json={}).status_code < 500\n"

    assert not loaded(f"{asked}CliRunner().invoke(main, ['--help'])") & MCP
    assert not loaded(f"{asked}CliRunner().invoke(main, ['mcp', '--help'])") & MCP
    assert not loaded(served) & MCP
    assert loaded(spoken) >= MCP


def test_turning_a_problem_into_an_error_loads_no_framework() -> None:
    modules = loaded(
        "from recollect.wire.problem import error_from_problem\nerror_from_problem({}, 500)"
    )

    assert not modules & {*HEAVY, "apsw"}


def test_a_server_without_an_embedder_loads_no_numpy() -> None:
    modules = loaded(
        "from recollect.server.web_app import web_app\n"
        "from recollect.app.local_recollect import LocalRecollect\n"
        "from recollect.config import Settings\n"
        "from starlette.testclient import TestClient\n"
        "settings = Settings(db=':memory:', embedding_backend='none')\n"
        "with LocalRecollect(settings) as memory:\n"
        "    with TestClient(web_app(memory, settings), base_url='http://localhost') as client:\n"
        "        assert client.get('/health').json()['status'] == 'ok'"
    )

    assert not modules & {"numpy", "onnxruntime", "tokenizers"}


def test_counting_tokens_loads_the_tables_only_when_asked_and_never_their_package() -> None:
    asked = "from recollect.text.token_counter import counter_for\n"

    assert "bpe_openai._bindings" not in loaded(asked)
    assert "bpe_openai" not in loaded(f"{asked}assert counter_for('gpt-4o').count('a b') == 2")


def test_a_prompt_without_a_server_is_answered_without_token_tables_and_without_a_model() -> None:
    modules = loaded(
        "import os, tempfile\n"
        "folder = tempfile.mkdtemp()\n"
        "os.environ['HOME'] = os.environ['XDG_STATE_HOME'] = folder\n"
        "import recollect\n"
        "from recollect.hooks.without_server import answer_from_file\n"
        "db = os.path.join(folder, 'm.db')\n"
        "with recollect.open(db, embedding_backend='none') as memory:\n"
        "    memory.ingest('The staging server listens on port 8443.')\n"
        "payload = {'cwd': '/', 'session_id': 's', 'prompt': 'port of the staging server?'}\n"
        "printed = answer_from_file(db, payload, client='claude-code', kind='prompt', project='')\n"
        "assert b'8443' in printed, printed"
    )

    assert not modules & {"bpe_openai._bindings", "numpy", "onnxruntime", "tokenizers", "click"}


def test_a_hook_that_asks_a_server_loads_neither_json_nor_regular_expressions() -> None:
    listing = "import sys; print(*sys.modules)"
    hook = "import recollect.hooks.hook_command, recollect.hooks.server_request"
    bare, with_hook = (
        set(
            subprocess.run(
                [sys.executable, "-c", code], capture_output=True, text=True, check=True
            ).stdout.split()
        )
        for code in (listing, f"{hook}; {listing}")
    )

    assert not (with_hook - bare) & {"json", "re", "enum", "functools", "collections", "socket"}


def test_a_hook_that_asks_a_server_loads_little_of_the_standard_library_and_nothing_else() -> None:
    modules = loaded("import recollect.hooks.hook_command, recollect.hooks.server_request")

    assert not modules & {*HEAVY, "apsw", "typing", "dataclasses", "pathlib", "subprocess"}
    assert not modules & {"http.client", "asyncio", "logging", "email", "ssl", "importlib.util"}
    assert {name for name in modules if name.startswith("recollect")} == {
        "recollect",
        "recollect.hooks",
        "recollect.hooks.event_names",
        "recollect.hooks.hook_command",
        "recollect.hooks.quick_json",
        "recollect.hooks.server_request",
        "recollect.hooks.state_files",
        "recollect.hooks.target_store",
    }
