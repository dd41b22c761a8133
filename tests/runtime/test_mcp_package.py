"""The package `mcp` is an extra: without it everything else works, and MCP says what to install."""

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from recollect.runtime.mcp_package import INSTALL, OLDEST

pytestmark = pytest.mark.door

ROOT = Path(__file__).parent.parent.parent
RUN = "import sys; from recollect.entry import main; sys.exit(main())"
POST_TO_MCP = """
import sys
from pathlib import Path
from starlette.testclient import TestClient
from recollect import LocalRecollect
from recollect.config import Settings
from recollect.server.web_app import web_app

settings = Settings(db=sys.argv[1], embedding_backend="none")
with LocalRecollect(settings) as rec:
    rec.ingest("Answers should be short.")
    with TestClient(web_app(rec, settings), base_url="http://localhost") as client:
        answer = client.post("/mcp", json={})
        print(answer.status_code, answer.json()["error"], answer.json()["detail"])
        print(client.get("/health").status_code)
"""

ADD_SERVERS = """
import sys
from recollect import LocalRecollect
from recollect.config import Settings
from recollect.errors import PackageMissing

with LocalRecollect(Settings(db=sys.argv[1], embedding_backend="none")) as rec:
    for server in ({"url": "http://127.0.0.1:9/mcp"}, {"command": ["numbers"]}):
        try:
            rec.agents.add_mcp_server("numbers", **server)
        except PackageMissing as error:
            print(error)
"""


@pytest.fixture
def packages(tmp_path: Path) -> Path:
    """Return a folder of the installed packages without `mcp`."""
    folder = tmp_path / "packages"
    folder.mkdir()
    for entry in Path(sysconfig.get_path("purelib")).iterdir():
        if entry.suffix != ".pth" and not entry.name.startswith(
            ("mcp", "__pycache__", "recollect")
        ):
            (folder / entry.name).symlink_to(entry)
    return folder


def run(packages: Path, code: str, *arguments: str) -> "subprocess.CompletedProcess[str]":
    """Run *code* in an interpreter that has only *packages*."""
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join((str(ROOT / "src"), str(packages))),
        "HOME": str(packages.parent),
        "RECOLLECT_DB": str(packages.parent / "m.db"),
    }
    return subprocess.run(
        [sys.executable, "-S", "-c", code, *arguments],
        env=environment,
        cwd=packages.parent,
        capture_output=True,
        text=True,
        check=False,
    )


def test_without_the_package_mcp_says_what_to_install_and_the_rest_works(packages: Path) -> None:
    command = run(packages, RUN, "mcp")
    setup = run(packages, RUN, "setup", "claude-code", "--yes")
    hooks = run(packages, RUN, "setup", "claude-code", "--yes", "--no-mcp")
    server = run(packages, POST_TO_MCP, str(packages.parent / "m.db"))
    tools = run(packages, ADD_SERVERS, str(packages.parent / "m.db"))

    missing = f"MCP needs the package mcp, which is not installed; run: {INSTALL}"
    assert (command.returncode, command.stdout) == (1, "")
    assert command.stderr == f"Error: {missing}\n"
    assert setup.returncode == 1
    assert f"nothing was changed: {missing} (or add --no-mcp" in setup.stderr
    assert hooks.returncode == 0, hooks.stderr
    assert server.stdout.splitlines() == [f"501 PackageMissing {missing}", "200"], server.stderr
    assert tools.stdout.splitlines() == [missing, missing], tools.stderr


def test_an_older_package_of_another_program_is_named_with_its_version(packages: Path) -> None:
    older = packages / "mcp-1.30.0.dist-info"
    older.mkdir()
    (older / "METADATA").write_text("Metadata-Version: 2.1\nName: mcp\nVersion: 1.30.0\n")

    command = run(packages, RUN, "mcp")
    tools = run(packages, ADD_SERVERS, str(packages.parent / "m.db"))

    assert command.returncode == 1
    too_old = "the package mcp 2.1 or later, and 1.30.0 is installed"
    assert too_old in command.stderr
    assert tools.stdout.count(too_old) == 2, tools.stderr
    assert command.stderr.count("\n") == 1


def test_the_extra_asks_for_the_oldest_version_that_is_accepted() -> None:
    oldest = ".".join(map(str, OLDEST))

    assert f'mcp = ["mcp>={oldest}"]' in (ROOT / "pyproject.toml").read_text(encoding="utf-8")


@pytest.mark.vendor
@pytest.mark.parametrize(
    ("beside", "extras"),
    [("crewai==1.15.*", ""), ("strands-agents==1.62.*", "[mcp]")],
)
def test_recollect_installs_beside_frameworks_that_pin_an_older_mcp(
    tmp_path: Path, beside: str, extras: str
) -> None:
    uv = shutil.which("uv", path=str(Path(sys.executable).parent)) or shutil.which("uv")
    assert uv is not None  # of the extra `dev`
    wanted = tmp_path / "wanted.in"
    wanted.write_text(f"{beside}\nrecollect{extras} @ {ROOT.as_uri()}\n", encoding="utf-8")

    compiled = subprocess.run(
        [uv, "pip", "compile", "-q", "--no-header", "--no-annotate", str(wanted)],
        capture_output=True,
        text=True,
        check=False,
    )

    assert compiled.returncode == 0, compiled.stderr
    names = {line.partition("==")[0] for line in compiled.stdout.splitlines()}
    assert {"mcp", "onnxruntime", beside.partition("==")[0]} <= names
