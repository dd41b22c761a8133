"""What kind of answer a question asks for, and which texts cannot hold it."""

import pytest

from recollect.text.answer_kind import NUMBER, PERSON, expected_answer_kind, may_hold_answer


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("How many tests do we have?", NUMBER),
        ("what does the permit cost", NUMBER),
        ("what is Lena's phone number?", NUMBER),
        ("Wie viele Gäste kommen am Samstag?", NUMBER),
        ("combien de clients avons-nous ?", NUMBER),
        ("一张票多少钱？", NUMBER),
        ("富士山の高さは？", NUMBER),
        ("who wrote the API documentation?", PERSON),
        ("Whom do I ask for a key?", PERSON),
        ("which editor does Ana use?", ""),
        ("when do we deploy?", ""),
        ("how long should answers be?", ""),
        ("How much experience does Ben have with Rust?", ""),
        ("How much does the permit cost?", NUMBER),
        ("Combien de temps doivent durer les réunions ?", ""),
        ("¿cuántas veces entreno?", ""),
        ("会議は何か所でいくつか開く？", ""),
        ("the woman who wrote it is Ana", ""),
        ("how do I install it?", ""),
    ],
)
def test_a_question_asks_for_a_kind_of_answer(question: str, kind: str) -> None:
    assert expected_answer_kind(question) == kind


@pytest.mark.parametrize(
    "text",
    [
        "Standup is at 9:15.",
        "Imogen turned sixteen today.",
        "We deploy every Tuesday.",
        "发票要保存十年",
        "Ich habe drei Kinder.",
        "Im Saal stehen zwanzig Stühle.",
        "Le loyer est de mille euros.",
        "En la sala no hay sillas para todos.",
        "Ogni ospite ha la sua sedia.",
        "We hebben geen honden.",
        "部屋には誰もいません",
    ],
)
def test_a_number_may_be_written_in_many_ways(text: str) -> None:
    assert may_hold_answer(NUMBER, text)


@pytest.mark.parametrize(
    "text",
    [
        "McKenna wrote the docs.",
        "The billing code is owned by priya.",
        "Ana leads it.",
        "hana said yes to the mixes",
        "The buyers read it.",
        "Lea macht das.",
    ],
)
def test_a_name_may_be_written_small_and_a_role_is_a_person(text: str) -> None:
    assert may_hold_answer(PERSON, text)


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        (NUMBER, "Lena is allergic to shellfish."),
        (NUMBER, "Integration tests need the VPN."),
        (PERSON, "The API returns dates as ISO 8601 in UTC."),
    ],
)
def test_some_texts_hold_no_answer(kind: str, text: str) -> None:
    assert not may_hold_answer(kind, text)
    assert may_hold_answer("", text)
