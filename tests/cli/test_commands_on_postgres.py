"""Commands that open the store in their own way work on a PostgreSQL server too."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from doc_examples import ROOT
from mcp_clients import call_values, stdio_server
from postgres_server import SCHEMAS, shared_server
from recollect import LocalRecollect
from recollect.cli import chat
from recollect.config import Settings

pytestmark = pytest.mark.postgres


@pytest.fixture
def url(tmp_path: Path) -> Iterator[str]:
    """The address of an empty store."""
    yield shared_server().url(SCHEMAS.schema_of(tmp_path))
    SCHEMAS.release()


def test_an_mcp_client_stores_and_finds_a_memory(url: str, tmp_path: Path) -> None:
    server = stdio_server(url, "--project", "zoo", "--trust", XDG_STATE_HOME=str(tmp_path))

    call_values(server, "remember", content="The zebra sleeps.", type="project")

    assert "The zebra sleeps." in str(call_values(server, "search", query="zebra"))


def test_a_chat_opens_the_store(url: str) -> None:
    opened = chat._store_opener(None, url, works=False)()
    try:
        assert opened.rec.agents.list() == []
    finally:
        opened.close()


def test_the_receipt_of_forget_says_what_the_guides_say(url: str) -> None:
    with LocalRecollect(Settings(db=url, embedding_backend="none")) as rec:
        memory = rec.ingest("The safe opens with 4711.")
        receipt = rec.forget(memory.id)
        tables = "".join(str(row) for row in rec._store.export_rows())

    assert "4711" not in tables
    text = str(receipt)
    for place in ("vacuum", "write-ahead log", "replicas", "backups"):
        assert place in text
        for guide in ("postgresql", "deployment"):
            assert place in (ROOT / "docs" / "guides" / f"{guide}.md").read_text(encoding="utf-8")
