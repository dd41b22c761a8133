"""Whether a question is about the speaker's own affairs."""

from recollect.text.request_kind import asks_about_own_affairs
from tables import each_row


@each_row(
    "question",
    [
        "which package manager do we use here?",
        "how old is my cat?",
        "Wie heißt unser Testserver?",
        "¿Dónde vive mi hermano?",
        "我不能吃什么？",
    ],
)
def test_a_question_that_names_the_speaker_is_about_own_affairs(question: str) -> None:
    assert asks_about_own_affairs(question)


@each_row(
    "request_text",
    [
        "who won the world cup in 2014?",
        "how do I centre a div?",
        "how to tie a bow tie?",
        "write me a haiku about rain",
        "Wie hoch ist die Zugspitze?",
        "",
    ],
)
def test_what_anybody_may_ask_is_not_about_own_affairs(request_text: str) -> None:
    assert not asks_about_own_affairs(request_text)
