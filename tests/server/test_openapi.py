"""The document the server gives of itself: complete, and changed only on purpose."""

from typing import Any

import pytest

from recollect import LocalRecollect
from recollect.config import Settings
from recollect.server.web_app import web_app

pytestmark = pytest.mark.door

OPERATIONS = """
/agents POST
/agents/{name} GET
/api/agents GET
/api/agents POST
/api/agents/import POST
/api/agents/{agent} DELETE
/api/agents/{agent} GET
/api/agents/{agent} PATCH
/api/agents/{agent}/archive GET
/api/agents/{agent}/archive POST
/api/agents/{agent}/archive/search POST
/api/agents/{agent}/blocks POST
/api/agents/{agent}/blocks/{label} DELETE
/api/agents/{agent}/branch POST
/api/agents/{agent}/clone POST
/api/agents/{agent}/conversation-search POST
/api/agents/{agent}/export GET
/api/agents/{agent}/files GET
/api/agents/{agent}/files POST
/api/agents/{agent}/files/close POST
/api/agents/{agent}/messages GET
/api/agents/{agent}/messages POST
/api/agents/{agent}/pin PUT
/api/agents/{agent}/run POST
/api/agents/{agent}/skills GET
/api/agents/{agent}/skills/refresh POST
/api/agents/{agent}/skills/{name} DELETE
/api/agents/{agent}/skills/{name} PUT
/api/agents/{agent}/sleeptime GET
/api/agents/{agent}/window POST
/api/agents/{into}/merge POST
/api/approvals GET
/api/approvals/{approval} POST
/api/backups GET
/api/backups POST
/api/block-changes GET
/api/block-proposals GET
/api/block-proposals/{proposal_id} GET
/api/block-proposals/{proposal_id}/accept POST
/api/block-proposals/{proposal_id}/reject POST
/api/block-proposals/{proposal_id}/undo POST
/api/blocks GET
/api/blocks POST
/api/blocks-mark GET
/api/blocks/search POST
/api/blocks/{block}/agents GET
/api/blocks/{label} DELETE
/api/blocks/{label} GET
/api/blocks/{label} PATCH
/api/blocks/{label} PUT
/api/blocks/{label}/append POST
/api/blocks/{label}/confirm POST
/api/blocks/{label}/diff GET
/api/blocks/{label}/history GET
/api/blocks/{label}/insert POST
/api/blocks/{label}/replace POST
/api/blocks/{label}/rollback POST
/api/blocks/{label}/share POST
/api/briefing POST
/api/captures/actions/advice POST
/api/captures/actions/command GET
/api/captures/actions/error POST
/api/captures/actions/file GET
/api/captures/actions/session GET
/api/captures/assistant POST
/api/captures/batch POST
/api/captures/conversation POST
/api/captures/session POST
/api/clients GET
/api/conflicts GET
/api/conflicts/settle POST
/api/consolidate POST
/api/context POST
/api/conversation-keys/{key} GET
/api/conversations GET
/api/conversations POST
/api/conversations/{conversation} DELETE
/api/conversations/{conversation} GET
/api/conversations/{conversation} PATCH
/api/conversations/{conversation}/cancel POST
/api/conversations/{conversation}/compact POST
/api/conversations/{conversation}/context GET
/api/conversations/{conversation}/end POST
/api/conversations/{conversation}/fork POST
/api/conversations/{conversation}/messages GET
/api/conversations/{conversation}/messages POST
/api/conversations/{conversation}/messages/batch POST
/api/conversations/{conversation}/metadata PUT
/api/conversations/{conversation}/pins GET
/api/conversations/{conversation}/pins POST
/api/conversations/{conversation}/pop POST
/api/conversations/{conversation}/resume POST
/api/conversations/{conversation}/runs GET
/api/conversations/{conversation}/skill POST
/api/conversations/{conversation}/sleeptime POST
/api/conversations/{conversation}/summaries GET
/api/document DELETE
/api/document GET
/api/document-namespaces GET
/api/documents PUT
/api/documents/extend POST
/api/documents/search POST
/api/drain POST
/api/embedder/try POST
/api/events GET
/api/events/{event_id} GET
/api/explain/{some_id} GET
/api/export GET
/api/files/forget POST
/api/files/grep POST
/api/files/index POST
/api/files/search POST
/api/import POST
/api/inbox GET
/api/inbox/decide POST
/api/inbox/items GET
/api/inbox/order GET
/api/inbox/promote POST
/api/inbox/reject POST
/api/inbox/undo POST
/api/jobs GET
/api/jobs/{job_id} GET
/api/jobs/{job_id}/retry POST
/api/ledger GET
/api/links POST
/api/maintain POST
/api/memories GET
/api/memories POST
/api/memories/batch POST
/api/memories/{memory_id} DELETE
/api/memories/{memory_id} GET
/api/memories/{memory_id} PATCH
/api/memories/{memory_id}/confirm POST
/api/memories/{memory_id}/promote POST
/api/memories/{memory_id}/reject POST
/api/memories/{memory_id}/status PUT
/api/memories/{memory_id}/undo POST
/api/memories/{memory_id}/why-not POST
/api/messages GET
/api/messages/search POST
/api/messages/{message} DELETE
/api/messages/{message} GET
/api/messages/{message}/pin PUT
/api/models GET
/api/models/chat GET
/api/models/in-use PUT
/api/pending GET
/api/pins/{pin} DELETE
/api/profile/{key} PUT
/api/projects GET
/api/projects/link POST
/api/projects/unlink POST
/api/rebuild POST
/api/reembed POST
/api/retrievals GET
/api/search POST
/api/search/why-nothing POST
/api/skills GET
/api/skills/search POST
/api/sleeptime/{run_id} GET
/api/sleeptime/{run_id}/undo POST
/api/sources/{source_id} GET
/api/status GET
/api/tokens POST
/api/verify POST
/api/views GET
/api/views/{name} DELETE
/api/views/{name} PUT
/api/views/{name}/run POST
/context/{agent_name} POST
/health GET
/memory-blocks POST
/memory-blocks/{agent_name} GET
/memory-blocks/{agent_name}/{label} GET
/memory-blocks/{agent_name}/{label} PUT
/messages POST
/messages/search POST
/messages/{agent_name} GET
"""


@pytest.fixture(scope="module")
def document() -> Any:
    """What `/openapi.json` says."""
    with LocalRecollect(Settings(db=":memory:", embedding_backend="none")) as rec:
        return web_app(rec, Settings()).openapi()


def operations(document: Any) -> list[tuple[str, str, Any]]:
    return [
        (method.upper(), path, operation)
        for path, found in document["paths"].items()
        for method, operation in found.items()
    ]


def test_these_are_all_the_operations(document: Any) -> None:
    listed = sorted(f"{path} {method}" for method, path, _ in operations(document))

    assert listed == OPERATIONS.strip().splitlines()


def test_every_operation_has_a_name_of_its_own(document: Any) -> None:
    names = [operation["operationId"] for _, _, operation in operations(document)]

    assert len(names) == len(set(names))


def test_every_operation_says_what_it_does_and_where_it_belongs(document: Any) -> None:
    for method, path, operation in operations(document):
        at = f"{method} {path}"
        assert operation["summary"].strip(), at
        assert operation["description"].strip(), at
        assert operation["tags"], at


def test_every_operation_says_how_it_fails(document: Any) -> None:
    for method, path, operation in operations(document):
        failing = {status: one for status, one in operation["responses"].items() if status != "200"}
        content = failing["default"]["content"]
        assert "application/problem+json" in content, f"{method} {path}"
        assert content["application/problem+json"]["schema"]["required"]


def test_no_operation_promises_an_error_it_does_not_send(document: Any) -> None:
    promised = {
        f"{method} {path} {status}"
        for method, path, operation in operations(document)
        for status, one in operation["responses"].items()
        if status.startswith("4") and "application/json" in one.get("content", {})
    }

    assert promised == set()


def test_exports_tell_of_the_header_that_has_their_result(document: Any) -> None:
    for path in ("/api/export", "/api/agents/{agent}/export"):
        told = document["paths"][path]["get"]["responses"]["200"]
        assert "recollect-result" in {name.lower() for name in told.get("headers", {})}


def test_every_write_of_the_api_takes_a_key(document: Any) -> None:
    lacking = [
        f"{method} {path}"
        for method, path, operation in operations(document)
        if method != "GET"
        and path.startswith("/api/")
        and "idempotency-key" not in [one["name"] for one in operation.get("parameters", [])]
    ]

    assert lacking == []


def test_what_is_referred_to_is_there(document: Any) -> None:
    def references(value: Any) -> set[str]:
        if isinstance(value, dict):
            own = {value["$ref"]} if isinstance(value.get("$ref"), str) else set()
            return own.union(*map(references, value.values()))
        return set().union(*map(references, value)) if isinstance(value, list) else set()

    schemas = document["components"]["schemas"]

    assert references(document) <= {f"#/components/schemas/{name}" for name in schemas}
