"""The labelled secrets and look-alikes of the benchmark, as bounds that redaction must hold."""

import pytest

from benchmarks.secrets.__main__ import lookalike_outcomes, secret_outcomes, share
from benchmarks.secrets.corpus import HALVES, read_lookalikes, read_secrets
from recollect.text.redact import redact
from tables import each_row

TESTED_CARRIERS = ("plain", "Python", "JSON", "JSON in JSON", "URL")  # the fastest that differ


def redacted_text(text: str) -> str:
    return redact(text).text


@pytest.mark.fuzz
@each_row("half", HALVES)
def test_at_least_95_percent_of_the_secrets_are_gone_in_every_carrier(half: str) -> None:
    outcomes = list(secret_outcomes(half, redacted_text, TESTED_CARRIERS))

    shares = {
        carrier: share(outcome for outcome in outcomes if outcome.carrier == carrier)
        for carrier in TESTED_CARRIERS
    }
    assert {carrier: recall for carrier, recall in shares.items() if recall < 0.95} == {}


@pytest.mark.fuzz
@each_row("half", HALVES)
def test_at_most_1_percent_of_the_look_alikes_change_in_any_carrier(half: str) -> None:
    outcomes = list(lookalike_outcomes(half, redacted_text, TESTED_CARRIERS))

    shares = {
        carrier: 1 - share(outcome for outcome in outcomes if outcome.carrier == carrier)
        for carrier in TESTED_CARRIERS
    }
    assert {carrier: false for carrier, false in shares.items() if false > 0.01} == {}


def test_the_corpus_has_enough_kinds_in_six_languages() -> None:
    secrets = [labelled for half in HALVES for labelled in read_secrets(half)]
    lookalikes = [labelled for half in HALVES for labelled in read_lookalikes(half)]

    assert len(secrets) >= 300
    assert len(lookalikes) >= 500
    assert {labelled.language for labelled in secrets} == {"en", "de", "fr", "es", "ja", "zh"}
    assert {labelled.language for labelled in lookalikes} == {"en", "de", "fr", "es", "ja", "zh"}
