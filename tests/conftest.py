"""Fixtures return real things: stores in temporary files, a fixed clock, a scripted embedder."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from chat_server import ChatServer, chat_server
from gate import Gate
from hooked import Home
from learning_scenes import BLOCK, gated
from recollect import Recollect, learning
from recollect.store.protocol import Store
from recollect.store.sqlite.store import SqliteStore
from support import FakeClock, open_memory
from vendor_server import VendorServer, vendor_server

# How fast examples are made is no matter of the code, but of what else the machine does.
settings.register_profile(
    "default", deadline=None, max_examples=50, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("default")

PATIENCE_S = 60.0  # only success ends such a wait sooner
SHARED = Path(__file__).parent.parent.parent / "shared"


@pytest.fixture(autouse=True)
def _no_settings_of_this_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Keep a developer's own configuration and memory out of the tests."""
    for name in os.environ:
        if name.startswith(("RECOLLECT_", "MEMORY_", "OPENAI_", "OLLAMA_", "ANTHROPIC_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("RECOLLECT_DB", str(tmp_path / "default.db"))
    monkeypatch.setenv("RECOLLECT_MODELS_FOLDER", str(tmp_path / "models"))


@pytest.fixture(autouse=True)
def _patient_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no block of `learning()` give up on a busy machine, where a test names no time."""
    patient = {**(learning.__kwdefaults__ or {}), "timeout_s": PATIENCE_S, "flush_s": PATIENCE_S}
    monkeypatch.setattr(learning, "__kwdefaults__", patient)
    monkeypatch.setattr("recollect.client.learning.ENTER_WITHIN_S", PATIENCE_S)


@pytest.fixture
def clock() -> FakeClock:
    """A clock that moves only when told."""
    return FakeClock()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where a test's store lives."""
    return tmp_path / "memory.db"


@pytest.fixture
def store(path: Path, clock: FakeClock) -> Iterator[Store]:
    """A store by itself; a second implementation joins here."""
    opened = SqliteStore(path, clock)
    yield opened
    opened.close()


@pytest.fixture
def memory(path: Path, clock: FakeClock) -> Iterator[Recollect]:
    """A memory with a scripted embedder and a fixed clock."""
    with open_memory(path, clock=clock) as opened:
        yield opened


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """A person who works with coding agents, and has nothing remembered yet."""
    return Home(tmp_path)


@pytest.fixture
def known(tmp_path: Path) -> Iterator[Recollect]:
    """A memory in which two agents know a name; words only, so that it is quick."""
    with open_memory(tmp_path / "known.db", words_only=True) as opened:
        for name in ("anna", "bert"):
            opened.create_agent(name, default_blocks=False)
            opened.create_block("human", f"{BLOCK} of {name}", agent=name)
        yield opened


@pytest.fixture
def before(known: Recollect) -> Iterator[Gate]:
    """A gate before a server of the memory that two agents know a name in."""
    with gated(known) as standing:
        yield standing


@pytest.fixture
def words_only(path: Path, clock: FakeClock) -> Iterator[Recollect]:
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
    """A server of one test that speaks as OpenAI and Anthropic do."""
    monkeypatch.setenv("NO_PROXY", "*")
    with vendor_server() as serving:
        yield serving
