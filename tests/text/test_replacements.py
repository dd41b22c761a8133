"""Sentences that say that one thing replaced another."""

from recollect.text.replacements import find_replacement, replaces
from tables import each_row

ORDERS = "We decided to use PostgreSQL for the orders service because we need row-level locking."


@each_row(
    ("sentence", "existing"),
    [
        ("We switched from PostgreSQL to SQLite for the orders service.", ORDERS),
        ("We've switched from PostgreSQL to SQLite for the orders service, it is enough.", ORDERS),
        ("We moved from PostgreSQL to SQLite in the orders service because it is small.", ORDERS),
        ("We replaced PostgreSQL with SQLite for the orders service.", ORDERS),
        ("We replaced PostgreSQL by C++ for the orders service.", ORDERS),
        ("We migrated over from SQLite to MySQL for orders.",
         "We switched from PostgreSQL to SQLite for orders."),
        ("We switched from GitHub Actions to Jenkins for releases.",
         "Releases are built by GitHub Actions."),
    ],
)  # fmt: skip
def test_a_sentence_that_names_the_old_thing_and_its_purpose_replaces_the_statement(
    sentence: str, existing: str
) -> None:
    assert replaces(sentence, existing)


@each_row(
    ("sentence", "existing"),
    [
        ("We switched from PostgreSQL to SQLite for the billing service.", ORDERS),  # elsewhere
        ("We switched from PostgreSQL to SQLite.", ORDERS),  # perhaps elsewhere
        ("We switched from MySQL to SQLite for the orders service.", ORDERS),  # something else
        ("We use SQLite for the orders service.", ORDERS),  # nothing was given up
        ("We switched from PostgreSQL to SQLite for orders.",
         "We use SQLite for orders, it replaced PostgreSQL."),  # known already
        ("We switched from PostgreSQL to SQLite for orders.",
         "We use Redis rather than PostgreSQL for orders."),
        ("We switched from PostgreSQL to SQLite for orders.",
         "We don't use PostgreSQL for orders."),
        ("We switched from PostgreSQL to SQLite for orders.",
         "We switched from PostgreSQL to MySQL for orders."),
    ],
)  # fmt: skip
def test_a_statement_that_may_still_be_true_is_not_replaced(sentence: str, existing: str) -> None:
    assert not replaces(sentence, existing)


@each_row("text", ["", "from to", "We moved from to.", "x" * 2_000, "from a " * 300])
def test_a_sentence_without_an_old_and_a_new_thing_is_not_a_replacement(text: str) -> None:
    assert find_replacement(text) is None
