"""
The commands of the Dockerfile, run without a container: install, serve, health check.

As root the test runs the server as another user, as the image does: it may write to its data and
its state only, neither to what is installed nor to the folder in which it is started.
"""

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from deploy_files import DOCKERFILE, ROOT, environment_of, instructions

pytestmark = pytest.mark.door

INSTALLED = "/opt/recollect"  # in the image
START_S = 120.0


USER = "nobody" if os.geteuid() == 0 else None


def interpreter_of_all(folder: Path) -> str:
    """Return a Python that USER may run: this one, or links to it if its folder is private."""
    base = Path(sys.base_prefix)
    if USER is None or all(path.stat().st_mode & 0o001 for path in (base, *base.parents)):
        return sys.executable
    unused = shutil.ignore_patterns("test", "site-packages", "share")
    copy = shutil.copytree(base, folder / "python", True, unused, copy_function=link_or_copy)
    return str(copy / "bin" / f"python3.{sys.version_info.minor}")


def link_or_copy(source: str, target: str) -> None:
    try:
        os.link(source, target)
    except OSError:  # another file system
        shutil.copy2(source, target)


@pytest.fixture(scope="module")
def image() -> Iterator[Path]:
    """A folder with what the image installs, which every user may read."""
    folder = Path(tempfile.mkdtemp(prefix="recollect-image-"))
    folder.chmod(0o755)
    runs = [text for name, text in instructions() if name == "RUN" and INSTALLED in text]
    assert len(runs) == 3
    python = interpreter_of_all(folder)
    for command in runs:
        command = command.replace(INSTALLED, str(folder / "venv")).replace(
            "python -m", f"{python} -m"
        )
        done = subprocess.run(command, shell=True, cwd=ROOT, capture_output=True, text=True)
        assert done.returncode == 0, f"{command}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}"
    for name in ("data", "state"):
        (folder / name).mkdir(mode=0o700)
        if USER is not None:
            shutil.chown(folder / name, USER)
    yield folder
    shutil.rmtree(folder)


@pytest.mark.timeout(600)
@pytest.mark.parametrize("backend", ["sqlite", "postgres"])
def test_what_the_image_installs_serves_and_is_healthy(backend: str, image: Path) -> None:
    target = image / "venv"
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    env = environment_of(DOCKERFILE)
    env |= {
        "PATH": f"{target}/bin:{os.environ['PATH']}",
        "HOME": str(image / "data"),
        "XDG_STATE_HOME": str(image / "state"),
        "RECOLLECT_DB": str(image / "data" / "memory.db"),
        "RECOLLECT_PORT": str(port),
        "RECOLLECT_TOKEN": "s3cret",
    }
    if (library := image / "python" / "lib").exists():
        env["LD_LIBRARY_PATH"] = str(library)
    if backend == "postgres":
        from postgres_server import shared_server  # psycopg: only for tests that need it

        env["RECOLLECT_DB"] = shared_server().url("image")
    options: dict[str, Any] = {"env": env, "cwd": image, "user": USER}
    if USER is not None:
        options["extra_groups"] = []
    [entry] = [json.loads(text) for name, text in instructions() if name == "ENTRYPOINT"]
    [arguments] = [json.loads(text) for name, text in instructions() if name == "CMD"]
    [check] = [text for name, text in instructions() if name == "HEALTHCHECK"]
    health_check = json.loads(check[check.index("[") :])

    def is_healthy() -> bool:
        done = subprocess.run(health_check, capture_output=True, **options)
        return done.returncode == 0

    assert not is_healthy()  # nobody serves yet
    before = {path: path.stat().st_mtime_ns for path in target.rglob("*")}
    with subprocess.Popen([*entry, *arguments], stdout=subprocess.DEVNULL, **options) as server:
        try:
            give_up_at = time.monotonic() + START_S
            while not is_healthy():
                assert server.poll() is None
                assert time.monotonic() < give_up_at
                time.sleep(0.2)
        finally:
            server.terminate()
    assert server.returncode == 0
    for name in ("psycopg", "psycopg_pool", "mcp", "opentelemetry.sdk", "bpe_openai"):
        subprocess.run(
            [f"{target}/bin/python", "-B", "-c", f"import {name}"], check=True, **options
        )
    if USER is not None:
        assert before == {path: path.stat().st_mtime_ns for path in target.rglob("*")}
        assert {path.name for path in image.iterdir()} - {"python"} == {"venv", "data", "state"}
