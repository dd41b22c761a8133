"""Two runs are compared question by question, and noise is called noise."""

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.compare import main
from benchmarks.metrics import precision, scores
from benchmarks.paired_bootstrap import difference


def test_a_difference_that_every_question_shares_is_clear() -> None:
    change = difference([0.0] * 20, [0.5] * 20, ["s"] * 20)

    assert change.clear
    assert (change.mean, change.low, change.high) == (0.5, 0.5, 0.5)
    assert (change.wins, change.ties, change.losses) == (20, 0, 0)


def test_as_many_wins_as_losses_are_noise() -> None:
    change = difference([0.0, 1.0] * 20, [1.0, 0.0] * 20, ["s"] * 40)

    assert not change.clear
    assert change.low < 0 < change.high


def test_nothing_changed_is_no_difference() -> None:
    change = difference([1.0, 0.0], [1.0, 0.0], ["s", "s"])

    assert not change.clear
    assert (change.low, change.high, change.ties) == (0.0, 0.0, 2)


def test_a_gain_in_one_scope_of_five_is_noise_though_its_questions_are_many() -> None:
    scopes = [name for name in "abcde" for _ in range(100)]
    after = [1.0 if name == "a" else 0.0 for name in scopes]

    by_scope = difference([0.0] * 500, after, scopes)
    by_question = difference([0.0] * 500, after, ["one"] * 500)

    assert by_question.clear
    assert not by_scope.clear
    assert by_scope.high - by_scope.low > by_question.high - by_question.low


def test_it_comes_out_the_same_each_time() -> None:
    before, after = [0.0, 1.0, 0.0, 0.0], [1.0, 1.0, 0.0, 1.0]

    assert difference(before, after, "abcd") == difference(before, after, "abcd")


def test_the_interval_of_a_known_case() -> None:
    """Of 100 questions 30 gain a point: the mean is 30 ± 1.96 · √(0.3 · 0.7 / 100) points."""
    change = difference([0.0] * 100, [1.0] * 30 + [0.0] * 70, ["s"] * 100)

    assert change.low == pytest.approx(0.30 - 0.09, abs=0.01)
    assert change.high == pytest.approx(0.30 + 0.09, abs=0.01)


def test_precision_is_of_what_was_returned() -> None:
    gold = frozenset("ab")

    assert precision("axbyz", gold, 5) == 0.4
    assert precision("a", gold, 5) == 1.0
    assert precision("", gold, 5) == 0.0
    assert scores("ax", gold)["P@10"] == 0.5


def run(file: Path, *results: dict[str, Any]) -> Path:
    file.write_text(json.dumps({"results": results}), encoding="utf-8")
    return file


def result(
    recall: float, *, indexes: str = "both", gold: str = "g", count: int = 30
) -> dict[str, Any]:
    each = [
        {
            "id": f"q{number}",
            "scope": "s",
            "category": ("even", "odd")[number % 2],
            "gold": [gold],
            "scores": {"R@5": recall, "stale above": recall},
            "tokens_5": 100 * recall,
        }
        for number in range(count)
    ]
    return {"task": "t", "indexes": indexes, "search_p50_ms": 1.0, "each": each}


def lines(output: str, metric: str) -> list[str]:
    return [line for line in output.splitlines() if f"| {metric} |" in line]


def test_each_metric_gets_its_verdict(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    a, b = run(tmp_path / "a.json", result(0.25)), run(tmp_path / "b.json", result(0.5))

    assert main([str(a), str(b)]) == 0

    output = capsys.readouterr().out
    whole, *by_category = lines(output, "R@5")
    assert whole == "| R@5 | 25.0 | 50.0 | +25.0 | +25.0 … +25.0 | 30/0/0 | **better** |"
    assert [line.split(" | ")[:2] for line in by_category] == [["| even", "15"], ["| odd", "15"]]
    assert lines(output, "stale above")[0].endswith("| 0/0/30 | **worse** |")
    assert lines(output, "tokens_5")[0].endswith("| 0/0/30 | more |")


def test_the_legs_of_two_runs_are_paired(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    a = run(tmp_path / "a.json", result(0.1), result(0.2, indexes="words"))
    b = run(tmp_path / "b.json", result(0.3, indexes="words"))

    main([str(a), str(b)])

    assert "| 20.0 | 30.0 |" in lines(capsys.readouterr().out, "R@5")[0]


def test_one_run_is_compared_within_itself(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    a = run(tmp_path / "a.json", result(0.1), result(0.2), result(0.4, indexes="words"))

    main([str(a)])

    differences = [line.split(" | ")[3] for line in lines(capsys.readouterr().out, "R@5")[::3]]
    assert differences == ["+10.0", "+30.0"]


def test_questions_of_one_run_only_are_left_out_and_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    a, b = run(tmp_path / "a.json", result(0.1)), run(tmp_path / "b.json", result(0.1, count=10))

    main([str(a), str(b)])

    assert "10 questions in 1 scope(s); 20 that only one run has" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("other", "complaint"),
    [
        (
            {"results": [{"task": "u", "indexes": "both", "each": []}]},
            "no task was measured twice",
        ),
        ({"results": [result(0.1, gold="h")]}, "its gold items differ"),
        ({"results": [result(0.1, count=0)]}, "no question in common"),
        ([], "is not a saved run"),
    ],
)
def test_what_cannot_be_compared_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], other: Any, complaint: str
) -> None:
    a, b = run(tmp_path / "a.json", result(0.1)), tmp_path / "b.json"
    b.write_text(json.dumps(other), encoding="utf-8")

    assert main([str(a), str(b)]) == 2

    assert complaint in capsys.readouterr().err
