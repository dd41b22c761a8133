"""The npm package in js/: its own tests with Node, against the real server, and its types."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

import recollect
from doc_examples import FRAMEWORKS
from node_commands import require_npm, run_in
from server_process import run_server
from vendor_server import VendorServer

pytestmark = [pytest.mark.vendor, pytest.mark.timeout(300)]

PACKAGE = Path(__file__).parent.parent.parent / "js"
GUIDE = FRAMEWORKS / "vercel-ai-sdk.md"
VERSION_7 = ("ai@7.0.173", "@ai-sdk/openai@4.0.118")  # needs Node 22
NODE_22 = ("npx", "--yes", "--package", "node@22.23.3", "--")
TYPE_CHECK = "tsc --noEmit --strict --skipLibCheck --module nodenext --target es2022 test/types.ts"


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A copy of the package with what its tests need, from the lock file."""
    require_npm()
    folder = tmp_path / "js"
    shutil.copytree(PACKAGE, folder, ignore=shutil.ignore_patterns("node_modules"))
    run_in(folder, "npm", "ci", "--no-audit", "--no-fund")
    return folder


@pytest.fixture
def server_url(tmp_path: Path) -> Iterator[str]:
    db = tmp_path / "memory.db"
    with recollect.open(db, embedding_backend="none") as rec:
        rec.ingest("We use pnpm, not npm.", type="decision", project="site")
    with run_server(db) as server:
        yield server.url


def test_the_client_and_the_middleware_work_with_the_server(package: Path, server_url: str) -> None:
    output = run_in(package, "npm", "test", RECOLLECT_URL=server_url)

    assert "fail 0" in output
    run_in(package, "npx", *TYPE_CHECK.split())


def test_the_middleware_and_the_example_of_the_guide_work_with_version_7(
    package: Path, server_url: str, vendor: VendorServer
) -> None:
    run_in(package, "npm", "install", "--no-save", "--no-audit", "--no-fund", *VERSION_7)
    output = run_in(package, *NODE_22, "npm", "test", RECOLLECT_URL=server_url)
    assert "fail 0" in output
    run_in(package, "npx", *TYPE_CHECK.split())

    code, printed = re.findall(r"```(?:js|text)\n(.*?)```", GUIDE.read_text("utf-8"), re.DOTALL)
    (package / "example.mjs").write_text(code, encoding="utf-8")
    openai = {"OPENAI_BASE_URL": vendor.openai_url, "OPENAI_API_KEY": "test"}
    command = (*NODE_22, "node", "example.mjs")
    assert run_in(package, *command, RECOLLECT_SERVER_URL=server_url, **openai) == printed
    assert "My dog is called Rex." in str(vendor.requests[-1].body)
