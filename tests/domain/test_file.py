"""Which open files make room for others."""

from datetime import UTC, datetime, timedelta

import pytest

from recollect.domain.file import OpenFile, files_to_close
from recollect.errors import InvalidInput

START = datetime(2026, 5, 8, 12, 0, tzinfo=UTC)


def opened(path: str, *, minute: int) -> OpenFile:
    return OpenFile(
        path=path,
        root="/work",
        opened_at=START,
        last_accessed_at=START + timedelta(minutes=minute),
    )


FIVE = [opened(name, minute=minute) for minute, name in enumerate("edcba")]


def test_nothing_is_closed_while_there_is_room() -> None:
    assert files_to_close(FIVE, ["f"], max_open=6) == ()
    assert files_to_close([], ["f"], max_open=1) == ()
    assert files_to_close(FIVE, [], max_open=5) == ()


def test_the_least_recently_accessed_file_is_closed_first() -> None:
    assert files_to_close(FIVE, ["f", "g"], max_open=5) == ("e", "d")


def test_of_files_accessed_together_the_first_by_path_is_closed() -> None:
    together = [opened("b", minute=1), opened("a", minute=1), opened("c", minute=0)]

    assert files_to_close(together, ["x", "y"], max_open=3) == ("c", "a")


def test_a_file_that_is_opened_again_neither_counts_twice_nor_is_closed() -> None:
    assert files_to_close(FIVE, ["e"], max_open=5) == ()
    assert files_to_close(FIVE, ["e", "f"], max_open=5) == ("d",)
    assert files_to_close(FIVE, ["f", "f"], max_open=6) == ()


def test_a_smaller_limit_than_what_is_open_closes_down_to_it() -> None:
    assert files_to_close(FIVE, ["f"], max_open=2) == ("e", "d", "c", "b")
    assert files_to_close(FIVE, [], max_open=0) == ("e", "d", "c", "b", "a")


def test_more_files_at_once_than_can_be_open_are_refused() -> None:
    with pytest.raises(InvalidInput, match="3 files were to be opened at once; at most 2"):
        files_to_close(FIVE, ["x", "y", "z"], max_open=2)
