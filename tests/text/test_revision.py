"""A sentence that only gives another value for what was said just before is recognised as that."""

from recollect.text.revision import may_give_a_value, revises
from tables import each_row


@each_row(
    ("earlier", "text"),
    [
        ("The parade starts at 14:00.", "hmm no, make that 13:30"),
        ("Rehearsal is on Monday.", "make it Tuesday instead"),
        ("Boxes hold 12 jars.", "too many, cut it to 8"),
        ("The fence will be brown.", "no, black"),
        ("We go with linen for the curtains.", "scrap that, cotton"),
        ("Wir essen um 19 Uhr.", "nein, lieber 18:30"),
        ("La cena es a las 21:00.", "mejor a las 20:30"),
        ("集合は9時です。", "いや、10時にして"),
    ],
)
def test_another_value_in_a_sentence_that_cannot_stand_alone_is_a_revision(
    earlier: str, text: str
) -> None:
    assert revises(text, earlier)


@each_row(
    ("earlier", "text"),
    [
        ("I live in Leeds.", "no, make it shorter"),  # the answer, not Leeds
        ("My sister is called Ann.", "make it bold"),
        ("The report is due on Friday.", "no, that's wrong, run it again"),
        ("I have two cats.", "can you add 3 more examples?"),
        ("The parade starts at 14:00.", "no, the dinner is at 18:00"),  # something else
        ("The staging port is 8080.", "no, the staging port is 9090"),  # it stands alone
        ("Rehearsal is on Monday.", "thanks, that is all for today"),
    ],
)
def test_a_request_and_a_statement_of_its_own_are_no_revision(earlier: str, text: str) -> None:
    assert not revises(text, earlier)


def test_an_objection_after_a_long_reply_is_about_the_reply() -> None:
    assert revises("no, black", "The fence will be brown.", reply_chars=20)
    assert not revises("no, black", "The fence will be brown.", reply_chars=900)


@each_row(
    ("text", "expected"),
    [
        ("bump the client to 5 retries", True),
        ("give the export to Lucía", True),
        ("put the stage in the yard instead", True),
        ("run the tests", False),
    ],
)
def test_only_a_statement_with_a_value_or_a_word_of_change_is_compared(
    text: str, expected: bool
) -> None:
    assert may_give_a_value(text) is expected
