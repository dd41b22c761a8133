"""Tests without a tier start no process and no server; files of other tiers are not imported."""

import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tiers import can_hold, chooses_untiered

DEFAULT = "not (door or kill or fuzz or vendor or postgres)"


def test_a_test_without_a_tier_starts_no_process() -> None:
    with pytest.raises(RuntimeError, match=r"has no tier. Give its file `pytestmark"):
        subprocess.run([sys.executable, "-c", ""])


def test_a_test_without_a_tier_listens_on_no_port() -> None:
    with socket.socket() as listener, pytest.raises(RuntimeError, match="has no tier"):
        listener.bind(("127.0.0.1", 0))


def test_an_expression_of_tiers_only_chooses_no_test_without_one() -> None:
    assert [chooses_untiered(text) for text in ("", DEFAULT, "door or kill", "vendor")] == [
        True,
        True,
        False,
        False,
    ]


@pytest.mark.parametrize(
    ("text", "expression", "expected"),
    [
        ("", DEFAULT, True),
        ("", "door", False),
        ("pytestmark = pytest.mark.door\n", DEFAULT, False),
        ("pytestmark = pytest.mark.door\n", "door or kill", True),
        ("pytestmark = pytest.mark.door\n", "kill", False),
        ("pytestmark = pytest.mark.door\n", "", True),
        ("@pytest.mark.fuzz\ndef test_one(): ...\n", DEFAULT, True),
        ("@pytest.mark.fuzz\ndef test_one(): ...\n", "fuzz", True),
        ("def test_one(\n    path: Path, store: Store\n): ...\n", "postgres", True),
        ("def test_one(\n    path: Path, store: Store\n): ...\n", "door", False),
        ("def fill(keep: Keep): ...\n", DEFAULT, True),
        ("pytestmark = pytest.mark.kill\ndef test_one(store: Store): ...\n", DEFAULT, False),
    ],
)
def test_a_file_is_imported_if_it_can_hold_a_chosen_test(
    tmp_path: Path, text: str, expression: str, expected: bool
) -> None:
    file = tmp_path / "test_it.py"
    file.write_text(text, encoding="utf-8")

    assert can_hold(file, expression) is expected
