"""What ChatGPT's connectors expect: `search` and `fetch`, each a JSON text of a fixed shape."""

import json
from pathlib import Path

import pytest

from mcp_clients import ERAS, call, over_http, text_of, values, within
from recollect.mcp.caller import Caller
from support import open_memory


@pytest.mark.parametrize("era", ERAS)
def test_what_is_found_can_be_fetched(tmp_path: Path, era: str) -> None:
    with open_memory(tmp_path / "m.db", words_only=True) as memory:
        known = memory.ingest("We deploy on Fridays.", project="site", title="Deploys", tags="ops")
        server = within(memory, Caller(project="site", profile="chatgpt"))

        found = json.loads(text_of(call(server, "search", era, query="deploy")))
        fetched = json.loads(text_of(call(server, "fetch", era, id=found["results"][0]["id"])))

    link = {"id": known.id, "title": "Deploys", "url": f"recollect://memories/{known.id}"}
    assert found == {"results": [{**link, "text": "We deploy on Fridays."}]}
    assert {name: fetched[name] for name in link} == link
    assert fetched["text"] == "We deploy on Fridays."
    assert fetched["metadata"]["quote"] == "We deploy on Fridays."


def test_it_is_chosen_by_the_address_over_http(tmp_path: Path) -> None:
    with open_memory(tmp_path / "m.db", words_only=True) as memory:
        memory.ingest("We deploy on Fridays.", project="site")
        with over_http(memory, "?project=site&profile=chatgpt") as url:
            found = json.loads(text_of(call(url, "search", query="deploy")))

    assert len(found["results"]) == 1


def test_a_document_is_cut_and_that_is_said(tmp_path: Path) -> None:
    with open_memory(tmp_path / "m.db", words_only=True) as memory:
        kept = memory.ingest("x" * 50_000, project="site")

        told = values(
            within(memory, Caller(project="site", profile="chatgpt")), "fetch", id=kept.id
        )

        assert len(told["text"]) == 40_000
        assert told["metadata"]["cut"].startswith("10,000 more characters")
