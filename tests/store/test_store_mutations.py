"""Every method of the store is held by its contract tests: without it, one of them fails."""

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.fuzz

ROOT = Path(__file__).parent.parent.parent


def test_no_method_of_the_store_can_be_gutted_unnoticed() -> None:
    command = [sys.executable, "-m", "benchmarks.store_mutations"]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)

    assert run.returncode == 0, run.stdout[-4_000:] + run.stderr[-4_000:]
