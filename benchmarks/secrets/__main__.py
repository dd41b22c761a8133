"""
Measure redaction on labelled texts: `python -m benchmarks.secrets`.

Recall is the share of secrets of which nothing is left, in every carrier (plain text, chat, JSON,
JSON in JSON, …). A false redaction is a text without a secret that changed. `--misses` lists what
failed in the development half. Failures in the held-out half are only counted, so that no rule is
tuned on one of them.
"""

import argparse
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks.markdown_table import table
from benchmarks.secrets.corpus import (
    CARRIERS,
    HALVES,
    CorpusText,
    leaks,
    read_lookalikes,
    read_secrets,
)
from recollect.text.redact import redact

OUT = Path(__file__).resolve().parent.parent / "results" / "secrets.md"
Redactor = Callable[[str], str]


@dataclass(frozen=True)
class RedactionOutcome:
    """One labelled text in one carrier: how many of its parts were handled as they should be."""

    labelled: CorpusText
    carrier: str
    right: int
    total: int
    redacted: str


def secret_outcomes(
    half: str, redactor: Redactor, carriers: Iterable[str] = CARRIERS
) -> Iterator[RedactionOutcome]:
    """Yield how many secrets are gone, for each text of *half* in each carrier."""
    for labelled in read_secrets(half):
        for carrier in carriers:
            left = redactor(CARRIERS[carrier](labelled.text))
            removed_count = sum(not leaks(secret, left) for secret in labelled.secrets)
            yield RedactionOutcome(labelled, carrier, removed_count, len(labelled.secrets), left)


def lookalike_outcomes(
    half: str, redactor: Redactor, carriers: Iterable[str] = CARRIERS
) -> Iterator[RedactionOutcome]:
    """Yield whether each text of *half* that holds no secret is unchanged, in each carrier."""
    for labelled in read_lookalikes(half):
        for carrier in carriers:
            text = CARRIERS[carrier](labelled.text)
            left = redactor(text)
            yield RedactionOutcome(labelled, carrier, int(left == text), 1, left)


def share(outcomes: Iterable[RedactionOutcome]) -> float:
    """Return the share of the parts of *outcomes* that were handled right."""
    right = total = 0
    for outcome in outcomes:
        right += outcome.right
        total += outcome.total
    return right / total


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--write", action="store_true", help=f"write {OUT.name} as well")
    parser.add_argument("--misses", action="store_true", help="list failures (development half)")
    options = parser.parse_args()
    lines = report(lambda text: redact(text).text)
    print("\n".join(lines))
    if options.write:
        OUT.write_text("# Secrets\n\n" + "\n".join(lines) + "\n", encoding="utf-8")
    if options.misses:
        list_misses(lambda text: redact(text).text)


def report(redactor: Redactor) -> list[str]:
    """Return tables of recall and false redaction: in all, by carrier, by group of secrets."""
    secrets = {half: list(secret_outcomes(half, redactor)) for half in HALVES}
    lookalikes = {half: list(lookalike_outcomes(half, redactor)) for half in HALVES}
    rows = [
        [
            half,
            str(sum(outcome.total for outcome in secrets[half] if outcome.carrier == "plain")),
            _percent(share(_plain(secrets[half]))),
            _percent(share(secrets[half])),
            str(sum(1 for _ in _plain(lookalikes[half]))),
            _percent(1 - share(_plain(lookalikes[half]))),
            _percent(1 - share(lookalikes[half])),
        ]
        for half in HALVES
    ]
    header = ["half", "secrets", "recall, plain", "recall, all carriers"]
    header += ["look-alikes", "false, plain", "false, all carriers"]
    by_carrier = [
        [carrier]
        + [_percent(share(o for o in secrets[half] if o.carrier == carrier)) for half in HALVES]
        + [
            _percent(1 - share(o for o in lookalikes[half] if o.carrier == carrier))
            for half in HALVES
        ]
        for carrier in CARRIERS
    ]
    groups = Counter((o.labelled.group, o.labelled.language) for o in secrets["heldout"])
    by_group = [
        [f"{group} ({language})"]
        + [
            _percent(
                share(
                    o
                    for o in secrets[half]
                    if (o.labelled.group, o.labelled.language) == (group, language)
                )
            )
            for half in HALVES
        ]
        for group, language in groups
    ]
    return [
        *table(header, rows),
        "",
        *table(
            ["carrier", *(f"recall, {h}" for h in HALVES), *(f"false, {h}" for h in HALVES)],
            by_carrier,
        ),
        "",
        *table(["group, all carriers", *(f"recall, {half}" for half in HALVES)], by_group),
    ]


def list_misses(redactor: Redactor) -> None:
    """Print each failure of the development half, with the first carrier in which it failed."""
    for outcomes in (secret_outcomes, lookalike_outcomes):
        failed: dict[str, RedactionOutcome] = {}
        carriers: Counter[str] = Counter()
        for outcome in outcomes("development", redactor):
            if outcome.right < outcome.total:
                failed.setdefault(outcome.labelled.text, outcome)
                carriers[outcome.labelled.text] += 1
        for text, outcome in failed.items():
            count = carriers[text]
            print(f"{outcomes.__name__} {count}× {outcome.carrier}: {outcome.redacted!r}")


def _plain(outcomes: list[RedactionOutcome]) -> Iterator[RedactionOutcome]:
    return (outcome for outcome in outcomes if outcome.carrier == "plain")


def _percent(value: float) -> str:
    return f"{100 * value:.1f} %"


if __name__ == "__main__":
    main()
