"""The script of a Letta user in JavaScript runs unchanged, with Letta's own npm package."""

import shutil
from pathlib import Path

import pytest

from in_process_server import serve_in_thread
from node_commands import require_npm, run_in
from support import open_memory

pytestmark = [pytest.mark.vendor, pytest.mark.timeout(300)]

SCRIPT = Path(__file__).with_name("letta_script.mjs")
PACKAGE = "@letta-ai/letta-client@1.12.1"


def test_the_script_runs_with_the_npm_package(tmp_path: Path) -> None:
    require_npm()
    folder = tmp_path / "letta"
    folder.mkdir()
    shutil.copy(SCRIPT, folder)
    (folder / "package.json").write_text('{"private": true}', encoding="utf-8")
    run_in(folder, "npm", "install", "--no-audit", "--no-fund", PACKAGE)
    with open_memory(tmp_path / "memory.db") as rec, serve_in_thread(rec) as url:
        output = run_in(folder, "node", SCRIPT.name, LETTA_BASE_URL=url)

    assert output == "done\n"
