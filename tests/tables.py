"""
Tables of cases as one test: a row that fails is a subtest of its own, which names the row.

    @each_row(("text", "expected"), [("a b", 2), ("", 0)])
    def test_words_are_counted(text: str, expected: int) -> None:
        assert count(text) == expected

It is written as `pytest.mark.parametrize` is, and a thousand rows cost little more than one test:
a row that passes is not reported.
Rows share the fixtures of the test, so it is for tests whose fixtures no row changes.
"""

import inspect
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import pytest
from _pytest.mark.structures import ParameterSet

OUTCOMES = (pytest.fail.Exception, pytest.skip.Exception, pytest.xfail.Exception)


def each_row(
    names: str | Sequence[str],
    rows: Iterable[Any],
    *,
    ids: Callable[[Any], object] | Iterable[object] | None = None,
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Return a decorator that runs a test once for each of *rows*, as subtests."""
    arguments = [name.strip() for name in names.split(",")] if isinstance(names, str) else [*names]
    table = [ParameterSet.extract_from(row, force_tuple=len(arguments) == 1) for row in rows]
    assert table, "a table without rows tests nothing"
    assert not any(row.marks for row in table), "a row with marks needs pytest.mark.parametrize"
    labels = [] if ids is None or callable(ids) else [str(label) for label in ids]

    def label(number: int, row: ParameterSet) -> str:
        if row.id is not None or labels:
            return str(row.id) if row.id is not None else labels[number]
        values = [ids(value) if callable(ids) else value for value in row.values]
        text = "-".join(str(value) for value in values)[:200]
        return text.encode("ascii", "backslashreplace").decode()  # workers send nothing else

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        fixtures = [
            parameter
            for name, parameter in inspect.signature(test).parameters.items()
            if name not in arguments
        ]
        wants_subtests = any(parameter.name == "subtests" for parameter in fixtures)

        def run(subtests: pytest.Subtests, **given: Any) -> None:
            if wants_subtests:
                given["subtests"] = subtests
            for number, row in enumerate(table):
                try:
                    test(**dict(zip(arguments, row.values, strict=True)), **given)
                except (Exception, *OUTCOMES) as outcome:
                    with subtests.test(label(number, row)):
                        raise outcome

        run.__name__, run.__doc__, run.__module__ = test.__name__, test.__doc__, test.__module__
        run.__dict__.update(vars(test))  # its marks
        if not wants_subtests:
            own = inspect.Parameter("subtests", inspect.Parameter.KEYWORD_ONLY)
            fixtures = [own, *fixtures]
        run.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
            [one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in fixtures]
        )
        return run

    return decorate
