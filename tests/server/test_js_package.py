"""The npm package in js/: its own tests with Node, against the real server, and its types."""

import shutil
from pathlib import Path

import pytest

import recollect
from node_commands import require_npm, run_in
from server_process import run_server

pytestmark = [pytest.mark.vendor, pytest.mark.timeout(300)]

PACKAGE = Path(__file__).parent.parent.parent / "js"
TYPE_CHECK = "tsc --noEmit --strict --skipLibCheck --module nodenext --target es2022 test/types.ts"


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A copy of the package with what its tests need, from the lock file."""
    require_npm()
    folder = tmp_path / "js"
    shutil.copytree(PACKAGE, folder, ignore=shutil.ignore_patterns("node_modules"))
    run_in(folder, "npm", "ci", "--no-audit", "--no-fund")
    return folder


def test_the_client_and_the_middleware_work_with_the_server(package: Path, tmp_path: Path) -> None:
    db = tmp_path / "memory.db"
    with recollect.open(db, embedding_backend="none") as rec:
        rec.ingest("We use pnpm, not npm.", type="decision", project="site")
    with run_server(db) as server:
        output = run_in(package, "npm", "test", RECOLLECT_URL=server.url)

    assert "fail 0" in output
    run_in(package, "npx", *TYPE_CHECK.split())
