"""Globs mean what agents write with them."""

import pytest

from recollect.errors import InvalidInput
from recollect.text.glob_matcher import glob_matcher
from tables import each_row


@each_row(
    ("glob", "path", "is_meant"),
    [
        (None, "a/b.py", True),
        ("*.py", "b.py", True),
        ("*.py", "a/deep/b.py", True),
        ("*.py", "b.pyc", False),
        ("*.PY", "b.py", False),
        ("test_?.py", "tests/test_a.py", True),
        ("[ab].py", "a.py", True),
        ("src/*.py", "src/a.py", True),
        ("src/*.py", "src/deep/a.py", False),
        ("src/*.py", "other/src/a.py", False),
        ("./src/*.py", "src/a.py", True),
        ("src/**/*.py", "src/a.py", True),
        ("src/**/*.py", "src/x/y/a.py", True),
        ("**/*.py", "a.py", True),
        ("**/tests/**", "x/tests/y/a.py", True),
        ("src/", "src/x/a.py", True),
        ("src/", "lib/src/a.py", False),
        ("**", "a/b", True),
        ("*.{js,ts}", "a/b.ts", True),
        ("*.{js,ts}", "a/b.py", False),
        ("{src,lib}/*.{a,b}", "lib/x.b", True),
        ("{a,{b,c}}.py", "c.py", True),
        ("*.{js", "x.{js", True),
    ],
)
def test_a_glob_matches_a_name_or_with_a_slash_a_path(
    glob: str | None, path: str, is_meant: bool
) -> None:
    assert glob_matcher(glob)(path) is is_meant


@each_row("glob", ["", "  ", "a" * 501, "{a,b}" * 40, "*a" * 20, "{" + "," * 100 + "}"])
def test_a_glob_that_is_empty_or_too_complex_is_rejected(glob: str) -> None:
    with pytest.raises(InvalidInput, match="include"):
        glob_matcher(glob)


def test_adjacent_stars_count_as_one_and_many_folders_match_quickly() -> None:
    assert glob_matcher("*" * 300 + ".py")("a" * 300 + ".py")
    assert not glob_matcher("**/a/" * 60 + "b")("a/" * 200 + "c")
