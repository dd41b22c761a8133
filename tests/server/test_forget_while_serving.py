"""What is forgotten is in no byte of any file, while a server and other processes use the store."""

import json
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import apsw
import pytest

import recollect
from recollect import LocalRecollect, Recollect
from recollect.config import Settings
from server_process import ServerProcess, run_server, without_embedder
from store_bytes import files_with_word
from terminal import installed

pytestmark = pytest.mark.door


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """A server with a store in which there is something to move around."""
    db = tmp_path_factory.mktemp("serving") / "memory.db"
    with run_server(db) as running, recollect.connect(running.url) as rec:
        talk = rec.conversations.start(agent="ben", project="other")
        texts = [f"About river{number} " + "and so on " * number for number in range(150)]
        rec.conversations.append_many(talk, [{"role": "user", "content": text} for text in texts])
        yield running


@pytest.fixture(scope="module")
def remote(server: ServerProcess) -> Iterator[Recollect]:
    with recollect.connect(server.url) as rec:
        yield rec


def hold_a_conversation(rec: Recollect, word: str) -> str:
    """Say *word* in a conversation in all the ways in which it may be repeated."""
    talk = rec.conversations.start(agent="anna", project="p", title=f"On {word}")
    arguments = json.dumps({"text": f"The vault\nis called {word}."})
    call = {"id": "c1", "type": "function", "function": {"name": "save", "arguments": arguments}}
    rec.conversations.append_many(
        talk,
        [
            {"role": "user", "content": f"Hello. The vault is called {word}. Plan my week."},
            {"role": "assistant", "content": f"Noted: the vault is called {word.upper()}."},
            {"role": "assistant", "content": "", "tool_calls": [call]},
            {"role": "tool", "content": f"saved {word}", "tool_call_id": "c1"},
            *({"role": "user", "content": f"The weather of day {n} is fine."} for n in range(8)),
        ],
    )
    rec.conversations.pin(talk, f"{word}!")
    rec.conversations.compact(talk, force=True, mode="all", keep_last=2)
    rec.conversations.end(talk, capture=True)
    rec.drain()
    rec.search(f"where is {word}?", project="p")
    rec.conversations.search(word, agent="anna")
    rec.context_for(f"open {word}", project="p", agent="anna")
    rec.views.save(f"view of {word}", f"{word} place")
    return talk.id


def forget_by_the_server(rec: Recollect, db: Path, word: str) -> None:
    hold_a_conversation(rec, word)
    memory = rec.ingest(f"The vault is called {word}.", project="p")
    rec.drain()
    rec.search(f"vault {word}", project="p")
    rec.forget(memory.id)


def forget_by_a_command(rec: Recollect, db: Path, word: str) -> None:
    hold_a_conversation(rec, word)
    memory = rec.ingest(f"The vault is called {word}.", project="p")
    time.sleep(0.3)  # until the server has logged what was asked
    command = [installed("recollect"), "forget", memory.id, "--yes", "--db", str(db)]
    subprocess.run(command, check=True, capture_output=True, env=without_embedder(), timeout=60)


def delete_the_conversation(rec: Recollect, db: Path, word: str) -> None:
    rec.conversations.delete(hold_a_conversation(rec, word))


def forget_a_file(rec: Recollect, db: Path, word: str) -> None:
    folder = db.parent / "project"
    folder.mkdir(exist_ok=True)
    (folder / "plan.md").write_text(f"The vault is called {word}.\n")
    settings = Settings(db=str(db), embedding_backend="none")
    with LocalRecollect(settings) as local:  # a server reads only the folders it was given
        local.files.index(project=folder)
        local.files.search(f"what is {word}?", project=folder)
        local.files.forget(project=folder)


@pytest.mark.parametrize(
    ("forget", "word"),
    [
        (forget_by_the_server, "quetzalcoatl"),
        (forget_by_a_command, "xochipilli"),
        (delete_the_conversation, "huitzilopochtli"),
        (forget_a_file, "tezcatlipoca"),
    ],
)
def test_the_word_is_in_no_file_while_the_server_runs(
    server: ServerProcess, remote: Recollect, forget: Callable[..., None], word: str
) -> None:
    forget(remote, server.db, word)

    assert files_with_word(server.db, word) == []
    assert server.process.poll() is None
    assert remote.maintenance.verify().ok
    talk = remote.conversations.list(agent="ben")[0]
    assert len(remote.conversations.messages(talk, limit=200)) == 150


def test_if_a_reader_keeps_the_write_ahead_log_the_receipt_says_so_and_the_server_finishes(
    server: ServerProcess, remote: Recollect
) -> None:
    memory = remote.ingest("The vault is called chalchiuhtlicue.", project="p")
    reader = apsw.Connection(str(server.db), flags=apsw.SQLITE_OPEN_READONLY)
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM memories").fetchall()

    started_at = time.monotonic()
    receipt = remote.forget(memory.id)
    took_s = time.monotonic() - started_at
    reader.close()

    assert took_s < 3.0
    assert any("write-ahead log" in line for line in receipt.kept)
    give_up_at = time.monotonic() + 10.0
    while files_with_word(server.db, "chalchiuhtlicue") and time.monotonic() < give_up_at:
        time.sleep(0.1)
    assert files_with_word(server.db, "chalchiuhtlicue") == []
