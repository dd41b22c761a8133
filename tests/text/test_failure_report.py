"""Which sentences report that a program failed."""

from recollect.text.failure_report import reports_failure
from tables import each_row


@each_row(
    ("text", "expected"),
    [
        ("I get a TypeError: x is undefined", True),
        ("the tests fail behind the VPN", True),
        ("docker says permission denied", True),
        ("it throws some kind of error on save", True),
        ("connect ECONNREFUSED again", True),
        ("I prefer errors as values.", False),
        ("I failed my driving test last year.", False),
        ("My car broke down.", False),
        ("EUROPE is large", False),
    ],
)
def test_a_failure_is_recognised_by_its_words(text: str, expected: bool) -> None:
    assert reports_failure(text) is expected
