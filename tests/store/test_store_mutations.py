"""Every method of the store is held by its contract tests: without it, one of them fails."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent


@pytest.mark.parametrize(
    "backend",
    [
        pytest.param("sqlite", marks=pytest.mark.fuzz),
        pytest.param("postgres", marks=pytest.mark.postgres),
    ],
)
def test_no_method_of_the_store_can_be_gutted_unnoticed(backend: str) -> None:
    command = [sys.executable, "-m", "benchmarks.store_mutations", "--backend", backend]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)

    assert run.returncode == 0, run.stdout[-4_000:] + run.stderr[-4_000:]
