"""What a sentence says took the place of what."""

import pytest

from recollect.text.replacements import find_replacement, replaces

KNOWN = "We decided to use PostgreSQL for the orders service because we need row-level locking."


@pytest.mark.parametrize(
    ("said", "known"),
    [
        ("We switched from PostgreSQL to SQLite for the orders service.", KNOWN),
        ("We've switched from PostgreSQL to SQLite for the orders service, it is enough.", KNOWN),
        ("We moved from PostgreSQL to SQLite in the orders service because it is small.", KNOWN),
        ("We replaced PostgreSQL with SQLite for the orders service.", KNOWN),
        ("We replaced PostgreSQL by C++ for the orders service.", KNOWN),
        ("We migrated over from SQLite to MySQL for orders.",
         "We switched from PostgreSQL to SQLite for orders."),
        ("We switched from GitHub Actions to Jenkins for releases.",
         "Releases are built by GitHub Actions."),
    ],
)  # fmt: skip
def test_who_names_what_was_given_up_and_for_what_speaks_against_it(said: str, known: str) -> None:
    assert replaces(said, known)


@pytest.mark.parametrize(
    ("said", "known"),
    [
        ("We switched from PostgreSQL to SQLite for the billing service.", KNOWN),  # elsewhere
        ("We switched from PostgreSQL to SQLite.", KNOWN),  # perhaps elsewhere
        ("We switched from MySQL to SQLite for the orders service.", KNOWN),  # something else
        ("We use SQLite for the orders service.", KNOWN),  # nothing was given up
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
def test_whatever_may_be_true_beside_it_is_left_alone(said: str, known: str) -> None:
    assert not replaces(said, known)


@pytest.mark.parametrize("text", ["", "from to", "We moved from to.", "x" * 2_000, "from a " * 300])
def test_what_names_no_two_things_switches_nothing(text: str) -> None:
    assert find_replacement(text) is None
