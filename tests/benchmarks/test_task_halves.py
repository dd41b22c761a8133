"""A task is split in two by names alone."""

from pathlib import Path

from bench_tasks import write_task
from benchmarks.task_halves import CHOOSE, CONFIRM, questions_of_half, split_task
from benchmarks.tasks import Task, read_task


def task(folder: Path, *, scopes: int, questions: int) -> Task:
    pairs = [(f"question {number}", ["a#0"]) for number in range(questions)]
    return read_task(write_task(folder, "task", {"a": ["text"]}, pairs, scopes=scopes), "task")


def test_of_four_scopes_whole_ones_go_to_a_half(tmp_path: Path) -> None:
    four = task(tmp_path, scopes=4, questions=3)

    halves = split_task(four)

    assert halves.by == "scope"
    chosen, confirmed = (
        questions_of_half(four, CHOOSE, halves=halves),
        questions_of_half(four, CONFIRM, halves=halves),
    )
    assert {query.scope for query in chosen.queries}.isdisjoint(
        {query.scope for query in confirmed.queries}
    )
    assert len(chosen.queries) == len(confirmed.queries) == 6


def test_of_fewer_scopes_the_questions_are_split(tmp_path: Path) -> None:
    three = task(tmp_path, scopes=3, questions=3)

    halves = split_task(three)

    assert halves.by == "question"
    assert len(questions_of_half(three, CHOOSE, halves=halves).queries) == 5
    assert len(questions_of_half(three, CONFIRM, halves=halves).queries) == 4


def test_the_halves_do_not_depend_on_the_order_of_questions(tmp_path: Path) -> None:
    some = task(tmp_path, scopes=5, questions=2)
    turned = Task(name=some.name, items=some.items, queries=some.queries[::-1])

    assert split_task(some).half_of == split_task(turned).half_of


def test_halves_are_the_same_on_every_machine(tmp_path: Path) -> None:
    halves = split_task(task(tmp_path, scopes=4, questions=1))

    assert halves.half_of == {
        "s0/q0": "confirm",
        "s1/q0": "choose",
        "s2/q0": "confirm",
        "s3/q0": "choose",
    }


def test_all_is_the_task_itself(tmp_path: Path) -> None:
    some = task(tmp_path, scopes=1, questions=2)

    assert questions_of_half(some, "all", halves=split_task(some)) is some
