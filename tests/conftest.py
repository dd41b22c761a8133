"""Fixtures return real things: stores in temporary files, a fixed clock, a scripted embedder."""

import gc
import os
import re
import ssl
import sys
from collections.abc import Callable, Iterator
from functools import cache
from itertools import count
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from chat_server import ChatServer, chat_server
from fault_proxy import FaultProxy
from frameworks import lacks_framework
from hook_clients import HookHome
from loaded_models import loaded_models
from quick_keys import quick_keys
from quick_stores import quick_stores
from recollect import LocalRecollect, Project, learning
from recollect.client.circuit_breaker import reset_breakers
from recollect.store.protocol import Store, Tables
from store_backends import BACKENDS
from store_records import ANNA, BEN, Keep, memory_writer
from support import START, FakeClock, open_memory
from tiers import TIERS, can_hold, chooses_untiered, running, watch
from vendor_server import VendorServer, vendor_server

BLOCK = "Name: Alice"  # the text of a block of each agent of `two_agents`

# The speed of generating examples depends on the machine, not on the code.
settings.register_profile(
    "default", deadline=None, max_examples=50, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("exhaustive", settings.get_profile("default"), max_examples=500)
settings.load_profile("default")

# Rewriting the assertions of 500 files takes 8 s in each worker. Keep the result, always.
sys.dont_write_bytecode = False

PATIENCE_S = 60.0  # a wait ends earlier only by success
_HOMES = count()  # of tests without a folder of their own
_FOLDERS = count()  # of tests with one
SCENARIOS = (
    "test_scenarios",
    "test_pipeline_scenarios",
    "test_users_of_one_project",
    "test_written_contradictions",
)
DATA = Path(__file__).parent / "data"  # small files of our own, in the repository


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let a run kill more, sync in more scenes, sweep in full, and read public fixtures."""
    parser.addoption("--kills", type=int, default=20, help="of each command or scene (at least 11)")
    parser.addoption("--scenes", type=int, default=15, help="of three devices that sync")
    parser.addoption("--exhaustive", action="store_true", help="sweeps in full, not in part")
    parser.addoption("--exchange-fixtures", default="", help="folder of the Open Memory Protocol's")


def pytest_configure(config: pytest.Config) -> None:
    """Generate more examples for a sweep in full."""
    if config.getoption("--exhaustive"):
        settings.load_profile("exhaustive")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Do not import files without a test of the chosen tier, their framework or their data."""
    if lacks_framework(collection_path):
        return True
    is_public = collection_path.name == "test_public_exchange_fixtures.py"
    if is_public and not config.getoption("--exchange-fixtures"):
        return True  # its data are not part of this repository
    if collection_path.suffix != ".py" or can_hold(collection_path, config.getoption("markexpr")):
        return None
    return True


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers(config: pytest.Config) -> int | None:
    """Run three workers on two cores if every test has a tier: a third of their time is waiting."""
    if chooses_untiered(config.getoption("markexpr")):
        return None  # one worker for each core
    return (os.cpu_count() or 1) * 3 // 2


def pytest_collection_finish() -> None:
    """Exempt what is loaded by now from the garbage collector, and let it look less often."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)


@pytest.fixture(scope="session", autouse=True)
def _watched() -> None:
    watch()


@pytest.fixture(autouse=True)
def _tier(request: pytest.FixtureRequest) -> Iterator[None]:
    """Refuse processes and servers to a test without a tier."""
    tiers = TIERS.intersection(mark.name for mark in request.node.iter_markers())
    running("" if tiers else request.node.nodeid)
    yield
    running("")


@pytest.fixture(scope="session", autouse=True)
def _quick_stores(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Let no test wait for migrations or for the disk."""
    with quick_stores(tmp_path_factory.mktemp("template")):
        yield


@pytest.fixture(scope="session", autouse=True)
def _quick_keys() -> Iterator[None]:
    """Let no test wait for keys of passphrases, which are expensive on purpose."""
    with quick_keys():
        yield


@pytest.fixture(scope="session", autouse=True)
def _loaded_models() -> Iterator[None]:
    """Let no test wait for a model that is loaded already."""
    with loaded_models():
        yield


@pytest.fixture(scope="session", autouse=True)
def _one_tls_context() -> Iterator[None]:
    """Read the certificate authorities once: it takes 20 ms, for every HTTP client."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ssl, "create_default_context", cache(ssl.create_default_context))
        yield


@pytest.fixture
def tmp_path(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A new folder. The fixture of pytest lists the folders of all earlier tests for each."""
    name = re.sub(r"\W", "_", request.node.name)[:30]
    folder = tmp_path_factory.getbasetemp() / f"{name}-{next(_FOLDERS)}"
    folder.mkdir(mode=0o700)
    return folder


@pytest.fixture(autouse=True)
def _no_settings_of_this_machine(
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    """Keep a developer's own configuration and memory out of the tests."""
    if "tmp_path" in request.fixturenames:
        home: Path = request.getfixturevalue("tmp_path")
    else:  # most tests write nothing; a folder for each takes a second in all
        home = tmp_path_factory.getbasetemp() / f"home-{next(_HOMES)}"
    for name in os.environ:
        if name.startswith(("RECOLLECT_", "MEMORY_", "OPENAI_", "OLLAMA_", "ANTHROPIC_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / "config"))
    monkeypatch.setenv("XDG_STATE_HOME", str(home / "state"))
    monkeypatch.setenv("RECOLLECT_DB", str(home / "default.db"))
    monkeypatch.setenv("RECOLLECT_MODELS_FOLDER", str(home / "models"))


@pytest.fixture(autouse=True)
def _patient_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give `learning()` long timeouts, unless a test sets its own: the machine may be busy."""
    patient = {**(learning.__kwdefaults__ or {}), "timeout_s": PATIENCE_S, "flush_s": PATIENCE_S}
    monkeypatch.setattr(learning, "__kwdefaults__", patient)
    monkeypatch.setattr("recollect.client.learning.ENTER_TIMEOUT_S", PATIENCE_S)
    reset_breakers()  # a port may be used again


@pytest.fixture
def kills(request: pytest.FixtureRequest) -> int:
    """How often a test kills each of its commands, at chosen moments; the option `--kills`."""
    return int(request.config.getoption("--kills"))


@pytest.fixture
def scenes(request: pytest.FixtureRequest) -> int:
    """How many random scenes a test plays; the option `--scenes`."""
    return int(request.config.getoption("--scenes"))


@pytest.fixture(scope="session")
def exhaustive(request: pytest.FixtureRequest) -> bool:
    """Whether a sweep tries everything that it can; the option `--exhaustive`."""
    return bool(request.config.getoption("--exhaustive"))


@pytest.fixture
def exchange_fixtures(request: pytest.FixtureRequest) -> str:
    """The folder with the public fixtures of the semantic-core draft, '' if there is none."""
    folder = str(request.config.getoption("--exchange-fixtures"))
    return folder or pytest.fail("name the folder of the fixtures: --exchange-fixtures FOLDER")


@pytest.fixture
def clock() -> FakeClock:
    """A clock that moves only when advanced."""
    return FakeClock()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run the scenarios of the specification in a file and on a PostgreSQL server."""
    if "path" in metafunc.fixturenames and metafunc.module.__name__.endswith(SCENARIOS):
        both = ["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)]
        metafunc.parametrize("path", both, indirect=True)


@pytest.fixture
def path(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Path | str]:
    """Where a test's store lives; for a scenario on PostgreSQL its address."""
    if getattr(request, "param", "sqlite") == "sqlite":
        yield tmp_path / "memory.db"
        return
    from postgres_server import SCHEMAS, shared_server  # psycopg: only for tests that need it

    yield shared_server().url(SCHEMAS.schema_of(tmp_path))
    SCHEMAS.release()


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def open_store(
    request: pytest.FixtureRequest, tmp_path: Path, clock: FakeClock
) -> Iterator[Callable[..., Store]]:
    """Open the store of the test, in each database in turn; again, if it was opened before."""
    backend = BACKENDS[request.param]
    yield lambda folder=tmp_path: backend(folder, clock)
    if request.param == "postgres":
        from postgres_server import SCHEMAS  # psycopg: only for tests that need it

        SCHEMAS.release()


@pytest.fixture
def store(open_store: Callable[[], Store]) -> Iterator[Store]:
    """An empty store by itself."""
    opened = open_store()
    yield opened
    opened.close()


@pytest.fixture
def other_store(open_store: Callable[..., Store], tmp_path: Path) -> Iterator[Store]:
    """Another empty store, of the same database."""
    (tmp_path / "other").mkdir()
    opened = open_store(tmp_path / "other")
    yield opened
    opened.close()


@pytest.fixture
def keep(store: Store, clock: FakeClock) -> Keep:
    """Store a memory of the given content with its source and evidence."""
    return memory_writer(store, clock)


@pytest.fixture
def stored_agents(store: Store) -> None:
    """Two agents and a project in a store."""

    def write(tables: Tables) -> None:
        tables.agents.add(ANNA)
        tables.agents.add(BEN)
        tables.projects.add_project(Project(id="p1", name="site", created_at=START))

    store.write(write)


@pytest.fixture
def rec(path: Path, clock: FakeClock) -> Iterator[LocalRecollect]:
    """A memory with a scripted embedder and a fixed clock."""
    with open_memory(path, clock=clock) as opened:
        yield opened


@pytest.fixture
def home(tmp_path: Path) -> HookHome:
    """The home directory of a user of coding agents, with an empty memory."""
    return HookHome(tmp_path)


@pytest.fixture
def two_agents(tmp_path: Path) -> Iterator[LocalRecollect]:
    """A memory with two agents, each with a named block; without embeddings, for speed."""
    with open_memory(tmp_path / "known.db", words_only=True) as opened:
        for name in ("anna", "bert"):
            opened.agents.create(name, default_blocks=False)
            opened.blocks.create("human", f"{BLOCK} of {name}", agent=name)
        yield opened


@pytest.fixture
def proxy(two_agents: LocalRecollect) -> Iterator[FaultProxy]:
    """A fault proxy in front of a server of the `two_agents` memory."""
    from learning_checks import serve_behind_proxy  # loads a server: only for tests that need one

    with serve_behind_proxy(two_agents) as standing:
        yield standing


@pytest.fixture
def words_only(path: Path, clock: FakeClock) -> Iterator[LocalRecollect]:
    """A memory that never embeds."""
    with open_memory(path, clock=clock, words_only=True) as opened:
        yield opened


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ChatServer]:
    """A chat server of one test."""
    monkeypatch.setenv("NO_PROXY", "*")
    with chat_server() as serving:
        yield serving


@pytest.fixture
def vendor(monkeypatch: pytest.MonkeyPatch) -> Iterator[VendorServer]:
    """A server that answers like OpenAI and Anthropic."""
    monkeypatch.setenv("NO_PROXY", "*")
    with vendor_server() as serving:
        yield serving
