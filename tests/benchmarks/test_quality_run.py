"""A run asks every question under every configuration, and keeps what it found and how."""

import json
from pathlib import Path
from typing import Any

import pytest

from bench_tasks import write_task
from benchmarks.constant_overrides import Override
from benchmarks.message_adapter import has_sessions
from benchmarks.quality import main
from benchmarks.task_answers import BOTH, WORDS, Configuration, answer_task
from benchmarks.tasks import read_task
from recollect.domain import limits
from recollect.models.scripted_models import ScriptedEmbedder

QUERY = "recollect.domain.limits.MAX_QUERY"  # characters of a question that are looked at

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
    arguments = ["--tasks", str(tasks), "--words-only", "--out", str(out), *options]
    assert main(arguments) == 0
    results: list[dict[str, Any]] = json.loads(out.read_text(encoding="utf-8"))["results"]
    return results


def test_a_run_keeps_scores_and_how_it_was_asked(tasks: Path) -> None:
    (result,) = run(tasks)

    assert result["questions"] == 12
    assert result["scores"]["R@5"] == 100.0
    assert (result["model"], result["stored_as"], result["half"]) == ("none", "memories", "all")
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

    output = capsys.readouterr().out
    assert "| talk | Words only | scope | choose | 6 | 100.0 |" in output
    assert "| talk | Words only | scope | confirm | 6 | 100.0 |" in output


def test_a_half_is_asked_alone(tasks: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (chosen,), (confirmed,) = run(tasks, "--half", "choose"), run(tasks, "--half", "confirm")

    assert (chosen["half"], chosen["questions"], chosen["stored"]) == ("choose", 6, 12)
    ids = [{row["id"] for row in result["each"]} for result in (chosen, confirmed)]
    assert ids[0].isdisjoint(ids[1])
    assert "half to choose" in capsys.readouterr().out


def test_sessions_are_stored_as_conversations(tasks: Path) -> None:
    (result,) = run(tasks, "--messages")

    assert result["stored_as"] == "messages"
    assert result["questions"] == 12
    assert result["scores"]["any@5"] == 100.0


def test_a_task_without_sessions_is_not_stored_as_messages(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = write_task(tmp_path, "facts", {"a": ["one"]}, [("one?", ["a#0"])])

    assert main(["--tasks", str(folder), "--messages", "--words-only"]) == 2

    assert "facts: left out" in capsys.readouterr().err
    assert not has_sessions(read_task(folder, "facts"))


def test_what_is_set_is_kept_and_asked_beside_what_is_not(tasks: Path) -> None:
    before, after = run(tasks, "--set", f"{QUERY}=5", "--beside")

    assert (before["settings"], after["settings"]) == ({}, {QUERY: 5})
    assert before["scores"]["R@5"] == 100.0
    assert after["scores"]["R@5"] < 100.0


def test_what_is_set_changes_the_answers(tasks: Path) -> None:
    task = read_task(tasks, "talk")
    short = Configuration(indexes=BOTH, overrides=(Override(QUERY, 1),))

    plain, cut = answer_task(
        task, [Configuration(indexes=BOTH), short], embedder=ScriptedEmbedder()
    )

    assert [answer.query for answer in plain.answers] == [answer.query for answer in cut.answers]
    assert [answer.ranked for answer in plain.answers] != [answer.ranked for answer in cut.answers]
    assert limits.MAX_QUERY > 1


def test_words_of_a_shared_store_answer_as_those_of_their_own(tasks: Path) -> None:
    task, words = read_task(tasks, "talk"), Configuration(indexes=WORDS)

    (alone,) = answer_task(task, [words], embedder=None)
    _, shared = answer_task(task, [Configuration(indexes=BOTH), words], embedder=ScriptedEmbedder())

    assert [answer.ranked for answer in alone.answers] == [
        answer.ranked for answer in shared.answers
    ]


def test_a_constant_that_does_not_exist_ends_the_run(
    tasks: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--tasks", str(tasks), "--set", "recollect.retrieval.ranking_constants.NO=1"]) == 2

    assert "no constant 'NO'" in capsys.readouterr().err


def test_a_model_folder_without_manifest_ends_the_run(
    tasks: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--tasks", str(tasks), "--model", str(tmp_path / "model")]) == 2

    assert "manifest.json does not exist" in capsys.readouterr().err
