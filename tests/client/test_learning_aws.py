"""
Clients that sign their requests for AWS: what arrives has a valid signature, also with memory.

The signature is computed here from what reaches the server, by the rules of SigV4.
"""

import hashlib
import hmac
import logging
from pathlib import Path
from typing import Any
from urllib.parse import quote

import anthropic
import boto3
import httpx2
import openai
import pytest
from botocore.auth import SigV4Auth
from botocore.config import Config
from botocore.exceptions import BotoCoreError
from openai.providers import bedrock

from recollect import LocalRecollect, learning
from recollect.client.intercept import aws_signature
from support import open_memory
from vendor_server import VendorRequest, VendorServer, vendor_server

pytestmark = pytest.mark.vendor

ACCESS_KEY, SECRET, TOKEN, REGION = (
    "AKIDEXAMPLE",
    "wJalrXUtnFEMI-EXAMPLE",
    "session-token",
    "eu-west-1",
)
FACT = "The boat is called Alba."
QUESTION = [{"role": "user", "content": "What is the boat called?"}]


@pytest.fixture
def rec(tmp_path: Path) -> Any:
    with open_memory(tmp_path / "memory.db", words_only=True) as rec:
        rec.agents.create("anna")
        rec.ingest(FACT, agent="anna", scope="agent")
        yield rec


@pytest.fixture
def vendor() -> Any:
    with vendor_server() as server:
        yield server


def signature_of(request: VendorRequest) -> tuple[str, str]:
    """Return the signature in a request, and the one that its content should have."""
    algorithm, _, rest = request.headers["authorization"].partition(" ")
    assert algorithm == "AWS4-HMAC-SHA256"
    fields = dict(part.strip().split("=", 1) for part in rest.split(","))
    key, date, region, service, last = fields["Credential"].split("/")
    assert (key, region, last) == (ACCESS_KEY, REGION, "aws4_request")
    names = fields["SignedHeaders"].split(";")
    path, _, query = request.path.partition("?")
    pairs = sorted(tuple(item.partition("=")[::2]) for item in query.split("&") if item)
    body_hash = hashlib.sha256(request.raw).hexdigest()
    declared = request.headers.get("x-amz-content-sha256", body_hash)
    assert declared == body_hash
    canonical = "\n".join(
        [
            "POST",
            quote(path, safe="/~"),
            "&".join(f"{name}={value}" for name, value in pairs),
            *(f"{name}:{' '.join(request.headers[name].split())}" for name in names),
            "",
            ";".join(names),
            body_hash,
        ]
    )
    scope = f"{date}/{region}/{service}/aws4_request"
    hashed = hashlib.sha256(canonical.encode()).hexdigest()
    to_sign = "\n".join([algorithm, request.headers["x-amz-date"], scope, hashed])
    signing_key = f"AWS4{SECRET}".encode()
    for part in (date, region, service, "aws4_request"):
        signing_key = hmac.digest(signing_key, part.encode(), "sha256")
    return fields["Signature"], hmac.new(signing_key, to_sign.encode(), "sha256").hexdigest()


def aws_client(vendor: VendorServer, **more: Any) -> anthropic.AnthropicAWS:
    return anthropic.AnthropicAWS(
        aws_access_key=ACCESS_KEY,
        aws_secret_key=SECRET,
        aws_session_token=TOKEN,
        aws_region=REGION,
        workspace_id="w",
        base_url=vendor.anthropic_url,
        max_retries=0,
        **more,
    )


def ask(client: Any) -> None:
    with client:
        client.messages.create(model="claude-sonnet-5-5", max_tokens=50, messages=QUESTION)


def test_the_check_recognises_a_request_that_was_changed_after_it_was_signed(
    vendor: VendorServer,
) -> None:
    def change(request: httpx2.Request) -> None:
        request.headers["x-amz-date"] = "20200101T000000Z"

    ask(aws_client(vendor))
    ask(aws_client(vendor, http_client=httpx2.Client(event_hooks={"request": [change]})))

    signed, changed = map(signature_of, vendor.requests)
    assert signed[0] == signed[1]
    assert changed[0] != changed[1]


def test_a_signed_call_is_told_and_its_signature_is_valid(
    rec: LocalRecollect, vendor: VendorServer
) -> None:
    with learning(agent="anna", memory=rec):
        ask(aws_client(vendor))

    [request] = vendor.requests
    signature, expected = signature_of(request)
    assert FACT in request.raw.decode()
    assert signature == expected
    assert request.headers["x-amz-security-token"] == TOKEN
    assert rec.conversations.search("boat", agent="anna", roles="user")


def test_openais_client_for_bedrock_is_signed_again_too(
    rec: LocalRecollect, vendor: VendorServer
) -> None:
    client = openai.OpenAI(
        provider=bedrock(
            region=REGION,
            access_key_id=ACCESS_KEY,
            secret_access_key=SECRET,
            base_url=vendor.openai_url,
        ),
        max_retries=0,
    )
    with client, learning(agent="anna", memory=rec):
        client.responses.create(model="gpt-5", input="What is the boat called?")

    [request] = vendor.requests
    signature, expected = signature_of(request)
    assert FACT in request.raw.decode()
    assert signature == expected


def test_a_request_that_something_else_signed_is_only_recorded_with_one_warning(
    rec: LocalRecollect, vendor: VendorServer, caplog: pytest.LogCaptureFixture
) -> None:
    class OwnSignature(httpx2.Auth):
        def auth_flow(self, request: httpx2.Request) -> Any:
            request.headers["authorization"] = (
                f"AWS4-HMAC-SHA256 Credential=AKIDOTHER/20260101/{REGION}/bedrock/aws4_request, "
                "SignedHeaders=host, Signature=0"
            )
            yield request

    request = httpx2.Request(
        "POST",
        f"{vendor.anthropic_url}/v1/messages",
        headers={"anthropic-version": "2023-06-01", "x-api-key": "k"},
        json={"model": "claude-sonnet-5-5", "max_tokens": 50, "messages": QUESTION},
    )
    [request] = OwnSignature().auth_flow(request)
    caplog.set_level(logging.WARNING, "recollect")
    with learning(agent="anna", memory=rec), httpx2.Client() as client:
        client.send(request)
        client.send(request)

    assert [item.raw for item in vendor.requests] == [request.content] * 2
    [warning] = [item for item in caplog.messages if "sign" in item]
    assert "only recorded" in warning
    assert rec.conversations.search("boat", agent="anna", roles="user")


def test_nothing_of_botocore_stays_changed_or_remembered_after_the_block(
    rec: LocalRecollect, vendor: VendorServer
) -> None:
    original = SigV4Auth.add_auth
    with learning(agent="anna", memory=rec):
        ask(aws_client(vendor))
        assert SigV4Auth.add_auth is not original

    assert SigV4Auth.add_auth is original
    assert not aws_signature._credentials


def test_calls_of_boto3_are_named_at_the_end_of_a_block_without_others(
    rec: LocalRecollect, caplog: pytest.LogCaptureFixture
) -> None:
    client = boto3.client(
        "bedrock-runtime",
        region_name=REGION,
        aws_access_key_id=ACCESS_KEY,
        aws_secret_access_key=SECRET,
        endpoint_url="http://127.0.0.1:9",
        config=Config(retries={"max_attempts": 0}),
    )
    caplog.set_level(logging.WARNING, "recollect")
    with learning(agent="anna", memory=rec), pytest.raises(BotoCoreError):
        client.converse(modelId="m", messages=[{"role": "user", "content": [{"text": "Hi"}]}])

    [warning] = caplog.messages
    assert "it called Bedrock, which learning() does not support" in warning
