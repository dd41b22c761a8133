"""The runtime of the embedding model reports nothing to its vendor."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from recollect.models.onnx_runtime import OPT_OUT, load_onnxruntime

# What makes the runtime silent by itself, as under a test runner.
SILENCES_IT = {OPT_OUT, "CI", "GITHUB_ACTIONS", "TF_BUILD", "ORT_RUNNING_UNIT_TESTS"}


@pytest.mark.door
@pytest.mark.parametrize("early", [False, True])
def test_the_runtime_keeps_and_sends_nothing_about_this_machine(
    early: bool, tmp_path: Path
) -> None:
    environment = {name: os.environ[name] for name in os.environ.keys() - SILENCES_IT}
    cache = {"HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    program = (
        "from recollect.models.local_embedder import LocalEmbedder, load_early\n"
        "from recollect.models.packaged_models import default_manifest\n"
        f"if {early}: load_early(default_manifest())\n"
        "print(len(LocalEmbedder(default_manifest()).embed_query('short')))\n"
    )

    result = subprocess.run(
        [sys.executable, "-c", program],
        env=environment | cache,
        capture_output=True,
        text=True,
        check=True,
    )

    assert result.stdout == "384\n"
    assert not [str(path) for path in tmp_path.rglob("*")]


def test_a_person_who_chose_to_report_still_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(OPT_OUT, "0")

    load_onnxruntime()

    assert os.environ[OPT_OUT] == "0"
