"""Requests for which no record can help, because none mentions what they name."""

import pytest

from recollect.text.request_kind import asks_to_write_about_unknown


@pytest.mark.parametrize(
    ("request_text", "unknown_words"),
    [
        ("tell me a joke", ["joke"]),
        ("Please write a poem about autumn", ["poem", "autumn"]),
        ("raconte-moi une blague", ["raconte", "blague"]),
    ],
)
def test_nothing_is_known_of_what_a_request_names(
    request_text: str, unknown_words: list[str]
) -> None:
    assert asks_to_write_about_unknown(request_text, unknown_words)
    assert not asks_to_write_about_unknown(request_text, [])
    assert not asks_to_write_about_unknown(request_text, unknown_words[:-1])


@pytest.mark.parametrize(
    "question", ["which package manager?", "write", "package manager", "use the package manager"]
)
def test_a_question_a_single_word_or_work_at_hand_is_no_such_request(question: str) -> None:
    assert not asks_to_write_about_unknown(question, ["package", "manager", "write"])
