"""Requests to remember something, and statements that are none."""

from recollect.text.explicit_request import asks_to_remember, is_explicit_request
from recollect.text.sentence_classifier import normalize_sentence
from tables import each_row


@each_row(
    "text",
    [
        "Remember that we deploy on Thursdays.",
        "please remember: every migration needs a down script",
        "And yes, please remember: every migration needs a down script",
        "Don't forget that the API is read-only.",
        "Keep in mind that the API is read-only.",
        "Note that the API is read-only.",
        "I got this wrong last year so write it down: takeaway is zero rated",
        "This is serious, please never forget it: no sesame in the building",
    ],
)
def test_asking_to_remember_is_a_request(text: str) -> None:
    assert asks_to_remember(normalize_sentence(text))
    assert is_explicit_request(normalize_sentence(text))


@each_row(
    "text",
    [
        "From now on run the tests with nextest.",
        "ok, from now on we squash commits",
        "Always answer in German.",
        "Please never push to main.",
        "Never use mocks in this repo.",
        "Whenever you write SQL, use upper case.",
        "In future, use tabs.",
        "I want you to always ask first.",
        "Use tabs from now on.",
        "Going forward, we review in pairs.",
        "By default use UTC.",
    ],
)
def test_a_standing_order_is_a_request(text: str) -> None:
    assert is_explicit_request(normalize_sentence(text))
    assert not asks_to_remember(normalize_sentence(text))


@each_row(
    "text",
    [
        "We use Postgres.",
        "Let's go with Kafka because we need the history.",
        "I prefer tabs.",
        "We always deploy on Fridays.",
        "Do you remember the port?",
        "I don't remember the port.",
        "Remember when we used Perl?",
        "Never mind.",
        "It never worked.",
        "The staging server listens on port 8080 now.",
    ],
)
def test_a_statement_is_not_a_request(text: str) -> None:
    assert not is_explicit_request(normalize_sentence(text))
