"""`learning()` and exits, interrupts, forks and blocks that are never left."""

import os
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import httpx2
import pytest

from fault_proxy import FaultProxy, never_answer
from learning_checks import user_texts
from recollect import LocalRecollect, learning
from support import open_memory
from vendor_calls import ask_chat, openai_client
from vendor_server import VendorServer

pytestmark = pytest.mark.vendor

OPENING_LINES = """
import os, sys, threading, time
import openai, recollect
client = openai.OpenAI(base_url=sys.argv[1], api_key="k", max_retries=0)
where = {"server_url": sys.argv[2]}
PATIENT = {"timeout_s": 60, "flush_s": 60}
def chat(text, of=client):
    said = [{"role": "user", "content": text}]
    return of.chat.completions.create(model="m", messages=said)
"""


def program(
    vendor: VendorServer, url: str, body: str, *, within_s: float = 90.0
) -> tuple[int, str]:
    """Run a program of its own; return its exit code and what it wrote to stderr."""
    code = OPENING_LINES + textwrap.dedent(body)
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code, vendor.openai_url, url],
        env={**os.environ, "NO_PROXY": "*"},
        capture_output=True,
        text=True,
        timeout=within_s,
    )
    return done.returncode, done.stderr


@pytest.mark.parametrize("leaving", [SystemExit, KeyboardInterrupt, GeneratorExit])
def test_what_leaves_a_program_leaves_the_block_and_what_was_said_is_kept(
    vendor: VendorServer, two_agents: LocalRecollect, leaving: type[BaseException]
) -> None:
    def leaves() -> None:
        with openai_client(vendor) as client, learning(agent="anna", memory=two_agents):
            ask_chat(client, "Hello?")
            raise leaving

    with pytest.raises(leaving):
        leaves()

    assert user_texts(two_agents, "anna") == ["Hello?"]
    assert not hasattr(httpx2.Client.send, "__wrapped__")


def test_a_program_that_exits_inside_a_block_ends_and_keeps_what_was_said(
    vendor: VendorServer, proxy: FaultProxy, two_agents: LocalRecollect
) -> None:
    code, errors = program(
        vendor,
        proxy.url,
        """
        with recollect.learning(agent="anna", **where, **PATIENT):
            chat("Hello?")
            sys.exit(3)
        """,
    )

    assert (code, errors) == (3, "")
    assert user_texts(two_agents, "anna") == ["Hello?"]


@pytest.mark.parametrize("server", ["well", "hangs"])
@pytest.mark.parametrize("held", ["leaked", "daemon thread", "async"])
def test_a_program_that_ends_with_a_block_never_left_ends(
    vendor: VendorServer, proxy: FaultProxy, held: str, server: str
) -> None:
    bodies = {
        "leaked": """
            block = recollect.learning(agent="anna", timeout_s=1, **where)
            block.__enter__()
            chat("Hello?")
            """,
        "daemon thread": """
            said = threading.Event()
            def work():
                with recollect.learning(agent="anna", timeout_s=1, **where):
                    chat("Hello?")
                    said.set()
                    time.sleep(60)
            threading.Thread(target=work, daemon=True).start()
            said.wait()
            """,
        "async": """
            import asyncio
            later = openai.AsyncOpenAI(base_url=sys.argv[1], api_key="k", max_retries=0)
            async def main():
                await recollect.learning(agent="anna", timeout_s=1, **where).__aenter__()
                async with later:
                    await chat("Hello?", later)
            asyncio.run(main())
            """,
    }
    if server == "hangs":
        proxy.set_behavior(never_answer, only="context")

    start = time.monotonic()
    code, errors = program(vendor, proxy.url, bodies[held])

    assert code == 0, errors
    assert "Traceback" not in errors
    assert time.monotonic() - start < 45  # who waits for the server or the sleeper takes 60 s


def test_a_program_in_a_block_whose_memory_is_embedded_and_never_closed_ends(
    vendor: VendorServer, tmp_path: Path
) -> None:
    code, errors = program(
        vendor,
        str(tmp_path / "embedded.db"),
        """
        memory = recollect.open(sys.argv[2], embedding_backend="none")
        recollect.learning(agent="anna", memory=memory).__enter__()
        chat("Hello?")
        """,
    )

    assert code == 0, errors
    assert "Traceback" not in errors


FORKS = {
    "leaves the block": "chat('child', openai.OpenAI(base_url=sys.argv[1], api_key='k'))",
    "says nothing": "pass",
}


@pytest.mark.parametrize("child", FORKS)
@pytest.mark.parametrize("place", ["server", "embedded"])
def test_a_forked_child_neither_hangs_nor_breaks_the_parents_memory(
    vendor: VendorServer,
    proxy: FaultProxy,
    two_agents: LocalRecollect,
    tmp_path: Path,
    child: str,
    place: str,
) -> None:
    path = tmp_path / "known.db"
    body = f"""
        if {place == "embedded"!r}:
            where = {{"memory": recollect.open({str(path)!r}, embedding_backend="none")}}
        start = time.monotonic()
        with recollect.learning(agent="anna", flush_s=60, **where):
            chat("parent")
            child = os.fork()
            if not child:
                {FORKS[child]}
            else:
                chat("parent too")
        if not child:
            os._exit(0 if time.monotonic() - start < 30 else 7)
        _, status = os.waitpid(child, 0)
        sys.exit(os.waitstatus_to_exitcode(status))
        """
    code, errors = program(vendor, proxy.url, body)

    assert code == 0, f"{code}: {errors}"
    texts = user_texts(two_agents, "anna")
    assert [text for text in texts if text.startswith("parent")] == ["parent", "parent too"]
    assert texts.count("child") <= 1


def test_worker_processes_that_are_forked_inside_a_block_end(
    vendor: VendorServer, proxy: FaultProxy, two_agents: LocalRecollect
) -> None:
    code, errors = program(
        vendor,
        proxy.url,
        """
        import multiprocessing
        def work(n):
            mine = openai.OpenAI(base_url=sys.argv[1], api_key="k", max_retries=0)
            return chat(f"child {n}", mine).choices[0].message.content
        with recollect.learning(agent="anna", **where, **PATIENT):
            chat("parent")
            with recollect.connect(sys.argv[2]) as memory:
                while len(memory.conversations.agent_messages("anna")) < 2:
                    time.sleep(0.05)
            with multiprocessing.get_context("fork").Pool(3) as pool:
                answers = pool.map(work, range(6))
            chat("parent too")
        assert answers == [f"You said: child {n} ✓" for n in range(6)], answers
        """,
        within_s=180,
    )

    assert code == 0, errors
    texts = user_texts(two_agents, "anna")
    assert [text for text in texts if text.startswith("parent")] == ["parent", "parent too"]


def test_several_programs_with_an_embedded_memory_on_one_file_keep_all(
    vendor: VendorServer, tmp_path: Path
) -> None:
    path = tmp_path / "shared.db"
    with open_memory(path, words_only=True) as rec:
        rec.agents.create("anna", default_blocks=False)
    code = OPENING_LINES + textwrap.dedent(
        """
        with recollect.open(sys.argv[2], embedding_backend="none") as memory:
            for n in range(10):
                with recollect.learning(agent="anna", memory=memory, **PATIENT):
                    chat(f"{sys.argv[3]} {n}")
        """
    )
    running = [
        subprocess.Popen(
            [sys.executable, "-c", code, vendor.openai_url, str(path), f"{n}"],
            env={**os.environ, "NO_PROXY": "*"},
            stderr=subprocess.PIPE,
            text=True,
        )
        for n in range(3)
    ]
    ends = [(text.communicate(timeout=180)[1], text.returncode) for text in running]

    assert ends == [("", 0)] * 3
    with open_memory(path, words_only=True) as rec:
        texts = user_texts(rec, "anna")
    assert sorted(texts) == sorted(f"{who} {n}" for who in range(3) for n in range(10))
