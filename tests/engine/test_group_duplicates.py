"""Folding: what reads as one is one line, nothing is hidden, and what differs stays apart."""

from dataclasses import replace
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.domain.memory import Memory, MemoryType, Status
from recollect.domain.provenance import Provenance, StatementFlag
from recollect.domain.scope import Scope
from recollect.domain.source import Evidence, SourceKind
from recollect.domain.transcript import Voice
from recollect.engine.inbox_duplicates import are_duplicates, group_duplicates, review_order
from support import START
from tables import each_row


def candidate(content: str, number: int = 0, **told: object) -> Memory:
    made = Memory(
        id=f"m{number:05}",
        type=MemoryType.PROJECT,
        scope=Scope.PROJECT,
        project_id="p1",
        status=Status.INBOX,
        content=content,
        source_kind=SourceKind.RUN,
        confidence=0.7,
        observed_at=START,
        confirmed_at=START,
        created_at=START,
        updated_at=START,
        provenance=Provenance(voice=Voice.USER),
    )
    return replace(made, **told)  # type: ignore[arg-type]


@each_row(
    ("one", "other"),
    [
        ("We use pnpm for builds.", "we use pnpm, for builds"),
        ("We use pnpm for builds.", "We always use pnpm for the build."),
        ("The nightly backup runs on host atlas.", "The backup runs on host atlas."),
    ],
)
def test_what_reads_as_one_is_one(one: str, other: str) -> None:
    assert are_duplicates(one, other)
    assert are_duplicates(other, one)


@each_row(
    ("one", "other"),
    [
        ("The staging server listens on port 8080.", "The staging server listens on port 9090."),
        ("We use pnpm for builds.", "We don't use pnpm for builds."),
        ("We use pnpm for builds.", "We use yarn for builds."),
        ("I prefer tabs over spaces.", "I prefer spaces over tabs."),
        ("Responses stay < 5 MB in size.", "Responses stay > 5 MB in size."),
        ("Ana reports to Bob at Acme.", "Bob reports to Ana at Acme."),
        ("Tea.", "Tea at four with milk."),
        ("We move from Flask to Django.", "We move to Flask from Django."),
        ("Turn the cache on in staging.", "Turn the cache off in staging."),
        ("We use MySQL in production.", "We used to use MySQL in production."),
        ("Deploy prod on Fridays.", "Deploy prod except on Fridays."),
        ("Deploy prod on Fridays.", "Deploy prod only on Fridays."),
        ("I like green tea.", "My wife likes green tea."),
        ("Use yarn for the site.", "Stop using yarn for the site."),
        ("You should call me Bob.", "I should call you Bob."),
    ],
)
def test_what_differs_stays_apart(one: str, other: str) -> None:
    assert not are_duplicates(one, other)


def test_the_first_that_is_given_leads() -> None:
    ones = [candidate(text, n) for n, text in enumerate(
        ["The backup runs on host atlas.", "Deploys are on Friday afternoons.",
         "The nightly backup runs on host atlas."])]  # fmt: skip
    folded = group_duplicates(ones)

    assert [(one.representative.id, [twin.id for twin in one.duplicates]) for one in folded] == [
        ("m00000", ["m00002"]),
        ("m00001", []),
    ]


@each_row(
    "told",
    [
        {"project_id": "p2"},
        {"scope": Scope.GLOBAL, "project_id": None},
        {"type": MemoryType.DECISION},
        {"title": "Bob"},
    ],
    ids=["another project", "another scope", "another type", "about another"],
)
def test_what_belongs_elsewhere_is_not_folded(told: dict[str, object]) -> None:
    one = candidate("We use pnpm for builds.")

    assert len(group_duplicates([one, candidate(one.content, 1, **told)])) == 2


def test_records_of_sessions_are_not_folded() -> None:
    ones = [candidate("Asked: run the tests", n, type=MemoryType.EPISODE) for n in range(3)]

    assert len(group_duplicates(ones)) == 3


def test_the_most_certain_comes_first() -> None:
    quoted = Evidence(
        id="e", memory_id="m", source_id="s", start=0, end=1, quote="x", created_at=START
    )
    user = replace(quoted, voice="user")
    commands = Provenance(flags=(StatementFlag.INSTRUCTION,))
    ranked = [
        (candidate("a", 1, evidence=(user,)), 3),
        (candidate("b", 2, evidence=(user,), confidence=0.9), 1),
        (candidate("c", 3, evidence=(user,)), 1),
        (candidate("d", 4, evidence=(replace(quoted, voice="assistant"),), confidence=1.0), 5),
        (
            candidate("e", 5, evidence=(user,), provenance=commands),
            9,
        ),
    ]
    mixed = Random(3).sample(ranked, len(ranked))

    assert sorted(mixed, key=lambda pair: review_order(*pair)) == ranked


WORDS = ["we", "use", "pnpm", "yarn", "for", "builds", "tests", "not", "8080", "9090", "always"]
TEXTS = st.lists(st.sampled_from(WORDS), min_size=1, max_size=7).map(" ".join)


@pytest.mark.fuzz
@given(st.lists(st.tuples(TEXTS, st.sampled_from(["p1", "p2"])), max_size=60))
def test_every_candidate_is_a_lead_or_stands_with_exactly_one(
    told: list[tuple[str, str]],
) -> None:
    ones = [candidate(text, n, project_id=place) for n, (text, place) in enumerate(told)]
    folded = group_duplicates(ones)

    seen = [member for one in folded for member in (one.representative, *one.duplicates)]
    assert sorted(one.id for one in seen) == [one.id for one in ones]
    assert all(
        are_duplicates(one.representative.content, twin.content)
        for one in folded
        for twin in one.duplicates
    )
    assert all(one.representative.owner == twin.owner for one in folded for twin in one.duplicates)
    assert group_duplicates(ones) == folded
