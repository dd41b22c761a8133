"""Statements: whose what is which, and the parts of a sentence that need no understanding."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.text.statement_parser import (
    USER_SUBJECT,
    Statement,
    content_words,
    is_negated,
    names_in,
    parse_statement,
    sentence_frame,
    stem,
)
from tables import each_row

prose = st.one_of(
    st.text(max_size=120),
    st.lists(
        st.sampled_from(
            [
                *("I", "we", "my", "the", "port", "of", "is", "are", "not", "now", "Ana's", "Ana"),
                *("prefer", "over", "use", "for", "as", "live", "in", "at", "to", "80", ",", "."),
                *("don’t", "because", "İstanbul", "it's", "called"),
            ]
        ),
        max_size=14,
    ).map(" ".join),
)


def regression(*values: object, reason: str) -> object:
    """A row that failed once, and why."""
    assert reason
    return pytest.param(*values)


@each_row(
    ("text", "subject", "attribute", "value"),
    [
        # of the user
        ("I live in Porto.", USER_SUBJECT, "home", "porto"),
        ("We live in Porto.", USER_SUBJECT, "home", "porto"),
        ("I moved to Berlin.", USER_SUBJECT, "home", "berlin"),
        ("I'm based in Berlin", USER_SUBJECT, "home", "berlin"),
        ("I'm from Peru.", USER_SUBJECT, "origin", "peru"),
        ("I work at Acme.", USER_SUBJECT, "employer", "acme"),
        ("I joined Acme!", USER_SUBJECT, "employer", "acme"),
        ("I work as a nurse.", USER_SUBJECT, "occupation", "nurse"),
        ("My name is Ana.", USER_SUBJECT, "name", "ana"),
        ("Call me Ana.", USER_SUBJECT, "name", "ana"),
        ("I am 34 years old.", USER_SUBJECT, "age", "34"),
        ("I'm forty-two", USER_SUBJECT, "age", "forty-two"),
        ("I'm on macOS.", USER_SUBJECT, "system", "macos"),
        ("Please answer in German.", USER_SUBJECT, "language of answers", "german"),
        # of anything
        ("The port of staging is 8080.", "stag", "port", "8080"),
        ("Staging's port is 8080.", "stag", "port", "8080"),
        ("The timeout for uploads is 30 seconds.", "upload", "timeout", "30 seconds"),
        ("The staging server listens on port 8080.", "stag server", "listens on", "8080"),
        ("The capital of France is Paris.", "france", "capital", "paris"),
        ("Ana was born in Porto.", "ana", "born in", "porto"),
        ("Ana's favourite colour is red.", "ana", "favourite colour", "red"),
        ("The API returns JSON.", "api", "return", "json"),
        ("The ticket costs 40 euros.", "ticket", "cost", "40 euros"),
        ("The meeting starts at 10.", "meet", "starts at", "10"),
        ("Grafana is hosted on ops-2.", "grafana", "hosted on", "ops-2"),
        # of something that needs no owner
        ("The port is 8081.", "", "port", "8081"),
        ("The database is Postgres.", "", "database", "postgres"),
        ("The deadline is Friday.", "", "deadline", "friday"),
        ("The main branch is trunk.", "", "main branch", "trunk"),
        # of what is used
        ("We use Postgres for the billing service.", "we", "use for billing service", "postgres"),
        ("I use Emacs as my editor", "we", "use for editor", "emacs"),
        regression(
            "The port is now 8081.",
            "",
            "port",
            "8081",
            reason="the text is cut at 'now'",
        ),
        regression(
            "I now live in Berlin.",
            USER_SUBJECT,
            "home",
            "berlin",
            reason="the text is cut at 'now'",
        ),
        regression(
            "I'm in Berlin now.",
            USER_SUBJECT,
            "home",
            "berlin",
            reason="the text is cut at 'now'",
        ),
        regression(
            "We now use Redis for events.",
            "we",
            "use for events",
            "redis",
            reason="the text is cut at 'now'",
        ),
        regression(
            "The config is in /etc/app.toml.",
            "",
            "config",
            "/etc/app.toml",
            reason="_SUBJECT_IS_VALUE does not step over 'in' before an exact value",
        ),
    ],
)
def test_a_plain_statement_is_read(text: str, subject: str, attribute: str, value: str) -> None:
    assert parse_statement(text) == Statement(subject, attribute, value)


@each_row(
    "text",
    [
        "I prefer tabs over spaces.",
        "I prefer tabs to spaces!",
        "I really prefer tabs over spaces because they are small.",
        "I prefer tabs over spaces for Python.",
        regression("I prefer tabs rather than spaces.", reason="the rejected thing is cut off"),
        regression("I prefer tabs instead of spaces.", reason="the rejected thing is cut off"),
        regression("I prefer tabs and not spaces.", reason="the rejected thing is cut off"),
        regression("I now prefer tabs over spaces.", reason="the text is cut at 'now'"),
    ],
)  # fmt: skip
def test_a_preference_is_a_choice_between_two_things(text: str) -> None:
    assert parse_statement(text) == Statement(USER_SUBJECT, "prefers of spaces and tabs", "tabs")


def test_the_other_way_round_is_the_same_choice_with_another_value() -> None:
    first = parse_statement("I prefer tabs over spaces.")
    second = parse_statement("I prefer spaces over tabs.")

    assert first is not None
    assert second is not None
    assert first.attribute == second.attribute
    assert first.value != second.value


@each_row(
    "text",
    [
        "",
        " ",
        "I like tea.",
        "I have a dog.",
        "The tests are slow.",
        "One of us is wrong.",
        "Some of the tests are slow.",
        "The deadline is not Friday.",
        "My code is a mess.",
        "We meet at ten.",
        "Thanks!",
        "I'm ready.",
        regression("I'm thirsty.", reason="every word in -ty is an age"),
        regression(
            "We moved to Kubernetes.", reason="whatever we moved to is the home of the user"
        ),
        regression("I joined a call.", reason="whatever I joined is my employer"),
        regression("I write in Python.", reason="what I write in is the language of answers"),
    ],
)
def test_a_sentence_without_a_single_valued_attribute_is_not_parsed(text: str) -> None:
    assert parse_statement(text) is None


@each_row(
    ("first", "second"),
    [
        ("The port is 8081.", "No, the port is 8081!"),
        ("The port is 8081.", "Actually: the   port is 8081"),
        ("The port is 8081.", "That's wrong. The port is 8081."),
        ("The port is 8081.", "The port is `8081`."),
        ("The port is 8081.", "The port is 8081, not 8080."),
        ("The port is 8081.", "The port is 8081 because 8080 was taken."),
        ("The port is 8081.", "The port is currently 8081."),
        ("The port of staging is 8081.", "staging's port is 8081"),
        ("The port of staging is 8081.", "The port for the staging is 8081."),
        ("My name is Ana.", "I’m called Ana."),
        ("I live in Porto.", "I moved back to Porto."),
        ("We use Redis for events.", "I use Redis for the events."),
    ],
)
def test_two_wordings_parse_to_the_same_statement(first: str, second: str) -> None:
    assert parse_statement(first) is not None
    assert parse_statement(first) == parse_statement(second)


# Names, words and frames.


@each_row(
    ("text", "names"),
    [
        ("Bob Smith met Ann Lee.", {"Bob Smith", "Ann Lee"}),
        ("Ana works at Acme.", {"Acme"}),  # the first word of a sentence is written large anyhow
        ("we use Kafka and Redis", {"Kafka", "Redis"}),
        ("It was Ana's idea.", {"Ana"}),
        ("We met at the Bank of England.", {"Bank of England"}),
        ("I prefer O'Reilly books", {"O'Reilly"}),
        ("yesterday Ümit Özil came", {"Ümit Özil"}),
        ("I think I am here", set()),
        ("nothing here", set()),
        ("", set()),
    ],
)
def test_names_are_capitalised_words(text: str, names: set[str]) -> None:
    assert names_in(text) == names


@each_row(
    ("text", "words"),
    [
        ("We use the Kafka cluster", {"use", "kafka", "cluster"}),
        ("I am walking to the big houses", {"walk", "big", "hous"}),
        ("C++, C# and app.toml", {"c++", "c#", "app.toml"}),
        ("It is not there.", {"there"}),
        ("", set()),
    ],
)
def test_content_words_carry_the_meaning(text: str, words: set[str]) -> None:
    assert content_words(text) == words


def test_a_frame_is_the_sentence_with_a_mark_for_each_name() -> None:
    text = "yesterday Bob Smith met Ann."

    assert sentence_frame(text, names_in(text)) == ("yesterday", "\0", "met", "\0")


@each_row(
    ("word", "root"),
    [("walking", "walk"), ("walked", "walk"), ("servers", "server"), ("Ana's".lower(), "ana"),
     ("ring", "ring"), ("red", "red"), ("is", "is"), ("", "")],
)  # fmt: skip
def test_a_stem_is_the_word_without_its_commonest_endings(word: str, root: str) -> None:
    assert stem(word) == root


@each_row(
    ("text", "denied"),
    [
        ("We use Kafka.", False),
        ("We don't use Kafka.", True),
        ("We never use Kafka.", True),
        ("We no longer use Kafka.", True),
        ("We stopped using Kafka.", True),
        ("We work without Kafka.", True),
        ("I hate tea.", True),
        ("Nobody drinks tea.", True),
        ("A knot in the notebook.", False),
        regression("We don’t use Kafka.", True, reason="a curly apostrophe hides the denial"),
    ],
)
def test_a_negation_is_recognised(text: str, denied: bool) -> None:
    assert is_negated(text) is denied


def test_a_curly_apostrophe_is_an_apostrophe() -> None:
    assert content_words("We don’t use Ana’s key") == content_words("We don't use Ana's key")


# Any text.


@given(prose)
def test_any_text_can_be_parsed(text: str) -> None:
    statement = parse_statement(text)
    names = names_in(text)

    assert statement is None or statement.attribute
    assert all(name in text for name in names)
    assert len(sentence_frame(text, names)) <= len(text)
    assert all(content_words(text))
    assert is_negated(text) in (True, False)


@given(prose)
def test_a_value_occurs_in_the_text(text: str) -> None:
    statement = parse_statement(text)

    if statement is not None:
        assert statement.value in " ".join(text.lower().replace("’", "'").split())


@given(prose)
def test_surrounding_space_does_not_change_the_statement(text: str) -> None:
    assert parse_statement(f"  {text} \n") == parse_statement(text)


HOSTILE = [
    "i prefer ", "because because ", "no no no ", "is is is ", "the port of the ", "a ", "Aa ",
    "A. ", "not ", "now ", "my x is ", "we use a for b ", "of ", "was born in ", "`", "9",
    "i live in ",
]  # fmt: skip


def parsing_time(text: str) -> float:
    began = time.process_time()
    parse_statement(text)
    sentence_frame(text, names_in(text))
    content_words(text)
    is_negated(text)
    return time.process_time() - began


@pytest.mark.fuzz
@each_row("piece", HOSTILE)
@each_row("behind", ["", "x"])
def test_a_long_text_is_parsed_quickly(piece: str, behind: str) -> None:
    assert parsing_time((piece * 50_000)[:50_000] + behind) < 10


@each_row("mark", [".", "-", "#", "'"])
def test_a_run_of_marks_is_parsed_quickly(mark: str) -> None:
    assert parsing_time(mark * 40_000) < 5


@each_row("mark", [",", ";", "!"])
def test_a_run_of_marks_before_a_word_is_parsed_quickly(mark: str) -> None:
    assert parsing_time(f"{mark * 40_000}x") < 5


def test_a_long_text_with_many_names_is_parsed_quickly() -> None:
    text = " ".join(f"word N{number:x}q" for number in range(15_000))

    assert parsing_time(text) < 5
