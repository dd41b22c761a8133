"""Run npm and Node in a test; both must be installed."""

import os
import shutil
import subprocess
from pathlib import Path


def require_npm() -> None:
    """Fail if npm is not installed."""
    assert shutil.which("npm"), "Node is not installed: apt-get install nodejs npm"


def run_in(folder: Path, *command: str, **env: str) -> str:
    """Run *command* in *folder* and return what it printed; fail if it failed."""
    done = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, **env},
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
