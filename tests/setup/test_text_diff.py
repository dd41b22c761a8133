"""Two texts and what lies between them."""

from hypothesis import given
from hypothesis import strategies as st

from recollect.setup.text_diff import apply_edits, edits_between, unified_diff
from settings_files import apply_diff

TEXTS = st.lists(st.sampled_from(["a\n", "b\r\n", "c", "\n", "  secret\n"])).map("".join)


@given(TEXTS, TEXTS)
def test_the_edits_make_the_one_of_the_other(old: str, new: str) -> None:
    assert apply_edits(old, edits_between(old, new)) == new


def test_the_edits_hold_nothing_of_what_stayed() -> None:
    old = '{\n  "key": "secret"\n}\n'
    new = '{\n  "key": "secret",\n  "a": 1\n}\n'

    assert "secret" not in str(edits_between(new, old))


@given(TEXTS, TEXTS, st.integers(0, 6), st.integers(0, 6))
def test_the_diff_makes_the_one_of_the_other_wherever_the_change_is(
    old: str, new: str, above: int, below: int
) -> None:
    head, tail = "h\n" * above, "\nt" * below
    one, other = f"{head}{old}{tail}", f"{head}{new}{tail}"

    assert apply_diff(one, unified_diff("f", one, other)) == other


def test_the_diff_shows_created_and_removed_files() -> None:
    assert unified_diff("f", None, "a\n").startswith("--- /dev/null\n+++ f\n")
    assert unified_diff("f", "a\n", None).startswith("--- f\n+++ /dev/null\n")
    assert unified_diff("f", "a", "b").count("\\ No newline at end of file\n") == 2
