"""Public files become tasks: as their authors write them, with the dirt that is known."""

import json
from pathlib import Path

import pytest

from bench_tasks import LOCOMO, lme_entry, written
from benchmarks.public.__main__ import main
from benchmarks.public.json_entries import UnexpectedFile, read_entries
from benchmarks.public.locomo import evidence_of
from benchmarks.public.locomo import moment as locomo_moment
from benchmarks.public.longmemeval import moment as lme_moment
from benchmarks.tasks import Task, read_task, task_names
from tables import each_row


def locomo(tmp_path: Path, name: str) -> Task:
    file = written(tmp_path / "locomo10.json", LOCOMO)
    assert main(["locomo", str(file), "--out", str(tmp_path / "tasks")]) == 0
    return read_task(tmp_path / "tasks", name)


def longmemeval(tmp_path: Path, name: str, *entries: object) -> Task:
    file = written(tmp_path / "longmemeval_s.json", entries)
    assert main(["longmemeval", str(file), "--out", str(tmp_path / "tasks")]) == 0
    return read_task(tmp_path / "tasks", name)


def test_a_turn_is_what_its_speaker_said_with_the_caption_of_the_picture(tmp_path: Path) -> None:
    task = locomo(tmp_path, "locomo-turn")

    assert [(item.id, item.text) for item in task.items] == [
        ("conv-1/D2:1", "Ben: Look at this! [shared image: a photo of a bowl]"),
        ("conv-1/D2:2", "Ann: I bought a kiln."),
        ("conv-1/D10:1", "Ann: The kiln broke. "),
    ]
    first = task.items[0]
    assert (first.scope, first.session, first.speaker) == ("conv-1", "conv-1/S2", "Ben")
    assert first.at is not None
    assert first.at.isoformat() == "2023-05-31T00:30:00"


def test_a_session_is_its_turns_and_those_without_any_are_left_out(tmp_path: Path) -> None:
    task = locomo(tmp_path, "locomo-session")

    assert [item.id for item in task.items] == ["conv-1/S2", "conv-1/S10"]
    assert task.items[0].text == (
        "Ben: Look at this! [shared image: a photo of a bowl]\nAnn: I bought a kiln."
    )


def test_evidence_is_understood_however_it_is_written(tmp_path: Path) -> None:
    task = locomo(tmp_path, "locomo-turn")

    assert {query.id: sorted(query.gold) for query in task.queries} == {
        "conv-1/q0": ["conv-1/D2:2"],
        "conv-1/q2": ["conv-1/D10:1", "conv-1/D2:2"],
        "conv-1/q3": ["conv-1/D10:1", "conv-1/D2:1", "conv-1/D2:2"],
        "conv-1/q4": ["conv-1/D10:1"],
        "conv-1/q6": ["conv-1/D2:1"],
        "conv-1/q7": ["conv-1/D2:1"],
    }
    assert [query.category for query in task.queries] == [
        "single-hop",
        "multi-hop",
        "multi-hop",
        "temporal",
        "open-domain",
        "adversarial",
    ]


def test_sessions_of_several_pieces_of_evidence_are_gold_once(tmp_path: Path) -> None:
    task = locomo(tmp_path, "locomo-session")

    assert sorted(task.queries[2].gold) == ["conv-1/S10", "conv-1/S2"]


@each_row(
    ("written_as", "turns"),
    [
        (["D8:6; D9:17"], [(8, 6), (9, 17)]),
        (["D9:1 D4:4 D4:6"], [(9, 1), (4, 4), (4, 6)]),
        (["D:11:26"], [(11, 26)]),
        (["D30:05"], [(30, 5)]),
        (["D1:3", "D1:3"], [(1, 3)]),
        (["D"], []),
        (None, []),
        ("D1:2", [(1, 2)]),
    ],
)
def test_what_evidence_names(written_as: object, turns: list[tuple[int, int]]) -> None:
    assert evidence_of(written_as) == turns


def test_times_are_read_and_what_is_no_time_is_none() -> None:
    assert locomo_moment("1:56 pm on 8 May, 2023") == "2023-05-08T13:56:00"
    assert locomo_moment("some day") == ""
    assert lme_moment("2023/05/30 (Tue) 23:40") == "2023-05-30T23:40"
    assert lme_moment("") == ""


def test_every_question_has_a_history_of_its_own_in_the_order_of_time(tmp_path: Path) -> None:
    second = lme_entry("q2", haystack_dates=["2024/01/01 (Mon) 00:00"] * 3)

    task = longmemeval(tmp_path, "lme-session", lme_entry(), second)

    assert [item.id for item in task.items] == [
        "q1/answer_a",
        "q1/answer_b",
        "q1/sharegpt_x_0",
        "q2/answer_b",
        "q2/answer_a",
        "q2/sharegpt_x_0",
    ]
    assert {item.scope for item in task.items[:3]} == {"q1"}
    assert task.items[0].text == "assistant: Hello.\nuser: My first kiln is red."
    query = task.queries[0]
    assert (query.scope, query.asked_at) == ("q1", "2023-05-30T23:40")
    assert query.gold == {"q1/answer_a", "q1/answer_b"}
    assert query.category == "multi-session"


def test_gold_turns_are_those_marked_in_the_sessions_that_answer(tmp_path: Path) -> None:
    task = longmemeval(tmp_path, "lme-turn", lme_entry())

    assert task.queries[0].gold == {"q1/answer_a#2", "q1/answer_b#0"}
    assert [item.id for item in task.items] == [
        "q1/answer_a#1",  # the empty turn before it is left out, and keeps its number
        "q1/answer_a#2",
        "q1/answer_b#0",
        "q1/answer_b#1",
        "q1/sharegpt_x_0#0",
    ]
    assert task.items[0].speaker == "assistant"


def test_questions_that_must_not_be_answered_are_left_out(tmp_path: Path) -> None:
    task = longmemeval(tmp_path, "lme-turn", lme_entry("q1_abs"), lme_entry("q2"))

    assert [query.id for query in task.queries] == ["q2"]
    assert {item.scope for item in task.items} == {"q2"}


def test_a_session_that_lies_twice_in_a_history_is_two_items_and_gold_once(tmp_path: Path) -> None:
    entry = lme_entry(haystack_session_ids=["answer_a", "answer_a", "x"])

    task = longmemeval(tmp_path, "lme-session", entry)

    assert len({item.id for item in task.items}) == 3
    assert task.queries[0].gold == {"q1/answer_a"}


@pytest.mark.parametrize("piece", [1, 2, 7, 100, 1 << 20])
def test_entries_are_the_same_however_little_is_read_at_once(tmp_path: Path, piece: int) -> None:
    whole = [{"a": "] , ["}, {"b": [1, {"c": "ü\n"}]}, {}]
    file = written(tmp_path / "list.json", whole)

    assert list(read_entries(file, piece=piece)) == whole


@pytest.mark.parametrize("text", ["", "{}", "[1]", '[{"a": 1}', '[{"a": 1} {"b": 2}]', '[{"a"'])
def test_what_is_no_list_of_objects_is_refused(tmp_path: Path, text: str) -> None:
    file = tmp_path / "list.json"
    file.write_text(text, encoding="utf-8")

    with pytest.raises(UnexpectedFile, match=r"list\.json"):
        list(read_entries(file))


def test_an_empty_list_has_no_entries(tmp_path: Path) -> None:
    assert list(read_entries(written(tmp_path / "list.json", []))) == []


@pytest.mark.parametrize("kind", ["locomo", "longmemeval"])
def test_another_file_is_refused_and_no_half_task_is_left(
    tmp_path: Path, kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    good = {"locomo": LOCOMO[0], "longmemeval": lme_entry()}[kind]
    file = written(tmp_path / "other.json", [good, {"something": "else"}])

    assert main([kind, str(file), "--out", str(tmp_path / "tasks")]) == 2

    assert "other.json" in capsys.readouterr().err
    assert list((tmp_path / "tasks").glob("*/*")) == []


def test_the_same_file_gives_the_same_bytes(tmp_path: Path) -> None:
    file = written(tmp_path / "locomo10.json", LOCOMO)
    for folder in ("a", "b"):
        main(["locomo", str(file), "--out", str(tmp_path / folder)])

    for name in task_names(tmp_path / "a"):
        for part in ("items.jsonl.gz", "queries.jsonl.gz"):
            first, second = (tmp_path / folder / name / part for folder in ("a", "b"))
            assert first.read_bytes() == second.read_bytes()


def test_json_with_a_mark_at_its_beginning_is_read(tmp_path: Path) -> None:
    file = tmp_path / "list.json"
    file.write_text(json.dumps([{"a": 1}]), encoding="utf-8-sig")

    assert list(read_entries(file)) == [{"a": 1}]
