"""A sentence that joins facts by semicolons is a candidate for each, with its own quote."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from recollect.domain.candidate import ExtractedStatement
from recollect.domain.memory import MemoryType
from recollect.domain.transcript import Voice
from recollect.engine.extract.classify_sentence import ExtractionMode
from recollect.engine.extract.clauses import clauses_of
from recollect.engine.extract.find_statements import find_statements
from recollect.engine.extract.utterances import Utterance
from recollect.engine.source_text import SourceTurn
from support import START
from tables import each_row

ADA = "My daughter is Ada, she is nine and she is allergic to penicillin"


def statements(text: str) -> list[ExtractedStatement]:
    turn = SourceTurn(0, len(text), Voice.USER, "", START)
    return list(find_statements(text, [turn], ExtractionMode()))


def contents(text: str) -> list[str]:
    return [statement.content for statement in statements(text)]


def test_two_facts_joined_by_a_semicolon_are_two_candidates_with_their_own_quotes() -> None:
    text = f"{ADA}; the shop opens at 7."

    family, shop = statements(text)

    assert (family.content, shop.content) == (ADA, "the shop opens at 7.")
    assert (family.type, shop.type) == (MemoryType.PROFILE, MemoryType.PROJECT)
    assert [text[s.spans[0].start : s.spans[0].end] for s in (family, shop)] == contents(text)


@each_row(
    ("text", "parts"),
    [
        ("Hi, I'm Dana and I live in Porto.", ["I'm Dana", "I live in Porto."]),
        (
            "My name is Ana Cruz, my dog is called Bo.",
            ["My name is Ana Cruz", "my dog is called Bo."],
        ),
    ],
)
def test_a_name_is_a_candidate_of_its_own(text: str, parts: list[str]) -> None:
    name, rest = statements(text)

    assert [name.content, rest.content] == parts
    assert (name.rule, name.type) == ("identity", MemoryType.PROFILE)
    assert contents("I'm happy and I know it.") != ["I'm happy", "I know it."]


@each_row(
    "text",
    [
        ADA,  # "she" depends on the first clause
        f"{ADA}; she loves the trampoline.",
        "I like tea with milk; oat milk; and lemon on the side.",
        "Let's use Parquet for the archive; it is small because of the columns.",
        "Please remember: the shop opens at 7; my sister has the second key.",
    ],
)
def test_a_clause_that_depends_on_another_stays_with_it(text: str) -> None:
    assert len(statements(text)) == 1


@given(st.text(alphabet="ab is;；,. it", max_size=80))
def test_the_clauses_of_any_sentence_are_parts_of_it_in_order(text: str) -> None:
    sentence = Utterance(
        text, 5, 5 + len(text), SourceTurn(5, 5 + len(text), Voice.USER, "", START)
    )

    clauses = clauses_of(sentence)

    assert [text[c.start - 5 : c.end - 5] for c in clauses] == [c.text for c in clauses]
    assert all(a.end < b.start for a, b in pairwise(clauses))
    assert (clauses[0].start, clauses[-1].end) == (5, 5 + len(text))
