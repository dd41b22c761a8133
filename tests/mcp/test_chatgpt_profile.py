"""What ChatGPT's connectors expect: `search` and `fetch`, each a JSON text of a fixed shape."""

import json
from pathlib import Path

import pytest

from mcp_clients import (
    PROTOCOL_VERSIONS,
    call_tool,
    call_values,
    http_server,
    in_process_server,
    result_text,
)
from recollect.mcp.caller_scope import Caller
from support import open_memory

pytestmark = pytest.mark.door


@pytest.mark.parametrize("era", PROTOCOL_VERSIONS)
def test_what_is_found_can_be_fetched(tmp_path: Path, era: str) -> None:
    with open_memory(tmp_path / "m.db", words_only=True) as rec:
        existing = rec.ingest("We deploy on Fridays.", project="site", title="Deploys", tags="ops")
        server = in_process_server(rec, Caller(project="site", profile="chatgpt"))

        result = json.loads(result_text(call_tool(server, "search", era, query="deploy")))
        fetched = json.loads(
            result_text(call_tool(server, "fetch", era, id=result["results"][0]["id"]))
        )

    link = {"id": existing.id, "title": "Deploys", "url": f"recollect://memories/{existing.id}"}
    assert result == {"results": [{**link, "text": "We deploy on Fridays."}]}
    assert {name: fetched[name] for name in link} == link
    assert fetched["text"] == "We deploy on Fridays."
    assert fetched["metadata"]["quote"] == "We deploy on Fridays."


@pytest.mark.door
def test_it_is_chosen_by_the_address_over_http(tmp_path: Path) -> None:
    with open_memory(tmp_path / "m.db", words_only=True) as rec:
        rec.ingest("We deploy on Fridays.", project="site")
        with http_server(rec, "?project=site&profile=chatgpt") as url:
            result = json.loads(result_text(call_tool(url, "search", query="deploy")))

    assert len(result["results"]) == 1


def test_a_document_is_cut_and_that_is_said(tmp_path: Path) -> None:
    with open_memory(tmp_path / "m.db", words_only=True) as rec:
        stored = rec.ingest("x" * 50_000, project="site")

        result = call_values(
            in_process_server(rec, Caller(project="site", profile="chatgpt")),
            "fetch",
            id=stored.id,
        )

        assert len(result["text"]) == 40_000
        assert result["metadata"]["cut"].startswith("10,000 more characters")
