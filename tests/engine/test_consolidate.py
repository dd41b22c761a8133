"""
What a candidate is beside what is known. A table of pairs; no store, no model.

The pairs are read without embeddings (`similarity` None), as on a machine that has none, unless a
test gives a nearness.
"""

import time
from dataclasses import replace
from datetime import timedelta
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.domain.memory import Memory, MemoryType, Status
from recollect.domain.provenance import Provenance, StatementFlag
from recollect.domain.scope import Scope
from recollect.engine.consolidate import (
    MIN_SIMILARITY_DUPLICATE,
    MIN_SIMILARITY_MERGE,
    Contradicts,
    Decision,
    Duplicate,
    MergeInto,
    NearMemory,
    New,
    consolidate,
)
from recollect.text.statement_similarity import statement_similarity
from support import START
from tables import each_row

LATER = START + timedelta(days=1)


def once(*values: object, reason: str) -> object:
    """A row that went wrong once, and why."""
    assert reason
    return pytest.param(*values)


def known(content: str, *, id: str = "old", status: Status = Status.ACTIVE) -> Memory:
    return Memory(
        id=id,
        type=MemoryType.PROJECT,
        scope=Scope.GLOBAL,
        status=status,
        content=content,
        observed_at=START,
        confirmed_at=START,
        created_at=START,
        updated_at=START,
    )


def candidate(content: str, *, corrects: bool = False) -> Memory:
    flags = (StatementFlag.CORRECTION,) if corrects else ()
    fresh = known(content, id="new", status=Status.INBOX)
    return replace(fresh, observed_at=LATER, provenance=Provenance(flags=flags))


def decide(
    said: str, before: str, *, corrects: bool = False, similarity: float | None = None
) -> Decision:
    return consolidate(candidate(said, corrects=corrects), [NearMemory(known(before), similarity)])


def name_of(decision: Decision) -> str:
    match decision:
        case MergeInto(candidate_says_more=True):
            return "says more"
        case MergeInto():
            return "says less"
        case _:
            return type(decision).__name__.lower()


# before, said now, what that is
PAIRS = [
    # the same again
    ("We deploy with Ansible.", "We deploy with Ansible.", "duplicate"),
    ("We deploy with Ansible.", "we deploy  with ansible!", "duplicate"),
    ("We deploy with Ansible.", "We are deploying with Ansible", "duplicate"),
    ("I don't like tea.", "I don't like the tea", "duplicate"),
    # another value of one attribute
    ("The port of staging is 8080.", "The port of staging is 8081.", "contradicts"),
    ("The port of staging is 8080.", "Staging's port is 8081.", "contradicts"),
    ("The staging server listens on port 80.", "The staging server listens on port 90.",
     "contradicts"),
    ("The deadline is Friday.", "The deadline is Monday.", "contradicts"),
    ("The database is Postgres.", "The database is MySQL.", "contradicts"),
    ("The API returns JSON.", "The API returns XML.", "contradicts"),
    ("I live in Porto.", "I moved to Berlin.", "contradicts"),
    ("I work at Acme.", "I joined Initech.", "contradicts"),
    ("My name is Ana.", "Call me Bea.", "contradicts"),
    ("I am 34.", "I am 35.", "contradicts"),
    ("Ana was born in Porto.", "Ana was born in Lisbon.", "contradicts"),
    ("We use Kafka for events.", "We use Redis for events.", "contradicts"),
    ("Build artifacts live in s3://builds.", "Build artifacts live in gs://builds.", "contradicts"),
    # said and denied
    ("We use Kafka for events.", "We don't use Kafka for events.", "contradicts"),
    ("We deploy on Fridays.", "We never deploy on Fridays.", "contradicts"),
    ("We use Kafka.", "We do not use Kafka.", "contradicts"),
    ("I am allergic to nuts.", "I am not allergic to nuts.", "contradicts"),
    ("Squash the commits.", "Never squash the commits.", "contradicts"),
    # the same attribute of something else
    ("The port of staging is 8080.", "The port of production is 9090.", "new"),
    ("The timeout for uploads is 30 s.", "The timeout for downloads is 60 s.", "new"),
    ("The deadline is Friday.", "The deadline for taxes is Monday.", "new"),
    ("Ana was born in Porto.", "Bea was born in Lisbon.", "new"),
    ("Ana is married to Bob.", "Carla is married to Dan.", "new"),
    ("My wife is a violinist.", "My sister is a pianist.", "new"),
    ("We use Kafka for events.", "We use Redis for caching.", "new"),
    ("The frontend is written in TypeScript.", "The backend is written in Go.", "new"),
    # two things that go together
    ("I like coffee.", "I like tea.", "new"),
    ("I have two kids.", "I have a dog.", "new"),
    ("The login page uses OAuth.", "The login page uses React.", "new"),
    ("Ana works at Acme.", "Ana also works at Initech.", "new"),
    ("Bob Smith met Ann Lee in Rome.", "Bob Smith also met Ann Lee in Oslo.", "new"),
    ("Ana may work at Acme.", "Ana might work at Initech.", "new"),
    ("Bob Smith may visit Rome.", "Bob Smith may visit Oslo.", "new"),
    ("Never push to main.", "Never push to release.", "new"),
    # nothing to do with each other
    ("We deploy with Ansible.", "My cat sleeps all day.", "new"),
    ("We deploy with Ansible.", "ok", "new"),
    ("", "We deploy with Ansible.", "new"),
    # more, or less, of the same
    ("The cat sleeps in the barn.", "The cat sleeps in the barn at night.", "says more"),
    ("The cat sleeps in the barn at night.", "The cat sleeps in the barn.", "says less"),
    ("we name branches after tickets", "we name branches after tickets and people", "says more"),
]  # fmt: skip
BUGS = [
    once("I prefer tabs over spaces.", "I prefer spaces over tabs.", "contradicts",
        reason="the same words in another order count as the same"),
    once("I eat meat.", "I don't eat meat.", "contradicts",
        reason="'don't' counts as a word of its own, so a short flip is none"),
    once("I like coffee.", "I don't like coffee.", "contradicts",
        reason="'don't' counts as a word of its own, so a short flip is none"),
    once("I'm vegan.", "I'm not vegan.", "contradicts", reason="a flip of one word is none"),
    once("Always squash commits.", "Never squash commits.", "contradicts",
        reason="'always' counts as a word that 'never' lacks"),
    once("I eat meat.", "I don’t eat meat.", "contradicts",
        reason="a denial with a curly apostrophe is merged as saying more"),
    once("We don't deploy on Fridays.", "We never deploy on Fridays.", "duplicate",
        reason="two ways to deny the same contradict each other"),
    once("I live in Lisbon.", "I live in Lisbon, Portugal.", "says more",
        reason="a place told more closely contradicts itself"),
    once("We decided to use Kafka.", "We decided to use Kafka because it keeps history.",
        "says more", reason="a reason that is added contradicts"),
    once("We use Postgres for billing.", "We use Postgres 15 for billing in production.",
        "says more", reason="a detail that is added contradicts"),
    once("The config is in config/app.toml.", "The config is in /etc/app.toml.", "contradicts",
        reason="another path is merged as saying more"),
    once("The port is 8080.", "The port is now 8081.", "contradicts",
        reason="'now' hides the value from the reader"),
    once("The login page uses OAuth.", "The signup page uses OAuth.", "new",
        reason="two things that use the same contradict each other"),
]  # fmt: skip


@each_row(("before", "said", "outcome"), [*PAIRS, *BUGS])
def test_what_a_candidate_is_beside_what_is_known(before: str, said: str, outcome: str) -> None:
    assert name_of(decide(said, before)) == outcome


@each_row(
    ("before", "said"),
    [(before, said) for before, said, to in PAIRS if to in ("contradicts", "duplicate")],
)
def test_who_spoke_first_does_not_matter(before: str, said: str) -> None:
    assert name_of(decide(said, before)) == name_of(decide(before, said))


@each_row(("before", "said", "outcome"), PAIRS)
def test_a_decision_names_the_memory_it_is_about(before: str, said: str, outcome: str) -> None:
    match decide(said, before):
        case Duplicate(memory) | MergeInto(memory, _) | Contradicts(memory, _, _):
            assert memory.id == "old"
        case New():
            assert outcome == "new"


def test_a_contradiction_says_why() -> None:
    value = decide("The port of staging is 8081.", "The port of staging is 8080.")
    denial = decide("We never deploy on Fridays.", "We deploy on Fridays.")

    assert isinstance(value, Contradicts)
    assert "another value for “port”" in value.why
    assert isinstance(denial, Contradicts)
    assert "denies" in denial.why


@each_row(
    "said, lead_in",
    [("it takes an hour now", "the standup grew,"), ("It now opens at ten.", "About the standup:")],
)
def test_the_words_said_just_before_tell_what_a_later_statement_changes(
    said: str, lead_in: str
) -> None:
    earlier = [NearMemory(known("The standup is at nine."), 0.3)]

    alone = consolidate(candidate(said), earlier)
    with_lead_in = consolidate(candidate(said), earlier, read_lead_in=lambda: lead_in)

    assert isinstance(alone, New)
    assert isinstance(with_lead_in, Contradicts)
    assert not with_lead_in.is_certain


# ── corrections ─────────────────────────────────────────────────────────────────────────────────


def test_a_correction_corrects_what_it_contradicts() -> None:
    said, before = "The port of staging is 8081.", "The port of staging is 8080."

    [plain, corrected] = [decide(said, before, corrects=flag) for flag in (False, True)]

    assert isinstance(plain, Contradicts)
    assert isinstance(corrected, Contradicts)
    assert (plain.is_correction, corrected.is_correction) == (False, True)


def test_a_correction_of_what_was_said_later_corrects_nothing() -> None:
    late = replace(known("The port of staging is 8080."), observed_at=LATER + timedelta(hours=1))
    said = candidate("The port of staging is 8081.", corrects=True)

    decision = consolidate(said, [NearMemory(late, None)])

    assert isinstance(decision, Contradicts)
    assert not decision.is_correction


@each_row(
    ("before", "said"),
    [
        ("We deploy with Ansible.", "My cat sleeps all day."),
        ("The port of staging is 8080.", "The port of production is 9090."),
        once("The tests are in tests/unit.", "The tests are still failing.",
            reason="the bar of a correction is so low that one shared word is enough"),
        once("The importer is written in Go.", "The importer works now.",
            reason="the bar of a correction is so low that one shared word is enough"),
        once("We use Kafka for events.", "We use Redis for caching now.",
            reason="the bar of a correction is so low that one shared word is enough"),
        once("The deploy script is scripts/ship.sh.", "The deploy script is still running.",
            reason="the bar of a correction is so low that two shared words are enough"),
    ],
)  # fmt: skip
def test_a_correction_of_something_else_leaves_it_alone(before: str, said: str) -> None:
    assert decide(said, before, corrects=True) == New()


def test_the_same_words_are_a_repetition_even_as_a_correction() -> None:
    decision = decide("We deploy with Ansible.", "We deploy with Ansible.", corrects=True)

    assert name_of(decision) == "duplicate"


# ── the neighbour ───────────────────────────────────────────────────────────────────────────────


@each_row(
    ("status", "again", "against", "more"),
    [
        (Status.ACTIVE, "duplicate", "contradicts", "says more"),
        (Status.INBOX, "duplicate", "contradicts", "says more"),
        (Status.ARCHIVED, "duplicate", "new", "new"),  # turned down once is turned down
        (Status.SUPERSEDED, "new", "new", "new"),  # what was replaced and is said again is news
        (Status.CONTRADICTED, "new", "new", "new"),
    ],
)
def test_what_no_longer_stands_is_not_spoken_against(
    status: Status, again: str, against: str, more: str
) -> None:
    near = [NearMemory(known("The cat sleeps in the barn.", status=status), None)]
    rival = [NearMemory(known("The port of staging is 8080.", status=status), None)]

    assert name_of(consolidate(candidate("The cat sleeps in the barn."), near)) == again
    assert name_of(consolidate(candidate("The port of staging is 8081."), rival)) == against
    assert name_of(consolidate(candidate("The cat sleeps in the barn at night."), near)) == more


def test_the_same_words_of_another_type_are_no_repetition() -> None:
    other = replace(known("We deploy with Ansible."), type=MemoryType.DECISION)

    decision = consolidate(candidate("We deploy with Ansible."), [NearMemory(other, None)])

    assert name_of(decision) == "new"


def test_a_candidate_is_not_compared_with_itself() -> None:
    one = candidate("We deploy with Ansible.")

    assert consolidate(one, [NearMemory(one, 1.0)]) == New()


def test_without_neighbours_everything_is_new() -> None:
    assert consolidate(candidate("We deploy with Ansible."), []) == New()


@each_row(
    ("similarity", "outcome"),
    [
        (MIN_SIMILARITY_DUPLICATE, "duplicate"),
        (MIN_SIMILARITY_DUPLICATE - 0.01, "says less"),
        (0.5, "new"),
    ],
)
def test_the_same_words_in_another_form_must_be_near_in_meaning_too(
    similarity: float, outcome: str
) -> None:
    decision = decide("a fox hunts mice", "the fox hunting mice", similarity=similarity)

    assert name_of(decision) == outcome


@each_row(
    ("similarity", "outcome"),
    [(MIN_SIMILARITY_MERGE, "says more"), (MIN_SIMILARITY_MERGE - 0.01, "new")],
)
def test_more_words_must_be_near_in_meaning_to_be_more_of_the_same(
    similarity: float, outcome: str
) -> None:
    said, before = "The cat sleeps in the barn at night.", "The cat sleeps in the barn."

    assert name_of(decide(said, before, similarity=similarity)) == outcome


def test_a_repetition_goes_before_a_contradiction_and_that_before_more() -> None:
    said = "The cat sleeps in the barn."
    same = NearMemory(known(said, id="same"), 1.0)
    against = NearMemory(known("The cat never sleeps in the barn.", id="against"), 0.9)
    more = NearMemory(known("The cat sleeps in the barn at night.", id="more"), 0.95)

    decisions = [
        consolidate(candidate(said), near)
        for near in ([more, against, same], [more, against], [more])
    ]

    assert [name_of(one) for one in decisions] == ["duplicate", "contradicts", "says less"]


def test_of_several_rivals_the_one_with_the_same_attribute_is_named() -> None:
    said = "The port of staging is 8081."
    near = [
        NearMemory(known("The port of staging is not 8081.", id="denies"), 0.99),
        NearMemory(known("The port of staging is 8080.", id="value"), 0.5),
    ]

    decision = consolidate(candidate(said), near)

    assert isinstance(decision, Contradicts)
    assert decision.other.id == "value"


def test_the_order_of_the_neighbours_does_not_matter_where_only_one_decides() -> None:
    near = [
        NearMemory(known("The port of staging is 8080.", id="a"), 0.9),
        NearMemory(known("The port of production is 80.", id="b"), 0.8),
        NearMemory(known("Staging is on port 8080 or so.", id="c"), 0.7),
        NearMemory(known("My cat sleeps all day.", id="d"), 0.1),
    ]
    said = candidate("The port of staging is 8081.")

    decisions = {repr(consolidate(said, order)) for order in permutations(near)}

    assert len(decisions) == 1
    assert "id='a'" in decisions.pop()


# ── likeness ────────────────────────────────────────────────────────────────────────────────────

sentences = st.one_of(
    st.text(max_size=100),
    st.sampled_from([text for before, said, _ in PAIRS for text in (before, said)]),
)
shares = st.none() | st.floats(min_value=-1, max_value=1)


@pytest.mark.fuzz
@given(sentences, sentences, shares, st.booleans(), st.sampled_from(Status))
def test_any_two_texts_can_be_compared_and_always_with_the_same_outcome(
    said: str, before: str, similarity: float | None, corrects: bool, status: Status
) -> None:
    near = [NearMemory(known(before, status=status), similarity)]
    one = candidate(said, corrects=corrects)

    decision = consolidate(one, near)

    assert decision == consolidate(one, near)
    if isinstance(decision, Contradicts):
        assert decision.why
        assert status in (Status.ACTIVE, Status.INBOX, Status.STATED)
        assert corrects or not decision.is_correction


@given(sentences)
def test_whatever_is_said_again_word_for_word_is_the_same(text: str) -> None:
    assert name_of(decide(text, text)) == "duplicate"


@given(sentences, sentences, st.floats(min_value=0, max_value=1))
def test_likeness_stays_within_its_bounds_and_grows_with_nearness(
    one: str, other: str, similarity: float
) -> None:
    assert -0.2 <= statement_similarity(one, other, similarity) <= 3.5
    assert statement_similarity(one, other, similarity) <= statement_similarity(one, other, 1.0)


# ── long texts ──────────────────────────────────────────────────────────────────────────────────


def time_to_decide(said: str, before: str) -> float:
    began = time.process_time()
    decide(said, before)
    return time.process_time() - began


@pytest.mark.fuzz
@each_row("piece", ["I prefer ", "because because ", "no no no ", "is is is ", "A b "])
def test_a_short_candidate_beside_a_long_text_is_decided_in_no_time(piece: str) -> None:
    assert time_to_decide("The staging port is 8081.", (piece * 50_000)[:50_000]) < 10


def test_two_long_texts_are_compared_in_no_time() -> None:
    text = "a no " * 2_500

    assert time_to_decide(text, f"{text} indeed") < 5
