"""A question for a number or a person gets nothing if no close match can hold the answer."""

from pathlib import Path

from support import open_memory

LENA = "Lena is allergic to shellfish."


def test_a_question_for_a_number_is_not_answered_by_a_text_without_one() -> None:
    with open_memory(Path(":memory:")) as rec:
        rec.ingest(LENA)
        rec.ingest("Releases go out on the first Monday of the month.")
        rec.drain()

        assert rec.search("what is Lena allergic to?")[0].memory.content == LENA
        assert rec.search("what is Lena's phone number?") == []
        why = rec.why_nothing("what is Lena's phone number?")

    assert why.text.startswith(f"The closest match is “{LENA}”.")
    assert why.text.endswith("The query asks for a number, and no close match names one.")


def test_another_close_match_with_a_number_keeps_all() -> None:
    with open_memory(Path(":memory:")) as rec:
        rec.ingest(LENA)
        rec.ingest("The phone of Lena is 0171 5550.")
        rec.drain()

        assert len(rec.search("what is Lena's phone number?")) == 2


def test_thanks_finds_nothing() -> None:
    with open_memory(Path(":memory:")) as rec:
        rec.ingest("The team thanks its sponsors in the footer of the page.")
        rec.ingest("Green is the colour of every lamp in hall 3.")
        rec.drain()

        assert not any(hit.is_weak for hit in rec.search("great, go on"))
