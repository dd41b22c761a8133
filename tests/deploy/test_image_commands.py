"""The commands of the Dockerfile, run without a container: install, serve, health check."""

import json
import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from deploy_files import DOCKERFILE, ROOT, environment_of, instructions

pytestmark = pytest.mark.door

INSTALLED = "/opt/recollect"  # in the image
START_S = 120.0


@pytest.mark.timeout(600)
def test_what_the_image_installs_serves_and_is_healthy(tmp_path: Path) -> None:
    target = tmp_path / "venv"
    runs = [text for name, text in instructions() if name == "RUN" and INSTALLED in text]
    assert len(runs) == 3
    for command in runs:
        command = command.replace(INSTALLED, str(target)).replace(
            "python -m", f"{sys.executable} -m"
        )
        done = subprocess.run(command, shell=True, cwd=ROOT, capture_output=True, text=True)
        assert done.returncode == 0, f"{command}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}"

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    env = environment_of(DOCKERFILE)
    env |= {
        "PATH": f"{target}/bin:{os.environ['PATH']}",
        "HOME": str(tmp_path),
        "XDG_STATE_HOME": str(tmp_path),
        "RECOLLECT_DB": str(tmp_path / "memory.db"),
        "RECOLLECT_PORT": str(port),
        "RECOLLECT_TOKEN": "s3cret",
    }
    [entry] = [json.loads(text) for name, text in instructions() if name == "ENTRYPOINT"]
    [arguments] = [json.loads(text) for name, text in instructions() if name == "CMD"]
    [check] = [text for name, text in instructions() if name == "HEALTHCHECK"]
    health_check = json.loads(check[check.index("[") :])

    def is_healthy() -> bool:
        done = subprocess.run(health_check, env=env, capture_output=True, cwd=tmp_path)
        return done.returncode == 0

    assert not is_healthy()  # nobody serves yet
    with subprocess.Popen(
        [*entry, *arguments], env=env, cwd=tmp_path, stdout=subprocess.DEVNULL
    ) as server:
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
        subprocess.run([f"{target}/bin/python", "-c", f"import {name}"], check=True, cwd=tmp_path)
