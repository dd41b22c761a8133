"""A run asks every question under every configuration, and keeps what it found and how."""

import json
from pathlib import Path
from typing import Any

import pytest

from bench_tasks import write_task
from benchmarks.answers import BOTH, WORDS, Configuration, answer
from benchmarks.as_messages import has_sessions
from benchmarks.overrides import Override
from benchmarks.quality import main
from benchmarks.tasks import read_task
from recollect.models.scripted_models import ScriptedEmbedder
from recollect.service import inputs

QUERY = "recollect.service.inputs.MAX_QUERY"  # characters of a question that are looked at

SESSIONS = {
    "ab": ["The kiln in the cellar is red.", "Red kilns are hot."],
    "a": ["My bicycle has a flat tyre.", "Mend it with a patch."],
    "abc": ["The rowing club meets on Monday.", "Which boat do you row?"],
}
QUESTIONS = [
    ("Which colour has the kiln?", ["ab#0"]),
    ("How do I mend the tyre?", ["a#0", "a#1"]),
    ("When does the rowing club meet?", ["abc#0"]),
]


@pytest.fixture
def tasks(tmp_path: Path) -> Path:
    """A folder with one task of four scopes."""
    return write_task(tmp_path / "tasks", "talk", SESSIONS, QUESTIONS, scopes=4)


def run(tasks: Path, *options: str) -> list[dict[str, Any]]:
    out = tasks.parent / "run.json"
    given = ["--tasks", str(tasks), "--words-only", "--out", str(out), *options]
    assert main(given) == 0
    results: list[dict[str, Any]] = json.loads(out.read_text(encoding="utf-8"))["results"]
    return results


def test_a_run_keeps_scores_and_how_it_was_asked(tasks: Path) -> None:
    (result,) = run(tasks)

    assert result["questions"] == 12
    assert result["reached"]["R@5"] == 100.0
    assert (result["model"], result["told_as"], result["half"]) == ("none", "memories", "all")
    assert (result["split_by"], result["settings"]) == ("scope", {})
    row = result["each"][0]
    assert (row["scope"], row["returned"]) == ("s0", len(row["ranked"]))
    assert row["tokens_5"] > 5
    assert 0 < row["scores"]["P@5"] <= 1


def test_nothing_outside_its_scope_is_returned(tasks: Path) -> None:
    for result in run(tasks) + run(tasks, "--messages"):
        for row in result["each"]:
            assert all(name.startswith(f"{row['scope']}/") for name in row["ranked"])


def test_both_halves_are_shown_of_all(tasks: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(tasks)

    shown = capsys.readouterr().out
    assert "| talk | Words only | scope | choose | 6 | 100.0 |" in shown
    assert "| talk | Words only | scope | confirm | 6 | 100.0 |" in shown


def test_a_half_is_asked_alone(tasks: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (chosen,), (confirmed,) = run(tasks, "--half", "choose"), run(tasks, "--half", "confirm")

    assert (chosen["half"], chosen["questions"], chosen["stored"]) == ("choose", 6, 12)
    ids = [{row["id"] for row in one["each"]} for one in (chosen, confirmed)]
    assert ids[0].isdisjoint(ids[1])
    assert "half to choose" in capsys.readouterr().out


def test_sessions_are_told_as_conversations(tasks: Path) -> None:
    (result,) = run(tasks, "--messages")

    assert result["told_as"] == "messages"
    assert result["questions"] == 12
    assert result["reached"]["any@5"] == 100.0


def test_a_task_without_sessions_is_not_told_as_messages(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = write_task(tmp_path, "facts", {"a": ["one"]}, [("one?", ["a#0"])])

    assert main(["--tasks", str(folder), "--messages", "--words-only"]) == 2

    assert "facts: left out" in capsys.readouterr().err
    assert not has_sessions(read_task(folder, "facts"))


def test_what_is_set_is_kept_and_asked_beside_what_is_not(tasks: Path) -> None:
    before, after = run(tasks, "--set", f"{QUERY}=5", "--beside")

    assert (before["settings"], after["settings"]) == ({}, {QUERY: 5})
    assert before["reached"]["R@5"] == 100.0
    assert after["reached"]["R@5"] < 100.0


def test_what_is_set_changes_the_answers(tasks: Path) -> None:
    task = read_task(tasks, "talk")
    short = Configuration(leg=BOTH, overrides=(Override(QUERY, 1),))

    plain, cut = answer(task, [Configuration(leg=BOTH), short], embedder=ScriptedEmbedder())

    assert [one.query for one in plain.answers] == [one.query for one in cut.answers]
    assert [one.ranked for one in plain.answers] != [one.ranked for one in cut.answers]
    assert inputs.MAX_QUERY > 1


def test_words_of_a_shared_store_answer_as_those_of_their_own(tasks: Path) -> None:
    task, words = read_task(tasks, "talk"), Configuration(leg=WORDS)

    (alone,) = answer(task, [words], embedder=None)
    _, shared = answer(task, [Configuration(leg=BOTH), words], embedder=ScriptedEmbedder())

    assert [one.ranked for one in alone.answers] == [one.ranked for one in shared.answers]


def test_a_constant_that_does_not_exist_ends_the_run(
    tasks: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--tasks", str(tasks), "--set", "recollect.retrieval.score_fusion.NO=1"]) == 2

    assert "no constant 'NO'" in capsys.readouterr().err


def test_a_model_folder_without_manifest_ends_the_run(
    tasks: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--tasks", str(tasks), "--model", str(tmp_path / "model")]) == 2

    assert "manifest.json does not exist" in capsys.readouterr().err
