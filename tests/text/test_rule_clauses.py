"""What a statement forbids, and which commands, paths and things it is about."""

from recollect.text.rule_clauses import (
    forbidden_terms,
    named_commands,
    named_paths,
    prescribes,
    subject_terms,
)
from tables import each_row


@each_row(
    ("statement", "terms"),
    [
        ("We use pnpm here, never npm.", [{"npm"}]),
        ("Use rustls everywhere, no openssl.", [{"openssl"}]),
        ("Polars instead of pandas because pandas ran out of memory", [{"panda"}]),
        ("Wir benutzen ab jetzt Vitest statt Jest, weil Jest Probleme macht.", [{"jest"}]),
        ("We switched from Chart.js to uPlot because it is faster", [{"chart.js"}]),
        ("Never push to main directly, open a pull request.", [{"push", "main"}]),
        ("The deploy is from `main` now, the `release` branch is gone.", [{"release"}]),
        ("We replaced Redis with Postgres.", [{"redis"}]),
        ("We went with LightGBM over an LSTM", [{"lstm"}]),
        ("Keep it simple because we don't want another service.", []),  # a reason forbids nothing
        ("Don't change it.", []),  # names nothing
        ("The tests are green.", []),
    ],
)
def test_a_statement_forbids_what_it_names_after_a_negation(
    statement: str, terms: list[set[str]]
) -> None:
    assert forbidden_terms(statement) == terms


def test_a_statement_about_every_one_of_a_kind_names_the_kind() -> None:
    assert subject_terms("Every migration needs a down script.") == [{"migration"}]
    assert subject_terms("We like migrations.") == []


def test_commands_and_paths_are_read_from_a_statement() -> None:
    assert named_commands("Run the tests with `cargo nextest run`, not in `src`.") == [
        "cargo nextest run"
    ]
    assert named_paths("The files in tests/data are made by make_fixtures.py.") == [
        "tests/data",
        "make_fixtures.py",
    ]


def test_a_rule_is_told_from_a_description() -> None:
    assert prescribes("tests/data is generated: never edit it")
    assert not prescribes("The config file is at config.toml.")
